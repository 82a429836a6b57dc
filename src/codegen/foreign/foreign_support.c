/* foreign_support.c - which intrinsics LLVM has code for, on which target. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * When a target cannot select instructions for something, LLVM mostly ends the
 * process, and now and then it emits code that means something else. So an
 * intrinsic may be used only if it is known here and the target's list of
 * limits (kiln__foreign_rules) does not exclude it. The lists were found by
 * compiling each intrinsic on each type, alone, with passes and without.
 *
 * Names stand for all types and have no "llvm.".
 */

/* The list is sorted. */
static const char *const known[] = {
    "abs",
    "acos",
    "allow.runtime.check",
    "allow.ubsan.check",
    "annotation",
    "arithmetic.fence",
    "asin",
    "assume",
    "atan",
    "atan2",
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "clmul",
    "convert.from.fp16",
    "convert.to.fp16",
    "copysign",
    "cos",
    "cosh",
    "ctlz",
    "ctpop",
    "cttz",
    "dbg.assign",
    "dbg.declare",
    "dbg.label",
    "dbg.value",
    "donothing",
    "exp",
    "exp10",
    "exp2",
    "expect",
    "expect.with.probability",
    "experimental.constrained.acos",
    "experimental.constrained.asin",
    "experimental.constrained.atan",
    "experimental.constrained.atan2",
    "experimental.constrained.ceil",
    "experimental.constrained.cos",
    "experimental.constrained.cosh",
    "experimental.constrained.exp",
    "experimental.constrained.exp2",
    "experimental.constrained.fadd",
    "experimental.constrained.fcmp",
    "experimental.constrained.fcmps",
    "experimental.constrained.fdiv",
    "experimental.constrained.floor",
    "experimental.constrained.fma",
    "experimental.constrained.fmul",
    "experimental.constrained.fmuladd",
    "experimental.constrained.fpext",
    "experimental.constrained.fptosi",
    "experimental.constrained.fptoui",
    "experimental.constrained.fptrunc",
    "experimental.constrained.frem",
    "experimental.constrained.fsub",
    "experimental.constrained.log",
    "experimental.constrained.log10",
    "experimental.constrained.log2",
    "experimental.constrained.maxnum",
    "experimental.constrained.minnum",
    "experimental.constrained.nearbyint",
    "experimental.constrained.pow",
    "experimental.constrained.rint",
    "experimental.constrained.round",
    "experimental.constrained.roundeven",
    "experimental.constrained.sin",
    "experimental.constrained.sinh",
    "experimental.constrained.sitofp",
    "experimental.constrained.sqrt",
    "experimental.constrained.tan",
    "experimental.constrained.tanh",
    "experimental.constrained.trunc",
    "experimental.constrained.uitofp",
    "experimental.convergence.anchor",
    "experimental.convergence.entry",
    "experimental.convergence.loop",
    "experimental.cttz.elts",
    "experimental.memset.pattern",
    "experimental.noalias.scope.decl",
    "experimental.vector.compress",
    "experimental.vector.histogram.add",
    "fabs",
    "fake.use",
    "floor",
    "fma",
    "fmuladd",
    "fptosi.sat",
    "fptoui.sat",
    "frexp",
    "fshl",
    "fshr",
    "get.active.lane.mask",
    "get.rounding",
    "invariant.end",
    "invariant.start",
    "is.constant",
    "is.fpclass",
    "launder.invariant.group",
    "ldexp",
    "lifetime.end",
    "lifetime.start",
    "llrint",
    "llround",
    "load.relative",
    "log",
    "log10",
    "log2",
    "lrint",
    "lround",
    "masked.compressstore",
    "masked.expandload",
    "masked.gather",
    "masked.load",
    "masked.scatter",
    "masked.store",
    "matrix.column.major.load",
    "matrix.column.major.store",
    "matrix.multiply",
    "matrix.transpose",
    "maximum",
    "maximumnum",
    "maxnum",
    "memcpy",
    "memcpy.inline",
    "memmove",
    "memset",
    "memset.inline",
    "minimum",
    "minimumnum",
    "minnum",
    "modf",
    "nearbyint",
    "objectsize",
    "pow",
    "powi",
    "prefetch",
    "pseudoprobe",
    "ptr.annotation",
    "ptrmask",
    "readcyclecounter",
    "readsteadycounter",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "scmp",
    "sdiv.fix",
    "sdiv.fix.sat",
    "sideeffect",
    "sin",
    "sincos",
    "sincospi",
    "sinh",
    "smax",
    "smin",
    "smul.fix",
    "smul.fix.sat",
    "smul.with.overflow",
    "sqrt",
    "sshl.sat",
    "ssub.sat",
    "ssub.with.overflow",
    "stackrestore",
    "stacksave",
    "stepvector",
    "strip.invariant.group",
    "tan",
    "tanh",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "ucmp",
    "udiv.fix",
    "udiv.fix.sat",
    "umax",
    "umin",
    "umul.fix",
    "umul.fix.sat",
    "umul.with.overflow",
    "ushl.sat",
    "usub.sat",
    "usub.with.overflow",
    "va_copy",
    "va_end",
    "va_start",
    "var.annotation",
    "vector.deinterleave2",
    "vector.extract",
    "vector.insert",
    "vector.interleave2",
    "vector.reduce.add",
    "vector.reduce.and",
    "vector.reduce.fadd",
    "vector.reduce.fmax",
    "vector.reduce.fmaximum",
    "vector.reduce.fmin",
    "vector.reduce.fminimum",
    "vector.reduce.fmul",
    "vector.reduce.mul",
    "vector.reduce.or",
    "vector.reduce.smax",
    "vector.reduce.smin",
    "vector.reduce.umax",
    "vector.reduce.umin",
    "vector.reduce.xor",
    "vector.reverse",
    "vector.splice.left",
    "vector.splice.right",
    "vp.add",
    "vp.and",
    "vp.ashr",
    "vp.fadd",
    "vp.fdiv",
    "vp.fmul",
    "vp.frem",
    "vp.fsub",
    "vp.lshr",
    "vp.maxnum",
    "vp.minnum",
    "vp.mul",
    "vp.or",
    "vp.sdiv",
    "vp.shl",
    "vp.smax",
    "vp.smin",
    "vp.srem",
    "vp.sub",
    "vp.udiv",
    "vp.umax",
    "vp.umin",
    "vp.urem",
    "vp.xor",
};

