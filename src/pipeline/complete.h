/* complete.h - makes code of the body that an artifact deferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_COMPLETE_H
#define KILN_PIPELINE_COMPLETE_H

#include "stores/entry.h"
#include "tiers/binary/artifact.h"

/* Makes an artifact that has an image of its second body, since the check of
   that number could not be proved, on a worker; puts it in the place of this
   one in memory and in the stores, and returns a reference. The artifact
   itself, if it has nothing to be made. KILN_ERECURSION on a thread that
   compiles; KILN_ENOTFOUND in mode MUST_HIT. */
kiln_status kiln__artifact_complete(const kiln_artifact **out,
                                    kiln_context *context,
                                    const kiln_artifact *artifact,
                                    uint32_t unproved, kiln_error **error);

/* Does this for an entry that goes into a pack, whose users may have no code
   generator. On success the entry's meta is in `*meta` if it has changed; the
   caller releases it. */
kiln_status kiln__entry_complete(kiln__entry *entry, kiln_blob *meta,
                                 kiln_context *context, kiln_error **error);

#endif /* KILN_PIPELINE_COMPLETE_H */
