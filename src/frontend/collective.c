/* collective.c - says which operation of a group not all items come to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "ast.h"
#include "code.h"
#include "ir_tables.h"
#include "ir_uniform.h"
#include "language.h"
#include "report.h"
#include "tiers.h"

/*
 * The check of ir_uniform_check.c over a kernel's call closure, with its
 * finding as a diagnostic. Places come from the methods of the language; typed
 * IR of other frontends has none.
 */

typedef struct closure {
    const kiln_alloc *alloc;
    const kiln_code **codes;
    size_t count;
    kiln__arena arena;
    kiln__ir *irs;
    size_t decoded;
    kiln__uniform_function *functions;
} closure;

/* ---- reading ---- */

static size_t index_of(const closure *c, const kiln_code *code)
{
    size_t i = 0;

    while (i < c->count && c->codes[i] != code)
        i++;
    return i;
}

static kiln_status connect(closure *c, size_t index)
{
    size_t count;
    const kiln_code *const *callees =
        kiln__code_callees(c->codes[index], &count);
    uint32_t *indices =
        kiln__arena_allocate_array(&c->arena, count + 1, sizeof *indices);

    if (indices == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        indices[i] = (uint32_t)index_of(c, callees[i]);
    c->functions[index] = (kiln__uniform_function){
        .ir = &c->irs[index], .callees = indices, .callee_count = count};
    return KILN_OK;
}

static kiln_status read_closure(closure *c, const kiln_code *root,
                                kiln_error **error)
{
    if (kiln__code_closure(&c->codes, &c->count, root) != KILN_OK)
        return kiln__error_no_memory(error);
    c->irs = kiln__arena_allocate_array(&c->arena, c->count, sizeof *c->irs);
    c->functions =
        kiln__arena_allocate_array(&c->arena, c->count, sizeof *c->functions);
    if (c->irs == NULL || c->functions == NULL)
        return kiln__error_no_memory(error);
    for (; c->decoded < c->count; c->decoded++) {
        size_t size;
        const void *bytes = kiln_code_ir(c->codes[c->decoded], &size);

        KILN_TRY(
            kiln__ir_decode(&c->irs[c->decoded], c->alloc, bytes, size, error));
    }
    for (size_t i = 0; i < c->count; i++)
        if (connect(c, i) != KILN_OK)
            return kiln__error_no_memory(error);
    return KILN_OK;
}

static void dispose(closure *c)
{
    for (size_t i = 0; i < c->decoded; i++)
        kiln__ir_dispose(&c->irs[i]);
    kiln__deallocate(c->alloc, c->codes, c->count * sizeof *c->codes);
    kiln__arena_dispose(&c->arena);
}

/* ---- words ---- */

static const char *operation_text(closure *c, const kiln__uniform_place *at)
{
    const kiln__ir *ir = at->function->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, at->node);

    if (node->op == KILN__IR_CALL)
        return kiln__arena_format(&c->arena,
                                  "`%s`, which waits for other items,",
                                  ir->callees.items[node->imm].name);
    return kiln__arena_format(&c->arena, "`%s`",
                              node->op == KILN__IR_GROUP
                                  ? kiln__ir_group[node->imm].text
                                  : kiln__ir_ops[node->op].text);
}

static const char *message_of(closure *c, const kiln__uniform_error *e)
{
    const char *what = operation_text(c, &e->at);
    const char *whom = e->level == KILN__UNIFORM_GROUP ? "group" : "sub-group";
    const char *jump;

    if (e->problem == KILN__PROBLEM_RECURSION)
        return kiln__arena_format(
            &c->arena, "%s calls itself: what a %s does together cannot recur",
            what, whom);
    if (e->problem == KILN__PROBLEM_LANE)
        return kiln__arena_format(
            &c->arena, "%s takes the same item for all items of a %s", what,
            whom);
    if (e->problem == KILN__PROBLEM_CONDITION)
        return kiln__arena_format(
            &c->arena,
            "%s is under a condition that differs between the items of a %s",
            what, whom);
    jump =
        e->cause == 0
            ? "jump"
            : kiln__ir_ops[kiln__ir_node_at(e->at.function->ir, e->cause)->op]
                  .text;
    return kiln__arena_format(
        &c->arena, "%s comes after a `%s` that only some items of a %s take",
        what, jump, whom);
}

