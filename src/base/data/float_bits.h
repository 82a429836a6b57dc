/* float_bits.h - floats as the bits that stand for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_FLOAT_BITS_H
#define KILN_BASE_DATA_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t kiln__f64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double kiln__f64_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float kiln__f32_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif /* KILN_BASE_DATA_FLOAT_BITS_H */
