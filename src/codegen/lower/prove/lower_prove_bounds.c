/* lower_prove_bounds.c - finds bounds of symbols that hold for all
   arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/* These bounds only save instructions: what cannot overflow needs no test for
   overflow. */

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void set(kiln__prove_symbol *s, int64_t least, int64_t greatest)
{
    s->least = greater(s->least, least);
    s->greatest = lesser(s->greatest, greatest);
}

/* Computes both ends of a sum or difference; false where one overflows. */
static int linear(const kiln__prove_symbol *s, const kiln__prove_symbol *a,
                  const kiln__prove_symbol *b, int64_t *low, int64_t *high)
{
    if (s->op == KILN__IR_ADD)
        return !__builtin_add_overflow(a->least, b->least, low) &&
               !__builtin_add_overflow(a->greatest, b->greatest, high);
    return !__builtin_sub_overflow(a->least, b->greatest, low) &&
           !__builtin_sub_overflow(a->greatest, b->least, high);
}

static int product(const kiln__prove_symbol *a, int64_t least, int64_t greatest,
                   int64_t *low, int64_t *high)
{
    int64_t parts[4];

    if (__builtin_mul_overflow(a->least, least, &parts[0]) ||
        __builtin_mul_overflow(a->greatest, least, &parts[1]) ||
        __builtin_mul_overflow(a->least, greatest, &parts[2]) ||
        __builtin_mul_overflow(a->greatest, greatest, &parts[3]))
        return 0;
    *low = *high = parts[0];
    for (int i = 1; i < 4; i++) {
        *low = lesser(*low, parts[i]);
        *high = greater(*high, parts[i]);
    }
    return 1;
}

static int shifted(const kiln__prove_symbol *s, const kiln__prove_symbol *a,
                   const kiln__prove_symbol *b, int64_t *low, int64_t *high)
{
    const int64_t mask = (int64_t)kiln__kind_width(s->kind) - 1;
    const int64_t factor = (int64_t)1 << (b->least & mask & 63) % 63;

    if (b->least != b->greatest || (b->least & mask) == 63)
        return 0;
    return product(a, factor, factor, low, high);
}

static void arithmetic(kiln__prove_symbol *s, const kiln__prove_symbol *a,
                       const kiln__prove_symbol *b)
{
    int64_t low = 0, high = 0;
    int fits;

    if (s->op == KILN__IR_MUL)
        fits = product(a, b->least, b->greatest, &low, &high);
    else if (s->op == KILN__IR_SHL)
        fits = shifted(s, a, b, &low, &high);
    else
        fits = linear(s, a, b, &low, &high);
    if (!fits || low < s->least || high > s->greatest)
        return;
    s->exact = 1;
    set(s, low, high);
}

/* Results are on the dividend's side of zero, or on both. */
static void divided(kiln__prove_symbol *s, const kiln__prove_symbol *a,
                    const kiln__prove_symbol *b)
{
    const int64_t least = lesser(a->least, 0);
    const int64_t greatest = greater(a->greatest, 0);

    if (s->op != KILN__IR_IDIV || b->least >= 0)
        set(s, least, greatest);
    else if (least > INT64_MIN)
        set(s, lesser(least, -greatest), greater(greatest, -least));
}

/* Returns the number with all bits below its highest one. */
static int64_t filled(int64_t number)
{
    for (unsigned by = 1; by < 64; by *= 2)
        number |= number >> by;
    return number;
}

static void combined(kiln__prove_symbol *s, const kiln__prove_symbol *a,
                     const kiln__prove_symbol *b)
{
    switch (s->op) {
    case KILN__IR_ADD:
    case KILN__IR_SUB:
    case KILN__IR_MUL:
    case KILN__IR_SHL:
        arithmetic(s, a, b);
        break;
    case KILN__IR_IDIV:
    case KILN__IR_IREM:
    case KILN__IR_SHR:
        divided(s, a, b);
        break;
    case KILN__IR_AND:
        if (a->least >= 0)
            set(s, 0, a->greatest);
        if (b->least >= 0)
            set(s, 0, b->greatest);
        break;
    case KILN__IR_OR:
    case KILN__IR_XOR:
        if (a->least >= 0 && b->least >= 0)
            set(s, 0, filled(a->greatest | b->greatest));
        break;
    case KILN__IR_MATH:
        if (s->imm == KILN__MATH_MIN)
            set(s, lesser(a->least, b->least),
                lesser(a->greatest, b->greatest));
        else
            set(s, greater(a->least, b->least),
                greater(a->greatest, b->greatest));
        break;
    default:
        break;
    }
}

/* A conversion does not change a value that fits. */
static void converted(kiln__prove_symbol *s, const kiln__prove_symbol *a)
{
    if (s->op == KILN__IR_CHECKED)
        set(s, a->least, a->greatest);
    else if (s->op != KILN__IR_MATH && a->least >= s->least &&
             a->greatest <= s->greatest)
        set(s, a->least, a->greatest);
}

/* ---- numbers that are read ---- */

static int64_t spread_of(const kiln__prove_symbol *s)
{
    return s == NULL || s->has_facts ? 0 : s->spread;
}

static int64_t times(int64_t spread, const kiln__prove_symbol *by)
{
    if (by == NULL || by->op != KILN__IR_CONST || by->imm < 1)
        return spread;
    return spread > INT64_MAX / by->imm ? INT64_MAX : spread * by->imm;
}

/* Numbers of two places are independent, and others are the same for many
   items. */
static int64_t spread(const kiln__prove_symbol *s)
{
    const kiln__prove_symbol *a = s->operands[0], *b = s->operands[1];

    switch (s->op) {
    case KILN__IR_CONVERT:
    case KILN__IR_CHECKED:
        return spread_of(a);
    case KILN__IR_ADD:
    case KILN__IR_SUB:
        return a == b ? 0 : greater(spread_of(a), spread_of(b));
    case KILN__IR_MUL:
        return greater(times(spread_of(a), b), times(spread_of(b), a));
    default:
        return 0;
    }
}

static int has_bounds(const kiln__prove_symbol *s)
{
    int64_t low, high;

    return s != NULL && kiln__prove_bounds(s->kind, &low, &high);
}

static void leaf(kiln__prove_symbol *s)
{
    if (LLVMIsAConstantInt(s->range.low) != NULL)
        s->least = LLVMConstIntGetSExtValue(s->range.low);
    if (LLVMIsAConstantInt(s->range.high) != NULL)
        s->greatest = LLVMConstIntGetSExtValue(s->range.high);
}

void kiln__prove_symbol_bound(kiln__prove_symbol *s)
{
    const kiln__prove_symbol *a = s->operands[0], *b = s->operands[1];

    s->spread = spread(s);
    if (!kiln__prove_bounds(s->kind, &s->least, &s->greatest)) {
        s->least = INT64_MIN;
        s->greatest = INT64_MAX;
        return;
    }
    if (s->op == KILN__IR_CONST)
        s->least = s->greatest = s->imm;
    else if (s->op == KILN__SYMBOL_LEAF && s->range.low != NULL)
        leaf(s);
    else if (s->op == KILN__IR_SELECT && has_bounds(b) &&
             has_bounds(s->operands[2]))
        set(s, lesser(b->least, s->operands[2]->least),
            greater(b->greatest, s->operands[2]->greatest));
    else if (has_bounds(a) && has_bounds(b))
        combined(s, a, b);
    else if (has_bounds(a) && b == NULL)
        converted(s, a);
}
