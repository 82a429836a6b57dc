/* opencl_print.c - printf() of OpenCL C, as kiln_print(). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/ascii.h"
#include "base/error.h"
#include "clang/opencl_calls.h"

/*
 * OpenCL's formats know vectors, "%v4f" with lengths such as "hl". Each becomes
 * as many conversions as it has elements, with commas between. So the format
 * and the arguments are those of C.
 */

#define ARGUMENTS_MAX 64

typedef struct print {
    kiln__opencl_call call;
    kiln__clang_job *job;
    const char *at; /* in the format */
    char *text;     /* the new format, as far as it is done */
    size_t size;
    size_t capacity;
    LLVMValueRef values[ARGUMENTS_MAX]; /* the new arguments */
    unsigned count;
    unsigned next; /* argument that has not been taken yet */
} print;

static void put(print *p, const char *text, size_t size)
{
    if (p->size + size < p->capacity)
        memcpy(p->text + p->size, text, size);
    p->size += size;
}

/* The text of the constant that the format is, or NULL. */
static const char *text_of(LLVMValueRef format, size_t *size)
{
    LLVMValueRef constant;
    const char *text;

    /* A place inside of a text is another text. */
    while (LLVMIsAConstantExpr(format) != NULL &&
           LLVMGetConstOpcode(format) == LLVMAddrSpaceCast)
        format = LLVMGetOperand(format, 0);
    if (LLVMIsAGlobalVariable(format) == NULL || !LLVMIsGlobalConstant(format))
        return NULL;
    constant = LLVMGetInitializer(format);
    if (constant != NULL && LLVMIsAConstantAggregateZero(constant) != NULL) {
        *size = 0;
        return "";
    }
    if (constant == NULL || !LLVMIsConstantString(constant))
        return NULL;
    text = LLVMGetAsString(constant, size);
    *size = strnlen(text, *size);
    return text;
}

/* ---- arguments ---- */

/* A constant in the space that formats are in: none. */
static LLVMValueRef constant_text(print *p, const char *text, size_t size)
{
    LLVMValueRef value =
        LLVMConstStringInContext2(p->call.context, text, size, 0);
    LLVMValueRef variable = LLVMAddGlobalInAddressSpace(
        p->call.module, LLVMTypeOf(value), ".str", 0);

    LLVMSetInitializer(variable, value);
    LLVMSetGlobalConstant(variable, 1);
    LLVMSetLinkage(variable, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(variable, LLVMGlobalUnnamedAddr);
    return variable;
}

/* C's promotions; clang has made those of scalars already. */
static LLVMValueRef promoted(print *p, LLVMValueRef value, int is_signed)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef word = LLVMInt32TypeInContext(p->call.context);
    LLVMTypeRef real = LLVMDoubleTypeInContext(p->call.context);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    size_t size;

    if (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 32)
        return LLVMBuildIntCast2(p->call.builder, value, word, is_signed, "");
    if (kind == LLVMHalfTypeKind ||
        (kind == LLVMFloatTypeKind && p->job->request->has_f64))
        return LLVMBuildFPExt(p->call.builder, value, real, "");
    if (kind == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(type) != 0) {
        const char *text = text_of(value, &size);

        return text != NULL
                   ? constant_text(p, text, size)
                   : LLVMBuildAddrSpaceCast(
                         p->call.builder, value,
                         LLVMPointerTypeInContext(p->call.context, 0), "");
    }
    return value;
}

static void add_value(print *p, LLVMValueRef value, int is_signed)
{
    if (p->count < ARGUMENTS_MAX)
        p->values[p->count] = promoted(p, value, is_signed);
    p->count++;
}

static LLVMValueRef next_argument(print *p)
{
    return p->next < (unsigned)LLVMGetNumArgOperands(p->call.call)
               ? LLVMGetOperand(p->call.call, p->next++)
               : NULL;
}

/* ---- conversions ---- */

/* One conversion: %, flags, width, precision; vector and lengths; letter. */
typedef struct conversion {
    const char *flags; /* behind the % */
    size_t flags_size;
    unsigned lanes; /* 0: no vector */
    char length[3]; /* of C: h, hh, l; without hl */
    char letter;
} conversion;

static conversion read_conversion(print *p)
{
    conversion c = {.flags = p->at};
    size_t lengths;

    while (*p->at != '\0' && strchr("-+ #0123456789.*", *p->at) != NULL) {
        if (*p->at++ == '*') {
            LLVMValueRef width = next_argument(p);

            if (width != NULL)
                add_value(p, width, 1);
        }
    }
    c.flags_size = (size_t)(p->at - c.flags);
    if (*p->at == 'v' && kiln__is_digit(p->at[1]))
        for (p->at++; kiln__is_digit(*p->at); p->at++)
            c.lanes = c.lanes * 10 + (unsigned)(*p->at - '0');
    lengths = strspn(p->at, "hl");
    if (lengths <= 2 && strncmp(p->at, "hl", 2) != 0)
        memcpy(c.length, p->at, lengths);
    p->at += lengths;
    c.letter = *p->at;
    if (c.letter != '\0')
        p->at++;
    return c;
}

