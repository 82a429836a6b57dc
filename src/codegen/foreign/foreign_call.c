/* foreign_call.c - modules of other frontends call the kernel language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_values.h"

/*
 * Lines in the head of a module (foreign_wrap.c) say which functions that the
 * module declares are callees of the kernel, in the order of the request:
 *
 *     call <number> <symbol>
 *     apply <number> <symbol>   its pointers have no sizes behind them
 *
 * Such a function is defined here. It calls `void @kiln_call.N(<arguments>, ptr
 * result)`, which takes arguments as an entry does, and is defined when its
 * function is lowered: lower_called.c. Until then it is a device function: it
 * gets the item, and may raise.
 */

int kiln__foreign_is_call(LLVMValueRef function)
{
    size_t size;

    return LLVMIsDeclaration(function) &&
           strncmp(LLVMGetValueName2(function, &size), KILN__CALL_PREFIX,
                   sizeof KILN__CALL_PREFIX - 1) == 0;
}

typedef struct calling {
    kiln__codegen_job *job;
    LLVMValueRef function;
    LLVMBuilderRef builder;
    LLVMValueRef *values;
    LLVMTypeRef *types;
    unsigned count;
    int lacks_sizes; /* the source has none behind its pointers */
} calling;

/* The alignment of every vector. */
#define BYTES_ALIGNMENT 128u

static LLVMValueRef add_variable(const calling *c, LLVMTypeRef type)
{
    LLVMValueRef made = LLVMBuildAlloca(c->builder, type, "");

    LLVMSetAlignment(made, BYTES_ALIGNMENT);
    return made;
}

static void add_value(calling *c, LLVMValueRef value)
{
    c->values[c->count] = value;
    c->types[c->count++] = LLVMTypeOf(value);
}

/* Scalars and the words of arrays stay as they are, except that a truth value
   has a byte. Vectors are passed by their bytes, and so is the fourth element
   that a vector of three has in memory. */
static void add_parameter(calling *c, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef bytes;

    if (type == LLVMInt1TypeInContext(c->job->context)) {
        value = LLVMBuildZExt(c->builder, value,
                              LLVMInt8TypeInContext(c->job->context), "");
    } else if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        bytes = add_variable(c, LLVMArrayType2(type, 2));
        LLVMBuildStore(c->builder, value, bytes);
        value = bytes;
    }
    add_value(c, value);
    if (c->lacks_sizes && LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        add_value(c, kiln__job_number64(c->job, 0));
}

/* The function of the source has the result as its value. */
static void build_body(calling *c, LLVMValueRef callee_result,
                       LLVMTypeRef result, uint64_t number)
{
    const LLVMTypeRef type = LLVMFunctionType(
        LLVMVoidTypeInContext(c->job->context), c->types, c->count, 0);
    const char *name = kiln__arena_format(
        &c->job->arena, KILN__CALL_PREFIX "%llu", (unsigned long long)number);
    LLVMValueRef callee;

    if (name == NULL)
        return;
    callee = LLVMGetNamedFunction(c->job->module, name);
    if (callee == NULL)
        callee = LLVMAddFunction(c->job->module, name, type);
    LLVMBuildCall2(c->builder, type, callee, c->values, c->count, "");
    if (callee_result == NULL)
        LLVMBuildRetVoid(c->builder);
    else
        LLVMBuildRet(c->builder,
                     LLVMBuildLoad2(c->builder, result, callee_result, ""));
}

/* A declaration describes itself to debuggers otherwise than a function does.
 */
static void be_inlined(const calling *c)
{
    static const char dbg[] = "dbg";

    LLVMGlobalEraseMetadata(
        c->function,
        LLVMGetMDKindIDInContext(c->job->context, dbg, sizeof dbg - 1));
    LLVMSetLinkage(c->function, LLVMInternalLinkage);
    kiln__add_attribute(c->function, "alwaysinline");
}

static kiln_status build_call(calling *c, uint64_t number)
{
    const LLVMTypeRef result =
        LLVMGetReturnType(LLVMGlobalGetValueType(c->function));
    const unsigned count = LLVMCountParams(c->function);
    LLVMValueRef place = NULL;

    LLVMPositionBuilderAtEnd(c->builder, LLVMAppendBasicBlockInContext(
                                             c->job->context, c->function, ""));
    for (unsigned i = 0; i < count; i++)
        add_parameter(c, LLVMGetParam(c->function, i));
    if (LLVMGetTypeKind(result) != LLVMVoidTypeKind) {
        place = add_variable(c, LLVMArrayType2(result, 2));
        add_value(c, place);
    }
    build_body(c, place, result, number);
    be_inlined(c);
    return c->job->arena.failed
               ? kiln__job_fail(c->job, KILN_ENOMEM, "out of memory")
               : KILN_OK;
}

static kiln_status define_call(calling *c, uint64_t number)
{
    /* Each parameter may need a size, and the value a place. */
    const size_t most = 2 * (size_t)LLVMCountParams(c->function) + 1;
    kiln_status status;

    c->values =
        kiln__arena_allocate_array(&c->job->arena, most, sizeof *c->values);
    c->types =
        kiln__arena_allocate_array(&c->job->arena, most, sizeof *c->types);
    if (c->values == NULL || c->types == NULL)
        return kiln__job_fail(c->job, KILN_ENOMEM, "out of memory");
    c->builder = LLVMCreateBuilderInContext(c->job->context);
    status = build_call(c, number);
    LLVMDisposeBuilder(c->builder);
    return status;
}

/* Reads "<number> <name>" and defines that function. */
static kiln_status define_line(kiln__codegen_job *job, const char *line,
                               int lacks_sizes)
{
    calling c = {.job = job, .lacks_sizes = lacks_sizes};
    char *end;
    const uint64_t number = strtoull(line, &end, 10);
    const char *name;

    end += *end == ' ';
    name = kiln__arena_string(&job->arena, end, strcspn(end, "\n"));
    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    c.function = LLVMGetNamedFunction(job->module, name);
    if (c.function == NULL || !LLVMIsDeclaration(c.function))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module does not declare '%s'", name);
    return define_call(&c, number);
}

kiln_status kiln__foreign_define_calls(kiln__codegen_job *job,
                                       const char *lines)
{
    static const char *const words[] = {"call ", "apply "};

    for (; *lines != '\n'; lines += strcspn(lines, "\n") + 1)
        for (int i = 0; i < 2; i++)
            if (strncmp(lines, words[i], strlen(words[i])) == 0)
                KILN_TRY(define_line(job, lines + strlen(words[i]), i));
    return KILN_OK;
}
