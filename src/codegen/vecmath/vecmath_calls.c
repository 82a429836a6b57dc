/* vecmath_calls.c - marks calls of mathematical functions, and gives them
   bodies. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "codegen/module/codegen_stages.h"
#include "codegen/vecmath/vecmath.h"
#include "codegen/vecmath/vecmath_build.h"

#define PREFIX "kiln.math."
#define NAME_SIZE 64
#define ARGUMENTS_MAX 2
#define LANES_MAX 32 /* of a program's own vectors */
/* LLVM's: a list of "_ZGV_LLVM_N<lanes>v<v...>_<function>(<on vectors>)". */
#define VARIANTS "vector-function-abi-variant"

static const unsigned lane_counts[] = {2, 4, 8, 16};
#define LANE_COUNTS (sizeof lane_counts / sizeof lane_counts[0])

typedef struct function {
    const char *name; /* C's, without an f */
    unsigned operands;
    kiln__vm_body body;
    int is_f64;
} function;

/* ---- recognising ---- */

static int has_mark(LLVMValueRef call, const char *mark)
{
    return LLVMGetCallSiteStringAttribute(
               call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark,
               (unsigned)strlen(mark)) != NULL;
}

static void add_mark(LLVMValueRef call, const char *mark, const char *value)
{
    const LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));

    LLVMAddCallSiteAttribute(
        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(context, mark, (unsigned)strlen(mark), value,
                                  (unsigned)strlen(value)));
}

/* Returns the part of an intrinsic's or of C's name that both share, or "". */
static const char *base_name(char out[NAME_SIZE], LLVMValueRef callee,
                             int is_f32)
{
    const unsigned id = LLVMGetIntrinsicID(callee);
    size_t size;
    const char *name = id != 0 ? LLVMIntrinsicGetName(id, &size) + 5
                               : LLVMGetValueName2(callee, &size);

    size = strlen(name);
    if (id == 0 && is_f32)
        size = size > 0 && name[size - 1] == 'f' ? size - 1 : 0;
    if (size >= NAME_SIZE)
        size = 0;
    memcpy(out, name, size);
    out[size] = '\0';
    return out;
}

static int has_operands(LLVMValueRef call, unsigned count)
{
    if (LLVMGetNumArgOperands(call) != count)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (LLVMTypeOf(LLVMGetOperand(call, i)) != LLVMTypeOf(call))
            return 0;
    return 1;
}

/* True for a call of a function that Kiln has a body for; `name` gets the
   letters of out->name. */
static int recognise(function *out, char name[NAME_SIZE],
                     LLVMValueRef instruction)
{
    const LLVMTypeRef type = LLVMTypeOf(instruction);
    const LLVMTypeKind kind = LLVMGetTypeKind(kiln__lane_type(type));
    LLVMValueRef callee;

    if (LLVMIsACallInst(instruction) == NULL ||
        (kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind) ||
        kiln__lane_count(type) > LANES_MAX)
        return 0;
    callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    if (callee == NULL || !LLVMIsDeclaration(callee))
        return 0;
    *out =
        (function){.name = base_name(name, callee, kind != LLVMDoubleTypeKind),
                   .is_f64 = kind == LLVMDoubleTypeKind};
    out->body = kiln__vm_find(name, out->is_f64, &out->operands);
    return out->body != NULL && has_operands(instruction, out->operands);
}

/* ---- functions ---- */

static LLVMTypeRef scalar_of(const kiln__codegen_job *job, const function *f)
{
    return f->is_f64 ? LLVMDoubleTypeInContext(job->context)
                     : LLVMFloatTypeInContext(job->context);
}

static void function_name(char out[NAME_SIZE], const function *f,
                          LLVMTypeRef type)
{
    const unsigned bits = f->is_f64 ? 64 : 32;

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        snprintf(out, NAME_SIZE, PREFIX "%s.v%uf%u", f->name,
                 LLVMGetVectorSize(type), bits);
    else
        snprintf(out, NAME_SIZE, PREFIX "%s.f%u", f->name, bits);
}

/* Returns Kiln's function on that type. */
static LLVMValueRef declare(LLVMModuleRef module, const function *f,
                            LLVMTypeRef type)
{
    LLVMTypeRef types[ARGUMENTS_MAX] = {type, type};
    char name[NAME_SIZE];
    LLVMValueRef declared;

    function_name(name, f, type);
    declared = LLVMGetNamedFunction(module, name);
    if (declared != NULL)
        return declared;
    declared = LLVMAddFunction(module, name,
                               LLVMFunctionType(type, types, f->operands, 0));
    kiln__add_attribute(declared, "nounwind");
    kiln__add_attribute(declared, "willreturn");
    kiln__add_attribute(declared, "memory");
    return declared;
}

