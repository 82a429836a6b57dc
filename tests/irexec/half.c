/* half.c - conversions of f16 and bf16, which LLVM calls as the compiler's
 * library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <string.h>

#include <llvm-c/Support.h>

#include "engine.h"

/*
 * An f16 is passed in the low 16 bits of the register that an f32 is passed
 * in, so here it is an f32 of these bits: not every compiler has the type.
 */

static float carry(uint16_t bits)
{
    const uint32_t word = bits;
    float carrier;

    memcpy(&carrier, &word, sizeof carrier);
    return carrier;
}

/* Rounded once, ties to even. */
static uint16_t half_of(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double a = fabs(x);
    int exponent;

    if (isnan(x))
        return (uint16_t)(sign | 0x7e00);
    if (a >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x1p-14)
        return (uint16_t)(sign + (uint32_t)rint(ldexp(a, 24)));
    (void)frexp(a, &exponent);
    /* 1024 to 2048: the last of these is the next exponent's 1024. */
    return (uint16_t)(sign + ((uint32_t)(exponent + 14) << 10) +
                      (uint32_t)rint(ldexp(a, 11 - exponent)) - 1024);
}

static float extend(float carrier)
{
    uint32_t bits;
    float value;

    memcpy(&bits, &carrier, sizeof bits);
    if ((bits >> 10 & 31) == 31)
        value = (bits & 1023) != 0 ? NAN : INFINITY;
    else if ((bits >> 10 & 31) == 0)
        value = ldexpf((float)(bits & 1023), -24);
    else
        value =
            ldexpf((float)(1024 + (bits & 1023)), (int)(bits >> 10 & 31) - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static float narrow_float(float x)
{
    return carry(half_of((double)x));
}

static float narrow_double(double x)
{
    return carry(half_of(x));
}

/* A bf16 is passed in the same way. Ties go to even; a NaN is one of all ones,
   as the hardware makes it. */
static float narrow_to_bf16(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return carry(0x7fff);
    return carry((uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}

void add_half_functions(void)
{
    LLVMAddSymbol("__extendhfsf2", address_of((any_function)extend));
    LLVMAddSymbol("__truncsfhf2", address_of((any_function)narrow_float));
    LLVMAddSymbol("__truncdfhf2", address_of((any_function)narrow_double));
    LLVMAddSymbol("__truncsfbf2", address_of((any_function)narrow_to_bf16));
}
