/* foreign_math.c - gives a foreign module the target's mathematics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/foreign/math/foreign_math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir_math_names.h"

/*
 * A call of a mathematical function, under whichever of its names, becomes
 *
 *   a constant             if its operands are
 *   an intrinsic of LLVM   if the target has right code for it, or the call
 *                          allows approximations and the target has one
 *   instructions           for functions with a recipe
 *   a library's function   otherwise: element by element, and in f32 for floats
 *                          that are narrower
 *
 * This is done after dead code is gone, so that nothing is taken from a library
 * for it. On the host the library is C's.
 */

static int is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

/* ---- constants ---- */

static int is_number(LLVMValueRef value, double *out)
{
    LLVMBool lost;

    if (value == NULL || LLVMIsAConstantFP(value) == NULL)
        return 0;
    *out = LLVMConstRealGetDouble(value, &lost);
    return isfinite(*out);
}

/* Returns the constant that the call stands for, or NULL. */
static LLVMValueRef fold(const kiln__math_call *call, LLVMValueRef *arguments)
{
    const kiln__math_function *f = call->function;
    double x, y, value;

    if (f->fold != NULL && is_number(arguments[0], &x))
        value = f->fold(x);
    else if (f->fold2 != NULL && is_number(arguments[0], &x) &&
             is_number(arguments[1], &y))
        value = f->fold2(x, y);
    else
        return NULL;
    /* The next number depends on the type. */
    if (!isfinite(value) || (f->fold2 == nextafter &&
                             LLVMGetTypeKind(call->type) != LLVMDoubleTypeKind))
        return NULL;
    return LLVMConstReal(call->type, value);
}

/* ---- intrinsics ---- */

static LLVMValueRef with_flags(const kiln__math_place *at, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) != NULL &&
        LLVMCanValueUseFastMathFlags(value) &&
        LLVMCanValueUseFastMathFlags(at->call))
        LLVMSetFastMathFlags(value, LLVMGetFastMathFlags(at->call));
    return value;
}

/* Returns the intrinsic's value; NULL where the target has no code for it. */
static LLVMValueRef build_intrinsic(const kiln__math_place *at,
                                    const kiln__math_function *f,
                                    LLVMValueRef *arguments, unsigned count)
{
    LLVMTypeRef types[2] = {LLVMTypeOf(arguments[0]), NULL};
    unsigned overloads = 1;
    char name[32];
    LLVMValueRef function, value;

    snprintf(name, sizeof name, "llvm.%s", f->intrinsic);
    if (f->form == KILN__FORM_SCALE) {
        types[1] = LLVMTypeOf(arguments[1]);
        overloads = 2;
    } else if (f->form == KILN__FORM_ROUND) {
        types[1] = types[0];
        types[0] = LLVMTypeOf(at->call);
        overloads = 2;
    }
    function = LLVMGetIntrinsicDeclaration(
        at->job->module, LLVMLookupIntrinsicID(name, strlen(name)), types,
        overloads);
    value = with_flags(at, LLVMBuildCall2(at->builder,
                                          LLVMGlobalGetValueType(function),
                                          function, arguments, count, ""));
    if (kiln__foreign_limited(at->job, value, f->intrinsic) == NULL)
        return value;
    LLVMInstructionEraseFromParent(value);
    if (LLVMGetFirstUse(function) == NULL)
        LLVMDeleteFunction(function);
    return NULL;
}

/* ---- functions of libraries ---- */

static LLVMValueRef declare(const kiln__codegen_job *job, const char *name,
                            LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);

    if (function != NULL && LLVMIsDeclaration(function) &&
        LLVMGlobalGetValueType(function) == type)
        return function;
    if (function != NULL) /* the module means another one */
        LLVMSetValueName2(function, "", 0);
    function = LLVMAddFunction(job->module, name, type);
    kiln__add_attribute(function, "nounwind");
    kiln__add_attribute(function, "willreturn");
    kiln__add_attribute(function, "memory");
    return function;
}

static LLVMValueRef widen(const kiln__math_place *at, LLVMValueRef value,
                          LLVMTypeRef to)
{
    return LLVMTypeOf(value) == to ? value
                                   : LLVMBuildFPExt(at->builder, value, to, "");
}

/* No float has an exponent of this size. */
#define EXPONENT_MOST 100000

static LLVMValueRef between(const kiln__math_place *at, LLVMValueRef value,
                            LLVMIntPredicate beyond, int64_t bound)
{
    const LLVMValueRef limit =
        LLVMConstInt(LLVMTypeOf(value), (uint64_t)bound, 1);

    return LLVMBuildSelect(at->builder,
                           LLVMBuildICmp(at->builder, beyond, value, limit, ""),
                           limit, value, "");
}