/* ---- marking ---- */

/* Tells LLVM which functions stand for the call in vectors. */
static void name_variants(kiln__codegen_job *job, LLVMModuleRef module,
                          const function *f, LLVMValueRef call)
{
    char list[LANE_COUNTS * 3 * NAME_SIZE];
    size_t used = 0, size;
    const char *callee = LLVMGetValueName2(LLVMGetCalledValue(call), &size);

    for (size_t i = 0; i < LANE_COUNTS; i++) {
        const LLVMTypeRef type =
            LLVMVectorType(scalar_of(job, f), lane_counts[i]);
        const LLVMValueRef variant = declare(module, f, type);

        kiln__llvm_keep(variant);
        used += (size_t)snprintf(list + used, sizeof list - used,
                                 "%s_ZGV_LLVM_N%u%s_%s(%s)", i > 0 ? "," : "",
                                 lane_counts[i], f->operands > 1 ? "vv" : "v",
                                 callee, LLVMGetValueName2(variant, &size));
    }
    add_mark(call, VARIANTS, list);
}

/* Asked when there is a call: without fused multiply-add, C's functions are
   faster and more exact. */
static int is_wanted(kiln__codegen_job *job)
{
    const kiln__codegen_settings *settings = job->settings;

    if (job->has_vecmath == 0)
        job->has_vecmath =
            kiln__llvm_target_has(settings->triple, settings->processor,
                                  settings->features, "+fma")
                ? 1
                : -1;
    return job->has_vecmath > 0;
}

static void mark(kiln__codegen_job *job, LLVMModuleRef module,
                 LLVMValueRef instruction)
{
    char name[NAME_SIZE];
    function f;

    if (!recognise(&f, name, instruction) ||
        has_mark(instruction, KILN__STRICT_MARK) || !is_wanted(job))
        return;
    add_mark(instruction, KILN__MATH_MARK, "");
    if (LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMVectorTypeKind)
        name_variants(job, module, &f, instruction);
}

static void each_instruction(kiln__codegen_job *job, LLVMModuleRef module,
                             void (*visit)(kiln__codegen_job *job,
                                           LLVMModuleRef module,
                                           LLVMValueRef instruction))
{
    LLVMValueRef f, at, next;
    LLVMBasicBlockRef block;

    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f))
        for (block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
                next = LLVMGetNextInstruction(at);
                visit(job, module, at);
            }
}

void kiln__vecmath_mark(kiln__codegen_job *job)
{
    if (!job->backend->has_vecmath || job->settings->opt_level < 2)
        return;
    each_instruction(job, job->module, mark);
    if (job->checked_module != NULL)
        each_instruction(job, job->checked_module, mark);
}

/* ---- bodies ---- */

static void replace(kiln__codegen_job *job, LLVMModuleRef module,
                    LLVMValueRef call)
{
    LLVMValueRef arguments[ARGUMENTS_MAX], callee, value;
    LLVMBuilderRef builder;
    char name[NAME_SIZE];
    function f;

    if (LLVMIsACallInst(call) == NULL || !has_mark(call, KILN__MATH_MARK) ||
        !recognise(&f, name, call))
        return;
    for (unsigned i = 0; i < f.operands; i++)
        arguments[i] = LLVMGetOperand(call, i);
    builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    callee = declare(module, &f, LLVMTypeOf(call));
    value = LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee,
                           arguments, f.operands, "");
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
    LLVMDisposeBuilder(builder);
}

/* Calls C's function. */
static LLVMValueRef call_c(kiln__codegen_job *job, const kiln__vm *m,
                           const function *f, LLVMValueRef *arguments)
{
    const LLVMTypeRef type = scalar_of(job, f);
    LLVMTypeRef types[ARGUMENTS_MAX] = {type, type};
    char name[NAME_SIZE];
    LLVMValueRef callee;

    snprintf(name, sizeof name, "%s%s", f->name, f->is_f64 ? "" : "f");
    callee = LLVMGetNamedFunction(m->module, name);
    if (callee == NULL) {
        callee = LLVMAddFunction(m->module, name,
                                 LLVMFunctionType(type, types, f->operands, 0));
        kiln__add_attribute(callee, "nounwind");
        kiln__add_attribute(callee, "willreturn");
        kiln__add_attribute(callee, "memory");
    }
    return LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(callee), callee,
                          arguments, f->operands, "");
}

