/* program.c - a context and a package to define kernel code in. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/program.h"

#include <stdlib.h>
#include <string.h>

#include "context/types/types.h"
#include "frontend/program/program_tables.h"

int program_setup(void **state)
{
    program *p = calloc(1, sizeof *p);

    assert_non_null(p);
    assert_ok(kiln_context_new(&p->context, NULL, &test_error));
    assert_ok(kiln_package_new(&p->main, p->context, "main", &test_error));
    p->language = p->main->language;
    kiln__arena_init(&p->arena, &kiln__malloc);
    *state = p;
    return 0;
}

int program_teardown(void **state)
{
    program *p = *state;

    kiln__arena_dispose(&p->arena);
    kiln_context_free(p->context);
    free(p);
    return 0;
}

kiln_package *program_package(program *p, const char *name)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_new(&package, p->context, name, &test_error));
    return package;
}

void program_define_in(kiln_package *package, const char *text,
                       kiln_change_report *report)
{
    assert_ok(kiln_package_define(package, "test.kiln", text, strlen(text),
                                  report, &test_error));
}

void program_define(program *p, const char *text)
{
    program_define_in(p->main, text, NULL);
}

void program_refuse(program *p, const char *code, const char *text)
{
    const uint64_t world = kiln__language_world(p->language);
    kiln_error *error = NULL;
    const kiln_diagnostic *diagnostic;

    assert_status(KILN_ECOMPILE,
                  kiln_package_define(p->main, "test.kiln", text, strlen(text),
                                      NULL, &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    diagnostic = kiln_error_diagnostic(error, 0);
    assert_string_equal(diagnostic->code, code);
    assert_string_equal(diagnostic->location.file, "test.kiln");
    assert_true(diagnostic->location.line > 0);
    kiln_error_free(error);
    assert_int_equal(kiln__language_world(p->language), world);
}

const kiln_type *program_type(program *p, const char *text)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, p->context, p->main, text, &test_error));
    return type;
}

static kiln__argument read_argument(program *p, const char *text)
{
    if (strcmp(text, "1") == 0)
        return (kiln__argument){program_type(p, "i64"), KILN__LITERAL_INTEGER};
    if (strcmp(text, "1.0") == 0)
        return (kiln__argument){program_type(p, "f64"), KILN__LITERAL_FLOAT};
    return (kiln__argument){program_type(p, text), KILN__LITERAL_NONE};
}

static size_t read_arguments(program *p, const char *texts,
                             kiln__argument *arguments)
{
    char copy[1024];
    char *rest = copy, *text;
    size_t count = 0;

    assert_true(strlen(texts) < sizeof copy);
    strcpy(copy, texts);
    while ((text = strsep(&rest, ";")) != NULL && *texts != '\0')
        arguments[count++] = read_argument(p, text + strspn(text, " "));
    return count;
}

static kiln_status dispatch(program *p, kiln__match *match,
                            const char *function, const char *arguments,
                            const char *overlays, uint64_t world, size_t *count)
{
    kiln__argument list[KILN_ARGUMENTS_MAX];
    kiln__binding binding = {0};

    if (world == 0)
        world = kiln__language_world(p->language);
    if (kiln__binding_find(&binding, p->main, function, world) != KILN_OK)
        return KILN_ENOTFOUND;
    assert_int_equal(binding.kind, KILN__BINDING_FUNCTION);
    *count = read_arguments(p, arguments, list);
    return kiln__dispatch(match, binding.generic, list, *count, overlays,
                          world);
}

const char *program_pick_at(program *p, const char *function,
                            const char *arguments, const char *overlays,
                            uint64_t world)
{
    kiln__match match;
    size_t count;
    const kiln_status status =
        dispatch(p, &match, function, arguments, overlays, world, &count);

    if (status == KILN_OK)
        return kiln__method_text(&p->arena, match.method);
    return status == KILN_ENOTFOUND  ? "none"
           : status == KILN_ECOMPILE ? "ambiguous"
                                     : "failed";
}

const char *program_pick(program *p, const char *function,
                         const char *arguments)
{
    return program_pick_at(p, function, arguments, NULL, 0);
}

const char *program_adapts(program *p, const char *function,
                           const char *arguments)
{
    kiln__match match;
    const char *text = "";
    size_t count;

    if (dispatch(p, &match, function, arguments, NULL, 0, &count) != KILN_OK)
        return "none";
    for (size_t i = 0; i < count; i++)
        text = kiln__arena_format(&p->arena, "%s%s%s", text, i ? "; " : "",
                                  match.types[i]->text);
    return text;
}
