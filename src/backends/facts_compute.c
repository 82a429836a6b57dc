/* facts_compute.c - single instructions of facts: what they compute. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/facts_plan.h"
#include "base/data/endian.h"

/*
 * No instruction fails: a division by zero gives zero, and a shift by too much,
 * too.
 */

kiln__fact kiln__fact_at(const void *facts, size_t index)
{
    const uint8_t *at = (const uint8_t *)facts + index * KILN__FACT_BYTES;

    return (kiln__fact){at[0], at[1], kiln__le16_read(at + 2),
                        kiln__le16_read(at + 4), kiln__le16_read(at + 6)};
}

uint32_t kiln__fact_immediate(const kiln__fact *f)
{
    return f->b | (uint32_t)f->c << 16;
}

/* ---- checking ---- */

unsigned kiln__fact_operands(unsigned operation)
{
    static const uint8_t counts[] = {
#define OPERANDS(name, operands) operands,
        KILN__FACT_MAP(OPERANDS)
#undef OPERANDS
    };

    return counts[operation];
}

static int fits(const kiln__fact *f, size_t index, uint32_t argument_bytes)
{
    const unsigned count =
        f->operation < KILN__FACT_COUNT ? kiln__fact_operands(f->operation) : 0;

    if (f->operation >= KILN__FACT_COUNT || f->width == 0 || f->width > 64 ||
        (count > 0 && f->a >= index) || (count > 1 && f->b >= index) ||
        (count > 2 && f->c >= index))
        return 0;
    switch (f->operation) {
    case KILN__FACT_WORD:
        return (f->a == 1 || f->a == 2 || f->a == 4 || f->a == 8) &&
               f->a <= argument_bytes &&
               kiln__fact_immediate(f) <= argument_bytes - f->a;
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
        const kiln__fact f = kiln__fact_at(facts, i);

        if (!fits(&f, i, argument_bytes))
            return 0;
    }
    return 1;
}

/* ---- computing ---- */

static int64_t with_sign(uint64_t value, unsigned width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

static uint64_t cut(uint64_t value, unsigned width)
{
    return value & (UINT64_MAX >> (64 - width));
}

/* Returns whether the operation that is asked about overflows its width. */
static int wraps(unsigned operation, unsigned width, uint64_t a, uint64_t b)
{
    const int64_t x = with_sign(a, width), y = with_sign(b, width);
    uint64_t number = 0;
    int64_t with = 0;
    int overflows;

    switch (operation) {
    case KILN__FACT_UADD_WRAPS:
        overflows = __builtin_add_overflow(a, b, &number);
        break;
    case KILN__FACT_USUB_WRAPS:
        overflows = __builtin_sub_overflow(a, b, &number);
        break;
    case KILN__FACT_UMUL_WRAPS:
        overflows = __builtin_mul_overflow(a, b, &number);
        break;
    case KILN__FACT_SADD_WRAPS:
        overflows = __builtin_add_overflow(x, y, &with);
        break;
    case KILN__FACT_SSUB_WRAPS:
        overflows = __builtin_sub_overflow(x, y, &with);
        break;
    default:
        overflows = __builtin_mul_overflow(x, y, &with);
        break;
    }
    return overflows || number != cut(number, width) ||
           with != with_sign((uint64_t)with, width);
}

static uint64_t divide(unsigned operation, uint64_t a, uint64_t b)
{
    if (b == 0)
        return 0;
    return operation == KILN__FACT_UDIV ? a / b : a % b;
}

/* The numbers have lost what was beyond their width, so `b` may be 0 where the
   operand was not. */
static uint64_t divide_signed(unsigned operation, int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (b == -1) /* the least number has no counterpart */
        return operation == KILN__FACT_SDIV ? 0 - (uint64_t)a : 0;
    return (uint64_t)(operation == KILN__FACT_SDIV ? a / b : a % b);
}

static uint64_t shift(unsigned operation, unsigned width, uint64_t a,
                      uint64_t by)
{
    if (by >= width)
        return 0;
    switch (operation) {
    case KILN__FACT_SHL:
        return a << by;
    case KILN__FACT_LSHR:
        return a >> by;
    default:
        return (uint64_t)(with_sign(a, width) >> by);
    }
}

/* An operation on signed numbers. */
static uint64_t signed_result(unsigned operation, int64_t a, int64_t b)
{
    switch (operation) {
    case KILN__FACT_SMIN:
        return (uint64_t)(a < b ? a : b);
    case KILN__FACT_SMAX:
        return (uint64_t)(a > b ? a : b);
    case KILN__FACT_SLT:
        return a < b;
    default:
        return a <= b;
    }
}

static uint64_t simple(unsigned operation, uint64_t a, uint64_t b)
{
    switch (operation) {
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
    default:
        return a <= b;
    }
}

static uint64_t result(unsigned operation, unsigned width,
                       const uint64_t operands[3])
{
    const uint64_t a = operands[0], b = operands[1];

    switch (operation) {
    case KILN__FACT_HIGH:
        return (uint32_t)a | b << 32;
    case KILN__FACT_SELECT:
        return a != 0 ? b : operands[2];
    case KILN__FACT_CUT:
        return a;
    case KILN__FACT_EXTEND:
        return (uint64_t)with_sign(a, (unsigned)b);
    case KILN__FACT_SHL:
    case KILN__FACT_LSHR:
    case KILN__FACT_ASHR:
        return shift(operation, width, a, b);
    case KILN__FACT_UDIV:
    case KILN__FACT_UREM:
        return divide(operation, a, b);
    case KILN__FACT_SDIV:
    case KILN__FACT_SREM:
        return divide_signed(operation, with_sign(a, width),
                             with_sign(b, width));
    case KILN__FACT_SMIN:
    case KILN__FACT_SMAX:
    case KILN__FACT_SLT:
    case KILN__FACT_SLE:
        return signed_result(operation, with_sign(a, width),
                             with_sign(b, width));
    default:
        return operation >= KILN__FACT_UADD_WRAPS &&
                       operation <= KILN__FACT_SMUL_WRAPS
                   ? (uint64_t)wraps(operation, width, a, b)
                   : simple(operation, a, b);
    }
}

uint64_t kiln__fact_compute(unsigned operation, unsigned width,
                            const uint64_t operands[3])
{
    return cut(result(operation, width, operands), width);
}
