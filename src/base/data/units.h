/* units.h - numbers with a unit, as people write them in variables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_UNITS_H
#define KILN_UNITS_H

#include <stdint.h>

/* A list ends with the letter '\0', which means "no letter". */
typedef struct kiln__unit {
    char letter; /* in lower case */
    uint64_t factor;
} kiln__unit;

extern const kiln__unit kiln__no_units[];
extern const kiln__unit kiln__size_units[]; /* of bytes */
extern const kiln__unit kiln__time_units[]; /* of seconds */

#define KILN__SIZE_TAKES "bytes, with K, M, G or T behind the number if need be"
#define KILN__TIME_TAKES "seconds, or a time such as 90s, 15m, 12h or 30d"

/* Reads a number and at most one of the letters; false if it is anything
   else. */
int kiln__units_read(uint64_t *out, const char *text, const kiln__unit *units);

#endif /* KILN_UNITS_H */
