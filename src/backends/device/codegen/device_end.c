/* device_end.c - exceptions that end their item where they are raised. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include <string.h>

#include "base/error.h"

/*
 * Where all functions are inlined into the kernel, an exception need not return
 * through them. A check that fails calls
 *
 *     void @kiln.raise(state, launch, report, value, value)
 *
 * which never returns, as far as LLVM's passes know. So no flag goes from
 * function to function, and nothing behind a check depends on what the check
 * would record. After the passes these calls are replaced: each becomes a jump
 * to the code at the kernel's end that records an exception. That code is there
 * once, since it is larger than most checks, and gets what it records in
 * registers. They are written on the cold way there: an empty assembly, which
 * LLVM can neither move nor drop, keeps these copies out of the path of items
 * that do not fail.
 *
 * A function of its own that records would not do. Calls follow conventions:
 * both assemblers then keep addresses and descriptors of memory in registers
 * that they would have had for nothing, in the whole kernel.
 */

#define ARGUMENTS 5u
#define LAUNCH 1u
#define REPORT 2u

/* ---- before the passes ---- */

static LLVMValueRef declare(const kiln__codegen_job *job)
{
    static const char *const attributes[] = {"cold", "noreturn", "nounwind",
                                             "nomerge"};
    const LLVMTypeRef word = kiln__job_i64(job), none = kiln__job_i32(job);
    LLVMValueRef function = LLVMGetNamedFunction(job->module, KILN__RAISE);
    LLVMTypeRef types[ARGUMENTS] = {kiln__device_state_pointer(job), word, none,
                                    word, word};

    if (function != NULL)
        return function;
    function =
        LLVMAddFunction(job->module, KILN__RAISE,
                        LLVMFunctionType(LLVMVoidTypeInContext(job->context),
                                         types, ARGUMENTS, 0));
    LLVMSetVisibility(function, LLVMHiddenVisibility); /* defined nowhere */
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        kiln__device_attribute(job, function, attributes[i]);
    return function;
}

void kiln__device_end(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item,
                      const kiln__codegen_exception *exception)
{
    const LLVMValueRef function = declare(job);
    kiln__device_raised raised;
    LLVMValueRef arguments[ARGUMENTS];

    if (exception != NULL)
        kiln__device_describe_raise(job, exception, &raised);
    else
        kiln__device_read_raise(job, builder, item, &raised);
    kiln__device_read_launch(job, builder, item, &raised);
    arguments[0] = raised.state;
    arguments[LAUNCH] = raised.launch;
    arguments[REPORT] = raised.report;
    memcpy(arguments + REPORT + 1, raised.values, sizeof raised.values);
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                   arguments, ARGUMENTS, "");
    LLVMBuildUnreachable(builder);
}

/* ---- after them ---- */

/* A kernel while its calls are replaced. */
typedef struct placing {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMBasicBlockRef record;
    int has_several; /* calls */
    LLVMValueRef phis[ARGUMENTS];
} placing;

static void begin_record(placing *p, LLVMValueRef kernel, LLVMValueRef call)
{
    p->record =
        LLVMAppendBasicBlockInContext(p->job->context, kernel, "raised");
    LLVMPositionBuilderAtEnd(p->builder, p->record);
    for (unsigned i = 0; i < ARGUMENTS; i++)
        p->phis[i] =
            LLVMBuildPhi(p->builder, LLVMTypeOf(LLVMGetOperand(call, i)), "");
}

static void end_record(const placing *p)
{
    const kiln__device_raised raised = {
        .state = p->phis[0],
        .launch = p->phis[LAUNCH],
        .report = p->phis[REPORT],
        .values = {p->phis[REPORT + 1], p->phis[REPORT + 2]}};

    LLVMPositionBuilderAtEnd(p->builder, p->record);
    kiln__device_record(p->job, p->builder, &raised);
    LLVMBuildRetVoid(p->builder);
}

