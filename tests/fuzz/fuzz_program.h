/* fuzz_program.h - a text as a program, and calls of all its functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FUZZ_PROGRAM_H
#define KILN_TESTS_FUZZ_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/ast.h"
#include "kiln/compile.h"

#define FUZZ_LARGEST_INPUT 4096

/* Types that arguments take in turn; each round begins further on. */
static const char *const fuzz_type_texts[] = {
    "f32[:]", "f32", "i64",       "i32",        "f64[:,:]",
    "Bool",   "u8",  "Static{3}", "(f32, i32)", "Vec{f32,4}",
};
#define FUZZ_TYPE_COUNT (sizeof fuzz_type_texts / sizeof *fuzz_type_texts)

typedef struct fuzz_program fuzz_program;
struct fuzz_program {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *types[FUZZ_TYPE_COUNT];
    /* What is done with each function; the error is the caller's to free. */
    kiln_status (*use)(const fuzz_program *program,
                       const kiln_signature *signature, kiln_error **error);
    int kernels_only;
    size_t rounds; /* of types, for each function */
};

#define fuzz_check(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* Users' errors have a place, and can be shown. */
static inline void fuzz_check_error(kiln_status status, const kiln_error *error)
{
    kiln_blob rendered = {0};

    if (status == KILN_OK || status == KILN_ENOTFOUND)
        return;
    fuzz_check(kiln_error_render(&rendered, error, KILN_RENDER_PLAIN) ==
               KILN_OK);
    if (status != KILN_ECOMPILE || kiln_error_diagnostic_count(error) == 0) {
        fprintf(stderr, "%s: %s\n", kiln_status_name(status),
                (const char *)rendered.data);
        abort();
    }
    kiln_blob_release(&rendered);
}

/* The type that the source names, else one of the table's. */
static inline const kiln_type *fuzz_type(const fuzz_program *p,
                                         const char *text,
                                         const kiln__ast *tree, size_t other)
{
    const kiln_type *type = NULL;
    char *named = NULL;

    if (tree != NULL)
        named = strndup(text + tree->span.start, tree->span.size);
    if (named == NULL ||
        kiln_type_parse(&type, p->context, p->package, named, NULL) != KILN_OK)
        type = p->types[other % FUZZ_TYPE_COUNT];
    free(named);
    return type;
}

static inline void fuzz_use(const fuzz_program *p, const char *text,
                            const kiln__definition *definition, size_t round)
{
    const kiln_type *types[KILN_ARGUMENTS_MAX];
    kiln_signature signature = {.types = types,
                                .count = definition->parameter_count};
    kiln_error *error = NULL;
    kiln_status status;

    if (signature.count > KILN_ARGUMENTS_MAX ||
        kiln_package_function(&signature.function, p->package, definition->name,
                              NULL) != KILN_OK)
        return;
    for (size_t i = 0; i < signature.count; i++)
        types[i] =
            fuzz_type(p, text, definition->parameters[i].type, i + 2 * round);
    status = p->use(p, &signature, &error);
    fuzz_check_error(status, error);
    kiln_error_free(error);
}

static inline void fuzz_use_all(const fuzz_program *p,
                                const kiln__source *source)
{
    for (size_t i = 0; i < source->definition_count; i++) {
        const kiln__definition *definition = &source->definitions[i];

        if (definition->kind != KILN__DEFINE_FUNCTION ||
            definition->package != NULL || definition->overlay != NULL ||
            (p->kernels_only && !definition->kernel))
            continue;
        for (size_t round = 0; round < p->rounds; round++)
            fuzz_use(p, source->text, definition, round);
    }
}

static inline void fuzz_begin(fuzz_program *p,
                              const kiln_context_options *options)
{
    fuzz_check(kiln_context_new(&p->context, options, NULL) == KILN_OK);
    fuzz_check(kiln_package_new(&p->package, p->context, "main", NULL) ==
               KILN_OK);
    fuzz_check(kiln_config_new(&p->config, p->context, NULL, NULL) == KILN_OK);
    for (size_t i = 0; i < FUZZ_TYPE_COUNT; i++)
        fuzz_check(kiln_type_parse(&p->types[i], p->context, NULL,
                                   fuzz_type_texts[i], NULL) == KILN_OK);
}

/* Defines the text and uses what it defines. */
static inline void fuzz_program_run(fuzz_program *p,
                                    const kiln_context_options *options,
                                    const uint8_t *bytes, size_t size)
{
    const char *text = size > 0 ? (const char *)bytes : "";
    kiln__source *source = NULL;

    if (size > FUZZ_LARGEST_INPUT ||
        kiln__source_parse(&source, &kiln__malloc, "fuzz.kiln", text, size,
                           NULL) != KILN_OK)
        return;
    fuzz_begin(p, options);
    if (kiln_package_define(p->package, "fuzz.kiln", text, size, NULL, NULL) ==
        KILN_OK)
        fuzz_use_all(p, source);
    kiln_context_free(p->context);
    kiln__source_free(source);
}

#endif /* KILN_TESTS_FUZZ_PROGRAM_H */
