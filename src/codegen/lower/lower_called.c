/* lower_called.c - functions that modules of other frontends call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/lower/lower.h"
#include "codegen/module/codegen_values.h"

/*
 * A foreign module calls the request's function N as kiln_call.N(). After the
 * module was adapted, that is
 *
 *     i1 @kiln_call.N(ptr %item, <arguments as an entry takes them>,
 *                     ptr %result)
 *
 * The value is stored at %result, which is left out where there is none. The
 * function returns true if it raised an exception, and stores nothing then.
 *
 * Other names, of the runtime library's functions, are called as the functions
 * are lowered.
 */

/* Returns the function that stands for a function of the request, or NULL. */
static LLVMValueRef called(const kiln__codegen_job *job, size_t number)
{
    const char *name = job->request->functions[number].called;

    return name != NULL ? LLVMGetNamedFunction(job->module, name) : NULL;
}

static int has_own_form(const kiln__codegen_function *source)
{
    return strncmp(source->called, KILN__CALL_PREFIX,
                   sizeof KILN__CALL_PREFIX - 1) != 0;
}

int kiln__called_any(const kiln__codegen_job *job)
{
    for (size_t i = 0; i < job->request->function_count; i++)
        if (called(job, i) != NULL)
            return 1;
    return 0;
}

/* Code of other frontends runs one item at a time on the host, and its items
   that fail do not wait for others. */
kiln_status kiln__called_check(const kiln__lowering *l)
{
    for (size_t i = 0; i < l->count; i++)
        if ((l->functions[i].effects & KILN__CONVERGENT) != 0 &&
            called(l->job, i) != NULL)
            return kiln__job_fail(
                l->job, KILN_EUNSUPPORTED,
                "%s: items of a group execute it together, so code of "
                "another language cannot call it",
                l->functions[i].ir.name);
    return KILN_OK;
}

/* ---- arguments ---- */

typedef struct defining {
    kiln__lowering *l;
    LLVMValueRef function; /* kiln_call.N */
    unsigned at;           /* its next parameter */
} defining;

static LLVMValueRef next_parameter(defining *d)
{
    return d->at < LLVMCountParams(d->function)
               ? LLVMGetParam(d->function, d->at++)
               : NULL;
}

