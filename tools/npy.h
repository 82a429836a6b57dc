/* npy.h - arrays in .npy files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_NPY_H
#define KILN_TOOLS_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "kiln/type.h"

/*
 * An array as Kiln has it: the first index is the contiguous one. In a file in
 * C order the last index is contiguous, so the array has the shape in reverse
 * order. A file in Fortran order is loaded as it is.
 */
typedef struct npy_array {
    int32_t kind; /* of the elements: a scalar */
    uint32_t rank;
    int64_t sizes[KILN_RANK_MAX];
    void *data;  /* from malloc */
    size_t size; /* in bytes */
} npy_array;

#define NPY_MESSAGE_SIZE 256

/* Reads a file of version 1 to 3. False, with one line in `message`, if it
   cannot. The caller frees out->data. */
int npy_read(npy_array *out, const char *path, char message[NPY_MESSAGE_SIZE]);

/* Writes a file of version 1 in C order. False, with one line in `message`, if
   it cannot. */
int npy_write(const npy_array *array, const char *path,
              char message[NPY_MESSAGE_SIZE]);

/* Returns the size of an element in bytes; 0 for a kind that such files do not
   have. */
size_t npy_element_size(int32_t kind);

#endif /* KILN_TOOLS_NPY_H */
