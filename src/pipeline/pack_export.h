/* pack_export.h - saves what a package adds as a pack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_PACK_EXPORT_H
#define KILN_PIPELINE_PACK_EXPORT_H

#include "stores/entry.h"

/* Removes measured values from an entry. False when nothing is left: a runtime
   function that could also be lowered with a kernel is kept only because
   reading it was measured to be faster. */
int kiln__pack_reproducible(kiln__entry *entry);

#endif /* KILN_PIPELINE_PACK_EXPORT_H */
