/* device_group.c - operations of a sub-group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include "codegen/module/codegen_floats.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"
#include "ir/ir_tables.h"

/*
 * Everything is built from one operation: reading a word of another lane. A
 * sub-group may have fewer items than lanes. Existing items have the first
 * lanes, and no other lane is ever read. A sum, minimum or maximum is a tree:
 * in each step a lane combines its value with that of the lane at twice the
 * distance of the step before. So the order is the same every time. The first
 * lane's result is then passed to all.
 *
 * Operations of a whole group are methods of the runtime library for devices
 * (src/runtime/group.kiln) and do not come here.
 */

typedef struct lanes {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef lane;
    LLVMValueRef count; /* how many lanes exist */
} lanes;

static LLVMValueRef number(const lanes *s, uint64_t value)
{
    return kiln__job_number64(s->job, value);
}

/* ---- values as words ---- */

/* Returns the value's bits as an integer of at least 32 bits. */
static LLVMValueRef bits_of(const lanes *s, LLVMValueRef value, unsigned *width)
{
    const LLVMContextRef context = s->job->context;
    LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind) {
        type = LLVMIntTypeInContext(
            context, (unsigned)LLVMSizeOfTypeInBits(s->job->layout, type));
        value = LLVMBuildBitCast(s->builder, value, type, "");
    }
    *width = LLVMGetIntTypeWidth(type) > 32 ? 64 : 32;
    return LLVMBuildZExt(s->builder, value,
                         LLVMIntTypeInContext(context, *width), "");
}

static LLVMValueRef value_of(const lanes *s, LLVMValueRef bits,
                             LLVMTypeRef type)
{
    const LLVMTypeRef own =
        LLVMGetTypeKind(type) == LLVMIntegerTypeKind
            ? type
            : LLVMIntTypeInContext(
                  s->job->context,
                  (unsigned)LLVMSizeOfTypeInBits(s->job->layout, type));

    bits = LLVMBuildTrunc(s->builder, bits, own, "");
    return LLVMBuildBitCast(s->builder, bits, type, "");
}

static LLVMValueRef word_of_lane(const lanes *s, LLVMValueRef word,
                                 LLVMValueRef lane)
{
    return kiln__hardware(s->job)->shuffle(
        s->job, s->builder, word,
        LLVMBuildTrunc(s->builder, lane, kiln__job_i32(s->job), ""));
}

/* Returns the value of a lane that exists. */
static LLVMValueRef of_lane(const lanes *s, LLVMValueRef value,
                            LLVMValueRef lane)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeRef i64 = kiln__job_i64(s->job);
    LLVMValueRef bits, high, low;
    unsigned width;

    bits = bits_of(s, value, &width);
    if (width == 32)
        return value_of(s, word_of_lane(s, bits, lane), type);
    low = LLVMBuildTrunc(s->builder, bits, kiln__job_i32(s->job), "");
    high = LLVMBuildTrunc(s->builder,
                          LLVMBuildLShr(s->builder, bits, number(s, 32), ""),
                          kiln__job_i32(s->job), "");
    low = LLVMBuildZExt(s->builder, word_of_lane(s, low, lane), i64, "");
    high = LLVMBuildZExt(s->builder, word_of_lane(s, high, lane), i64, "");
    high = LLVMBuildShl(s->builder, high, number(s, 32), "");
    return value_of(s, LLVMBuildOr(s->builder, high, low, ""), type);
}

/* Returns the value of any lane; for a lane that does not exist, the item's
   own. */
static LLVMValueRef take_lane(const lanes *s, LLVMValueRef value,
                              LLVMValueRef lane)
{
    const LLVMValueRef exists =
        LLVMBuildICmp(s->builder, LLVMIntULT, lane, s->count, "");

    lane = LLVMBuildSelect(s->builder, exists, lane, s->lane, "");
    return of_lane(s, value, lane);
}

/* ---- reductions ---- */

static LLVMValueRef least_or_greatest(const lanes *s, int is_least,
                                      int32_t kind, LLVMValueRef a,
                                      LLVMValueRef b)
{
    static const char *const names[2][3] = {
        {"llvm.umax", "llvm.smax", "llvm.maxnum"},
        {"llvm.umin", "llvm.smin", "llvm.minnum"},
    };
    const int which = kiln__kind_is_float(kind)    ? 2
                      : kiln__kind_is_signed(kind) ? 1
                                                   : 0;
    const char *name = names[is_least][which];
    LLVMValueRef both[2] = {a, b};

    return kiln__call_intrinsic(s->builder, name, LLVMTypeOf(a), both, 2);
}