/* ---- places ---- */

typedef struct place {
    const kiln__source *source; /* NULL: unknown */
    kiln__span span;
    kiln_location location;
} place;

static void find_place(const closure *c, const kiln__uniform_function *function,
                       uint32_t node, place *out)
{
    const size_t index = (size_t)(function - c->functions);
    const uint32_t ordinal =
        node == 0 ? 0 : kiln__ir_node_at(function->ir, node)->ordinal;

    *out = (place){.source = NULL};
    if (kiln__language_span(kiln__code_frontend(c->codes[index]),
                            function->ir->method, ordinal, &out->source,
                            &out->span))
        kiln__source_locate(out->source, out->span, &out->location);
}

static const char *hint_of(closure *c, const kiln__uniform_error *e)
{
    place cause;

    if (e->cause == 0)
        return NULL;
    find_place(c, e->at.function, e->cause, &cause);
    if (cause.source == NULL)
        return NULL;
    if (e->problem == KILN__PROBLEM_CONDITION)
        return kiln__arena_format(
            &c->arena,
            "the condition is at line %u: put there only what one item does "
            "for itself",
            cause.location.line);
    return kiln__arena_format(
        &c->arena, "it is at line %u: let these items skip their work instead",
        cause.location.line);
}

/* The method at fault first, then each caller with its call. */
static kiln_frame *chain_of(closure *c, const kiln__uniform_error *e,
                            const place *at, size_t *count)
{
    const size_t kept =
        e->call_count < KILN__PLACES_MAX ? e->call_count : KILN__PLACES_MAX;
    kiln_frame *frames =
        kiln__arena_allocate_array(&c->arena, kept + 1, sizeof *frames);

    *count = 0;
    if (frames == NULL)
        return NULL;
    frames[(*count)++] = (kiln_frame){.function = e->at.function->ir->name,
                                      .location = at->location};
    for (size_t i = kept; i-- > 0;) {
        place call;

        find_place(c, e->calls[i].function, e->calls[i].node, &call);
        frames[(*count)++] =
            (kiln_frame){.function = e->calls[i].function->ir->name,
                         .location = call.location};
    }
    return frames;
}

static kiln_status report(closure *c, const kiln__uniform_error *e,
                          kiln_error **error)
{
    const char *code = e->problem == KILN__PROBLEM_RECURSION ? "recursive-group"
                                                             : "not-uniform";
    kiln__diagnostics diagnostics;
    kiln_frame *frames;
    const char *message;
    kiln_status status;
    size_t count;
    place at;

    if (e->problem == KILN__PROBLEM_MEMORY)
        return kiln__error_no_memory(error);
    find_place(c, e->at.function, e->at.node, &at);
    message = message_of(c, e);
    frames = chain_of(c, e, &at, &count);
    if (message == NULL || frames == NULL)
        return kiln__error_no_memory(error);
    kiln__diagnostics_init(&diagnostics, c->alloc);
    message = kiln__arena_string(&diagnostics.arena, message, strlen(message));
    kiln__diagnose_chain(&diagnostics, at.source, at.span, code, hint_of(c, e),
                         frames, count, message);
    status = kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, error);
    kiln__diagnostics_dispose(&diagnostics);
    return status == KILN_OK ? kiln__error_no_memory(error) : status;
}

kiln_status kiln__collective_check(const kiln_code *root,
                                   const kiln_alloc *alloc, kiln_error **error)
{
    closure c = {.alloc = alloc};
    kiln_status status;

    kiln__arena_init(&c.arena, alloc);
    status = read_closure(&c, root, error);
    if (status == KILN_OK) {
        kiln__uniform uniform;
        kiln__uniform_error found;

        kiln__uniform_init(&uniform, alloc, c.functions, c.count);
        if (!kiln__uniform_check(&uniform, &found))
            status = report(&c, &found, error);
        kiln__uniform_dispose(&uniform);
    }
    dispose(&c);
    return status;
}
