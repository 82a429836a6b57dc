/* lower_prove_range.c - arithmetic on ranges. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 * Constants are folded here, for two reasons: LLVM's builder does not fold
 * calls of intrinsics, and a check that can never be proved must be seen while
 * the kernel is compiled.
 */

static int constant(LLVMValueRef value, int64_t *out)
{
    if (LLVMIsAConstantInt(value) == NULL)
        return 0;
    *out = LLVMConstIntGetSExtValue(value);
    return 1;
}

LLVMValueRef kiln__prove_number(const kiln__prover *p, int64_t value)
{
    return LLVMConstInt(p->l->i64, (uint64_t)value, 1);
}

LLVMValueRef kiln__prove_truth(const kiln__prover *p, int value)
{
    return LLVMConstInt(p->i1, value != 0, 0);
}

int kiln__prove_is(LLVMValueRef value, int truth)
{
    return LLVMIsAConstantInt(value) != NULL &&
           (LLVMConstIntGetZExtValue(value) != 0) == truth;
}

LLVMValueRef kiln__prove_and(kiln__prover *p, LLVMValueRef a, LLVMValueRef b)
{
    if (a == b || kiln__prove_is(a, 0) || kiln__prove_is(b, 1))
        return a;
    if (kiln__prove_is(b, 0) || kiln__prove_is(a, 1))
        return b;
    return LLVMBuildAnd(p->l->builder, a, b, "");
}

LLVMValueRef kiln__prove_or(kiln__prover *p, LLVMValueRef a, LLVMValueRef b)
{
    if (a == b || kiln__prove_is(a, 1) || kiln__prove_is(b, 0))
        return a;
    if (kiln__prove_is(b, 1) || kiln__prove_is(a, 0))
        return b;
    return LLVMBuildOr(p->l->builder, a, b, "");
}

LLVMValueRef kiln__prove_not(kiln__prover *p, LLVMValueRef a)
{
    return LLVMBuildNot(p->l->builder, a, "");
}

LLVMValueRef kiln__prove_select(kiln__prover *p, LLVMValueRef condition,
                                LLVMValueRef a, LLVMValueRef b)
{
    if (a == b || kiln__prove_is(condition, 1))
        return a;
    if (kiln__prove_is(condition, 0))
        return b;
    return LLVMBuildSelect(p->l->builder, condition, a, b, "");
}

static LLVMValueRef is(kiln__prover *p, LLVMIntPredicate predicate,
                       LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(p->l->builder, predicate, a, b, "");
}

LLVMValueRef kiln__prove_plus(kiln__prover *p, LLVMValueRef a, int64_t b)
{
    return LLVMBuildAdd(p->l->builder, a, kiln__prove_number(p, b), "");
}

static LLVMValueRef least(kiln__prover *p, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef both[2] = {a, b};
    int64_t x, y = INT64_MIN;

    if (a == b || (constant(b, &y) && y == INT64_MAX))
        return a;
    if (constant(a, &x) && (x == INT64_MAX || constant(b, &y)))
        return x < y ? a : b;
    return kiln__lower_intrinsic(p->l, "llvm.smin", p->l->i64, both, 2);
}

static LLVMValueRef greatest(kiln__prover *p, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef both[2] = {a, b};
    int64_t x, y = INT64_MAX;

    if (a == b || (constant(b, &y) && y == INT64_MIN))
        return a;
    if (constant(a, &x) && (x == INT64_MIN || constant(b, &y)))
        return x > y ? a : b;
    return kiln__lower_intrinsic(p->l, "llvm.smax", p->l->i64, both, 2);
}

/* ---- whole ranges ---- */

int kiln__prove_bounds(int32_t kind, int64_t *low, int64_t *high)
{
    const uint32_t width = kiln__kind_width(kind);
    const int is_signed = kiln__kind_is_signed(kind);

    if (!kiln__kind_is_integer(kind) || kind == KILN_TYPE_U64)
        return 0;
    *high = INT64_MAX >> (64 - width - !is_signed);
    *low = is_signed ? -*high - 1 : 0;
    return 1;
}

int kiln__range_is_point(kiln__range range)
{
    return range.low != NULL && range.low == range.high;
}

int kiln__range_same(kiln__range a, kiln__range b)
{
    return a.low == b.low && a.high == b.high;
}

