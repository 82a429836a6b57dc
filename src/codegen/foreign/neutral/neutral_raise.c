/* neutral_raise.c - exceptions leave every function that they pass. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "abi/method_abi.h"
#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"
#include "kiln/error.h"

/*
 * In a neutral module nothing comes after an exception: kiln_raise() does not
 * return, and a frontend's code ends there. But no target can leave several
 * functions at once. So a function that may raise returns a flag beside its
 * result, {T, i1}, and each call of it is followed by a branch that returns,
 * too. Which functions these are is found from the callers of what raises:
 *
 *   kiln_raise()
 *   llvm.trap and llvm.ubsantrap
 *   a function that is only declared, and is said not to return
 *   kiln_call.N(), a function of the kernel language (foreign.h)
 *
 * The second and third become calls of kiln_raise(). Every function returns
 * after that, so nothing is `noreturn` any more: LLVM would take the code after
 * such a call for dead.
 */

typedef struct raising {
    LLVMValueRef old;
    LLVMValueRef with_flag;
    LLVMValueRef result; /* what it returns after an exception */
} raising;

/* The functions that raise, in the order in which they were found. */
typedef struct raises {
    kiln__codegen_job *job;
    LLVMValueRef raise; /* kiln_raise, or NULL */
    raising *functions;
    size_t count;
} raises;

static const LLVMAttributeIndex self =
    (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static int is_noreturn(LLVMValueRef call)
{
    const unsigned kind = kiln__attribute_kind("noreturn");

    return LLVMGetCallSiteEnumAttribute(call, self, kind) != NULL ||
           (LLVMIsAFunction(LLVMGetCalledValue(call)) != NULL &&
            LLVMGetEnumAttributeAtIndex(LLVMGetCalledValue(call), self, kind) !=
                NULL);
}

/* ---- what ends a program becomes an exception ---- */

/* Returns what an exception names as its method: the function, and its place in
   the source where there is debug information. NULL or "": out of memory. */
static const char *method_of(kiln__codegen_job *job, LLVMValueRef call)
{
    const LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    unsigned file_size = 0;
    const char *name = kiln__plain_name(job, function);
    const char *file = LLVMGetDebugLocFilename(call, &file_size);

    if (file == NULL || file_size == 0)
        return name;
    return kiln__arena_format(&job->arena, "%s" KILN__PLACE_MARK "%u:%u:%.*s",
                              name, LLVMGetDebugLocLine(call),
                              LLVMGetDebugLocColumn(call), (int)file_size,
                              file);
}

static LLVMValueRef add_text(kiln__codegen_job *job, const char *text)
{
    const LLVMValueRef value =
        LLVMConstStringInContext2(job->context, text, strlen(text), 0);
    const LLVMValueRef global = LLVMAddGlobalInAddressSpace(
        job->module, LLVMTypeOf(value), "kiln.raised",
        kiln__neutral_generic_space(job));

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* Returns a message if the call ends the program, else NULL. */
static const char *ending_message(kiln__codegen_job *job, LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t size;
    const char *name;

    if (LLVMIsAFunction(callee) == NULL || !LLVMIsDeclaration(callee))
        return NULL;
    name = LLVMGetValueName2(callee, &size);
    if (strcmp(name, "llvm.trap") == 0 || strcmp(name, "llvm.ubsantrap") == 0)
        return "trap";
    if (LLVMGetIntrinsicID(callee) != 0 || !is_noreturn(call) ||
        strcmp(name, KILN__NEUTRAL_RAISE) == 0)
        return NULL;
    return kiln__arena_format(&job->arena, "%s() was called", name);
}

static void raise_at(raises *r, LLVMValueRef call, const char *message)
{
    kiln__codegen_job *job = r->job;
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    const LLVMValueRef zero = kiln__job_number64(job, 0);
    LLVMValueRef arguments[6] = {
        kiln__job_number32(job, KILN_EXCEPTION_USER),
        LLVMConstNull(LLVMPointerTypeInContext(
            job->context, kiln__neutral_generic_space(job))),
        kiln__job_number32(job, 0),
        add_text(job, message),
        zero,
        zero,
    };

    if (r->raise == NULL)
        r->raise = LLVMAddFunction(job->module, KILN__NEUTRAL_RAISE,
                                   kiln__neutral_raise_type(job));
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    LLVMBuildCall2(builder, kiln__neutral_raise_type(job), r->raise, arguments,
                   6, "");
    LLVMDisposeBuilder(builder);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(call, LLVMGetPoison(LLVMTypeOf(call)));
    LLVMInstructionEraseFromParent(call);
}

static void replace_endings(raises *r, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            const char *message =
                LLVMIsACallInst(at) != NULL ? ending_message(r->job, at) : NULL;

            next = LLVMGetNextInstruction(at);
            if (message != NULL)
                raise_at(r, at, message);
        }
}

/* Gives exceptions without a method one. */
static void name_raises(const raises *r)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(r->raise); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef call = LLVMGetUser(use);
        const char *method;

        if (LLVMIsACallInst(call) == NULL ||
            LLVMIsAConstantPointerNull(LLVMGetOperand(call, 1)) == NULL)
            continue;
        method = method_of(r->job, call);
        LLVMSetOperand(call, 1, add_text(r->job, method != NULL ? method : ""));
    }
}

