/* session.h - notes why an artifact is not stored. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_SESSION_H
#define KILN_TIERS_SESSION_H

#include "tiers/binary/artifact.h"

/* Notes for kiln_cache_explain() why the artifact is not stored; NULL: does
 * nothing. */
void kiln__session_note(kiln_context *context, const kiln_artifact *artifact,
                        const char *reason);

#endif /* KILN_TIERS_SESSION_H */
