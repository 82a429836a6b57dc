/* entry_describe.h - shows the content of entries to people. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_ENTRY_DESCRIBE_H
#define KILN_TIERS_ENTRY_DESCRIBE_H

#include "base/data/array.h"
#include "kiln/sys/cache_tools.h"
#include "stores/entry.h"

/* These functions rely only on the correctness of the entry's checksums. */

/* Writes the name of what the entry contains, and its target, or "" if it has
   none. (tiers/entry_describe.c) */
void kiln__entry_title(kiln__text *name, kiln__text *target,
                       const kiln__entry *entry);
/* Returns the typed digest that an entry about a code instance leads to; else
   zero. */
kiln_digest kiln__entry_typed(const kiln__entry *entry);
/* True if the entry is the note why the binary of that key is not stored; `out`
   receives the reason. (tiers/session.c) */
int kiln__session_reason(kiln__text *out, const kiln__entry *entry,
                         kiln_digest binary);
/* Shows the content of its kind, in section "meta". KILN_ENOMEM. */
kiln_status kiln__entry_describe(const kiln_alloc *alloc,
                                 const kiln__entry *entry, kiln_field_fn see,
                                 void *env);

#endif /* KILN_TIERS_ENTRY_DESCRIBE_H */
