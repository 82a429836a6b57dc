/* npy.h - arrays in .npy files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_NPY_H
#define KILN_TOOLS_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "kiln/type.h"

/*
 * An array as Kiln has it: the first index is the contiguous one. A file in C
 * order, whose last index is contiguous, therefore loads with its shape
 * reversed; one in Fortran order loads as it is.
 */
typedef struct npy_array {
    int32_t kind; /* of the elements: KILN_TYPE_BOOL to KILN_TYPE_F64 */
    uint32_t rank;
    int64_t sizes[KILN_RANK_MAX];
    void *data;  /* from malloc */
    size_t size; /* in bytes */
} npy_array;

#define NPY_MESSAGE_SIZE 256

/* Reads a file of version 1 to 3; false with one line in `message`. The
   caller frees out->data. */
int npy_read(npy_array *out, const char *path, char message[NPY_MESSAGE_SIZE]);

/* Writes a file of version 1 in C order; false with one line in `message`. */
int npy_write(const npy_array *array, const char *path,
              char message[NPY_MESSAGE_SIZE]);

/* Size of an element in bytes; 0 for what such files do not hold. */
size_t npy_element_size(int32_t kind);

#endif /* KILN_TOOLS_NPY_H */
