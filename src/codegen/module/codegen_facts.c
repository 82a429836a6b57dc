/* codegen_facts.c - makes facts of a launch out of a function. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/facts/facts_graph.h"
#include "codegen/module/codegen_stages.h"

/*
 * Facts are proved by a function in LLVM IR, as the host's are: without
 * branches, loops and memory, that returns i1. Its instructions become those of
 * abi/facts_abi.h, one for one, in a graph that simplifies them. LLVM's passes
 * would take a hundred times as long, and know less: that sizes are small. What
 * has no counterpart has no value; if the result needs it, there are no facts.
 */

/* What an instruction or a parameter has become. */
typedef struct translated {
    LLVMValueRef of; /* NULL: the place is free */
    uint32_t value;
} translated;

typedef struct translation {
    LLVMValueRef function;
    const kiln__fact_input *inputs; /* by parameter */
    kiln__facts_graph graph;
    translated *at; /* by hash of the address; half of the places are free */
    size_t mask;
} translation;

/* ---- values ---- */

static unsigned width_of(LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
               ? LLVMGetIntTypeWidth(type)
               : 0;
}

static translated *place_of(const translation *t, LLVMValueRef value)
{
    const uint64_t hash =
        (uint64_t)(uintptr_t)value * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & t->mask;

    while (t->at[i].of != NULL && t->at[i].of != value)
        i = (i + 1) & t->mask;
    return &t->at[i];
}

static void set_value(translation *t, LLVMValueRef of, uint32_t value)
{
    *place_of(t, of) = (translated){of, value};
}

static uint32_t read_input(translation *t, const kiln__fact_input *from,
                           unsigned width)
{
    if (from->is_shape)
        return kiln__graph_shape(&t->graph, width, from->at);
    if (width != 8 && width != 16 && width != 32 && width != 64)
        return KILN__FACT_NONE;
    return kiln__graph_word(&t->graph, width, width / 8, from->at);
}

static void set_parameters(translation *t)
{
    for (unsigned i = 0; i < LLVMCountParams(t->function); i++) {
        const LLVMValueRef parameter = LLVMGetParam(t->function, i);
        const unsigned width = width_of(parameter);

        if (width != 0 && width <= 64)
            set_value(t, parameter, read_input(t, &t->inputs[i], width));
    }
}

static uint32_t value_of(translation *t, LLVMValueRef value)
{
    const unsigned width = width_of(value);
    const translated *found;

    if (width == 0 || width > 64)
        return KILN__FACT_NONE;
    if (LLVMIsAConstantInt(value) != NULL)
        return kiln__graph_constant(&t->graph, width,
                                    LLVMConstIntGetZExtValue(value));
    found = place_of(t, value);
    return found->of == value ? found->value : KILN__FACT_NONE;
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

static uint32_t compare(translation *t, LLVMValueRef at)
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
    const uint32_t a = value_of(t, LLVMGetOperand(at, 0));
    const uint32_t b = value_of(t, LLVMGetOperand(at, 1));

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].predicate == predicate)
            return kiln__graph_binary(&t->graph, known[i].operation, width,
                                      known[i].swaps ? b : a,
                                      known[i].swaps ? a : b);
    return KILN__FACT_NONE;
}

/* ---- calls ---- */

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

/* Returns the call's result, or one of the two. */
static uint32_t call(translation *t, LLVMValueRef at, int asks)
{
    const int operation = intrinsic_operation(at, asks);

    if (operation < 0)
        return KILN__FACT_NONE;
    return kiln__graph_binary(
        &t->graph, (unsigned)operation, width_of(LLVMGetOperand(at, 0)),
        value_of(t, LLVMGetOperand(at, 0)), value_of(t, LLVMGetOperand(at, 1)));
}

/* ---- aggregates ---- */

