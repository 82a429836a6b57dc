/* llvm_gap_rocm.h - reads what a code object says of its kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_ROCM_CODEGEN_LLVM_GAP_ROCM_H
#define KILN_BACKENDS_ROCM_CODEGEN_LLVM_GAP_ROCM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN__ROCM_KIND_SIZE 32

typedef struct kiln__rocm_argument {
    uint64_t offset;
    uint64_t size;
    char kind[KILN__ROCM_KIND_SIZE]; /* "by_value", "hidden_block_count_x" */
} kiln__rocm_argument;

typedef struct kiln__rocm_metadata {
    uint64_t kernels; /* number of kernels; the rest describes the first one */
    uint64_t registers;
    uint64_t local_bytes;
    uint64_t private_bytes;
    uint64_t argument_bytes; /* size of the whole segment */
    uint64_t maximum_group;
    uint64_t lanes;
    uint64_t argument_count;
    kiln__rocm_argument *arguments; /* the caller's array; may be NULL */
    size_t room;                    /* length of that array */
} kiln__rocm_metadata;

/* Reads a code object without trusting it. Returns 0 when it is damaged or
   lacks what every code object has. */
int kiln__rocm_metadata_read(kiln__rocm_metadata *out, const void *bytes,
                             size_t size);

#ifdef __cplusplus
}
#endif

#endif /* KILN_BACKENDS_ROCM_CODEGEN_LLVM_GAP_ROCM_H */