/* ---- which functions raise ---- */

static void add_raising(raises *r, LLVMValueRef function)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->functions[i].old == function)
            return;
    r->functions[r->count++] = (raising){.old = function};
}

static kiln_status add_callers(raises *r, LLVMValueRef callee)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(callee); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) == NULL || LLVMGetCalledValue(user) != callee)
            return kiln__foreign_refuse(
                r->job, "function", callee,
                "its address is taken, and it may raise an exception");
        add_raising(r, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
    return KILN_OK;
}

static kiln_status find_raising(raises *r)
{
    kiln__foreign_findings found = {
        .job = r->job,
        .entry = LLVMGetNamedFunction(r->job->module, r->job->request->entry)};
    size_t count = 0;
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(r->job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        count++;
    r->functions =
        kiln__arena_allocate_array(&r->job->arena, count, sizeof *r->functions);
    if (r->functions == NULL)
        return kiln__job_fail(r->job, KILN_ENOMEM, "out of memory");
    for (f = LLVMGetFirstFunction(r->job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (kiln__foreign_is_call(f))
            add_raising(r, f);
    if (r->raise != NULL)
        KILN_TRY(kiln__foreign_finding(&found, add_callers(r, r->raise),
                                       r->raise, NULL));
    for (size_t i = 0; i < r->count; i++)
        KILN_TRY(kiln__foreign_finding(&found,
                                       add_callers(r, r->functions[i].old),
                                       r->functions[i].old, NULL));
    return kiln__foreign_tell(&found);
}

/* ---- flags ---- */

static LLVMTypeRef flagged_type(const kiln__codegen_job *job,
                                LLVMValueRef function)
{
    const LLVMTypeRef flag = LLVMInt1TypeInContext(job->context);
    LLVMTypeRef both[2] = {LLVMGetReturnType(LLVMGlobalGetValueType(function)),
                           flag};

    return LLVMGetTypeKind(both[0]) == LLVMVoidTypeKind
               ? flag
               : LLVMStructTypeInContext(job->context, both, 2, 0);
}

/* Returns what a function of that result returns after an exception: its value
   is never used. */
static LLVMValueRef raised_result(const kiln__codegen_job *job,
                                  LLVMTypeRef result)
{
    const LLVMValueRef flag =
        LLVMConstInt(LLVMInt1TypeInContext(job->context), 1, 0);
    LLVMValueRef both[2];

    if (LLVMGetTypeKind(result) != LLVMStructTypeKind)
        return flag;
    both[0] = LLVMGetPoison(LLVMStructGetTypeAtIndex(result, 0));
    both[1] = flag;
    return LLVMConstStructInContext(job->context, both, 2, 0);
}

static void return_no_flag(const kiln__codegen_job *job, LLVMValueRef end,
                           LLVMTypeRef result)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    const LLVMValueRef none =
        LLVMConstNull(LLVMInt1TypeInContext(job->context));
    LLVMValueRef both;

    LLVMPositionBuilderBefore(builder, end);
    if (LLVMGetNumOperands(end) == 0) {
        LLVMBuildRet(builder, none);
    } else {
        both = LLVMBuildInsertValue(builder, LLVMGetPoison(result),
                                    LLVMGetOperand(end, 0), 0, "");
        LLVMBuildRet(builder, LLVMBuildInsertValue(builder, both, none, 1, ""));
    }
    LLVMDisposeBuilder(builder);
    LLVMInstructionEraseFromParent(end);
}

static void return_no_flags(const kiln__codegen_job *job, raising *f)
{
    const LLVMTypeRef result =
        LLVMGetReturnType(LLVMGlobalGetValueType(f->with_flag));
    LLVMBasicBlockRef block;

    for (block = LLVMGetFirstBasicBlock(f->with_flag); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

        if (LLVMGetInstructionOpcode(end) == LLVMRet)
            return_no_flag(job, end, result);
    }
}

/* Returns the raising function that the instruction is in. */
static const raising *function_of(const raises *r, LLVMValueRef instruction)
{
    const LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    size_t i = 0;

    while (r->functions[i].with_flag != function)
        i++;
    return &r->functions[i];
}

static void pass_on(const raises *r, const raising *callee)
{
    LLVMUseRef use;

    while ((use = LLVMGetFirstUse(callee->old)) != NULL) {
        const LLVMValueRef call = LLVMGetUser(use);
        const raising *caller = function_of(r, call);

        kiln__llvm_return_if(kiln__llvm_call_raising(call, callee->with_flag),
                             caller->result);
    }
    LLVMDeleteFunction(callee->old);
}

static int is_raise(const raises *r, LLVMValueRef instruction)
{
    return r->raise != NULL && LLVMIsACallInst(instruction) != NULL &&
           LLVMGetCalledValue(instruction) == r->raise;
}

/* Ends each block after its first call of kiln_raise(). */
static void end_after_raises(const raises *r, const raising *f)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(f->with_flag); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        for (at = LLVMGetFirstInstruction(block);
             at != NULL && !is_raise(r, at); at = LLVMGetNextInstruction(at))
            continue;
        if (at != NULL)
            kiln__llvm_return_after(at, f->result);
    }
}

