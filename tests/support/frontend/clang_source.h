/* clang_source.h - compiles sources of OpenCL C, and shows their modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_CLANG_SOURCE_H
#define KILN_TESTS_CLANG_SOURCE_H

#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>

#include "codegen_client/source_compile.h"
#include "support/harness.h"

/* One compilation; clear it, or set `request`, then run it. */
typedef struct source {
    kiln_context *context;
    kiln__source_request request;
    kiln__source_result result;
    const char *options[16];
    char *ir; /* the text of one module */
} source;

#define SOURCE_NEEDS_CLANG "clang's headers, for OpenCL C"

static inline void source_open(source *s)
{
    memset(s, 0, sizeof *s);
    assert_ok(kiln_context_new(&s->context, NULL, &test_error));
    s->request = (kiln__source_request){.form = KILN__SOURCE_MODULES,
                                        .name = "test.cl",
                                        .folder = "/",
                                        .options = s->options,
                                        .has_f64 = 1,
                                        .has_f16 = 1};
}

static inline void source_clear(source *s)
{
    if (s->ir != NULL)
        LLVMDisposeMessage(s->ir);
    s->ir = NULL;
    kiln__source_result_dispose(&s->result);
}

static inline void source_close(source *s)
{
    source_clear(s);
    kiln_context_free(s->context);
}

/* A test has a source of its own under the name `test`. */
static inline int source_setup(void **state)
{
    source_open(*state);
    return 0;
}

static inline int source_teardown(void **state)
{
    source_close(*state);
    return 0;
}

#define SOURCE_TEST(name) \
    cmocka_unit_test_prestate_setup_teardown(name, source_setup, \
                                             source_teardown, &test)

static inline void source_option(source *s, const char *option)
{
    s->options[s->request.option_count++] = option;
}

static inline kiln_status source_try(source *s, const char *text)
{
    source_clear(s);
    s->request.text = text;
    s->request.size = strlen(text);
    return kiln__source_compile(&s->result, s->context, &s->request,
                                &test_error);
}

static inline const kiln__source_function *source_find(const source *s,
                                                       const char *name)
{
    static const kiln__source_function none;

    for (size_t i = 0; i < s->result.function_count; i++)
        if (strcmp(s->result.functions[i].name, name) == 0)
            return &s->result.functions[i];
    fail_msg("no function %s", name);
    return &none;
}

/* False where the build has no clang. */
static inline int source_is_there(void)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];
    source s;

    source_open(&s);
    kiln__source_compiler(id, s.context);
    source_close(&s);
    return id[0] != '\0';
}

/* The text of the function's module. */
static inline const char *source_ir(source *s, const char *name)
{
    const kiln__source_function *function = source_find(s, name);
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
        function->bitcode, function->bitcode_size, "module", 0);
    LLVMModuleRef module;

    if (s->ir != NULL)
        LLVMDisposeMessage(s->ir);
    assert_false(LLVMParseBitcodeInContext2(context, buffer, &module));
    s->ir = LLVMPrintModuleToString(module);
    LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    return s->ir;
}

/* Compiles the text, and gives the module of its function `k`. */
static inline const char *source_k(source *s, const char *text)
{
    assert_ok(source_try(s, text));
    return source_ir(s, "k");
}

/* Compiles a kernel with this body and parameter list, and checks that its
   module contains the part. */
#define assert_becomes(s, parameters, body, part) \
    assert_contains(source_k((s), "kernel void k(" parameters ") {" body "}"), \
                    (part))

#endif /* KILN_TESTS_CLANG_SOURCE_H */
