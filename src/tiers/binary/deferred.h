/* deferred.h - the body of a kernel that is made when a launch needs it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_DEFERRED_H
#define KILN_TIERS_BINARY_DEFERRED_H

#include "abi/codegen_abi.h"
#include "base/data/arena.h"
#include "base/data/encoder.h"
#include "tiers/binary/artifact.h"

/*
 * A kernel runs groups for which its code cannot prove all checks by a second
 * body, which most kernels never need. An artifact has it in one of two forms:
 * as bitcode, with the settings to make code of it, or as an image. The first
 * need of it turns one into the other, and the artifact with the image replaces
 * the one with the bitcode in tiers and stores.
 */
typedef struct kiln__deferred {
    int is_image;
    uint32_t stack_bytes; /* of an image, as in kiln_kernel_info */
    uint32_t unproved;    /* number of the check for which the image was made;
                             0: a pack was made */
    const kiln__codegen_settings *settings;
    const kiln__codegen_check *checks; /* by number, which begins with 1 */
    size_t check_count;
    const void *code;
    size_t code_size;
} kiln__deferred;

void kiln__deferred_encode(kiln__encoder *out, const kiln__deferred *deferred);
/* Reads that of an artifact; everything is in the arena or in the artifact.
   KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__deferred_read(kiln__deferred *out, kiln__arena *arena,
                                const kiln_artifact *artifact);
/* True if the artifact has a second body, and only as bitcode. */
int kiln__deferred_is_open(const kiln_artifact *artifact);
/* Writes where a check is that could not be proved, for people. `frontend` is
   the kernel's, or NULL. */
void kiln__deferred_reason(char *out, size_t size,
                           const kiln__deferred *deferred, uint32_t unproved,
                           const kiln_frontend *frontend);

#endif /* KILN_TIERS_BINARY_DEFERRED_H */