/* Arrays were put together of their words, which are taken out again. */
static uint32_t part(translation *t, LLVMValueRef at)
{
    LLVMValueRef from = LLVMGetOperand(at, 0);
    const unsigned index = LLVMGetIndices(at)[0];

    if (LLVMGetNumIndices(at) != 1)
        return KILN__FACT_NONE;
    while (LLVMIsAInsertValueInst(from) != NULL &&
           LLVMGetIndices(from)[0] != index)
        from = LLVMGetOperand(from, 0);
    if (LLVMIsAInsertValueInst(from) != NULL && LLVMGetNumIndices(from) == 1)
        return value_of(t, LLVMGetOperand(from, 1));
    return LLVMIsACallInst(from) != NULL ? call(t, from, index == 1)
                                         : KILN__FACT_NONE;
}

/* ---- instructions ---- */

static uint32_t convert(translation *t, LLVMValueRef at)
{
    const LLVMValueRef from = LLVMGetOperand(at, 0);
    const int is_signed = LLVMGetInstructionOpcode(at) == LLVMSExt;

    return kiln__graph_make(
        &t->graph, is_signed ? KILN__FACT_EXTEND : KILN__FACT_CUT, width_of(at),
        (const uint32_t[]){value_of(t, from), width_of(from), 0});
}

static uint32_t choose(translation *t, LLVMValueRef at)
{
    return kiln__graph_make(
        &t->graph, KILN__FACT_SELECT, width_of(at),
        (const uint32_t[]){value_of(t, LLVMGetOperand(at, 0)),
                           value_of(t, LLVMGetOperand(at, 1)),
                           value_of(t, LLVMGetOperand(at, 2))});
}

static uint32_t translate(translation *t, LLVMValueRef at)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);

    if (binary_operation(opcode) >= 0)
        return kiln__graph_binary(&t->graph, (unsigned)binary_operation(opcode),
                                  width_of(at),
                                  value_of(t, LLVMGetOperand(at, 0)),
                                  value_of(t, LLVMGetOperand(at, 1)));
    if (opcode == LLVMICmp)
        return compare(t, at);
    if (opcode == LLVMSelect)
        return choose(t, at);
    if (opcode == LLVMTrunc || opcode == LLVMZExt || opcode == LLVMSExt ||
        opcode == LLVMFreeze)
        return convert(t, at);
    if (opcode == LLVMExtractValue)
        return part(t, at);
    return opcode == LLVMCall ? call(t, at, 0) : KILN__FACT_NONE;
}

/* ---- the function ---- */

static int make_room(translation *t, kiln__arena *arena)
{
    const LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(t->function);
    size_t count = LLVMCountParams(t->function), places = 64;
    LLVMValueRef at;

    for (at = LLVMGetFirstInstruction(block); at != NULL;
         at = LLVMGetNextInstruction(at))
        count++;
    while (places < 2 * count)
        places *= 2;
    t->mask = places - 1;
    t->at = kiln__arena_allocate_array(arena, places, sizeof *t->at);
    return t->at != NULL;
}

/* Returns the value of what the function returns. */
static uint32_t translate_all(translation *t)
{
    LLVMValueRef at;

    if (LLVMCountBasicBlocks(t->function) != 1)
        return KILN__FACT_NONE;
    set_parameters(t);
    for (at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(t->function));
         at != NULL && LLVMIsAReturnInst(at) == NULL;
         at = LLVMGetNextInstruction(at))
        if (width_of(at) != 0 && width_of(at) <= 64)
            set_value(t, at, translate(t, at));
    return at == NULL ? KILN__FACT_NONE : value_of(t, LLVMGetOperand(at, 0));
}

kiln_status kiln__facts_take(kiln__codegen_job *job, LLVMValueRef function,
                             const kiln__fact_input *inputs)
{
    translation t = {.function = function,
                     .inputs = inputs,
                     .graph = kiln__graph_new(&job->arena)};
    kiln__facts_writer out = {0};

    out.bytes = kiln__arena_allocate(&job->arena, (size_t)KILN__FACTS_MOST *
                                                      KILN__FACT_BYTES);
    if (t.graph.failed || out.bytes == NULL || !make_room(&t, &job->arena))
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    kiln__graph_write(&t.graph, translate_all(&t), &out);
    if (!out.failed) {
        job->facts = out.bytes;
        job->fact_size = out.count * KILN__FACT_BYTES;
    }
    LLVMDeleteFunction(function);
    return job->status;
}