static int compare_names(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

static int is_known(const char *name)
{
    return bsearch(name, known, sizeof known / sizeof known[0], sizeof known[0],
                   compare_names) != NULL;
}

/* ---- types ---- */

/* Returns KILN__HAS_... that a target needs for the type. */
static unsigned needs_of(LLVMTypeRef type)
{
    unsigned needs = 0;

    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        return KILN__HAS_F16;
    case LLVMBFloatTypeKind:
        return KILN__HAS_BF16;
    case LLVMFloatTypeKind:
        return KILN__HAS_F32;
    case LLVMDoubleTypeKind:
        return KILN__HAS_F64;
    case LLVMX86_FP80TypeKind:
        return KILN__HAS_F80;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) > 64 ? KILN__HAS_WIDE : 0;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return needs_of(LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            needs |= needs_of(LLVMStructGetTypeAtIndex(type, i));
        return needs;
    default:
        return 0;
    }
}

static unsigned needs_of_call(LLVMValueRef call)
{
    const unsigned count = LLVMGetNumArgOperands(call);
    unsigned needs = needs_of(LLVMTypeOf(call));

    for (unsigned i = 0; i < count; i++)
        needs |= needs_of(LLVMTypeOf(LLVMGetOperand(call, i)));
    return needs;
}

/* ---- intrinsics ---- */

static int is_approximate(LLVMValueRef instruction)
{
    return LLVMCanValueUseFastMathFlags(instruction) &&
           (LLVMGetFastMathFlags(instruction) & LLVMFastMathApproxFunc) != 0;
}

