/* fuzz_infer.c - any bytes as a program whose functions are all inferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/ast.h"
#include "ir.h"
#include "kiln/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition)
{
    if (!condition)
        abort();
}

/* Types that arguments take in turn; each round begins further on. */
static const char *const type_texts[] = {
    "f32[:]", "f32", "i64",       "i32",        "f64[:,:]",
    "Bool",   "u8",  "Static{3}", "(f32, i32)", "Vec{f32,4}",
};
#define TYPE_COUNT (sizeof type_texts / sizeof *type_texts)
#define ROUNDS 5

typedef struct program {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *types[TYPE_COUNT];
} program;

/* What is published is typed IR that lowering may rely on. */
static void check_code(const kiln_code *code)
{
    size_t size = 0;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_error *error = NULL;
    kiln__ir ir;

    check(kiln_code_result(code) != NULL);
    if (kiln__ir_decode(&ir, &kiln__malloc, bytes, size, &error) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message(error));
        abort();
    }
    kiln__ir_dispose(&ir);
}

static void check_error(kiln_status status, const kiln_error *error)
{
    kiln_blob rendered = {0};

    check(status == KILN_ECOMPILE || status == KILN_ENOTFOUND);
    if (status == KILN_ENOTFOUND)
        return;
    check(kiln_error_render(&rendered, error, KILN_RENDER_PLAIN) == KILN_OK);
    if (kiln_error_diagnostic_count(error) == 0)
        fprintf(stderr, "%s", (const char *)rendered.data);
    check(kiln_error_diagnostic_count(error) >= 1);
    kiln_blob_release(&rendered);
}

static void infer(const program *p, const kiln__definition *definition,
                  size_t round)
{
    const kiln_type *types[KILN_ARGUMENTS_MAX];
    kiln_signature signature = {.types = types,
                                .count = definition->parameter_count};
    const kiln_code *code = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (signature.count > KILN_ARGUMENTS_MAX ||
        kiln_package_function(&signature.function, p->package, definition->name,
                              NULL) != KILN_OK)
        return;
    for (size_t i = 0; i < signature.count; i++)
        types[i] = p->types[(i + 2 * round) % TYPE_COUNT];
    status = kiln_infer(&code, p->context, &signature, p->config, 0, &error);
    if (status == KILN_OK)
        check_code(code);
    else
        check_error(status, error);
    kiln_error_free(error);
}

static void infer_all(const program *p, const kiln__source *source)
{
    for (size_t i = 0; i < source->definition_count; i++) {
        const kiln__definition *definition = &source->definitions[i];

        if (definition->kind != KILN__DEFINE_FUNCTION ||
            definition->package != NULL || definition->overlay != NULL)
            continue;
        for (size_t round = 0; round < ROUNDS; round++)
            infer(p, definition, round);
    }
}

static void begin(program *p)
{
    check(kiln_context_new(&p->context, NULL, NULL) == KILN_OK);
    check(kiln_package_new(&p->package, p->context, "main", NULL) == KILN_OK);
    check(kiln_config_new(&p->config, p->context, NULL, NULL) == KILN_OK);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        check(kiln_type_parse(&p->types[i], p->context, NULL, type_texts[i],
                              NULL) == KILN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = size > 0 ? (const char *)bytes : "";
    kiln__source *source = NULL;
    program p = {0};

    if (size > 4096 || kiln__source_parse(&source, &kiln__malloc, "fuzz.kiln",
                                          text, size, NULL) != KILN_OK)
        return 0;
    begin(&p);
    if (kiln_package_define(p.package, "fuzz.kiln", text, size, NULL, NULL) ==
        KILN_OK)
        infer_all(&p, source);
    kiln_context_free(p.context);
    kiln__source_free(source);
    return 0;
}