/* Passes a value through an empty assembly. */
static LLVMValueRef hold(const placing *p, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef signature = LLVMFunctionType(type, &type, 1, 0);
    const char *constraints =
        kiln__hardware(p->job)->held[LLVMGetIntTypeWidth(type) > 32];
    LLVMValueRef empty;

    if (constraints == NULL || !p->has_several)
        return value;
    empty = LLVMGetInlineAsm(signature, "", 0, constraints, strlen(constraints),
                             1, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(p->builder, signature, empty, &value, 1, "");
}

/* Replaces the call, and what follows it in its block. */
static void replace(const placing *p, LLVMValueRef call)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(call);

    LLVMPositionBuilderBefore(p->builder, call);
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        LLVMValueRef value = LLVMGetOperand(call, i);

        if (i >= REPORT)
            value = hold(p, value);
        LLVMAddIncoming(p->phis[i], &value, &block, 1);
    }
    kiln__llvm_end_at(call);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block));
    LLVMPositionBuilderAtEnd(p->builder, block);
    LLVMBuildBr(p->builder, p->record);
}

static LLVMValueRef function_of(LLVMValueRef instruction)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

/* A phi whose values are all the same is that value. */
static void settle(LLVMValueRef phi)
{
    const LLVMValueRef first = LLVMGetIncomingValue(phi, 0);

    for (unsigned i = 1; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingValue(phi, i) != first)
            return;
    LLVMReplaceAllUsesWith(phi, first);
    LLVMInstructionEraseFromParent(phi);
}

/* Returns the first call in a block that has one in the function; NULL: there
   are none left. Where loops were unrolled over calls, a block may have
   several: what is behind the first is never reached. */
static LLVMValueRef find_call(LLVMValueRef marker, LLVMValueRef function)
{
    LLVMUseRef use = LLVMGetFirstUse(marker);
    LLVMValueRef at;

    while (use != NULL && function_of(LLVMGetUser(use)) != function)
        use = LLVMGetNextUse(use);
    if (use == NULL)
        return NULL;
    at = LLVMGetFirstInstruction(LLVMGetInstructionParent(LLVMGetUser(use)));
    while (LLVMIsACallInst(at) == NULL || LLVMGetCalledValue(at) != marker)
        at = LLVMGetNextInstruction(at);
    return at;
}

/* Replaces all calls of a function. */
static void place_in(placing *p, LLVMValueRef marker, LLVMValueRef function)
{
    LLVMUseRef use;
    LLVMValueRef call;
    size_t count = 0;

    for (use = LLVMGetFirstUse(marker); use != NULL; use = LLVMGetNextUse(use))
        count += function_of(LLVMGetUser(use)) == function;
    p->has_several = count > 1;
    begin_record(p, function, LLVMGetUser(LLVMGetFirstUse(marker)));
    while ((call = find_call(marker, function)) != NULL)
        replace(p, call);
    end_record(p);
    for (size_t i = 0; i < ARGUMENTS; i++)
        settle(p->phis[i]);
}

kiln_status kiln__device_place_ends(kiln__codegen_job *job)
{
    const LLVMValueRef marker = LLVMGetNamedFunction(job->module, KILN__RAISE);
    placing p = {.job = job};

    if (marker == NULL)
        return KILN_OK;
    p.builder = LLVMCreateBuilderInContext(job->context);
    while (job->status == KILN_OK && LLVMGetFirstUse(marker) != NULL) {
        const LLVMValueRef function =
            function_of(LLVMGetUser(LLVMGetFirstUse(marker)));

        if (LLVMGetFunctionCallConv(function) ==
            kiln__hardware(job)->kernel_convention)
            place_in(&p, marker, function);
        else
            (void)kiln__job_fail(job, KILN_ECODEGEN,
                                 "a function that raises was not inlined");
    }
    if (job->status == KILN_OK)
        LLVMDeleteFunction(marker);
    LLVMDisposeBuilder(p.builder);
    return job->status;
}
