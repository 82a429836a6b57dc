/* lower_fake.h - lowers textual typed IR with a backend made for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_LOWER_FAKE_H
#define KILN_TESTS_LOWER_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "abi/scalars.h"
#include "codegen/lower/lower_job.h"
#include "codegen/module/codegen_job.h"
#include "ir/ir.h"

/*
 * For programs that link the codegen objects. The backend's hooks become calls
 * of
 *
 *     i64 @test_query(ptr item, i32 query, i32 dimension)
 *     void @test_raise(ptr item, i32 kind, i32 ordinal, ptr method,
 *                      ptr message, i64 value0, i64 value1)
 *     void @test_print(ptr item, ptr text, i64 bits, i32 kind), for each part
 */

#define LOWER_FAKE_MAX 16 /* functions in one text */

typedef struct lower_fake {
    const kiln_alloc *alloc; /* for the job */
    const kiln__codegen_backend *backend;
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    kiln__codegen_job job;
    kiln__codegen_function functions[LOWER_FAKE_MAX];
    kiln_blob blobs[LOWER_FAKE_MAX];
    char *symbols[LOWER_FAKE_MAX];
    char *names[LOWER_FAKE_MAX];
    uint32_t *callees[LOWER_FAKE_MAX];
    kiln__ir irs[LOWER_FAKE_MAX];
    size_t count;
} lower_fake;

/* ---- hooks ---- */

static inline LLVMValueRef lower_fake_call(kiln__codegen_job *job,
                                           LLVMBuilderRef builder,
                                           const char *name, LLVMTypeRef result,
                                           LLVMValueRef *values, unsigned count)
{
    LLVMTypeRef types[7];
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);

    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(values[i]);
    if (function == NULL)
        function = LLVMAddFunction(job->module, name,
                                   LLVMFunctionType(result, types, count, 0));
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          values, count, "");
}

static inline LLVMValueRef lower_fake_i32(kiln__codegen_job *job,
                                          uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(job->context), value, 0);
}

static inline LLVMValueRef lower_fake_query(kiln__codegen_job *job,
                                            LLVMBuilderRef builder,
                                            LLVMValueRef item, uint32_t query,
                                            uint32_t dimension)
{
    LLVMValueRef values[] = {item, lower_fake_i32(job, query),
                             lower_fake_i32(job, dimension)};

    return lower_fake_call(job, builder, "test_query",
                           LLVMInt64TypeInContext(job->context), values, 3);
}

static inline void lower_fake_raise(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, LLVMValueRef item,
                                    const kiln__codegen_exception *exception)
{
    LLVMValueRef values[] = {
        item,
        lower_fake_i32(job, exception->kind),
        lower_fake_i32(job, exception->ordinal),
        LLVMBuildGlobalString(builder, exception->method, "method"),
        LLVMBuildGlobalString(builder, exception->message, "message"),
        exception->values[0],
        exception->values[1],
    };

    (void)lower_fake_call(job, builder, "test_raise",
                          LLVMVoidTypeInContext(job->context), values, 7);
}

static inline LLVMValueRef lower_fake_bits(kiln__codegen_job *job,
                                           LLVMBuilderRef builder,
                                           LLVMValueRef value, int32_t kind)
{
    const LLVMTypeRef i64 = LLVMInt64TypeInContext(job->context);
    const LLVMTypeRef f64 = LLVMDoubleTypeInContext(job->context);

    if (kiln__kind_is_float(kind))
        return LLVMBuildBitCast(
            builder, LLVMBuildFPCast(builder, value, f64, ""), i64, "");
    return LLVMBuildIntCast2(builder, value, i64, kiln__kind_is_signed(kind),
                             "");
}

static inline void lower_fake_print(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, LLVMValueRef item,
                                    const kiln__codegen_print *print)
{
    const LLVMTypeRef i64 = LLVMInt64TypeInContext(job->context);
    const LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);

    for (size_t i = 0; i < print->count; i++) {
        LLVMValueRef parts[] = {item, LLVMConstPointerNull(pointer),
                                LLVMConstInt(i64, 0, 0),
                                lower_fake_i32(job, (uint32_t)print->kinds[i])};

        if (print->kinds[i] == KILN_TYPE_NONE)
            parts[1] = LLVMBuildGlobalString(builder, print->texts[i], "text");
        else
            parts[2] = lower_fake_bits(job, builder, print->values[i],
                                       print->kinds[i]);
        (void)lower_fake_call(job, builder, "test_print",
                              LLVMVoidTypeInContext(job->context), parts, 4);
    }
}

