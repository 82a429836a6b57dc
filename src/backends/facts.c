/* facts.c - evaluates the facts that a kernel's faster entry needs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/facts.h"

#include <string.h>

#include "base/data/endian.h"

/*
 * A launch evaluates some thirty instructions, a nanosecond each. Nothing is
 * allocated, and no program fails: a division by zero gives zero, and a shift
 * by too much, too.
 */

typedef struct fact {
    uint8_t operation;
    uint8_t width;
    uint16_t a, b, c;
} fact;

static fact fact_at(const void *facts, size_t index)
{
    const uint8_t *at = (const uint8_t *)facts + index * KILN__FACT_BYTES;

    return (fact){at[0], at[1], kiln__le16_read(at + 2),
                  kiln__le16_read(at + 4), kiln__le16_read(at + 6)};
}

static uint32_t immediate(const fact *f)
{
    return f->b | (uint32_t)f->c << 16;
}

/* ---- checking ---- */

static unsigned operands_of(unsigned operation)
{
    static const uint8_t counts[] = {
#define OPERANDS(name, operands) operands,
        KILN__FACT_MAP(OPERANDS)
#undef OPERANDS
    };

    return counts[operation];
}

static int fits(const fact *f, size_t index, uint32_t argument_bytes)
{
    const unsigned count =
        f->operation < KILN__FACT_COUNT ? operands_of(f->operation) : 0;

    if (f->operation >= KILN__FACT_COUNT || f->width == 0 || f->width > 64 ||
        (count > 0 && f->a >= index) || (count > 1 && f->b >= index) ||
        (count > 2 && f->c >= index))
        return 0;
    switch (f->operation) {
    case KILN__FACT_WORD:
        return (f->a == 1 || f->a == 2 || f->a == 4 || f->a == 8) &&
               f->a <= argument_bytes && immediate(f) <= argument_bytes - f->a;
    case KILN__FACT_SHAPE:
        return f->a < KILN__FACT_SHAPES;
    case KILN__FACT_EXTEND:
        return f->b > 0 && f->b <= 64;
    default:
        return 1;
    }
}

int kiln__facts_fit(const void *facts, size_t size, uint32_t argument_bytes)
{
    const size_t count = size / KILN__FACT_BYTES;

    if (count == 0 || count > KILN__FACTS_MOST || size % KILN__FACT_BYTES != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const fact f = fact_at(facts, i);

        if (!fits(&f, i, argument_bytes))
            return 0;
    }
    return 1;
}

/* ---- evaluating ---- */

