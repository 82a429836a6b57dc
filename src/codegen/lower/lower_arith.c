/* lower_arith.c - lowers arithmetic, bit operations and comparisons. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include "kiln/error.h"

/* Integers of the language wrap, so nothing here is nsw or nuw. */

int32_t kiln__lower_lane(const kiln__lowering *l, const kiln__ir_node *node)
{
    return kiln__ir_lane_kind(l->ir, node->type);
}

LLVMValueRef kiln__lower_integer(const kiln__lowering *l, int32_t kind,
                                 uint64_t bits)
{
    return LLVMConstInt(kiln__job_scalar(l->job, kind), bits,
                        kiln__kind_is_signed(kind));
}

LLVMValueRef kiln__lower_spread(kiln__lowering *l, LLVMTypeRef like,
                                LLVMValueRef value)
{
    const LLVMTypeRef index = LLVMInt32TypeInContext(l->context);
    LLVMValueRef one;
    LLVMTypeRef mask;

    if (LLVMGetTypeKind(like) != LLVMVectorTypeKind)
        return value;
    one = LLVMBuildInsertElement(l->builder, LLVMGetPoison(like), value,
                                 LLVMConstInt(index, 0, 0), "");
    mask = LLVMVectorType(index, LLVMGetVectorSize(like));
    return LLVMBuildShuffleVector(l->builder, one, LLVMGetPoison(like),
                                  LLVMConstNull(mask), "");
}

int kiln__lower_contracts(const kiln__lowering *l, const kiln__ir_node *node)
{
    if (node->flags & KILN__IR_CONTRACT_ON)
        return 1;
    return (node->flags & KILN__IR_CONTRACT_OFF) ? 0
                                                 : l->job->settings->contract;
}

LLVMValueRef kiln__lower_flags(const kiln__lowering *l,
                               const kiln__ir_node *node, LLVMValueRef value)
{
    LLVMFastMathFlags flags = LLVMFastMathNone;

    if (kiln__lower_contracts(l, node))
        flags |= LLVMFastMathAllowContract;
    if (kiln__lower_is_fast(l, node))
        flags |= LLVMFastMathAllowReassoc | LLVMFastMathAllowContract |
                 LLVMFastMathNoNaNs | LLVMFastMathNoInfs;
    if (flags != LLVMFastMathNone && LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, flags);
    return value;
}

/* ---- division ---- */

/* Returns an i1: any element is true. */
static LLVMValueRef any(kiln__lowering *l, LLVMValueRef truths)
{
    const LLVMTypeRef type = LLVMTypeOf(truths);

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return truths;
    return kiln__lower_intrinsic(l, "llvm.vector.reduce.or", type, &truths, 1);
}

/* Returns the dividend as a value of an exception. */
static LLVMValueRef shown(kiln__lowering *l, const kiln__ir_node *node,
                          LLVMValueRef value)
{
    if (kiln__ir_kind(l->ir, node->type) == KILN_TYPE_VECTOR)
        return LLVMConstInt(l->i64, 0, 0);
    return LLVMBuildIntCast2(l->builder, value, l->i64,
                             kiln__kind_is_signed(kiln__lower_lane(l, node)),
                             "");
}

static void check_divisor(kiln__lowering *l, const kiln__ir_node *node,
                          LLVMValueRef a, LLVMValueRef b)
{
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(b));
    const LLVMValueRef is_zero =
        LLVMBuildICmp(l->builder, LLVMIntEQ, b, zero, "");
    const LLVMValueRef bad = any(l, is_zero);

    kiln__lower_check(
        l, node, bad,
        (kiln__codegen_exception){
            .kind = KILN_EXCEPTION_DIVISION,
            .message = "",
            .values = {shown(l, node, a), LLVMConstInt(l->i64, 0, 0)}});
}

static LLVMValueRef divide_plain(kiln__lowering *l, const kiln__ir_node *node,
                                 LLVMValueRef a, LLVMValueRef b)
{
    const int is_signed = kiln__kind_is_signed(kiln__lower_lane(l, node));

    if (node->op == KILN__IR_IDIV)
        return is_signed ? LLVMBuildSDiv(l->builder, a, b, "")
                         : LLVMBuildUDiv(l->builder, a, b, "");
    return is_signed ? LLVMBuildSRem(l->builder, a, b, "")
                     : LLVMBuildURem(l->builder, a, b, "");
}

/* Divides. LLVM leaves MIN / -1 undefined: a divisor of -1 is replaced by 1,
   and the quotient's sign changed. Remainders are 0 for both. */
static LLVMValueRef divide(kiln__lowering *l, const kiln__ir_node *node,
                           LLVMValueRef a, LLVMValueRef b)
{
    const LLVMTypeRef type = LLVMTypeOf(b);
    const LLVMValueRef minus = LLVMConstAllOnes(type);
    LLVMValueRef is_minus, one, plain;
    int64_t divisor;

    if (kiln__lower_divisor(l->ir, node, &divisor)) {
        if (divisor != -1 || !kiln__kind_is_signed(kiln__lower_lane(l, node)))
            return divide_plain(l, node, a, b);
    } else {
        if (kiln__lower_raises(l, l->f, node))
            check_divisor(l, node, a, b);
        if (!kiln__kind_is_signed(kiln__lower_lane(l, node)))
            return divide_plain(l, node, a, b);
    }
    is_minus = LLVMBuildICmp(l->builder, LLVMIntEQ, b, minus, "");
    one = kiln__lower_spread(
        l, type, kiln__lower_integer(l, kiln__lower_lane(l, node), 1));
    plain = divide_plain(l, node, a,
                         LLVMBuildSelect(l->builder, is_minus, one, b, ""));
    if (node->op != KILN__IR_IDIV)
        return plain;
    return LLVMBuildSelect(l->builder, is_minus,
                           LLVMBuildNeg(l->builder, plain, ""), plain, "");
}

