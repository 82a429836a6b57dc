/* fuzz_parse.c - any bytes as a program and as a type. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: language golden/infer */
#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition)
{
    if (!condition)
        abort();
}

/* What walkers rely on: heights, numbers and places of every node. */
static void check_tree(const kiln__definition *definition,
                       const kiln__source *source, const kiln__ast *tree)
{
    const kiln__span span = tree->span;

    check(tree->kind < KILN__AST_ERROR);
    check(tree->height >= 1 && tree->height <= 1000);
    check((size_t)span.start + span.size <= source->size);
    check(tree->ordinal >= 1 && tree->ordinal <= definition->place_count);
    check(memcmp(&definition->places[tree->ordinal - 1], &span, sizeof span) ==
          0);
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->children[i] == NULL)
            continue;
        check(tree->children[i]->height < tree->height);
        check_tree(definition, source, tree->children[i]);
    }
}

static void parse_program(const char *text, size_t size)
{
    kiln__source *source = NULL;
    kiln_error *error = NULL;
    kiln_blob rendered = {0};

    if (kiln__source_parse(&source, &kiln__malloc, "fuzz.kiln", text, size,
                           &error) == KILN_OK) {
        for (size_t i = 0; i < source->definition_count; i++)
            if (source->definitions[i].body != NULL)
                check_tree(&source->definitions[i], source,
                           source->definitions[i].body);
        kiln__source_free(source);
        return;
    }
    check(kiln_error_diagnostic_count(error) >= 1);
    check(kiln_error_diagnostic_count(error) <= 20);
    check(kiln_error_render(&rendered, error, KILN_RENDER_PLAIN) == KILN_OK);
    kiln_blob_release(&rendered);
    kiln_error_free(error);
}

static void parse_type(const char *text)
{
    kiln_error *error = NULL;
    kiln__ast *type = NULL;
    kiln__arena arena;

    kiln__arena_init(&arena, &kiln__malloc);
    if (kiln__type_tree_parse(&type, &arena, text, &error) == KILN_OK)
        check(type != NULL && type->height <= 1000);
    kiln_error_free(error);
    kiln__arena_dispose(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, bytes, size);
    text[size] = '\0';
    parse_program(text, size);
    parse_type(text);
    free(text);
    return 0;
}
