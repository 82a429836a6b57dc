/* codegen_facts.c - makes facts of a launch out of a function. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "abi/facts_abi.h"
#include "base/error.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/facts_writer.h"

/*
 * Facts are built as LLVM IR, because LLVM then simplifies them: a function
 * without branches, loops and memory, that returns i1. Its instructions become
 * those of abi/facts_abi.h, one for one. Where one has no counterpart, there
 * are no facts.
 */

typedef struct encoding {
    kiln__codegen_job *job;
    const kiln__fact_input *inputs; /* by parameter */
    kiln__facts_writer out;
    LLVMValueRef values[KILN__FACTS_MOST]; /* by instruction; NULL: a part */
} encoding;

/* ---- instructions ---- */

static unsigned width_of(LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
               ? LLVMGetIntTypeWidth(type)
               : 0;
}

static uint16_t put_constant(encoding *e, LLVMValueRef value)
{
    const unsigned width = width_of(value);
    const int64_t number = width > 64 ? 0 : LLVMConstIntGetSExtValue(value);
    const uint16_t low = kiln__facts_put_immediate(&e->out, KILN__FACT_CONSTANT,
                                                   width, 0, (uint32_t)number);

    if (number == (int32_t)number)
        return low;
    return kiln__facts_put_immediate(&e->out, KILN__FACT_HIGH, width, low,
                                     (uint32_t)((uint64_t)number >> 32));
}

/* ---- values ---- */

static uint16_t put_parameter(encoding *e, LLVMValueRef value)
{
    const LLVMValueRef function = LLVMGetParamParent(value);
    const unsigned width = width_of(value);

    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        const kiln__fact_input *from = &e->inputs[i];

        if (LLVMGetParam(function, i) != value)
            continue;
        if (from->is_shape)
            return kiln__facts_put_immediate(&e->out, KILN__FACT_SHAPE, width,
                                             (uint16_t)from->at, 0);
        if (width != 8 && width != 16 && width != 32 && width != 64)
            break;
        return kiln__facts_put_immediate(&e->out, KILN__FACT_WORD, width,
                                         (uint16_t)(width / 8), from->at);
    }
    e->out.failed = 1;
    return 0;
}

/* Returns the number of a value that an instruction before has computed, or
   that needs none. */
static uint16_t number_of(encoding *e, LLVMValueRef value)
{
    uint16_t made;

    for (size_t i = 0; i < e->out.count; i++)
        if (e->values[i] == value)
            return (uint16_t)i;
    if (LLVMIsAConstantInt(value) != NULL)
        made = put_constant(e, value);
    else if (LLVMIsAArgument(value) != NULL)
        made = put_parameter(e, value);
    else
        made = 0, e->out.failed = 1;
    if (!e->out.failed)
        e->values[made] = value;
    return made;
}

static void put_operands(encoding *e, LLVMValueRef at, unsigned operation,
                         unsigned width, unsigned count)
{
    uint16_t operands[3] = {0, 0, 0};
    uint16_t made;

    for (unsigned i = 0; i < count; i++)
        operands[i] = number_of(e, LLVMGetOperand(at, i));
    made = kiln__facts_put(&e->out, operation, width, operands);
    if (!e->out.failed)
        e->values[made] = at;
}

/* ---- one for one ---- */

static int binary_operation(LLVMOpcode opcode)
{
    static const struct {
        LLVMOpcode opcode;
        uint8_t operation;
    } known[] = {
        {LLVMAdd, KILN__FACT_ADD},   {LLVMSub, KILN__FACT_SUB},
        {LLVMMul, KILN__FACT_MUL},   {LLVMAnd, KILN__FACT_AND},
        {LLVMOr, KILN__FACT_OR},     {LLVMXor, KILN__FACT_XOR},
        {LLVMShl, KILN__FACT_SHL},   {LLVMLShr, KILN__FACT_LSHR},
        {LLVMAShr, KILN__FACT_ASHR}, {LLVMUDiv, KILN__FACT_UDIV},
        {LLVMURem, KILN__FACT_UREM}, {LLVMSDiv, KILN__FACT_SDIV},
        {LLVMSRem, KILN__FACT_SREM},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].opcode == opcode)
            return known[i].operation;
    return -1;
}

