/* spirv_kernels.h - kernels in SPIR-V, loaded as tier 3 would load them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SPIRV_KERNELS_H
#define KILN_TESTS_SPIRV_KERNELS_H

#include "kiln.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"

#define SPIRV_TYPES_MAX 8

/* The whole of kernels.ll, compiled; freed by the caller. */
void *spirv_kernels_read(size_t *size);

/* A kernel of that file: its name, and the types of its arguments. */
typedef struct spirv_program {
    const char *name;
    const char *types[SPIRV_TYPES_MAX]; /* ended by NULL */
    uint32_t hidden;
    const void *facts; /* NULL: it has one entry */
    size_t fact_size;
} spirv_program;

extern const spirv_program spirv_saxpy, spirv_members, spirv_turn, spirv_raise,
    spirv_keep, spirv_say, spirv_place, spirv_work, spirv_either;

/* A kernel that is loaded, with all that it is made of. */
typedef struct spirv_kernel {
    kiln_kernel kernel;
    const kiln_type *types[SPIRV_TYPES_MAX];
    kiln_argument_info arguments[SPIRV_TYPES_MAX];
    const kiln_artifact *artifact;
} spirv_kernel;

/* An artifact of one kernel of a module. */
const kiln_artifact *spirv_artifact(spirv_kernel *out, kiln_context *context,
                                    const spirv_program *program,
                                    const char *target, const void *bytes,
                                    size_t size);
/* Loads it on device 0, or says why not. */
kiln_status spirv_load(spirv_kernel *out, kiln_context *context,
                       const spirv_program *program, kiln_error **error);
void spirv_unload(spirv_kernel *kernel);

#endif /* KILN_TESTS_SPIRV_KERNELS_H */
