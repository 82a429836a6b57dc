/* artifact_meta.h - artifacts as entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_ARTIFACT_META_H
#define KILN_TIERS_BINARY_ARTIFACT_META_H

#include "base/data/encoder.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"

void kiln__artifact_encode_meta(kiln__encoder *out,
                                const kiln_artifact *artifact);
/* Makes a new artifact from an entry; KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__artifact_decode(const kiln_artifact **out,
                                  const kiln_alloc *alloc,
                                  const kiln__entry *entry);
/* Likewise, from a checked entry that a store gave. The artifact takes the
   entry's memory over where it can; `stored` then has nothing to release, and
   its entry is readable as long as the artifact. */
kiln_status kiln__artifact_take(const kiln_artifact **out,
                                const kiln_alloc *alloc, kiln__stored *stored);
/* True if two entries of artifacts have the same meta, but that one may have
   deferred a body whose code is in the other. */
int kiln__entries_of_one_artifact(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b);

#endif /* KILN_TIERS_BINARY_ARTIFACT_META_H */