static void put_compare(encoding *e, LLVMValueRef at)
{
    static const struct {
        LLVMIntPredicate predicate;
        uint8_t operation;
        uint8_t swaps;
    } known[] = {
        {LLVMIntEQ, KILN__FACT_EQ, 0},   {LLVMIntNE, KILN__FACT_NE, 0},
        {LLVMIntULT, KILN__FACT_ULT, 0}, {LLVMIntULE, KILN__FACT_ULE, 0},
        {LLVMIntSLT, KILN__FACT_SLT, 0}, {LLVMIntSLE, KILN__FACT_SLE, 0},
        {LLVMIntUGT, KILN__FACT_ULT, 1}, {LLVMIntUGE, KILN__FACT_ULE, 1},
        {LLVMIntSGT, KILN__FACT_SLT, 1}, {LLVMIntSGE, KILN__FACT_SLE, 1},
    };
    const LLVMIntPredicate predicate = LLVMGetICmpPredicate(at);
    const unsigned width = width_of(LLVMGetOperand(at, 0));
    uint16_t operands[3] = {number_of(e, LLVMGetOperand(at, 0)),
                            number_of(e, LLVMGetOperand(at, 1)), 0};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint16_t first = operands[0];
        uint16_t made;

        if (known[i].predicate != predicate)
            continue;
        if (known[i].swaps) {
            operands[0] = operands[1];
            operands[1] = first;
        }
        made = kiln__facts_put(&e->out, known[i].operation, width, operands);
        if (!e->out.failed)
            e->values[made] = at;
        return;
    }
    e->out.failed = 1;
}

/* Returns the operation that an intrinsic is, or that the question is whether
   it overflows; -1: none. */
static int intrinsic_operation(LLVMValueRef call, int asks)
{
    static const struct {
        const char *name;
        int8_t value, question;
    } known[] = {
        {"llvm.smin.", KILN__FACT_SMIN, -1},
        {"llvm.smax.", KILN__FACT_SMAX, -1},
        {"llvm.umin.", KILN__FACT_UMIN, -1},
        {"llvm.umax.", KILN__FACT_UMAX, -1},
        {"llvm.uadd.with.overflow.", KILN__FACT_ADD, KILN__FACT_UADD_WRAPS},
        {"llvm.usub.with.overflow.", KILN__FACT_SUB, KILN__FACT_USUB_WRAPS},
        {"llvm.umul.with.overflow.", KILN__FACT_MUL, KILN__FACT_UMUL_WRAPS},
        {"llvm.sadd.with.overflow.", KILN__FACT_ADD, KILN__FACT_SADD_WRAPS},
        {"llvm.ssub.with.overflow.", KILN__FACT_SUB, KILN__FACT_SSUB_WRAPS},
        {"llvm.smul.with.overflow.", KILN__FACT_MUL, KILN__FACT_SMUL_WRAPS},
    };
    size_t size;
    const char *name = LLVMIsAFunction(LLVMGetCalledValue(call)) == NULL
                           ? ""
                           : LLVMGetValueName2(LLVMGetCalledValue(call), &size);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
            return asks ? known[i].question : known[i].value;
    return -1;
}

static int is_pair(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMStructTypeKind;
}