/* ---- other operations ---- */

static LLVMValueRef shift(kiln__lowering *l, const kiln__ir_node *node,
                          LLVMValueRef a, LLVMValueRef b)
{
    const int32_t kind = kiln__lower_lane(l, node);
    const LLVMValueRef mask = kiln__lower_spread(
        l, LLVMTypeOf(b),
        kiln__lower_integer(l, kind, kiln__kind_width(kind) - 1));
    const LLVMValueRef count = LLVMBuildAnd(l->builder, b, mask, "");

    if (node->op == KILN__IR_SHL)
        return LLVMBuildShl(l->builder, a, count, "");
    return kiln__kind_is_signed(kind) ? LLVMBuildAShr(l->builder, a, count, "")
                                      : LLVMBuildLShr(l->builder, a, count, "");
}

static LLVMValueRef divide_floats(kiln__lowering *l, const kiln__ir_node *node,
                                  LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef both[2] = {a, b};
    const LLVMValueRef quick =
        kiln__lower_fast(l, node, KILN__FAST_DIVIDE, both, 2);

    return quick != NULL ? quick
                         : kiln__lower_flags(
                               l, node, LLVMBuildFDiv(l->builder, a, b, ""));
}

static LLVMValueRef of_floats(kiln__lowering *l, const kiln__ir_node *node,
                              LLVMValueRef a, LLVMValueRef b)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_ADD:
        return kiln__lower_flags(l, node, LLVMBuildFAdd(l->builder, a, b, ""));
    case KILN__IR_SUB:
        return kiln__lower_flags(l, node, LLVMBuildFSub(l->builder, a, b, ""));
    case KILN__IR_MUL:
        return kiln__lower_flags(l, node, LLVMBuildFMul(l->builder, a, b, ""));
    default: /* DIV */
        return divide_floats(l, node, a, b);
    }
}

/* In the kind that the table names, and rounded: nothing that the flags of
   `node` allow goes over that. */
static LLVMValueRef rounded(kiln__lowering *l, const kiln__ir_node *node,
                            LLVMValueRef a, LLVMValueRef b)
{
    const int32_t kind = kiln__lower_lane(l, node);
    const int32_t in = kiln__scalar_of(kind)->arithmetic;

    a = kiln__lower_float(l, a, kind, in);
    b = kiln__lower_float(l, b, kind, in);
    return kiln__lower_float(l, of_floats(l, node, a, b), in, kind);
}

static LLVMValueRef negate(kiln__lowering *l, const kiln__ir_node *node,
                           LLVMValueRef a)
{
    const int32_t kind = kiln__lower_lane(l, node);

    if (!kiln__kind_is_float(kind))
        return LLVMBuildNeg(l->builder, a, "");
    return kiln__lower_flags(l, node, kiln__float_negate(l->builder, a, kind));
}

static LLVMValueRef of_integers(kiln__lowering *l, const kiln__ir_node *node,
                                LLVMValueRef a, LLVMValueRef b)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_ADD:
        return LLVMBuildAdd(l->builder, a, b, "");
    case KILN__IR_SUB:
        return LLVMBuildSub(l->builder, a, b, "");
    case KILN__IR_MUL:
        return LLVMBuildMul(l->builder, a, b, "");
    case KILN__IR_AND:
        return LLVMBuildAnd(l->builder, a, b, "");
    case KILN__IR_OR:
        return LLVMBuildOr(l->builder, a, b, "");
    case KILN__IR_XOR:
        return LLVMBuildXor(l->builder, a, b, "");
    case KILN__IR_SHL:
    case KILN__IR_SHR:
        return shift(l, node, a, b);
    default: /* IDIV, IREM */
        return divide(l, node, a, b);
    }
}

LLVMValueRef kiln__lower_arithmetic(kiln__lowering *l,
                                    const kiln__ir_node *node)
{
    const LLVMValueRef a =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    LLVMValueRef b;

    if (node->op == KILN__IR_INVERT)
        return LLVMBuildNot(l->builder, a, "");
    if (node->op == KILN__IR_NEG)
        return negate(l, node, a);
    b = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 1));
    return kiln__kind_is_float(kiln__lower_lane(l, node))
               ? rounded(l, node, a, b)
               : of_integers(l, node, a, b);
}

/* A NaN is unequal to everything, and every other comparison with it is
   false. */
LLVMValueRef kiln__lower_compare(kiln__lowering *l, const kiln__ir_node *node)
{
    static const LLVMIntPredicate signed_ones[] = {
        LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    static const LLVMIntPredicate unsigned_ones[] = {
        LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
    static const LLVMRealPredicate real_ones[] = {LLVMRealOEQ, LLVMRealUNE,
                                                  LLVMRealOLT, LLVMRealOLE,
                                                  LLVMRealOGT, LLVMRealOGE};
    const int32_t kind =
        kiln__lower_lane(l, kiln__ir_operand_at(l->ir, node, 0));
    const size_t which = node->op - (size_t)KILN__IR_EQ;
    const int32_t in = kiln__scalar_of(kind)->arithmetic;
    LLVMValueRef a = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    LLVMValueRef b = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 1));

    if (kiln__kind_is_float(kind)) {
        a = kiln__lower_float(l, a, kind, in);
        b = kiln__lower_float(l, b, kind, in);
        return kiln__lower_flags(
            l, node, LLVMBuildFCmp(l->builder, real_ones[which], a, b, ""));
    }
    return LLVMBuildICmp(l->builder,
                         kiln__kind_is_signed(kind) ? signed_ones[which]
                                                    : unsigned_ones[which],
                         a, b, "");
}