static int is_truth(const kiln__prover *p, kiln__range range)
{
    return LLVMTypeOf(range.low) == p->i1;
}

kiln__range kiln__range_full(const kiln__prover *p, int32_t kind)
{
    int64_t low, high;

    if (kind == KILN_TYPE_BOOL)
        return (kiln__range){kiln__prove_truth(p, 0), kiln__prove_truth(p, 1)};
    if (!kiln__prove_bounds(kind, &low, &high))
        return (kiln__range){NULL, NULL};
    return (kiln__range){kiln__prove_number(p, low),
                         kiln__prove_number(p, high)};
}

kiln__range kiln__range_point(LLVMValueRef value)
{
    return (kiln__range){value, value};
}

kiln__range kiln__range_join(kiln__prover *p, kiln__range a, kiln__range b)
{
    if (a.low == NULL || b.low == NULL)
        return (kiln__range){NULL, NULL};
    if (kiln__range_same(a, b))
        return a;
    if (is_truth(p, a))
        return (kiln__range){kiln__prove_and(p, a.low, b.low),
                             kiln__prove_or(p, a.high, b.high)};
    return (kiln__range){least(p, a.low, b.low), greatest(p, a.high, b.high)};
}

kiln__range kiln__range_meet(kiln__prover *p, kiln__range a, kiln__range b)
{
    if (a.low == NULL || b.low == NULL)
        return a;
    if (is_truth(p, a))
        return (kiln__range){kiln__prove_or(p, a.low, b.low),
                             kiln__prove_and(p, a.high, b.high)};
    return (kiln__range){greatest(p, a.low, b.low), least(p, a.high, b.high)};
}

kiln__range kiln__range_select(kiln__prover *p, LLVMValueRef condition,
                               kiln__range a, kiln__range b)
{
    kiln__range out;

    if (a.low == NULL || b.low == NULL)
        return (kiln__range){NULL, NULL};
    out.low = kiln__prove_select(p, condition, a.low, b.low);
    if (kiln__range_is_point(a) && kiln__range_is_point(b))
        return kiln__range_point(out.low);
    out.high = kiln__prove_select(p, condition, a.high, b.high);
    return out;
}

/* ---- comparisons ---- */

static kiln__range opposite(kiln__prover *p, kiln__range a)
{
    const LLVMValueRef low = kiln__prove_not(p, a.high);

    if (kiln__range_is_point(a))
        return kiln__range_point(low);
    return (kiln__range){low, kiln__prove_not(p, a.low)};
}

/* They are certainly equal only when both are one value. */
static kiln__range equals(kiln__prover *p, kiln__range a, kiln__range b)
{
    return (kiln__range){
        kiln__prove_and(p, is(p, LLVMIntSGE, a.low, b.high),
                        is(p, LLVMIntSLE, a.high, b.low)),
        kiln__prove_and(p, is(p, LLVMIntSLE, a.low, b.high),
                        is(p, LLVMIntSGE, a.high, b.low)),
    };
}

static kiln__range compare_points(kiln__prover *p, uint32_t op, LLVMValueRef a,
                                  LLVMValueRef b)
{
    static const LLVMIntPredicate predicates[] = {
        LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};

    return kiln__range_point(is(p, predicates[op - KILN__IR_EQ], a, b));
}

kiln__range kiln__range_compare(kiln__prover *p, uint32_t op, kiln__range a,
                                kiln__range b)
{
    /* Bools are compared only for equality. */
    if (a.low == NULL || b.low == NULL)
        return kiln__range_full(p, KILN_TYPE_BOOL);
    if (kiln__range_is_point(a) && kiln__range_is_point(b))
        return is_truth(p, a) && op != KILN__IR_EQ && op != KILN__IR_NE
                   ? kiln__range_full(p, KILN_TYPE_BOOL)
                   : compare_points(p, op, a.low, b.low);
    if (is_truth(p, a))
        return kiln__range_full(p, KILN_TYPE_BOOL);
    switch (op) {
    case KILN__IR_EQ:
        return equals(p, a, b);
    case KILN__IR_NE:
        return opposite(p, equals(p, a, b));
    case KILN__IR_LT:
        return (kiln__range){is(p, LLVMIntSLT, a.high, b.low),
                             is(p, LLVMIntSLT, a.low, b.high)};
    case KILN__IR_LE:
        return (kiln__range){is(p, LLVMIntSLE, a.high, b.low),
                             is(p, LLVMIntSLE, a.low, b.high)};
    case KILN__IR_GT:
        return kiln__range_compare(p, KILN__IR_LT, b, a);
    default: /* GE */
        return kiln__range_compare(p, KILN__IR_LE, b, a);
    }
}