static int is_pointer(LLVMValueRef value)
{
    return value != NULL &&
           LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* Returns the register form of an array, or NULL. */
static LLVMValueRef take_array(defining *d, uint32_t type,
                               const kiln__parameter *p)
{
    kiln__lowering *l = d->l;
    LLVMTypeRef pointer = kiln__job_array_pointer(l->job);
    LLVMValueRef all = LLVMGetPoison(kiln__lower_type_of(l, type));
    LLVMValueRef word = next_parameter(d);

    if (!is_pointer(word))
        return NULL;
    if (LLVMTypeOf(word) != pointer)
        word = LLVMBuildAddrSpaceCast(l->builder, word, pointer, "");
    all = LLVMBuildInsertValue(l->builder, all, word, 0, "");
    for (unsigned i = 1; i < kiln__lower_flat_count(p); i++) {
        word = next_parameter(d);
        if (word == NULL || LLVMTypeOf(word) != l->i64)
            return NULL;
        all = LLVMBuildInsertValue(l->builder, all, word, i, "");
    }
    return all;
}

static LLVMValueRef take_scalar(defining *d, const kiln__parameter *p)
{
    kiln__lowering *l = d->l;
    const int is_truth = p->kind == KILN_TYPE_BOOL;
    LLVMTypeRef wanted = is_truth ? LLVMInt8TypeInContext(l->context)
                                  : kiln__job_scalar(l->job, p->kind);
    LLVMValueRef value = next_parameter(d);

    if (value == NULL || LLVMTypeOf(value) != wanted)
        return NULL;
    return is_truth ? LLVMBuildICmp(l->builder, LLVMIntNE, value,
                                    LLVMConstNull(wanted), "")
                    : value;
}

/* Returns the register form of the next argument; NULL: the parameters are
   others. */
static LLVMValueRef take_argument(defining *d, uint32_t type)
{
    const kiln__parameter p = kiln__lower_describe(d->l, type);
    LLVMValueRef bytes;

    switch (p.passing) {
    case KILN__PARAMETER_EMPTY:
        return LLVMConstNull(kiln__lower_type_of(d->l, type));
    case KILN__PARAMETER_SCALAR:
        return take_scalar(d, &p);
    case KILN__PARAMETER_ARRAY:
        return take_array(d, type, &p);
    default:
        bytes = next_parameter(d);
        return is_pointer(bytes) ? kiln__lower_read(d->l, type, bytes) : NULL;
    }
}

/* ---- the function ---- */

static kiln_status refuse(const defining *d)
{
    return kiln__job_fail(d->l->job, KILN_ECODEGEN,
                          "the module calls %s with other parameters than it "
                          "has",
                          d->l->ir->name);
}

/* Stores the value that the call returned, and returns the flag beside it. */
static LLVMValueRef store_result(defining *d, LLVMValueRef value)
{
    kiln__lowering *l = d->l;
    const LLVMValueRef none = LLVMConstNull(LLVMInt1TypeInContext(l->context));
    LLVMValueRef flag = none;

    if (kiln__ir_type_is_empty(l->ir, l->ir->result))
        return l->f->has_flag ? value : none;
    if (l->f->has_flag) {
        flag = LLVMBuildExtractValue(l->builder, value, 1, "");
        value = LLVMBuildExtractValue(l->builder, value, 0, "");
    }
    kiln__lower_write(l, l->ir->result, LLVMGetParam(d->function, d->at),
                      value);
    return flag;
}

static kiln_status build_body(defining *d)
{
    kiln__lowering *l = d->l;
    const size_t count = l->ir->parameter_count;
    const int has_result = !kiln__ir_type_is_empty(l->ir, l->ir->result);
    LLVMValueRef *values =
        kiln__arena_allocate_array(&l->job->arena, count + 1, sizeof *values);
    LLVMValueRef value;

    if (values == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    values[0] = next_parameter(d);
    for (size_t i = 0; i < count; i++) {
        values[1 + i] = take_argument(d, l->ir->locals.items[i].type);
        if (values[1 + i] == NULL)
            return refuse(d);
    }
    if (d->at + (unsigned)has_result != LLVMCountParams(d->function) ||
        (has_result && !is_pointer(LLVMGetParam(d->function, d->at))))
        return refuse(d);
    value = LLVMBuildCall2(l->builder, l->f->signature, l->f->value, values,
                           (unsigned)count + 1, "");
    LLVMBuildRet(l->builder, store_result(d, value));
    return KILN_OK;
}

static void be_inlined(const defining *d)
{
    LLVMSetLinkage(d->function, LLVMInternalLinkage);
    kiln__add_attribute(d->function, "alwaysinline");
}

/* The declaration becomes the function. */
static kiln_status replace(const defining *d)
{
    const kiln__lower_function *f = d->l->f;

    if (LLVMGlobalGetValueType(d->function) != f->signature)
        return kiln__job_fail(d->l->job, KILN_ECODEGEN,
                              "the runtime library's %s has another type",
                              f->ir.name);
    LLVMReplaceAllUsesWith(d->function, f->value);
    LLVMDeleteFunction(d->function);
    return KILN_OK;
}

static kiln_status define_called(defining *d)
{
    kiln__lowering *l = d->l;

    l->ir = &l->f->ir;
    if ((l->f->effects & KILN__HEAPS) != 0)
        l->job->uses_heap = 1;
    if (has_own_form(l->f->source))
        return replace(d);
    LLVMPositionBuilderAtEnd(
        l->builder, LLVMAppendBasicBlockInContext(l->context, d->function, ""));
    KILN_TRY(build_body(d));
    be_inlined(d);
    return KILN_OK;
}

kiln_status kiln__called_define(kiln__lowering *l)
{
    for (size_t i = 0; i < l->count; i++) {
        defining d = {.l = l, .function = called(l->job, i)};

        if (d.function == NULL)
            continue;
        l->f = &l->functions[i];
        KILN_TRY(define_called(&d));
    }
    return KILN_OK;
}