/* A part of what an operation returns that also tells whether it overflows. */
static void put_part(encoding *e, LLVMValueRef at)
{
    const LLVMValueRef call = LLVMGetOperand(at, 0);
    const int operation =
        LLVMIsACallInst(call) == NULL || LLVMGetNumIndices(at) != 1
            ? -1
            : intrinsic_operation(call, LLVMGetIndices(at)[0] == 1);
    uint16_t made;

    if (operation < 0) {
        e->out.failed = 1;
        return;
    }
    made = kiln__facts_put(
        &e->out, (unsigned)operation, width_of(LLVMGetOperand(call, 0)),
        (const uint16_t[]){number_of(e, LLVMGetOperand(call, 0)),
                           number_of(e, LLVMGetOperand(call, 1)), 0});
    if (!e->out.failed)
        e->values[made] = at;
}

static void put_call(encoding *e, LLVMValueRef at)
{
    const int operation = intrinsic_operation(at, 0);

    if (is_pair(at)) /* its parts are what counts */
        return;
    if (operation < 0)
        e->out.failed = 1;
    else
        put_operands(e, at, (unsigned)operation, width_of(at), 2);
}

static void put_extended(encoding *e, LLVMValueRef at)
{
    const LLVMValueRef from = LLVMGetOperand(at, 0);
    const uint16_t made = kiln__facts_put(
        &e->out, KILN__FACT_EXTEND, width_of(at),
        (const uint16_t[]){number_of(e, from), (uint16_t)width_of(from), 0});

    if (!e->out.failed)
        e->values[made] = at;
}

static void put_instruction(encoding *e, LLVMValueRef at)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);

    if (binary_operation(opcode) >= 0)
        put_operands(e, at, (unsigned)binary_operation(opcode), width_of(at),
                     2);
    else if (opcode == LLVMICmp && width_of(LLVMGetOperand(at, 0)) != 0)
        put_compare(e, at);
    else if (opcode == LLVMSelect)
        put_operands(e, at, KILN__FACT_SELECT, width_of(at), 3);
    else if (opcode == LLVMTrunc || opcode == LLVMZExt)
        put_operands(e, at, KILN__FACT_CUT, width_of(at), 1);
    else if (opcode == LLVMFreeze)
        put_operands(e, at, KILN__FACT_CUT, width_of(at), 1);
    else if (opcode == LLVMSExt)
        put_extended(e, at);
    else if (opcode == LLVMExtractValue)
        put_part(e, at);
    else if (opcode == LLVMCall)
        put_call(e, at);
    else
        e->out.failed = 1;
}

/* The last value is what the function returns. */
static void put_result(encoding *e, LLVMValueRef result)
{
    const uint16_t at = number_of(e, result);

    if (!e->out.failed)
        (void)kiln__facts_put(&e->out, KILN__FACT_CUT, 1,
                              (const uint16_t[]){at, 0, 0});
}

/* ---- the function ---- */

static int simplify(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPassesOnFunction(
        function,
        "sroa,early-cse,instcombine<no-verify-fixpoint>,early-cse,adce",
        job->machine, options);

    LLVMDisposePassBuilderOptions(options);
    if (error == NULL)
        return 1;
    LLVMConsumeError(error);
    return 0;
}

kiln_status kiln__facts_take(kiln__codegen_job *job, LLVMValueRef function,
                             const kiln__fact_input *inputs)
{
    encoding *e = kiln__arena_allocate(&job->arena, sizeof *e);
    LLVMValueRef at;

    if (e == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    e->job = job;
    e->inputs = inputs;
    e->out.bytes = kiln__arena_allocate(&job->arena, (size_t)KILN__FACTS_MOST *
                                                         KILN__FACT_BYTES);
    if (e->out.bytes == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    e->out.failed =
        !simplify(job, function) || LLVMCountBasicBlocks(function) != 1;
    at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    for (; at != NULL && !e->out.failed; at = LLVMGetNextInstruction(at)) {
        if (LLVMIsAReturnInst(at) != NULL)
            put_result(e, LLVMGetOperand(at, 0));
        else
            put_instruction(e, at);
    }
    if (!e->out.failed) {
        job->facts = e->out.bytes;
        job->fact_size = e->out.count * KILN__FACT_BYTES;
    }
    LLVMDeleteFunction(function);
    return job->status;
}