static LLVMValueRef combine_in(const lanes *s, uint32_t operation, int32_t kind,
                               LLVMValueRef a, LLVMValueRef b)
{
    const int is_float = kiln__kind_is_float(kind);

    switch (operation) {
    case KILN__GROUP_SUB_ADD:
        return is_float ? LLVMBuildFAdd(s->builder, a, b, "")
                        : LLVMBuildAdd(s->builder, a, b, "");
    case KILN__GROUP_SUB_MIN:
        return least_or_greatest(s, 1, kind, a, b);
    case KILN__GROUP_SUB_MAX:
        return least_or_greatest(s, 0, kind, a, b);
    case KILN__GROUP_SUB_ANY:
        return LLVMBuildOr(s->builder, a, b, "");
    default: /* SUB_ALL */
        return LLVMBuildAnd(s->builder, a, b, "");
    }
}

/* Rounded each time. */
static LLVMValueRef combine(const lanes *s, uint32_t operation, int32_t kind,
                            LLVMValueRef a, LLVMValueRef b)
{
    const int32_t in = kiln__scalar_of(kind)->arithmetic;

    if (!kiln__kind_is_float(kind))
        return combine_in(s, operation, kind, a, b);
    a = kiln__float_cast(s->job, s->builder, a, kind, in);
    b = kiln__float_cast(s->job, s->builder, b, kind, in);
    a = combine_in(s, operation, in, a, b);
    return kiln__float_cast(s->job, s->builder, a, in, kind);
}

/* The most lanes of any sub-group. */
#define LANES_MAX 64u

static LLVMValueRef fold(const lanes *s, uint32_t operation, int32_t kind,
                         LLVMValueRef value)
{
    const LLVMValueRef most = kiln__hardware(s->job)->lanes(s->job, s->builder);
    const uint64_t steps_end =
        LLVMIsAConstantInt(most) ? LLVMConstIntGetZExtValue(most) : LANES_MAX;

    for (uint64_t distance = 1; distance < steps_end; distance *= 2) {
        const LLVMValueRef other =
            LLVMBuildAdd(s->builder, s->lane, number(s, distance), "");
        const LLVMValueRef exists =
            LLVMBuildICmp(s->builder, LLVMIntULT, other, s->count, "");
        const LLVMValueRef both =
            combine(s, operation, kind, value, take_lane(s, value, other));

        value = LLVMBuildSelect(s->builder, exists, both, value, "");
    }
    return of_lane(s, value, number(s, 0));
}

/* ---- operations ---- */

LLVMValueRef kiln__device_members(kiln__codegen_job *job,
                                  LLVMBuilderRef builder)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);
    const LLVMValueRef most = hardware->lanes(job, builder);
    LLVMValueRef all = kiln__job_number64(job, 1), left, first;

    if (hardware->members != NULL)
        return hardware->members(job, builder);
    for (uint32_t d = 0; d < 3; d++)
        all = LLVMBuildMul(builder, all,
                           kiln__device_group_size(job, builder, d), "");
    first = LLVMBuildMul(builder,
                         LLVMBuildUDiv(builder,
                                       kiln__device_item_number(job, builder),
                                       most, ""),
                         most, "");
    left = LLVMBuildSub(builder, all, first, "");
    return LLVMBuildSelect(builder,
                           LLVMBuildICmp(builder, LLVMIntULT, left, most, ""),
                           left, most, "");
}

LLVMValueRef kiln__device_collective(kiln__codegen_job *job,
                                     LLVMBuilderRef builder, LLVMValueRef item,
                                     const kiln__codegen_collective *collective)
{
    const uint32_t operation = collective->operation;
    const LLVMValueRef value = collective->value, operand = collective->operand;
    const lanes s = {.job = job,
                     .builder = builder,
                     .lane = kiln__hardware(job)->lane(job, builder),
                     .count = kiln__device_members(job, builder)};

    (void)item;
    switch (operation) {
    case KILN__GROUP_SHUFFLE:
    case KILN__GROUP_SUB_BROADCAST:
        return take_lane(&s, value, operand);
    case KILN__GROUP_SHUFFLE_XOR:
        return take_lane(&s, value, LLVMBuildXor(builder, s.lane, operand, ""));
    case KILN__GROUP_SHUFFLE_UP:
        return take_lane(&s, value, LLVMBuildSub(builder, s.lane, operand, ""));
    case KILN__GROUP_SHUFFLE_DOWN:
        return take_lane(&s, value, LLVMBuildAdd(builder, s.lane, operand, ""));
    case KILN__GROUP_SUB_ADD:
    case KILN__GROUP_SUB_MIN:
    case KILN__GROUP_SUB_MAX:
    case KILN__GROUP_SUB_ANY:
    case KILN__GROUP_SUB_ALL:
        return fold(&s, operation, collective->kind, value);
    default:
        (void)kiln__job_fail(job, KILN_EUNSUPPORTED,
                             "%s of a group is the runtime library's on "
                             "devices",
                             kiln__ir_group[operation].text);
        return value;
    }
}
