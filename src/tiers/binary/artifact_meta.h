/* artifact_meta.h - artifacts as entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_ARTIFACT_META_H
#define KILN_TIERS_BINARY_ARTIFACT_META_H

#include "base/data/encoder.h"
#include "stores/entry.h"
#include "tiers/binary/artifact.h"

void kiln__artifact_encode_meta(kiln__encoder *out,
                                const kiln_artifact *artifact);
/* Makes a new artifact from an entry; KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__artifact_decode(const kiln_artifact **out,
                                  const kiln_alloc *alloc,
                                  const kiln__entry *entry);
/* True if two entries of artifacts have the same meta, but that one may have
   deferred a body whose code is in the other. */
int kiln__entries_of_one_artifact(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b);

#endif /* KILN_TIERS_BINARY_ARTIFACT_META_H */
