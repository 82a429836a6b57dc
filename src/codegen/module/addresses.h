/* addresses.h - what the files that shorten addresses share, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ADDRESSES_H
#define KILN_CODEGEN_MODULE_ADDRESSES_H

#include "codegen/module/loop_analyses.h"

/* ---- streams.cc ---- */
/* Gives innermost loops pointers that they move on, for indices that they would
   compute. What is known of the function stays true. */
void kiln__walk_by_pointers(kiln__loop_analyses &known);

#endif /* KILN_CODEGEN_MODULE_ADDRESSES_H */
