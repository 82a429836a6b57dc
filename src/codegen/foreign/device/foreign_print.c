/* foreign_print.c - kiln_print(): formats of printf() as parts of a print. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "abi/host_abi.h"
#include "base/data/array.h"
#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/module/codegen_values.h"

/*
 * A print of a backend is a list of parts: texts and values. A conversion of
 * the format becomes a value, with a part before it that tells how the host
 * writes it if that is not what the backend does anyway. So the format takes no
 * time and no room on a device.
 */

#define PARTS_MAX 256

typedef struct printing {
    const kiln__device_call *call;
    const char *at;   /* in the format */
    unsigned next;    /* operand of the call that comes next */
    kiln__text plain; /* text that is not yet a part */
    const char *texts[PARTS_MAX];
    LLVMValueRef values[PARTS_MAX];
    uint32_t kinds[PARTS_MAX]; /* KILN__PRINT_... */
    size_t count;
    int failed;
} printing;

static void fail(printing *p, const char *why)
{
    if (!p->failed)
        (void)kiln__foreign_refuse_call(p->call->job, p->call->name, why);
    p->failed = 1;
}

static void fail_without_memory(printing *p)
{
    (void)kiln__job_fail(p->call->job, KILN_ENOMEM, "out of memory");
    p->failed = 1;
}

/* ---- parts ---- */

static void add_part(printing *p, uint32_t kind, const char *text,
                     LLVMValueRef value)
{
    if (p->count == PARTS_MAX) {
        fail(p, "the format is too long");
        return;
    }
    p->texts[p->count] = text;
    p->values[p->count] = value;
    p->kinds[p->count++] = kind;
}

static void add_text(printing *p, uint32_t kind, const char *text, size_t size)
{
    const char *kept = kiln__arena_string(&p->call->job->arena, text, size);

    if (kept == NULL)
        fail_without_memory(p);
    else
        add_part(p, kind, kept, NULL);
}

static void end_plain(printing *p)
{
    if (p->plain.failed)
        fail_without_memory(p);
    else if (p->plain.size > 0)
        add_text(p, KILN__PRINT_TEXT, p->plain.bytes, p->plain.size);
    p->plain.size = 0;
}

/* ---- arguments ---- */

/* Returns the next argument; NULL: there is none, and the call is refused. */
static LLVMValueRef take(printing *p)
{
    const LLVMValueRef call = p->call->call;

    if (p->next < (unsigned)LLVMGetNumArgOperands(call))
        return LLVMGetOperand(call, p->next++);
    fail(p, "the format has more conversions than there are arguments");
    return NULL;
}

/* How many bits of an integer of `bits` a length says are printed. C passes
   narrow ones as int. */
static unsigned bits_said(const char *length, unsigned bits)
{
    if (strcmp(length, "hh") == 0)
        return 8;
    return strcmp(length, "h") == 0 && bits > 16 ? 16 : bits;
}

/* Returns an integer as i64, or NULL. */
static LLVMValueRef as_i64(printing *p, LLVMValueRef value, const char *length,
                           int is_signed)
{
    const kiln__device_call *c = p->call;
    const LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits, said;

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(type) > 64) {
        fail(p, "the argument of a conversion of integers is none");
        return NULL;
    }
    bits = LLVMGetIntTypeWidth(type);
    said = bits_said(length, bits);
    if (said < bits)
        value = LLVMBuildTrunc(c->builder, value,
                               LLVMIntTypeInContext(c->job->context, said), "");
    return LLVMBuildIntCast2(c->builder, value, kiln__job_i64(c->job),
                             is_signed, "");
}

static void take_integer(printing *p, const char *length, int is_signed)
{
    LLVMValueRef value = take(p);

    if (value != NULL)
        value = as_i64(p, value, length, is_signed);
    if (value != NULL)
        add_part(p, is_signed ? KILN__PRINT_I64 : KILN__PRINT_U64, NULL, value);
}

static void take_float(printing *p)
{
    const kiln__device_call *c = p->call;
    LLVMValueRef value = take(p);
    LLVMTypeKind kind;

    if (value == NULL)
        return;
    kind = LLVMGetTypeKind(LLVMTypeOf(value));
    if (kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind)
        value = LLVMBuildFPExt(c->builder, value,
                               LLVMFloatTypeInContext(c->job->context), "");
    else if (kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind) {
        fail(p, "the argument of a conversion of floats is none");
        return;
    }
    add_part(p, kind == LLVMDoubleTypeKind ? KILN__PRINT_F64 : KILN__PRINT_F32,
             NULL, value);
}

static void take_pointer(printing *p)
{
    const kiln__device_call *c = p->call;
    LLVMValueRef value = take(p);

    if (value == NULL)
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
        fail(p, "the argument of %p is no pointer");
    else
        add_part(
            p, KILN__PRINT_U64, NULL,
            LLVMBuildPtrToInt(c->builder, value, kiln__job_i64(c->job), ""));
}

static void take_text(printing *p)
{
    LLVMValueRef value = take(p);
    const char *text = NULL;

    if (value == NULL)
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        text = kiln__foreign_text(p->call->job, value);
    if (text == NULL)
        fail(p, "the argument of %s must be a constant string");
    else
        add_text(p, KILN__PRINT_TEXT, text, strlen(text));
}

/* ---- conversions ---- */

