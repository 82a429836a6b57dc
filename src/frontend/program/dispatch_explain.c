/* dispatch_explain.c - describes methods and failed calls in words. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/data/ascii.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/* At most so many candidates are shown; the rest is counted. */
#define CANDIDATES_SHOWN 8

const char *kiln__method_label(kiln__arena *arena, const kiln__method *method)
{
    char digest[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(method->digest, digest);
    return kiln__arena_format(arena, "%s#%.16s",
                              kiln_function_name(method->generic->function),
                              digest);
}

static void print_type_parameters(kiln__text *out, const kiln__method *method)
{
    for (size_t i = 0; i < method->type_parameter_count; i++) {
        kiln__text_add(out, i == 0 ? " where " : ", ");
        kiln__text_add(out, method->definition->type_parameters[i].name);
        if (method->bounds[i] != NULL) {
            kiln__text_add(out, ": ");
            kiln__pattern_print(out, method->bounds[i], method->definition);
        }
    }
}

static void print_method(kiln__text *out, const kiln__method *method)
{
    if (method->overlay != NULL)
        kiln__text_format(out, "overlay %s ", method->overlay);
    kiln__text_add(out, kiln_function_name(method->generic->function));
    kiln__text_add(out, "(");
    for (size_t i = 0; i < method->parameter_count; i++) {
        const kiln__pattern *pattern = method->parameters[i];

        if (i > 0)
            kiln__text_add(out, ", ");
        kiln__text_add(out, method->definition->parameters[i].name);
        if (pattern->kind != KILN__PATTERN_ANY) {
            kiln__text_add(out, ": ");
            kiln__pattern_print(out, pattern, method->definition);
        }
    }
    kiln__text_add(out, ")");
    print_type_parameters(out, method);
}

/* Moves a text into the arena. NULL: the text or the arena had no memory. */
static const char *keep_text(kiln__arena *arena, kiln__text *text)
{
    const char *copy =
        text->failed
            ? NULL
            : kiln__arena_string(arena, text->bytes == NULL ? "" : text->bytes,
                                 text->size);

    kiln__text_dispose(text);
    return copy;
}

const char *kiln__method_text(kiln__arena *arena, const kiln__method *method)
{
    kiln__text text;

    kiln__text_init(&text, arena->alloc);
    print_method(&text, method);
    return keep_text(arena, &text);
}

static void print_place(kiln__text *out, const kiln__method *method)
{
    kiln_location at = {0};

    kiln__source_locate(method->source, method->definition->name_span, &at);
    kiln__text_format(out, " at %s:%u", at.file, at.line);
}

static void print_call(kiln__text *out, const kiln__dispatch_call *call)
{
    kiln__text_add(out, call->generic->name);
    kiln__text_add(out, "(");
    for (size_t i = 0; i < call->count; i++) {
        if (i > 0)
            kiln__text_add(out, ", ");
        kiln__text_add(out, call->arguments[i].type->text);
    }
    kiln__text_add(out, ")");
}

/* Describes the first argument that does not fit. */
static void print_reason(kiln__text *out, const kiln__method *method,
                         const kiln__dispatch_call *call)
{
    const kiln__argument *arguments = call->arguments;
    const size_t count = call->count;
    const kiln_type *bound_to[KILN__TYPE_PARAMETERS_MAX] = {0};
    kiln__facts facts = {.language = method->package->language,
                         .world = call->world};
    kiln__matching matching = {method, bound_to, &facts, 0};

    if (method->parameter_count != count) {
        kiln__text_format(out, " takes %zu argument%s, not %zu",
                          method->parameter_count,
                          method->parameter_count == 1 ? "" : "s", count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (kiln__pattern_takes(&matching, method->parameters[i],
                                arguments[i].type))
            continue;
        kiln__text_format(out, ": argument %zu, `%s`, is ", i + 1,
                          method->definition->parameters[i].name);
        kiln__text_format(out, "%s, not ", arguments[i].type->text);
        kiln__pattern_print(out, method->parameters[i], method->definition);
        return;
    }
}

/* True for an operator that is called with an array. */
static int takes_array(const kiln__dispatch_call *call)
{
    if (kiln__is_word(call->generic->name[0]))
        return 0;
    for (size_t i = 0; i < call->count; i++)
        if (call->arguments[i].type->kind == KILN_TYPE_ARRAY)
            return 1;
    return 0;
}

/* Lists candidates, current ones first, one on each line. */
static const char *candidates(kiln__arena *arena,
                              const kiln__dispatch_call *call)
{
    const kiln__generic *generic = call->generic;
    const kiln__method *method;
    kiln__text text;
    size_t found = 0;

    kiln__text_init(&text, arena->alloc);
    kiln__language_read(generic->package->language);
    for (method = generic->methods; method != NULL; method = method->next) {
        if (!kiln__method_is_seen(method, call->overlays, call->world))
            continue;
        if (found++ >= CANDIDATES_SHOWN)
            continue;
        kiln__text_add(&text, found == 1 ? "" : "\n");
        print_method(&text, method);
        print_reason(&text, method, call);
        print_place(&text, method);
    }
    kiln__language_unlock(generic->package->language);
    if (found > CANDIDATES_SHOWN)
        kiln__text_format(&text, "\nand %zu more", found - CANDIDATES_SHOWN);
    if (found == 0 && takes_array(call) && call->count == 1)
        kiln__text_format(&text, "operators take elements: `%sa[i]` in a loop",
                          generic->name);
    else if (found == 0 && takes_array(call))
        kiln__text_format(&text,
                          "operators take elements: `a[i] %s b[i]` in a loop",
                          generic->name);
    else if (found == 0)
        kiln__text_format(&text, "`%s` has no methods", generic->name);
    return keep_text(arena, &text);
}

static const char *ambiguity(kiln__arena *arena, const kiln__match *match)
{
    kiln__text text;

    kiln__text_init(&text, arena->alloc);
    print_method(&text, match->method);
    print_place(&text, match->method);
    kiln__text_add(&text, "\n");
    print_method(&text, match->other);
    print_place(&text, match->other);
    kiln__text_add(&text,
                   "\ndefine a method for the types that both of them take");
    return keep_text(arena, &text);
}

static const char *ambiguous_message(kiln__arena *arena,
                                     const kiln__match *match,
                                     const kiln__dispatch_call *call)
{
    kiln__text text;

    kiln__text_init(&text, arena->alloc);
    print_call(&text, call);
    kiln__text_add(&text, " is ambiguous between ");
    print_method(&text, match->method);
    kiln__text_add(&text, " and ");
    print_method(&text, match->other);
    return keep_text(arena, &text);
}

kiln_status kiln__dispatch_explain(kiln__refusal *out, kiln__arena *arena,
                                   kiln_status status, const kiln__match *match,
                                   const kiln__dispatch_call *call)
{
    kiln__text text;

    *out = (kiln__refusal){0};
    if (status == KILN_ECOMPILE) {
        out->code = "ambiguous";
        out->message = ambiguous_message(arena, match, call);
        out->hint = ambiguity(arena, match);
    } else {
        kiln__text_init(&text, arena->alloc);
        kiln__text_add(&text, "no method for ");
        print_call(&text, call);
        out->code = "no-method";
        out->message = keep_text(arena, &text);
        out->hint = candidates(arena, call);
    }
    return out->message == NULL || out->hint == NULL ? KILN_ENOMEM : KILN_OK;
}