/* Returns an exponent as an i32. One of more bits is limited first: of ldexp()
   that changes nothing, and a power has none. */
static LLVMValueRef exponent_of(const kiln__math_place *at,
                                const kiln__math_function *f,
                                LLVMValueRef value)
{
    if (LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 32) {
        if (f->recipe == KILN__RECIPE_POWI)
            (void)kiln__job_fail(
                at->job, KILN_ECODEGEN,
                "a power has an exponent of more than 32 bits");
        value = between(at, value, LLVMIntSGT, EXPONENT_MOST);
        value = between(at, value, LLVMIntSLT, -EXPONENT_MOST);
    }
    return LLVMBuildIntCast2(at->builder, value, kiln__job_i32(at->job), 1, "");
}

/* Calls the function for one element. */
static LLVMValueRef call_one(const kiln__math_place *at,
                             const kiln__math_function *f,
                             LLVMValueRef *arguments, unsigned count)
{
    LLVMContextRef context = at->job->context;
    const LLVMTypeRef type = LLVMTypeOf(arguments[0]);
    const LLVMTypeRef i32 = kiln__job_i32(at->job);
    const int is_f64 = LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
    const LLVMTypeRef wide = is_f64 ? type : LLVMFloatTypeInContext(context);
    LLVMTypeRef types[3];
    char name[KILN__MATH_SYMBOL_SIZE];
    LLVMValueRef function, value;

    for (unsigned i = 0; i < count; i++) {
        const int is_scale = f->form == KILN__FORM_SCALE && i == 1;

        if (is_scale)
            arguments[i] = exponent_of(at, f, arguments[i]);
        else
            arguments[i] = widen(at, arguments[i], wide);
        types[i] = LLVMTypeOf(arguments[i]);
    }
    kiln__math_symbol(name, at->job, f, is_f64);
    function =
        declare(at->job, name,
                LLVMFunctionType(f->form == KILN__FORM_ROUND ? i32 : wide,
                                 types, count, 0));
    value = with_flags(at, LLVMBuildCall2(at->builder,
                                          LLVMGlobalGetValueType(function),
                                          function, arguments, count, ""));
    if (f->form == KILN__FORM_ROUND || wide == type)
        return value;
    return LLVMBuildFPTrunc(at->builder, value, type, "");
}

static LLVMValueRef call_library(const kiln__math_place *at,
                                 const kiln__math_function *f,
                                 LLVMValueRef *arguments, unsigned count)
{
    const LLVMTypeRef type = LLVMTypeOf(arguments[0]);
    const LLVMTypeRef i32 = kiln__job_i32(at->job);
    const unsigned lanes = kiln__lane_count(type);
    LLVMValueRef all = NULL;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return call_one(at, f, arguments, count);
    for (unsigned i = 0; i < lanes; i++) {
        const LLVMValueRef index = LLVMConstInt(i32, i, 0);
        LLVMValueRef lane[3], value;

        for (unsigned k = 0; k < count; k++)
            lane[k] = is_vector(arguments[k])
                          ? LLVMBuildExtractElement(at->builder, arguments[k],
                                                    index, "")
                          : arguments[k];
        value = call_one(at, f, lane, count);
        if (all == NULL)
            all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(value), lanes));
        all = LLVMBuildInsertElement(at->builder, all, value, index, "");
    }
    return all;
}

/* ---- one function ---- */

static unsigned count_of(const kiln__math_function *f)
{
    switch ((int)f->form) {
    case KILN__FORM_2:
    case KILN__FORM_SCALE:
    case KILN__FORM_QUOTIENT:
        return 2;
    case KILN__FORM_3:
        return 3;
    default:
        return 1;
    }
}

LLVMValueRef kiln__math_build(const kiln__math_place *at,
                              const kiln__math_function *f,
                              LLVMValueRef *arguments)
{
    const kiln__math_call call = {f, LLVMTypeOf(arguments[0]), 0};
    LLVMValueRef value = fold(&call, arguments);

    if (value == NULL && f->intrinsic != NULL &&
        !(f->recipe == KILN__RECIPE_POWI && is_vector(arguments[1])))
        value = build_intrinsic(at, f, arguments, count_of(f));
    if (value == NULL && f->recipe != KILN__RECIPE_NONE)
        value = kiln__math_cook(at, &call, arguments, NULL);
    if (value == NULL)
        value = call_library(at, f, arguments, count_of(f));
    return value;
}

/* ---- calls ---- */