/* ---- the module ---- */

static void drop_noreturn(LLVMValueRef function)
{
    const unsigned kind = kiln__attribute_kind("noreturn");
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    LLVMRemoveEnumAttributeAtIndex(function, self, kind);
    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (LLVMIsACallInst(at) != NULL)
                LLVMRemoveCallSiteEnumAttribute(at, self, kind);
}

static void flag_functions(raises *r)
{
    const kiln__codegen_job *job = r->job;

    for (size_t i = 0; i < r->count; i++) {
        raising *f = &r->functions[i];

        f->with_flag =
            kiln__llvm_replace_result(f->old, flagged_type(job, f->old));
        f->result = raised_result(
            job, LLVMGetReturnType(LLVMGlobalGetValueType(f->with_flag)));
        return_no_flags(job, f);
        end_after_raises(r, f);
    }
    for (size_t i = 0; i < r->count; i++)
        pass_on(r, &r->functions[i]);
}

kiln_status kiln__neutral_end_programs(kiln__codegen_job *job)
{
    raises r = {.job = job,
                .raise =
                    LLVMGetNamedFunction(job->module, KILN__NEUTRAL_RAISE)};
    LLVMValueRef f;

    KILN_TRY(kiln__neutral_take_raise(job, &r.raise));
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        replace_endings(&r, f);
    if (r.raise != NULL)
        name_raises(&r);
    return job->status;
}

kiln_status kiln__neutral_raise(kiln__codegen_job *job)
{
    raises r = {.job = job,
                .raise =
                    LLVMGetNamedFunction(job->module, KILN__NEUTRAL_RAISE)};
    LLVMValueRef f;

    KILN_TRY(find_raising(&r));
    if (r.count == 0)
        return KILN_OK;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        drop_noreturn(f);
    flag_functions(&r);
    return job->status;
}