/* Returns where the element of a vector in memory is. */
static LLVMValueRef element(const kiln__vm *m, LLVMTypeRef type,
                            LLVMValueRef vector, unsigned lane)
{
    const LLVMContextRef context = LLVMGetTypeContext(type);
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(context), lane, 0);

    return LLVMBuildInBoundsGEP2(m->builder, type, vector, &index, 1, "");
}

/* If the element is hard, replaces the value by what C's function gives, in a
   block of its own. */
static void compute_hard(kiln__codegen_job *job, const kiln__vm *m,
                         const function *f, LLVMValueRef at, unsigned lane)
{
    const LLVMBasicBlockRef hard =
        LLVMAppendBasicBlockInContext(job->context, at, "");
    const LLVMBasicBlockRef next =
        LLVMAppendBasicBlockInContext(job->context, at, "");
    const LLVMTypeRef type = scalar_of(job, f);
    LLVMValueRef x[ARGUMENTS_MAX], bit;

    bit = LLVMBuildAnd(m->builder, LLVMGetParam(at, f->operands + 1),
                       kiln__job_number32(job, UINT32_C(1) << lane), "");
    bit = LLVMBuildICmp(m->builder, LLVMIntNE, bit, kiln__job_number32(job, 0),
                        "");
    LLVMBuildCondBr(m->builder, bit, hard, next);
    LLVMPositionBuilderAtEnd(m->builder, hard);
    for (unsigned i = 0; i < f->operands; i++)
        x[i] = LLVMBuildLoad2(m->builder, type,
                              element(m, type, LLVMGetParam(at, i), lane), "");
    LLVMBuildStore(m->builder, call_c(job, m, f, x),
                   element(m, type, LLVMGetParam(at, f->operands), lane));
    LLVMBuildBr(m->builder, next);
    LLVMPositionBuilderAtEnd(m->builder, next);
}

/* Makes `void NAME.hard(ptr x..., ptr value, i32 hard)`, which computes the
   hard elements one by one. Vectors are passed in memory: two functions of one
   module may be told to pass them in registers of different lengths. */
static LLVMValueRef hard_function(kiln__codegen_job *job, const kiln__vm *of,
                                  const function *f)
{
    LLVMTypeRef types[ARGUMENTS_MAX + 2];
    kiln__vm m = *of;
    char name[NAME_SIZE];
    LLVMValueRef made;

    for (unsigned i = 0; i <= f->operands; i++)
        types[i] = LLVMPointerTypeInContext(job->context, 0);
    types[f->operands + 1] = kiln__job_i32(job);
    function_name(name, f, m.type);
    strcat(name, ".hard");
    made = LLVMAddFunction(m.module, name,
                           LLVMFunctionType(LLVMVoidTypeInContext(job->context),
                                            types, f->operands + 2, 0));
    LLVMSetLinkage(made, LLVMInternalLinkage);
    kiln__add_attribute(made, "noinline");
    kiln__add_attribute(made, "nounwind");
    kiln__add_attribute(made, "cold");
    m.builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderAtEnd(
        m.builder, LLVMAppendBasicBlockInContext(job->context, made, ""));
    for (unsigned i = 0; i < kiln__lane_count(m.type); i++)
        compute_hard(job, &m, f, made, i);
    LLVMBuildRetVoid(m.builder);
    LLVMDisposeBuilder(m.builder);
    return made;
}

/* Returns the value with its hard elements computed. `places` are memory for
   the arguments and the value. */
static LLVMValueRef call_hard(kiln__codegen_job *job, const kiln__vm *m,
                              const function *f, LLVMValueRef value,
                              LLVMValueRef places[ARGUMENTS_MAX + 2])
{
    const LLVMValueRef slow = hard_function(job, m, f);
    const LLVMValueRef at =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(m->builder));
    LLVMValueRef bits;

    for (unsigned i = 0; i < f->operands; i++)
        LLVMBuildStore(m->builder, LLVMGetParam(at, i), places[i]);
    LLVMBuildStore(m->builder, value, places[f->operands]);
    bits = LLVMBuildBitCast(
        m->builder, m->hard,
        LLVMIntTypeInContext(job->context, kiln__lane_count(m->type)), "");
    places[f->operands + 1] =
        LLVMBuildZExt(m->builder, bits, kiln__job_i32(job), "");
    LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(slow), slow, places,
                   f->operands + 2, "");
    return LLVMBuildLoad2(m->builder, m->type, places[f->operands], "");
}