static const char *refused_by_limit(const kiln__foreign_limit *limit,
                                    LLVMValueRef call)
{
    if (limit->has == 0)
        return "LLVM has no code for it on this target";
    if ((needs_of_call(call) & ~limit->has) != 0)
        return "LLVM has no code for it on this type and target";
    if ((limit->has & KILN__HAS_APPROXIMATE) != 0 && !is_approximate(call))
        return "LLVM has an approximate one only on this target, which takes "
               "the flag afn";
    return NULL;
}

/* True for intrinsics that round to C's `long long`, which has 64 bits. */
static int is_long_long(const char *name)
{
    return strcmp(name, "llrint") == 0 || strcmp(name, "llround") == 0;
}

static int has_long_result(LLVMValueRef call)
{
    LLVMTypeRef type = LLVMTypeOf(call);

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetIntTypeWidth(type) == 64;
}

/* True for a division with a scale that LLVM has no code for. The dividend is
   widened by the scale and, if the division saturates, by a sign; the result
   may have at most 127 bits. */
static int divides_too_widely(LLVMValueRef call, const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef scale;

    if (strcmp(name, "sdiv.fix.sat") != 0 && strcmp(name, "udiv.fix.sat") != 0)
        return 0;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    scale = LLVMGetOperand(call, 2);
    return LLVMGetIntTypeWidth(type) + LLVMConstIntGetZExtValue(scale) +
               (name[0] == 's') >
           127;
}

static int is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return 1;
    return 0;
}

static int is_power_of_two(unsigned number)
{
    return (number & (number - 1)) == 0;
}

/* On the host LLVM 22 widens these vectors, and ends the process. */
static const char *refused_length(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name)
{
    static const char *const odd[] = {"experimental.vector.compress",
                                      "sdiv.fix",
                                      "sdiv.fix.sat",
                                      "udiv.fix",
                                      "udiv.fix.sat",
                                      NULL};
    const unsigned count = kiln__lane_count(LLVMTypeOf(call));

    if (job->backend->device != NULL)
        return NULL;
    if ((strcmp(name, "canonicalize") == 0 && count == 2) ||
        (is_one_of(name, odd) && !is_power_of_two(count)))
        return "LLVM has no code for it with so many elements";
    return NULL;
}

/* LLVM makes a remainder of them, for which devices have no library. */
static const char *refused_bits(const kiln__codegen_job *job, LLVMValueRef call,
                                const char *name)
{
    static const char *const shifts[] = {"fshl", "fshr", NULL};
    unsigned width;

    if (job->backend->device == NULL || !is_one_of(name, shifts))
        return NULL;
    width = LLVMGetIntTypeWidth(kiln__lane_type(LLVMTypeOf(call)));
    return width > 64 && !is_power_of_two(width)
               ? "LLVM has no code for it on integers of such a width"
               : NULL;
}

const char *kiln__foreign_limited(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name)
{
    const kiln__foreign_limit *limit = job->backend->foreign->limits;
    const char *why = refused_length(job, call, name);

    if (why == NULL)
        why = refused_bits(job, call, name);
    if (why != NULL)
        return why;
    if (divides_too_widely(call, name))
        return "LLVM has no code for it with such a scale";
    for (; limit->name != NULL; limit++)
        if (strcmp(limit->name, name) == 0)
            return refused_by_limit(limit, call);
    return NULL;
}

const char *kiln__foreign_unsupported(const kiln__codegen_job *job,
                                      LLVMValueRef call, const char *name)
{
    const char *why;

    if (!is_known(name))
        return "nothing is known of it that kernels could use";
    why = kiln__foreign_limited(job, call, name);
    if (why == NULL && is_long_long(name) && !has_long_result(call))
        why = "its result has 64 bits";
    return why;
}

/* ---- instructions ---- */