/* Repeats a number for each element of a vector. */
static LLVMValueRef spread(const kiln__math_place *at, LLVMValueRef value,
                           LLVMTypeRef type)
{
    const LLVMTypeRef i32 = kiln__job_i32(at->job);
    LLVMValueRef all;

    if (is_vector(value) || LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return value;
    type = LLVMVectorType(LLVMTypeOf(value), kiln__lane_count(type));
    all = LLVMGetPoison(type);
    for (unsigned i = 0; i < kiln__lane_count(type); i++)
        all = LLVMBuildInsertElement(at->builder, all, value,
                                     LLVMConstInt(i32, i, 0), "");
    return all;
}

/* Two results are a struct, or the second one goes where a pointer says. */
static LLVMValueRef give_two(const kiln__math_place *at,
                             const kiln__math_function *f, LLVMValueRef first,
                             LLVMValueRef second)
{
    const LLVMTypeRef type = LLVMTypeOf(at->call);
    const unsigned count = LLVMGetNumArgOperands(at->call);
    LLVMValueRef both;

    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        const LLVMTypeRef wanted = LLVMStructGetTypeAtIndex(type, 1);

        if (LLVMTypeOf(second) != wanted)
            second = LLVMBuildIntCast2(at->builder, second, wanted, 1, "");
        both = LLVMBuildInsertValue(at->builder, LLVMGetPoison(type), first, 0,
                                    "");
        return LLVMBuildInsertValue(at->builder, both, second, 1, "");
    }
    LLVMBuildStore(at->builder, second, LLVMGetOperand(at->call, count - 1));
    if (f->form != KILN__FORM_PAIR)
        return first;
    LLVMBuildStore(at->builder, first, LLVMGetOperand(at->call, 1));
    return NULL;
}

static int is_intrinsic(LLVMValueRef call)
{
    return LLVMGetIntrinsicID(LLVMGetCalledValue(call)) != 0;
}

static void replace(LLVMValueRef call, LLVMValueRef value)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (value != NULL && LLVMGetFirstUse(call) != NULL)
        LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
    if (LLVMIsAFunction(callee) != NULL && LLVMIsDeclaration(callee) &&
        LLVMGetFirstUse(callee) == NULL)
        LLVMDeleteFunction(callee);
}

/* C's integers that are rounded to have 32 or 64 bits; a library's has 32. */
static LLVMValueRef as_result(const kiln__math_place *at, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(at->call);

    if (LLVMTypeOf(value) == type ||
        LLVMGetTypeKind(kiln__lane_type(type)) != LLVMIntegerTypeKind)
        return value;
    return LLVMBuildIntCast2(at->builder, value, type, 1, "");
}

static void rewrite_call(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef instruction, const kiln__math_call *call)
{
    const kiln__math_place at = {job, builder, instruction};
    const kiln__math_function *f = call->function;
    LLVMValueRef arguments[3] = {NULL}, value, second = NULL;

    if (call->is_rough && LLVMCanValueUseFastMathFlags(instruction))
        LLVMSetFastMathFlags(instruction, LLVMGetFastMathFlags(instruction) |
                                              LLVMFastMathApproxFunc);
    LLVMPositionBuilderBefore(builder, instruction);
    LLVMSetCurrentDebugLocation2(builder,
                                 LLVMInstructionGetDebugLoc(instruction));
    for (unsigned i = 0; i < count_of(f); i++) {
        arguments[i] = LLVMGetOperand(instruction, i);
        if (f->recipe != KILN__RECIPE_POWI)
            arguments[i] = spread(&at, arguments[i], call->type);
    }
    if (f->form < KILN__FORM_SPLIT) {
        value = as_result(&at, kiln__math_build(&at, f, arguments));
    } else {
        value = kiln__math_cook(&at, call, arguments, &second);
        value = give_two(&at, f, value, second);
    }
    replace(instruction, value);
}

/* True for an intrinsic that stays: the target has code for it. Two results of
   one instruction are the exception: few targets have them, and LLVM 22's cost
   model takes two vectors for one, and crashes. */
static int stays(const kiln__codegen_job *job, LLVMValueRef call,
                 const kiln__math_function *f)
{
    return is_intrinsic(call) &&
           kiln__foreign_limited(job, call, f->intrinsic) == NULL &&
           (f->form < KILN__FORM_SPLIT || !is_vector(LLVMGetOperand(call, 0)));
}

static const kiln__codegen_import *import_of(const kiln__codegen_job *job,
                                             LLVMValueRef callee)
{
    size_t size;
    const char *name = LLVMGetValueName2(callee, &size);

    for (size_t i = 0; i < job->request->import_count; i++)
        if (strcmp(job->request->imports[i].name, name) == 0)
            return &job->request->imports[i];
    return NULL;
}

