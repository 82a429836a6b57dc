/* stored_native.h - what drivers made of artifacts, in the stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_STORED_NATIVE_H
#define KILN_TIERS_BINARY_STORED_NATIVE_H

#include "tiers/binary/artifact.h"

typedef struct kiln__native_user {
    /* Loads the driver's binary; after any error it counts as useless. */
    kiln_status (*use)(void *env, const void *bytes, size_t size);
    void *env;
    const char *name; /* of the kernel, for messages */
} kiln__native_user;

/* Gives `user` the entries for the artifact and the driver, until one is of
   use; useless ones are dropped. `driver` is the name that the driver gives
   itself; NULL: nothing is stored for it. KILN_ENOTFOUND. */
kiln_status kiln__native_recall(kiln_context *context,
                                const kiln_artifact *artifact,
                                const char *driver,
                                const kiln__native_user *user);
/* True if a binary of the driver would be stored. */
int kiln__native_is_wanted(kiln_context *context, const kiln_artifact *artifact,
                           const char *driver);
typedef struct kiln__native_made {
    kiln_blob bytes;
    const char *tools; /* tools that took part, as words (provenance.h), or
                          NULL */
    uint64_t build_ns;
    int replace; /* the stored one has less in it */
} kiln__native_made;

void kiln__native_save(kiln_context *context, const kiln_artifact *artifact,
                       const char *driver, const kiln__native_made *made);

#endif /* KILN_TIERS_BINARY_STORED_NATIVE_H */