static const char *refused_conversion(const kiln__foreign_rules *rules,
                                      LLVMTypeRef integer)
{
    const unsigned width = LLVMGetIntTypeWidth(kiln__lane_type(integer));

    if (width > 64 && !rules->has_wide_conversions)
        return "it converts between floats and integers of more than 64 bits, "
               "for which LLVM has no code on this target";
    if (width == 1 && !rules->has_bit_conversions)
        return "it converts a float to an integer of one bit, for which LLVM "
               "has no code on this target";
    return NULL;
}

#define SYSTEM_SCOPE 1 /* its number in every context of LLVM */

/* Returns NULL, or why an atomic operation on that type cannot be used. */
static const char *refused_atomic(const kiln__codegen_job *job, LLVMValueRef at,
                                  LLVMTypeRef type)
{
    const unsigned long long size = LLVMStoreSizeOfType(job->layout, type);

    if (size > 8)
        return "it has an atomic operation on more than 64 bits";
    return LLVMGetAlignment(at) < size
               ? "it has an atomic operation at an address that is not aligned "
                 "to its size"
               : NULL;
}

/* True for an atomic update whose ordering and scope LLVM drops, because it has
   an instruction for it. Other updates become loops, which are correct. */
static int is_weak(LLVMValueRef update)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(update));
    const int is_small = kind == LLVMHalfTypeKind ||
                         kind == LLVMBFloatTypeKind ||
                         kind == LLVMVectorTypeKind;

    return is_small &&
           LLVMGetAtomicRMWBinOp(update) == LLVMAtomicRMWBinOpFAdd &&
           (LLVMGetOrdering(update) != LLVMAtomicOrderingMonotonic ||
            LLVMGetAtomicSyncScopeID(update) == SYSTEM_SCOPE);
}

static const char *refused_update(const kiln__codegen_job *job,
                                  LLVMValueRef update)
{
    if (job->backend->foreign->has_weak_updates && is_weak(update))
        return "it adds small floats atomically, which has no order on this "
               "target: it is monotonic, of scope block, cluster or device";
    return refused_atomic(job, update, LLVMTypeOf(update));
}

/* Returns NULL, or why a load or store cannot be used. LLVM accepts atomic
   vectors, but has code for few of them. */
static const char *refused_access(const kiln__codegen_job *job,
                                  LLVMValueRef access, LLVMTypeRef type)
{
    if (LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic)
        return NULL;
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? "it has an atomic load or store of a vector"
               : refused_atomic(job, access, type);
}

const char *kiln__foreign_refused_code(const kiln__codegen_job *job,
                                       LLVMValueRef instruction)
{
    const kiln__foreign_rules *rules = job->backend->foreign;
    LLVMValueRef operand;

    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMFPToSI:
    case LLVMFPToUI:
        return refused_conversion(rules, LLVMTypeOf(instruction));
    case LLVMSIToFP:
    case LLVMUIToFP:
        operand = LLVMGetOperand(instruction, 0);
        return LLVMGetIntTypeWidth(kiln__lane_type(LLVMTypeOf(operand))) > 64
                   ? refused_conversion(rules, LLVMTypeOf(operand))
                   : NULL;
    case LLVMFRem:
        return rules->has_exact_remainders || is_approximate(instruction)
                   ? NULL
                   : "it has a frem, of which LLVM has an approximate one only "
                     "on this target, which takes the flag afn";
    case LLVMAtomicRMW:
        return refused_update(job, instruction);
    case LLVMAtomicCmpXchg:
        operand = LLVMGetOperand(instruction, 1);
        return refused_atomic(job, instruction, LLVMTypeOf(operand));
    case LLVMLoad:
        return refused_access(job, instruction, LLVMTypeOf(instruction));
    case LLVMStore:
        operand = LLVMGetOperand(instruction, 0);
        return refused_access(job, instruction, LLVMTypeOf(operand));
    case LLVMVAArg:
        return "it has a va_arg, for which LLVM has no code on some types";
    default:
        return NULL;
    }
}
