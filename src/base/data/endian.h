/* endian.h - 64-bit numbers as little-endian bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_ENDIAN_H
#define KILN_BASE_DATA_ENDIAN_H

#include <stdint.h>

/* Written out, each function is one instruction on a little-endian processor;
   written as a loop it is not. */
static inline void kiln__word_put(unsigned char *to, uint64_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
    to[2] = (unsigned char)(value >> 16);
    to[3] = (unsigned char)(value >> 24);
    to[4] = (unsigned char)(value >> 32);
    to[5] = (unsigned char)(value >> 40);
    to[6] = (unsigned char)(value >> 48);
    to[7] = (unsigned char)(value >> 56);
}

static inline uint64_t kiln__word_take(const unsigned char *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 |
           (uint64_t)from[2] << 16 | (uint64_t)from[3] << 24 |
           (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

#endif /* KILN_BASE_DATA_ENDIAN_H */
