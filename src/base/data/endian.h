/* endian.h - numbers as little-endian bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_ENDIAN_H
#define KILN_BASE_DATA_ENDIAN_H

#include <stdint.h>

/*
 * Whatever Kiln writes to files, to other processes and into generated tables
 * is written with these, so it is the same on every host. The bytes may have
 * any alignment. Each function is one instruction on a little-endian
 * processor; written as a loop it would not be.
 */

static inline void kiln__le16_write(void *to, uint16_t value)
{
    unsigned char *at = to;

    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static inline void kiln__le32_write(void *to, uint32_t value)
{
    unsigned char *at = to;

    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    at[2] = (unsigned char)(value >> 16);
    at[3] = (unsigned char)(value >> 24);
}

static inline void kiln__le64_write(void *to, uint64_t value)
{
    unsigned char *at = to;

    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    at[2] = (unsigned char)(value >> 16);
    at[3] = (unsigned char)(value >> 24);
    at[4] = (unsigned char)(value >> 32);
    at[5] = (unsigned char)(value >> 40);
    at[6] = (unsigned char)(value >> 48);
    at[7] = (unsigned char)(value >> 56);
}

static inline uint16_t kiln__le16_read(const void *from)
{
    const unsigned char *at = from;

    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t kiln__le32_read(const void *from)
{
    const unsigned char *at = from;

    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static inline uint64_t kiln__le64_read(const void *from)
{
    const unsigned char *at = from;

    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
           (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 |
           (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
}

#endif /* KILN_BASE_DATA_ENDIAN_H */