static const kiln__codegen_backend lower_fake_backend = {
    .name = "test",
    .format = "none",
    .item = &(const kiln__codegen_item){.query = lower_fake_query,
                                        .raise = lower_fake_raise,
                                        .print = lower_fake_print},
};

/* ---- functions ---- */

/* Makes "main_f_i64_" of "main.f(i64)". */
static inline char *lower_fake_symbol(const char *name)
{
    char *symbol = strdup(name);

    for (char *c = symbol; c != NULL && *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789",
                   *c) == NULL)
            *c = '_';
    return symbol;
}

static inline size_t lower_fake_find(const lower_fake *fake, const char *name)
{
    size_t i = 0;

    while (i < fake->count && strcmp(fake->names[i], name) != 0)
        i++;
    return i;
}

static inline void lower_fake_connect(lower_fake *fake, size_t index)
{
    kiln__codegen_function *f = &fake->functions[index];
    const kiln__ir *ir = &fake->irs[index];
    const size_t count = ir->callees.count;

    fake->callees[index] = calloc(count + 1, sizeof(uint32_t));
    for (size_t i = 0; fake->callees[index] != NULL && i < count; i++)
        fake->callees[index][i] =
            (uint32_t)lower_fake_find(fake, ir->callees.items[i].name);
    f->ir = fake->blobs[index].data;
    f->ir_size = fake->blobs[index].size;
    f->symbol = fake->symbols[index];
    f->callees = fake->callees[index];
    f->callee_count = count;
}

/* Reads all functions of the text; each begins a line. */
static inline kiln_status lower_fake_parse(lower_fake *fake, const char *file,
                                           const char *text, kiln_error **error)
{
    const char *begin = strncmp(text, "(function ", 10) == 0
                            ? text
                            : strstr(text, "\n(function ");

    while (begin != NULL && fake->count < LOWER_FAKE_MAX) {
        const size_t i = fake->count;
        const char *end = strstr(begin + 1, "\n(function ");
        const size_t size =
            end == NULL ? strlen(begin) : (size_t)(end + 1 - begin);
        kiln_status status = kiln__ir_parse(&fake->irs[i], &kiln__malloc, file,
                                            begin, size, error);

        if (status == KILN_OK)
            status = kiln__ir_encode(&fake->irs[i], &fake->blobs[i]);
        if (status != KILN_OK)
            return status;
        fake->names[i] = strdup(fake->irs[i].name);
        fake->symbols[i] = lower_fake_symbol(fake->irs[i].name);
        fake->count++;
        begin = end == NULL ? NULL : end + 1;
    }
    for (size_t i = 0; i < fake->count; i++)
        lower_fake_connect(fake, i);
    return KILN_OK;
}

/* As usual, bounds checks and contraction are on, and fast mathematics is
   off. */
static inline void lower_fake_init(lower_fake *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->alloc = &kiln__malloc;
    fake->backend = &lower_fake_backend;
    fake->settings = (kiln__codegen_settings){
        .backend = "test", .bounds_checks = 1, .contract = 1};
}

/* Lowers what was parsed; the module is fake->job.module. */
static inline kiln_status lower_fake_lower_with(
    lower_fake *fake, const kiln__codegen_backend *backend)
{
    fake->request = (kiln__codegen_request){
        .settings = &fake->settings,
        .entry = "entry",
        .functions = fake->functions,
        .function_count = fake->count,
    };
    fake->job = (kiln__codegen_job){
        .request = &fake->request,
        .settings = &fake->settings,
        .backend = backend,
        .context = LLVMContextCreate(),
    };
    kiln__arena_init(&fake->job.arena, fake->alloc);
    fake->job.module =
        LLVMModuleCreateWithNameInContext("test", fake->job.context);
    return kiln__lower(&fake->job);
}

static inline kiln_status lower_fake_lower(lower_fake *fake)
{
    return lower_fake_lower_with(fake, fake->backend);
}

static inline void lower_fake_dispose(lower_fake *fake)
{
    if (fake->job.context != NULL) {
        if (fake->job.module != NULL)
            LLVMDisposeModule(fake->job.module);
        if (fake->job.checked_module != NULL)
            LLVMDisposeModule(fake->job.checked_module);
        LLVMContextDispose(fake->job.context);
        kiln__arena_dispose(&fake->job.arena);
    }
    for (size_t i = 0; i < fake->count; i++) {
        kiln__ir_dispose(&fake->irs[i]);
        kiln_blob_release(&fake->blobs[i]);
        free(fake->names[i]);
        free(fake->symbols[i]);
        free(fake->callees[i]);
    }
    memset(fake, 0, sizeof *fake);
}

#endif /* KILN_TESTS_LOWER_FAKE_H */