/* ---- arithmetic ---- */

/* Adds, subtracts or multiplies, and adds overflows of i64 to `bad`. */
static LLVMValueRef apply_checked(kiln__prover *p, uint32_t op, LLVMValueRef a,
                                  LLVMValueRef b, LLVMValueRef *bad)
{
    const char *name = op == KILN__IR_ADD   ? "llvm.sadd.with.overflow"
                       : op == KILN__IR_SUB ? "llvm.ssub.with.overflow"
                                            : "llvm.smul.with.overflow";
    LLVMValueRef both[2] = {a, b}, result;
    int64_t x, y, z;
    int overflows;

    if (constant(b, &y) && y == (op == KILN__IR_MUL))
        return a;
    if (constant(a, &x) && constant(b, &y)) {
        overflows = op == KILN__IR_ADD   ? __builtin_add_overflow(x, y, &z)
                    : op == KILN__IR_SUB ? __builtin_sub_overflow(x, y, &z)
                                         : __builtin_mul_overflow(x, y, &z);
        *bad = kiln__prove_or(p, *bad, kiln__prove_truth(p, overflows));
        return kiln__prove_number(p, z);
    }
    result = kiln__lower_intrinsic(p->l, name, p->l->i64, both, 2);
    *bad = kiln__prove_or(p, *bad,
                          LLVMBuildExtractValue(p->l->builder, result, 1, ""));
    return LLVMBuildExtractValue(p->l->builder, result, 0, "");
}

/* Returns the range; the full one where it is `bad` or exceeds the kind. */
static kiln__range settle_range(kiln__prover *p, int32_t kind, kiln__range a,
                                LLVMValueRef bad)
{
    const kiln__range full = kiln__range_full(p, kind);

    if (full.low == NULL)
        return full;
    if (kind != KILN_TYPE_I64) {
        bad = kiln__prove_or(p, bad, is(p, LLVMIntSLT, a.low, full.low));
        bad = kiln__prove_or(p, bad, is(p, LLVMIntSGT, a.high, full.high));
    }
    return (kiln__range){kiln__prove_select(p, bad, full.low, a.low),
                         kiln__prove_select(p, bad, full.high, a.high)};
}

kiln__range kiln__range_fit(kiln__prover *p, kiln__range a, int32_t kind)
{
    kiln__range all;

    if (a.low == NULL || (kind == KILN_TYPE_BOOL && !is_truth(p, a)))
        return kiln__range_full(p, kind);
    if (kind == KILN_TYPE_BOOL)
        return a;
    if (is_truth(p, a)) {
        all.low = LLVMBuildZExt(p->l->builder, a.low, p->l->i64, "");
        all.high = kiln__range_is_point(a)
                       ? all.low
                       : LLVMBuildZExt(p->l->builder, a.high, p->l->i64, "");
        a = all;
    }
    if (kiln__range_full(p, kind).low == NULL)
        return kiln__range_full(p, kind);
    if (!kiln__range_is_point(a) || kind == KILN_TYPE_I64)
        return settle_range(p, kind, a, kiln__prove_truth(p, 0));
    /* A single value wraps to what the program would compute. */
    a.low = LLVMBuildIntCast2(p->l->builder, a.low,
                              kiln__job_scalar(p->l->job, kind), 1, "");
    a.low = LLVMBuildIntCast2(p->l->builder, a.low, p->l->i64,
                              kiln__kind_is_signed(kind), "");
    return kiln__range_point(a.low);
}

kiln__range kiln__range_clamp(kiln__prover *p, kiln__range a, int32_t kind)
{
    const kiln__range full = kiln__range_full(p, kind);
    const int is_point = kiln__range_is_point(a);

    if (a.low == NULL || full.low == NULL || is_truth(p, a))
        return full;
    a.low = greatest(p, full.low, least(p, full.high, a.low));
    a.high =
        is_point ? a.low : greatest(p, full.low, least(p, full.high, a.high));
    return a;
}

