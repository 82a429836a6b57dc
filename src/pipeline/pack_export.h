/* pack_export.h - what a package adds, saved as a pack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_PACK_EXPORT_H
#define KILN_PIPELINE_PACK_EXPORT_H

#include "stores/entry.h"

/* Takes out of an entry what was measured; false when that leaves nothing: a
   runtime function that a kernel is lowered with as well is kept only where
   reading it was found to be faster. */
int kiln__pack_reproducible(kiln__entry *entry);

#endif /* KILN_PIPELINE_PACK_EXPORT_H */
