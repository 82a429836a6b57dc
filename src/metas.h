/* metas.h - versions of what entries of each kind say of themselves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_METAS_H
#define KILN_METAS_H

#include "entry.h"

/*
 * An entry's meta is written and read by one file and described for people by
 * tiers/describe.c. It begins with a version, which is raised by whoever
 * changes what follows it: an entry of another version is a miss. Kinds that
 * are not listed have no meta, or one without a version.
 */
#define KILN__META_MAP(X) \
    X(INSTANCE, 3) /* tiers/load.c */ \
    X(PROGRAM, 1)  /* tiers/recall.c */ \
    X(BINARY, 5)   /* tiers/stored_binary.c */ \
    X(SOURCE, 2)   /* frontend/summary.c */ \
    X(ATTACHED, 1) /* tiers/stored_attachment.c */ \
    X(NATIVE, 1)   /* tiers/native.c */ \
    X(SESSION, 1)  /* tiers/session.c */

#define KILN__META_ENUM(kind, version) KILN__META_##kind = (version),
enum { KILN__META_MAP(KILN__META_ENUM) };
#undef KILN__META_ENUM

#endif /* KILN_METAS_H */