static int64_t with_sign(uint64_t value, unsigned width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

static uint64_t cut(uint64_t value, unsigned width)
{
    return value & (UINT64_MAX >> (64 - width));
}

static uint64_t word(const void *arguments, const fact *f)
{
    const uint8_t *at = (const uint8_t *)arguments + immediate(f);
    uint64_t value = 0;

    memcpy(&value, at, f->a); /* hosts are little-endian, as devices are */
    return value;
}

static int wraps_unsigned(const fact *f, uint64_t a, uint64_t b)
{
    uint64_t result;
    int wraps;

    switch (f->operation) {
    case KILN__FACT_UADD_WRAPS:
        wraps = __builtin_add_overflow(a, b, &result);
        break;
    case KILN__FACT_USUB_WRAPS:
        return a < b;
    default:
        wraps = __builtin_mul_overflow(a, b, &result);
        break;
    }
    return wraps || result != cut(result, f->width);
}

static int wraps_signed(const fact *f, int64_t a, int64_t b)
{
    int64_t result;
    int wraps;

    switch (f->operation) {
    case KILN__FACT_SADD_WRAPS:
        wraps = __builtin_add_overflow(a, b, &result);
        break;
    case KILN__FACT_SSUB_WRAPS:
        wraps = __builtin_sub_overflow(a, b, &result);
        break;
    default:
        wraps = __builtin_mul_overflow(a, b, &result);
        break;
    }
    return wraps || result != with_sign((uint64_t)result, f->width);
}

static uint64_t divide(const fact *f, uint64_t a, uint64_t b)
{
    const int64_t x = with_sign(a, f->width), y = with_sign(b, f->width);

    if (b == 0)
        return 0;
    switch (f->operation) {
    case KILN__FACT_UDIV:
        return a / b;
    case KILN__FACT_UREM:
        return a % b;
    case KILN__FACT_SDIV:
        return y == -1 ? 0 - a : (uint64_t)(x / y);
    default:
        return y == -1 ? 0 : (uint64_t)(x % y);
    }
}

static uint64_t shift(const fact *f, uint64_t a, uint64_t by)
{
    if (by >= f->width)
        return 0;
    switch (f->operation) {
    case KILN__FACT_SHL:
        return a << by;
    case KILN__FACT_LSHR:
        return a >> by;
    default:
        return (uint64_t)(with_sign(a, f->width) >> by);
    }
}

/* An operation on signed numbers. */
static uint64_t signed_result(const fact *f, int64_t a, int64_t b)
{
    switch (f->operation) {
    case KILN__FACT_SMIN:
        return (uint64_t)(a < b ? a : b);
    case KILN__FACT_SMAX:
        return (uint64_t)(a > b ? a : b);
    case KILN__FACT_SLT:
        return a < b;
    case KILN__FACT_SLE:
        return a <= b;
    default:
        return (uint64_t)wraps_signed(f, a, b);
    }
}

static uint64_t binary(const fact *f, uint64_t a, uint64_t b)
{
    switch (f->operation) {
    case KILN__FACT_ADD:
        return a + b;
    case KILN__FACT_SUB:
        return a - b;
    case KILN__FACT_MUL:
        return a * b;
    case KILN__FACT_AND:
        return a & b;
    case KILN__FACT_OR:
        return a | b;
    case KILN__FACT_XOR:
        return a ^ b;
    case KILN__FACT_SHL:
    case KILN__FACT_LSHR:
    case KILN__FACT_ASHR:
        return shift(f, a, b);
    case KILN__FACT_UDIV:
    case KILN__FACT_UREM:
    case KILN__FACT_SDIV:
    case KILN__FACT_SREM:
        return divide(f, a, b);
    case KILN__FACT_UMIN:
        return a < b ? a : b;
    case KILN__FACT_UMAX:
        return a > b ? a : b;
    case KILN__FACT_EQ:
        return a == b;
    case KILN__FACT_NE:
        return a != b;
    case KILN__FACT_ULT:
        return a < b;
    case KILN__FACT_ULE:
        return a <= b;
    case KILN__FACT_UADD_WRAPS:
    case KILN__FACT_USUB_WRAPS:
    case KILN__FACT_UMUL_WRAPS:
        return (uint64_t)wraps_unsigned(f, a, b);
    default:
        return signed_result(f, with_sign(a, f->width), with_sign(b, f->width));
    }
}

static uint64_t evaluate(const fact *f, const uint64_t *values,
                         const void *arguments, const kiln__facts_shape *shape)
{
    switch (f->operation) {
    case KILN__FACT_CONSTANT:
        return (uint64_t)with_sign(immediate(f), 32);
    case KILN__FACT_HIGH:
        return (uint32_t)values[f->a] | (uint64_t)immediate(f) << 32;
    case KILN__FACT_WORD:
        return word(arguments, f);
    case KILN__FACT_SHAPE:
        return shape->sizes[f->a];
    case KILN__FACT_SELECT:
        return values[f->a] != 0 ? values[f->b] : values[f->c];
    case KILN__FACT_CUT:
        return values[f->a];
    case KILN__FACT_EXTEND:
        return (uint64_t)with_sign(values[f->a], f->b);
    default:
        return binary(f, values[f->a], values[f->b]);
    }
}

int kiln__facts_hold(const void *facts, size_t size, const void *arguments,
                     const kiln__facts_shape *shape)
{
    uint64_t values[KILN__FACTS_MOST];
    const size_t count = size / KILN__FACT_BYTES;

    for (size_t i = 0; i < count; i++) {
        const fact f = fact_at(facts, i);

        values[i] = cut(evaluate(&f, values, arguments, shape), f.width);
    }
    return values[count - 1] == 1;
}
