/* entry_versions.h - the version of the meta of each kind of entry. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_ENTRY_VERSIONS_H
#define KILN_STORES_ENTRY_VERSIONS_H

#include "stores/entry.h"

/*
 * An entry's meta is written and read by one file, and described for people by
 * tiers/entry_describe.c. It begins with a version. A change of what follows
 * must raise that version: an entry of another version is a miss. Kinds that
 * are not listed have no meta, or meta without a version.
 */
#define KILN__META_MAP(X) \
    X(INSTANCE, 3)    /* tiers/typed/stored_typed.c */ \
    X(PROGRAM, 1)     /* tiers/typed/stored_program.c */ \
    X(BINARY, 9)      /* tiers/binary/artifact_meta.c */ \
    X(SOURCE, 2)      /* frontend/program/text_entry.c */ \
    X(ATTACHED, 1)    /* tiers/typed/stored_attachment.c */ \
    X(NATIVE, 1)      /* tiers/binary/stored_native.c */ \
    X(SESSION, 1)     /* tiers/session.c */ \
    X(TRANSLATION, 1) /* frontend/opencl/cl_entry.c */

#define KILN__META_ENUM(kind, version) KILN__META_##kind = (version),
enum { KILN__META_MAP(KILN__META_ENUM) };
#undef KILN__META_ENUM

#endif /* KILN_STORES_ENTRY_VERSIONS_H */