static void put_conversion(print *p, const conversion *c)
{
    put(p, "%", 1);
    put(p, c->flags, c->flags_size);
    put(p, c->length, strlen(c->length));
    put(p, &c->letter, 1);
}

static void take_conversion(print *p)
{
    const conversion c = read_conversion(p);
    const int is_signed = c.letter == 'd' || c.letter == 'i';
    LLVMValueRef value;

    put(p, "", 0);
    if (c.letter == '%' || c.letter == '\0') {
        put(p, "%%", 2);
        return;
    }
    value = next_argument(p);
    if (value == NULL ||
        LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) {
        put_conversion(p, &c);
        if (value != NULL)
            add_value(p, value, is_signed);
        return;
    }
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(value)); i++) {
        if (i >= c.lanes)
            break;
        if (i > 0)
            put(p, ",", 1);
        put_conversion(p, &c);
        add_value(p,
                  LLVMBuildExtractElement(p->call.builder, value,
                                          kiln__opencl_number(&p->call, i), ""),
                  is_signed);
    }
}

static void take_format(print *p, const char *end)
{
    while (p->at < end) {
        const char *percent = memchr(p->at, '%', (size_t)(end - p->at));

        if (percent == NULL)
            percent = end;
        put(p, p->at, (size_t)(percent - p->at));
        p->at = percent;
        if (p->at < end) {
            p->at++;
            take_conversion(p);
        }
    }
}

/* ---- calls ---- */

static LLVMValueRef kiln_print(const kiln__opencl_call *call)
{
    LLVMValueRef function = LLVMGetNamedFunction(call->module, "kiln_print");
    LLVMTypeRef format = LLVMPointerTypeInContext(call->context, 0);

    if (function == NULL)
        function = LLVMAddFunction(
            call->module, "kiln_print",
            LLVMFunctionType(kiln__opencl_i32(call), &format, 1, 1));
    return function;
}

/* A call whose format is no literal stays: only the functions that reach it
   cannot be compiled. */
static kiln_status replace(kiln__clang_job *job, LLVMValueRef call,
                           LLVMBuilderRef builder)
{
    print p = {.job = job, .count = 1, .next = 1};
    LLVMValueRef function, made;
    const char *format;
    size_t size;

    p.call = (kiln__opencl_call){.module = job->module,
                                 .context = LLVMGetModuleContext(job->module),
                                 .builder = builder,
                                 .call = call};
    LLVMPositionBuilderBefore(builder, call);
    format = text_of(LLVMGetOperand(call, 0), &size);
    if (format == NULL)
        return KILN_OK;
    p.at = kiln__arena_string(&job->out->arena, format, size);
    /* Each number's conversion is a part of the format. What has no number is
       written once, and a percent sign in the end twice. */
    p.capacity = (ARGUMENTS_MAX + 2) * (size + 1);
    p.text = kiln__arena_allocate(&job->out->arena, p.capacity);
    if (p.at == NULL || p.text == NULL)
        return KILN_ENOMEM;
    take_format(&p, p.at + size);
    if (p.count > ARGUMENTS_MAX)
        return kiln__clang_fail(job, KILN_EUNSUPPORTED,
                                "printf() has more than %d numbers",
                                ARGUMENTS_MAX - 1);
    p.values[0] = constant_text(&p, p.text, p.size);
    function = kiln_print(&p.call);
    made = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          p.values, p.count, "");
    LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
    return KILN_OK;
}

kiln_status kiln__opencl_replace_prints(kiln__clang_job *job)
{
    LLVMValueRef printf_ = LLVMGetNamedFunction(job->module, "printf");
    kiln_status status = KILN_OK;
    LLVMBuilderRef builder;

    if (printf_ == NULL || !LLVMIsDeclaration(printf_))
        return KILN_OK;
    builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(job->module));
    for (LLVMUseRef use = LLVMGetFirstUse(printf_), next;
         use != NULL && status == KILN_OK; use = next) {
        next = LLVMGetNextUse(use);
        status = replace(job, LLVMGetUser(use), builder);
    }
    LLVMDisposeBuilder(builder);
    if (status == KILN_OK && LLVMGetFirstUse(printf_) == NULL)
        LLVMDeleteFunction(printf_);
    return status;
}