/* Computes the hard elements, by a branch that is hardly ever taken. */
static LLVMValueRef finish_hard(kiln__codegen_job *job, const kiln__vm *m,
                                const function *f, LLVMValueRef value)
{
    const LLVMBasicBlockRef before = LLVMGetInsertBlock(m->builder);
    const LLVMValueRef at = LLVMGetBasicBlockParent(before);
    const LLVMBasicBlockRef hard =
        LLVMAppendBasicBlockInContext(job->context, at, "");
    const LLVMBasicBlockRef next =
        LLVMAppendBasicBlockInContext(job->context, at, "");
    const int is_vector = LLVMGetTypeKind(m->type) == LLVMVectorTypeKind;
    LLVMValueRef places[ARGUMENTS_MAX + 2], both[2] = {value, NULL};
    LLVMValueRef any = m->hard;
    LLVMBasicBlockRef from[2] = {before, hard};

    if (is_vector)
        any = kiln__call_intrinsic(m->builder, "llvm.vector.reduce.or",
                                   m->truth, &any, 1);
    for (unsigned i = 0; i <= f->operands && is_vector; i++)
        places[i] = LLVMBuildAlloca(m->builder, m->type, "");
    LLVMBuildCondBr(m->builder, any, hard, next);
    LLVMPositionBuilderAtEnd(m->builder, hard);
    if (!is_vector)
        LLVMGetParams(at, places);
    both[1] = is_vector ? call_hard(job, m, f, value, places)
                        : call_c(job, m, f, places);
    LLVMBuildBr(m->builder, next);
    LLVMPositionBuilderAtEnd(m->builder, next);
    value = LLVMBuildPhi(m->builder, m->type, "");
    LLVMAddIncoming(value, both, from, 2);
    return value;
}

static void define(kiln__codegen_job *job, LLVMModuleRef module,
                   const function *f, LLVMValueRef declared)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef x[ARGUMENTS_MAX], value;
    kiln__vm m;

    LLVMSetLinkage(declared, LLVMInternalLinkage);
    kiln__inline_always(declared);
    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, declared, ""));
    LLVMGetParams(declared, x);
    kiln__vm_init(&m, module, builder, LLVMTypeOf(x[0]));
    value = f->body(&m, x);
    if (m.hard != NULL)
        value = finish_hard(job, &m, f, value);
    LLVMBuildRet(builder, value);
    LLVMDisposeBuilder(builder);
}

/* Finds the function by its name, PREFIX "exp.v8f32". */
static int find_declared(function *out, char name[NAME_SIZE],
                         LLVMValueRef declared)
{
    size_t size;
    const char *text = LLVMGetValueName2(declared, &size);
    const LLVMTypeRef type =
        LLVMGetReturnType(LLVMGlobalGetValueType(declared));

    if (strncmp(text, PREFIX, sizeof PREFIX - 1) != 0 ||
        !LLVMIsDeclaration(declared))
        return 0;
    text += sizeof PREFIX - 1;
    size = strcspn(text, ".");
    if (size >= NAME_SIZE)
        return 0;
    memcpy(name, text, size);
    name[size] = '\0';
    *out = (function){.name = name,
                      .is_f64 = LLVMGetTypeKind(kiln__lane_type(type)) ==
                                LLVMDoubleTypeKind};
    out->body = kiln__vm_find(name, out->is_f64, &out->operands);
    return out->body != NULL;
}

int kiln__vecmath_expand(kiln__codegen_job *job, LLVMModuleRef module)
{
    LLVMValueRef at, next;
    char name[NAME_SIZE];
    function f;
    int found = 0;

    if (job->has_vecmath <= 0)
        return 0;
    each_instruction(job, module, replace);
    kiln__llvm_keep_no_more(module, PREFIX);
    for (at = LLVMGetFirstFunction(module); at != NULL; at = next) {
        next = LLVMGetNextFunction(at);
        if (!find_declared(&f, name, at))
            continue;
        if (LLVMGetFirstUse(at) == NULL) {
            LLVMDeleteFunction(at);
            continue;
        }
        define(job, module, &f, at);
        found = 1;
    }
    return found;
}
