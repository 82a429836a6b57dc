/* kiln_record.h - structs, tuples and vectors on the command line. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_RECORD_H
#define KILN_TOOLS_RECORD_H

#include <stddef.h>
#include <stdio.h>

#include <kiln/type.h>

/* Reads `size` bytes of text, such as "(1, 2.5)", as a value of the type. `out`
   has room for it, and is aligned. Returns NULL, or what is wrong. */
const char *record_parse(void *out, const kiln_type *type, const char *text,
                         size_t size);
/* Writes the type that a tuple of numbers has in the language, without values
   of other types: "(i64, f64)" for "(1, 2.5)". False: it is no such tuple, or
   does not fit. */
int record_type(char *out, size_t out_size, const char *text, size_t size);
/* Writes a value in the form that is read. */
void record_print(FILE *file, const kiln_type *type, const void *value);

#endif /* KILN_TOOLS_RECORD_H */
