/* kiln_explain.h - tells what the stores have for one key of a job. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_EXPLAIN_H
#define KILN_TOOLS_EXPLAIN_H

#include <stdio.h>

#include "kiln/sys/cache_tools.h"

/* Writes for people what `kiln cache explain` says about the key: whether it is
   there, and how it differs from the nearest entry. */
void tool_explain(FILE *out, const kiln_cache_answer *answer);

#endif /* KILN_TOOLS_EXPLAIN_H */