/* Calls apply_checked() if the operation may overflow at all. */
static LLVMValueRef apply(kiln__prover *p, const kiln__prove_symbol *s,
                          uint32_t op, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef *bad)
{
    if (!s->exact)
        return apply_checked(p, op, a, b, bad);
    if (op == KILN__IR_ADD)
        return LLVMBuildNSWAdd(p->l->builder, a, b, "");
    if (op == KILN__IR_SUB)
        return LLVMBuildNSWSub(p->l->builder, a, b, "");
    return LLVMBuildNSWMul(p->l->builder, a, b, "");
}

static kiln__range multiply(kiln__prover *p, const kiln__prove_symbol *s,
                            kiln__range a, kiln__range b)
{
    LLVMValueRef bad = kiln__prove_truth(p, 0);
    LLVMValueRef parts[4];
    kiln__range out;
    int64_t factor;

    parts[0] = apply(p, s, KILN__IR_MUL, a.low, b.low, &bad);
    parts[1] = apply(p, s, KILN__IR_MUL, a.high, b.low, &bad);
    if (kiln__range_is_point(b) && constant(b.low, &factor) && factor >= 0) {
        out = (kiln__range){parts[0], parts[1]};
        return s->exact ? out : settle_range(p, s->kind, out, bad);
    }
    out.low = least(p, parts[0], parts[1]);
    out.high = greatest(p, parts[0], parts[1]);
    if (!kiln__range_is_point(b)) {
        parts[2] = apply(p, s, KILN__IR_MUL, a.low, b.high, &bad);
        parts[3] = apply(p, s, KILN__IR_MUL, a.high, b.high, &bad);
        out.low = least(p, out.low, least(p, parts[2], parts[3]));
        out.high = greatest(p, out.high, greatest(p, parts[2], parts[3]));
    }
    return s->exact ? out : settle_range(p, s->kind, out, bad);
}

static kiln__range linear(kiln__prover *p, const kiln__prove_symbol *s,
                          kiln__range a, kiln__range b)
{
    const int is_add = s->op == KILN__IR_ADD;
    LLVMValueRef bad = kiln__prove_truth(p, 0);
    kiln__range out;

    out.low = apply(p, s, s->op, a.low, is_add ? b.low : b.high, &bad);
    out.high = apply(p, s, s->op, a.high, is_add ? b.high : b.low, &bad);
    return s->exact ? out : settle_range(p, s->kind, out, bad);
}

LLVMValueRef kiln__range_can_move(kiln__prover *p, const kiln__prove_symbol *s,
                                  kiln__range x, LLVMValueRef by)
{
    const kiln__range full = kiln__range_full(p, s->kind);
    LLVMValueRef bad = kiln__prove_truth(p, 0), low, high;

    if (s->exact)
        return kiln__prove_truth(p, 1);
    low = apply_checked(p, s->op, x.low, by, &bad);
    high = apply_checked(p, s->op, x.high, by, &bad);
    if (s->kind != KILN_TYPE_I64) {
        bad = kiln__prove_or(p, bad, is(p, LLVMIntSLT, low, full.low));
        bad = kiln__prove_or(p, bad, is(p, LLVMIntSGT, high, full.high));
    }
    return kiln__prove_not(p, bad);
}

kiln__range kiln__range_inside(kiln__prover *p, kiln__range index,
                               kiln__range size, int64_t least_index)
{
    kiln__range out = kiln__range_full(p, KILN_TYPE_BOOL);
    int64_t most;

    if (index.low == NULL || size.low == NULL)
        return out;
    if (constant(index.high, &most) && most >= INT32_MAX)
        return (kiln__range){out.low, out.low}; /* any number, all but */
    out.low = is(p, LLVMIntSLT, index.high, size.low);
    if (least_index < 0)
        out.low = kiln__prove_and(
            p, out.low, is(p, LLVMIntSGE, index.low, kiln__prove_number(p, 0)));
    return out;
}

/* Both are the same for all items, so the result is exact: it wraps as the
   program's does. */
