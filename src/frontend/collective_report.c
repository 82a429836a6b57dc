/* collective_report.c - reports operations of a group that some items never
   reach. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "base/error.h"
#include "base/system/stack.h"
#include "frontend/call_closure.h"
#include "frontend/typed_reports.h"
#include "ir/ir_tables.h"

/*
 * Runs the check of ir_uniform_check.c over a kernel's call closure, and turns
 * what it finds into one diagnostic: the operation, why items differ, and the
 * calls that lead there.
 */

/* ---- messages ---- */

static const char *operation_text(kiln__closure *c,
                                  const kiln__uniform_place *at)
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

static const char *message_of(kiln__closure *c, const kiln__uniform_error *e)
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

static void find_place(const kiln__closure *c,
                       const kiln__uniform_function *function, uint32_t node,
                       kiln__closure_place *out)
{
    kiln__closure_find(c, (size_t)(function - c->functions), node, out);
}

static const char *hint_of(kiln__closure *c, const kiln__uniform_error *e)
{
    kiln__closure_place cause;

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

/* Makes the list of frames: the method at fault, then each caller with its
   call. */
static kiln_frame *chain_of(kiln__closure *c, const kiln__uniform_error *e,
                            const kiln__closure_place *at, size_t *count)
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
        kiln__closure_place call;

        find_place(c, e->calls[i].function, e->calls[i].node, &call);
        frames[(*count)++] =
            (kiln_frame){.function = e->calls[i].function->ir->name,
                         .location = call.location};
    }
    return frames;
}

static kiln_status diagnose(kiln__closure *c, const kiln__uniform_error *e,
                            kiln_error **error)
{
    const char *code = e->problem == KILN__PROBLEM_RECURSION ? "recursive-group"
                                                             : "not-uniform";
    kiln__diagnostics diagnostics;
    kiln_frame *frames;
    const char *message;
    kiln_status status;
    size_t count;
    kiln__closure_place at;

    find_place(c, e->at.function, e->at.node, &at);
    message = message_of(c, e);
    frames = chain_of(c, e, &at, &count);
    if (message == NULL || frames == NULL)
        return kiln__error_no_memory(error);
    kiln__diagnostics_init(&diagnostics, c->alloc);
    message = kiln__arena_text(&diagnostics.arena, message);
    kiln__diagnose_chain(&diagnostics, at.source, at.span,
                         &(kiln_diagnostic){.code = code,
                                            .message = message,
                                            .hint = hint_of(c, e),
                                            .frames = frames,
                                            .frame_count = count});
    status = kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, error);
    kiln__diagnostics_dispose(&diagnostics);
    return status == KILN_OK ? kiln__error_no_memory(error) : status;
}

static kiln_status report(kiln__closure *c, const kiln__uniform *u,
                          const kiln__uniform_error *e, kiln_error **error)
{
    if (e->problem != KILN__PROBLEM_MEMORY)
        return diagnose(c, e, error);
    return kiln__error_shortage(error, u->no_stack ? KILN_ESTACK : KILN_ENOMEM);
}

kiln_status kiln__collective_check(const kiln_code *root,
                                   const kiln_alloc *alloc, kiln_error **error)
{
    kiln__closure c;
    kiln_status status = kiln__closure_read(&c, root, alloc, error);

    if (status == KILN_OK) {
        kiln__uniform uniform;
        kiln__uniform_error found;

        kiln__uniform_init(&uniform, alloc, c.functions, c.count);
        if (!kiln__uniform_check(&uniform, &found))
            status = report(&c, &uniform, &found, error);
        kiln__uniform_dispose(&uniform);
    }
    kiln__closure_dispose(&c);
    return status;
}
