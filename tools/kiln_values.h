/* kiln_values.h - converts scalars between text and bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_VALUES_H
#define KILN_TOOLS_VALUES_H

#include <stdint.h>
#include <stdio.h>

/* Kinds are scalars. */

/* Reads a whole text as a value of `kind`, of up to 8 bytes. Returns NULL, or
   what is wrong. */
const char *value_parse(void *out, int32_t kind, const char *text);
/* Stores the integer `number` as a value of `kind`; integers wrap. */
void value_from_integer(void *out, int32_t kind, uint64_t number);
/* Stores a pseudo-random value: a float in [0, 1), an integer from 0 to 99. */
void value_random(void *out, int32_t kind, uint64_t *state);
/* Writes a value with the fewest digits from which it can be read back. */
void value_print(FILE *file, int32_t kind, const void *value);

#endif /* KILN_TOOLS_VALUES_H */