int kiln__math_is_given(const kiln__codegen_job *job, LLVMValueRef callee)
{
    const kiln__codegen_import *import = import_of(job, callee);

    return import != NULL && !import->is_needed;
}

static void rewrite_remainder(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef instruction)
{
    const kiln__math_call call = {kiln__math_named("fmod"),
                                  LLVMTypeOf(instruction), 0};

    if (kiln__foreign_refused_code(job, instruction) != NULL)
        rewrite_call(job, builder, instruction, &call);
}

static void rewrite(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef instruction)
{
    kiln__math_call call;

    if (LLVMGetInstructionOpcode(instruction) == LLVMFRem) {
        rewrite_remainder(job, builder, instruction);
        return;
    }
    if (LLVMIsACallInst(instruction) == NULL ||
        !kiln__math_recognise(&call, instruction) ||
        (call.is_rough && !job->backend->foreign->has_libraries) ||
        stays(job, instruction, call.function) ||
        kiln__math_is_given(job, LLVMGetCalledValue(instruction)))
        return;
    rewrite_call(job, builder, instruction, &call);
}

static void rewrite_function(kiln__codegen_job *job, LLVMBuilderRef builder,
                             LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            rewrite(job, builder, at);
        }
}

/* ---- before ---- */

static int has_mathematics(const kiln__codegen_job *job)
{
    LLVMValueRef function;
    LLVMUseRef use;
    kiln__math_call call;

    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        use = LLVMIsDeclaration(function) ? LLVMGetFirstUse(function) : NULL;
        if (use != NULL && LLVMIsACallInst(LLVMGetUser(use)) != NULL &&
            kiln__math_recognise(&call, LLVMGetUser(use)) &&
            call.function->form <= KILN__FORM_2)
            return 1;
    }
    return 0;
}

/* Nobody has to define a function whose last call dead code had. */
static void drop_unused(const kiln__codegen_job *job)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) == NULL)
            LLVMDeleteFunction(f);
    }
}

/* Makes operands constant that are: then nothing is taken from a library for
   them. */
static kiln_status simplify(kiln__codegen_job *job)
{
    LLVMPassBuilderOptionsRef options;
    LLVMErrorRef error;

    if (job->settings->opt_level == 0 || !has_mathematics(job))
        return KILN_OK;
    options = LLVMCreatePassBuilderOptions();
    error = LLVMRunPasses(job->module, "function(sroa,instsimplify)",
                          job->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);

        (void)kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
    }
    return job->status;
}

static kiln_status rewrite_all(kiln__codegen_job *job)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef function;

    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        rewrite_function(job, builder, function);
    LLVMDisposeBuilder(builder);
    return job->status;
}

kiln_status kiln__foreign_math(kiln__codegen_job *job)
{
    KILN_TRY(simplify(job));
    drop_unused(job);
    KILN_TRY(rewrite_all(job));
    return kiln__foreign_builtins(job);
}

kiln_status kiln__foreign_math_again(kiln__codegen_job *job)
{
    return job->backend->device == NULL ? rewrite_all(job) : KILN_OK;
}

/* ---- what a library must give ---- */

/* Returns KILN__LIBRARY_..., or -1. */
static int32_t library_of(const kiln__codegen_job *job, const char *name)
{
    const uint8_t names = job->settings->math_names;
    kiln__mangled_name mangled;

    if (kiln__mangled_read(&mangled, name))
        return KILN__LIBRARY_BUILTINS;
    if ((names == KILN__NAMES_LIBDEVICE && strncmp(name, "__nv_", 5) == 0) ||
        (names == KILN__NAMES_OCML && strncmp(name, "__ocml_", 7) == 0))
        return KILN__LIBRARY_MATH;
    return -1;
}

kiln_status kiln__foreign_need(kiln__codegen_job *job)
{
    const kiln__codegen_request *request = job->request;
    size_t count = 0, size;
    LLVMValueRef f;

    if (request->need == NULL || !job->backend->foreign->has_libraries)
        return KILN_OK;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &size);
        const int32_t library = LLVMIsDeclaration(f) &&
                                        LLVMGetIntrinsicID(f) == 0 &&
                                        LLVMGetFirstUse(f) != NULL
                                    ? library_of(job, name)
                                    : -1;

        if (library < 0 || import_of(job, f) != NULL)
            continue;
        request->need(request->env, library, name);
        count++;
    }
    return count == 0
               ? KILN_OK
               : kiln__job_fail(job, KILN_EAGAIN,
                                "%zu functions of libraries are needed", count);
}