static kiln__range of_points(kiln__prover *p, const kiln__prove_symbol *s,
                             LLVMValueRef a, LLVMValueRef b)
{
    const LLVMBuilderRef builder = p->l->builder;
    LLVMValueRef value;

    switch (s->op) {
    case KILN__IR_ADD:
        value = LLVMBuildAdd(builder, a, b, "");
        break;
    case KILN__IR_SUB:
        value = LLVMBuildSub(builder, a, b, "");
        break;
    case KILN__IR_MUL:
        value = LLVMBuildMul(builder, a, b, "");
        break;
    case KILN__IR_AND:
        value = LLVMBuildAnd(builder, a, b, "");
        break;
    case KILN__IR_OR:
        value = LLVMBuildOr(builder, a, b, "");
        break;
    default: /* XOR */
        value = LLVMBuildXor(builder, a, b, "");
        break;
    }
    return s->exact ? kiln__range_point(value)
                    : kiln__range_fit(p, kiln__range_point(value), s->kind);
}

static kiln__range shift_left(kiln__prover *p, const kiln__prove_symbol *s,
                              kiln__range a, kiln__range b)
{
    const int64_t mask = (int64_t)kiln__kind_width(s->kind) - 1;
    int64_t count;

    if (!kiln__range_is_point(b) || !constant(b.low, &count) ||
        (count & mask) == 63)
        return kiln__range_full(p, s->kind);
    return multiply(
        p, s, a,
        kiln__range_point(kiln__prove_number(p, (int64_t)1 << (count & mask))));
}

static kiln__range of_truths(kiln__prover *p, uint32_t op, kiln__range a,
                             kiln__range b)
{
    kiln__range out;

    switch (op) {
    case KILN__IR_AND:
    case KILN__IR_ANDALSO:
        out.low = kiln__prove_and(p, a.low, b.low);
        out.high = kiln__prove_and(p, a.high, b.high);
        break;
    case KILN__IR_OR:
    case KILN__IR_ORELSE:
        out.low = kiln__prove_or(p, a.low, b.low);
        out.high = kiln__prove_or(p, a.high, b.high);
        break;
    default: /* XOR */
        if (!kiln__range_is_point(a) || !kiln__range_is_point(b))
            return kiln__range_full(p, KILN_TYPE_BOOL);
        return kiln__range_point(LLVMBuildXor(p->l->builder, a.low, b.low, ""));
    }
    if (kiln__range_is_point(a) && kiln__range_is_point(b))
        out.high = out.low;
    return out;
}

static kiln__range of_integers(kiln__prover *p, const kiln__prove_symbol *s,
                               kiln__range a, kiln__range b)
{
    switch (s->op) {
    case KILN__IR_ADD:
    case KILN__IR_SUB:
        return linear(p, s, a, b);
    case KILN__IR_MUL:
        return kiln__range_is_point(a) ? multiply(p, s, b, a)
                                       : multiply(p, s, a, b);
    case KILN__IR_IDIV:
        return kiln__range_divide(p, s->kind, a, b);
    case KILN__IR_IREM:
        return kiln__range_remainder(p, s->kind, a, b);
    case KILN__IR_AND:
        return kiln__range_and(p, s->kind, a, b);
    case KILN__IR_SHL:
        return shift_left(p, s, a, b);
    case KILN__IR_SHR:
        return kiln__range_shift_right(p, s->kind, a, b);
    case KILN__IR_MATH:
        return s->imm == KILN__MATH_MIN
                   ? (kiln__range){least(p, a.low, b.low),
                                   least(p, a.high, b.high)}
                   : (kiln__range){greatest(p, a.low, b.low),
                                   greatest(p, a.high, b.high)};
    default: /* OR, XOR */
        return kiln__range_full(p, s->kind);
    }
}

static int is_exact(uint32_t op)
{
    return op == KILN__IR_ADD || op == KILN__IR_SUB || op == KILN__IR_MUL ||
           op == KILN__IR_AND || op == KILN__IR_OR || op == KILN__IR_XOR;
}

kiln__range kiln__range_binary(kiln__prover *p, const kiln__prove_symbol *s,
                               kiln__range a, kiln__range b)
{
    kiln__range out;

    if (a.low == NULL || b.low == NULL ||
        kiln__range_full(p, s->kind).low == NULL)
        return kiln__range_full(p, s->kind);
    if (is_truth(p, a))
        return of_truths(p, s->op, a, b);
    if (!kiln__range_is_point(a) || !kiln__range_is_point(b))
        return of_integers(p, s, a, b);
    if (is_exact(s->op))
        return of_points(p, s, a.low, b.low);
    out = of_integers(p, s, a, b);
    if (s->op == KILN__IR_MATH) /* twice the same operand */
        out.high = out.low;
    return out;
}