/* Numbers that are arguments instead of a width or a precision. */
typedef struct stars {
    LLVMValueRef width;
    LLVMValueRef precision;
} stars;

static LLVMValueRef take_star(printing *p)
{
    LLVMValueRef value = take(p);

    p->at++;
    return value != NULL ? as_i64(p, value, "", 1) : NULL;
}

/* Copies what is in front of lengths to `out`, without stars. */
static void take_shape(printing *p, kiln__text *out, stars *s)
{
    size_t size = strspn(p->at, "-+ #0");

    kiln__text_add_n(out, p->at, size);
    p->at += size;
    if (*p->at == '*')
        s->width = take_star(p);
    size = strspn(p->at, "0123456789");
    kiln__text_add_n(out, p->at, size);
    p->at += size;
    if (*p->at != '.')
        return;
    kiln__text_add(out, ".");
    p->at++;
    if (*p->at == '*')
        s->precision = take_star(p);
    size = strspn(p->at, "0123456789");
    kiln__text_add_n(out, p->at, size);
    p->at += size;
}

static void take_value(printing *p, const char *length, char letter)
{
    if (letter != '\0' && strchr("di", letter) != NULL)
        take_integer(p, length, 1);
    else if (letter != '\0' && strchr("ouxXc", letter) != NULL)
        take_integer(p, length, 0);
    else if (letter != '\0' && strchr("fFeEgGaA", letter) != NULL)
        take_float(p);
    else if (letter == 'p')
        take_pointer(p);
    else if (letter == 's')
        take_text(p);
    else
        fail(p, "the format has a conversion that C does not have, or %n");
}

/* Takes what follows a %. What a backend writes without being told how has no
   part that tells it. */
static void take_conversion(printing *p)
{
    char length[3] = "";
    stars s = {NULL, NULL};
    kiln__text shape;
    size_t size;

    kiln__text_init(&shape, &kiln__malloc);
    take_shape(p, &shape, &s);
    size = strspn(p->at, "hlLjzt");
    if (size < sizeof length)
        memcpy(length, p->at, size);
    p->at += size;
    if (*p->at != '\0')
        kiln__text_add_n(&shape, p->at, 1);
    if (shape.failed)
        fail_without_memory(p);
    else if (shape.size != 1 || strchr("dius", *shape.bytes) == NULL ||
             s.width != NULL)
        add_text(p, KILN__PRINT_FORMAT, shape.size > 0 ? shape.bytes : "",
                 shape.size);
    if (s.width != NULL)
        add_part(p, KILN__PRINT_WIDTH, NULL, s.width);
    if (s.precision != NULL)
        add_part(p, KILN__PRINT_PRECISION, NULL, s.precision);
    if (!p->failed)
        take_value(p, length, *p->at);
    if (*p->at != '\0')
        p->at++;
    kiln__text_dispose(&shape);
}

static void take_format(printing *p)
{
    while (!p->failed && *p->at != '\0') {
        const size_t size = strcspn(p->at, "%");

        kiln__text_add_n(&p->plain, p->at, size);
        p->at += size;
        if (*p->at == '\0')
            break;
        p->at++;
        if (*p->at == '%') {
            kiln__text_add_n(&p->plain, p->at++, 1);
            continue;
        }
        end_plain(p);
        take_conversion(p);
    }
    end_plain(p);
}

/* ---- the function that prints ---- */

/* Backends print with branches, and a call stands in the middle of a block. So
   the code is a function of its own, whose parameters are the item and the
   values; these become the parts' values. */
static LLVMValueRef print_function(printing *p, LLVMTypeRef *types,
                                   unsigned parameters)
{
    kiln__codegen_job *job = p->call->job;
    const LLVMTypeRef type = LLVMFunctionType(
        LLVMVoidTypeInContext(job->context), types, parameters, 0);
    const LLVMValueRef function =
        LLVMAddFunction(job->module, "kiln.print", type);
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    unsigned next = 1;

    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__add_attribute(function, "nounwind");
    kiln__add_attribute(function, "alwaysinline");
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i] != NULL)
            p->values[i] = LLVMGetParam(function, next++);
    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, function, ""));
    job->backend->item->print(job, builder, LLVMGetParam(function, 0),
                              &(kiln__codegen_print){.count = p->count,
                                                     .texts = p->texts,
                                                     .values = p->values,
                                                     .parts = p->kinds});
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return function;
}

static void call_print(printing *p)
{
    LLVMTypeRef types[1 + PARTS_MAX];
    LLVMValueRef arguments[1 + PARTS_MAX], function;
    unsigned count = 1;

    arguments[0] = p->call->item;
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i] != NULL)
            arguments[count++] = p->values[i];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    function = print_function(p, types, count);
    LLVMBuildCall2(p->call->builder, LLVMGlobalGetValueType(function), function,
                   arguments, count, "");
}

LLVMValueRef kiln__foreign_print(const kiln__device_call *c)
{
    printing p = {.call = c,
                  .at = kiln__foreign_text(c->job, c->arguments[0]),
                  .next = 2};

    if (p.at == NULL) {
        fail(&p, "the format must be a constant string");
        return NULL;
    }
    kiln__text_init(&p.plain, &kiln__malloc);
    take_format(&p);
    kiln__text_dispose(&p.plain);
    if (p.failed)
        return NULL;
    if (p.count > 0)
        call_print(&p);
    return kiln__job_number32(c->job, 0);
}
