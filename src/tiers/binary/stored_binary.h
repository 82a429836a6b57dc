/* stored_binary.h - artifacts in the stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_STORED_BINARY_H
#define KILN_TIERS_BINARY_STORED_BINARY_H

#include "tiers/binary/artifact.h"
#include "tiers/entry_writer.h"

/* Returns a reference to the artifact in a store, which is kept in memory as
   well; or NULL. */
const kiln_artifact *kiln__artifact_recall(kiln_context *context,
                                           const kiln_key *key);
void kiln__artifact_save(kiln_context *context, const kiln_artifact *artifact);
/* Puts an artifact with the same key, and more in it, in the place of the old
   one, in memory and in the stores. */
void kiln__artifact_replace(kiln_context *context, const kiln_artifact *old,
                            const kiln_artifact *artifact);
/* An artifact from a store cannot be loaded: it is forgotten, and dropped from
   the store. */
void kiln__artifact_reject(kiln_context *context,
                           const kiln_artifact *artifact);
/* Encodes an artifact for another process. */
kiln_status kiln__artifact_envelope(kiln_blob *out, const kiln_context *context,
                                    const kiln_artifact *artifact);
/* Checks an artifact that another process gave, keeps it in memory and in the
   stores, and returns a reference; or NULL. */
const kiln_artifact *kiln__artifact_receive(kiln_context *context,
                                            const void *bytes, size_t size,
                                            const kiln_key *key);
kiln_status kiln__entry_writer_artifact(kiln__entry_writer *out,
                                        const kiln_alloc *alloc,
                                        const kiln_artifact *artifact);

#endif /* KILN_TIERS_BINARY_STORED_BINARY_H */
