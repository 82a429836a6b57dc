/* float_bits.h - floats as the bits that stand for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_FLOAT_BITS_H
#define KILN_BASE_DATA_FLOAT_BITS_H

#include <math.h>
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

/* ---- floats of any format ----
 *
 * A format is given by its bits: `significand`, with the leading one, which is
 * not stored, and `exponent`. A double can hold every value of every format
 * here. If 2^(e - 1) <= |v| < 2^e, the value v is a multiple of
 * 2^(e - significand). The smallest e is 2 - bias; smaller (subnormal) values
 * are multiples of the same unit.
 */

static inline int kiln__float_bias_of(int exponent)
{
    return (1 << (exponent - 1)) - 1;
}

/* Returns e, as defined above, of a finite value. */
static inline int kiln__float_scale_of(int exponent, double value)
{
    const int least = 2 - kiln__float_bias_of(exponent);
    int scale;

    (void)frexp(value, &scale);
    return scale < least || fpclassify(value) == FP_ZERO ? least : scale;
}

/* Rounds to the nearest value of a format that is smaller than f64, ties to
   even. */
static inline double kiln__float_nearest(int significand, int exponent,
                                         double value)
{
    double rounded;
    int unit;

    if (!isfinite(value))
        return value;
    unit = kiln__float_scale_of(exponent, value) - significand;
    rounded = ldexp(nearbyint(ldexp(value, -unit)), unit);
    return fabs(rounded) >= ldexp(1, kiln__float_bias_of(exponent) + 1)
               ? copysign(HUGE_VAL, value)
               : rounded;
}

#endif /* KILN_BASE_DATA_FLOAT_BITS_H */
