/* infer.c - infers one method for one signature. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "base/system/stack.h"
#include "frontend/infer/infer.h"
#include "frontend/infer/infer_method.h"

/*
 * An attempt declares parameters and locals, walks the body, and finds the type
 * of the result. Most methods take one attempt. The head of a cycle of calls
 * takes as many as its assumptions need to hold (infer_cycle.c).
 */

/* ---- parameters ---- */

static int holds_foreign(const kiln_type *type)
{
    if (type->kind == KILN_TYPE_FOREIGN || type->kind == KILN_TYPE_NONE)
        return 1;
    if (type->kind == KILN_TYPE_ARRAY)
        return holds_foreign(type->element);
    for (size_t i = 0; i < type->field_count; i++)
        if (holds_foreign(type->fields[i].type))
            return 1;
    return 0;
}

static void check_parameter(kiln__infer *in, const kiln__ast_parameter *p,
                            const kiln_type *type)
{
    if (holds_foreign(type))
        (void)kiln__infer_error(
            in, p->span, "unsupported-type", "it belongs to another language",
            "the parameter `%s` cannot be %s", p->name, kiln_type_text(type));
}

/* Declares parameter `i` as an assigned local of the signature's type. */
static void declare_parameter(kiln__infer *in, size_t i)
{
    const kiln__ast_parameter *p = &in->task.definition->parameters[i];
    const kiln_type *type = in->task.signature->types[i];
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, p->name);
    kiln__variable *variable =
        symbol == NULL ? NULL
                       : kiln__infer_declare(in, symbol, KILN__VARIABLE_LOCAL);

    if (variable == NULL)
        return;
    variable->type = type;
    variable->place = p->span;
    variable->assigned = 1;
    check_parameter(in, p, type);
    if (holds_foreign(type)) {
        variable->poisoned = 1;
        return;
    }
    variable->local = kiln__infer_local(in, p->name, type);
}

static void declare_type_parameter(kiln__infer *in, size_t i)
{
    const kiln_type *type = in->task.match->parameters[i];
    kiln__symbol *symbol = kiln__infer_symbol(
        in, in->at.package, in->task.definition->type_parameters[i].name);
    kiln__variable *variable =
        symbol == NULL || type == NULL
            ? NULL
            : kiln__infer_declare(in, symbol, KILN__VARIABLE_VALUE);

    if (variable == NULL)
        return;
    variable->value = type->kind == KILN_TYPE_STATIC
                          ? kiln__infer_typed(type, 0)
                          : kiln__infer_type_value(in, type);
}

/* A parameter that is a compile-time integer and that the method assigns
   becomes a plain integer here. */
static void decay_parameter(kiln__infer *in, const kiln__ast_parameter *p)
{
    const kiln__symbol *symbol =
        kiln__infer_symbol(in, in->at.package, p->name);
    kiln__variable *variable = symbol == NULL ? NULL : symbol->variable;
    kiln__value value;

    if (variable == NULL || variable->kind != KILN__VARIABLE_LOCAL ||
        !variable->decays || variable->type == NULL ||
        variable->type->kind != KILN_TYPE_STATIC)
        return;
    value = kiln__infer_typed(variable->type, 0);
    value = kiln__infer_decay(in, &value, NULL);
    value = kiln__infer_settle(in, &value, NULL);
    variable->type = kiln__infer_scalar(in, KILN_TYPE_I64);
    variable->local = kiln__infer_local(in, p->name, variable->type);
    kiln__infer_set(in, variable->local, kiln__infer_use(in, &value, NULL),
                    NULL);
}

static void declare_all(kiln__infer *in)
{
    const kiln__definition *definition = in->task.definition;

    for (size_t i = 0; i < definition->type_parameter_count; i++)
        declare_type_parameter(in, i);
    for (size_t i = 0; i < definition->parameter_count; i++)
        declare_parameter(in, i);
    kiln__infer_scan(in, definition->body);
    for (size_t i = 0; i < definition->parameter_count; i++)
        decay_parameter(in, &definition->parameters[i]);
    if (definition->result != NULL)
        in->returns.declared = kiln__infer_resolve(in, definition->result);
    if (in->returns.declared != NULL && definition->kernel)
        (void)kiln__infer_error(
            in, definition->result->span, "kernel-returns-value",
            "store the value in an array", "a kernel returns nothing");
}

/* ---- one attempt ---- */

static void name_ir(kiln__infer *in)
{
    in->body.ir.name =
        kiln__infer_label(&in->body.ir.arena, in->task.signature);
    in->body.ir.method =
        kiln__method_label(&in->body.ir.arena, in->task.method);
    in->body.ir.kernel = in->task.definition->kernel != 0;
    in->body.ir.parameter_count =
        (uint32_t)in->task.definition->parameter_count;
    if (in->body.ir.name == NULL || in->body.ir.method == NULL)
        (void)kiln__infer_fail(in, KILN_ENOMEM);
}

/* Stores the type of the result; NULL: it is bottom, or there were errors. */
static void run_attempt(kiln__infer *in, const kiln_type **result)
{
    *result = NULL;
    if (kiln__infer_begin(in) != KILN_OK)
        return;
    name_ir(in);
    declare_all(in);
    if (in->status != KILN_OK)
        return;
    kiln__infer_statements(in, in->task.definition->body);
    in->body.ir.body = kiln__infer_close_block(in, 0);
    if (in->status != KILN_OK)
        return;
    *result = kiln__infer_result(in);
    if (*result != NULL)
        in->body.ir.result = kiln__infer_type(in, *result);
}

/* Clears everything but the first members, which hold for all attempts. */
static void reset_attempt(kiln__infer *in)
{
    const size_t kept = offsetof(kiln__infer, facts);

    kiln__infer_end(in);
    memset((char *)in + kept, 0, sizeof *in - kept);
}

/* ---- the outcome ---- */

static kiln_status failed(kiln__infer *in)
{
    if (in->diagnostics.list.count > 0 &&
        (in->status == KILN_OK || in->status == KILN_ECOMPILE))
        return kiln__diagnostics_finish(&in->diagnostics, KILN_ECOMPILE,
                                        in->task.error);
    if (in->task.error != NULL && *in->task.error != NULL)
        return in->status;
    if (kiln__is_shortage(in->status))
        return kiln__error_shortage(in->task.error, in->status);
    return kiln__error_set(in->task.error, in->status,
                           "%s could not be inferred",
                           in->task.definition->name);
}

static kiln_status without_base(kiln__infer *in)
{
    (void)kiln__infer_error(
        in, in->task.definition->name_span, "recursion-without-base",
        "some path must return without calling again",
        "nothing says what `%s` returns: %s", in->task.definition->name,
        in->chain.cycle[0] != '\0' ? in->chain.cycle : "it only calls itself");
    return failed(in);
}

/* True, after a diagnostic, when the tree is too deep. Inference may make a
   tree deeper, by conversions for example, so deep ones are measured. */
static int is_too_deep(kiln__infer *in)
{
    if (in->task.definition->body->height < KILN__IR_DEPTH_MAX / 4 ||
        kiln__ir_verify(&in->body.ir, NULL) == KILN_OK)
        return 0;
    (void)kiln__infer_error(in, in->task.definition->name_span, "too-deep",
                            "split its longest expression",
                            "`%s` is nested too deeply",
                            in->task.definition->name);
    return 1;
}

static kiln_status report(kiln__infer *in, const kiln_type *result)
{
    kiln_blob bytes = {0};
    kiln_status status;

    if (result != NULL)
        kiln_inference_set_result(in->task.inference, result);
    if (in->broken)
        return KILN_OK; /* provisional: it will be inferred again */
    if (is_too_deep(in))
        return failed(in);
    status = kiln__ir_encode(&in->body.ir, &bytes);
    if (status == KILN_OK)
        status =
            kiln_inference_set_ir(in->task.inference, bytes.data, bytes.size);
    kiln_blob_release(&bytes);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(in->task.error);
    return status;
}

/* Reports a member of a cycle whose head is an outer inference. There it is
   decided whether the member's assumption about itself holds. */
static kiln_status report_provisional(kiln__infer *in, const kiln_type *result,
                                      int changed)
{
    if (changed && kiln__infer_remember(in, result) != KILN_OK)
        return kiln__error_no_memory(in->task.error);
    if ((changed || in->unsettled) && in->chain.parent != NULL)
        in->chain.parent->unsettled = 1;
    return report(in, result);
}

/* Makes one attempt. Sets `*again` when its assumptions did not hold. */
static kiln_status attempt(kiln__infer *in, int *again)
{
    const kiln_type *result;
    int changed;

    *again = 0;
    run_attempt(in, &result);
    if (in->status != KILN_OK || in->diagnostics.list.count > 0)
        return failed(in);
    changed = kiln_inference_is_cycle_head(in->task.inference) &&
              in->returns.declared == NULL && result != in->chain.assumed;
    if (kiln_inference_is_provisional(in->task.inference))
        return report_provisional(in, result, changed);
    if (changed || in->unsettled) {
        in->chain.assumed = result;
        *again = 1;
        return KILN_OK;
    }
    if (in->bottom || result == NULL)
        return without_base(in);
    if (in->broken)
        return kiln__error_set(in->task.error, KILN_ECORRUPT,
                               "%s gave no typed IR",
                               in->task.definition->name);
    return report(in, result);
}

/* Forgets what was reported. The question which method the call gets belongs to
   every attempt, so it is asked again. */
static kiln_status begin_again(kiln__infer *in)
{
    kiln__facts facts = kiln__infer_facts(in);
    kiln__match match;

    kiln_inference_restart(in->task.inference);
    reset_attempt(in);
    if (kiln__ask_signature(&match, &facts, in->task.signature) != KILN_OK)
        return kiln__error_no_memory(in->task.error);
    return KILN_OK;
}

static kiln_status attempt_until_settled(kiln__infer *in)
{
    kiln_status status = KILN_OK;
    int again = 1;

    for (int i = 0; again && status == KILN_OK; i++) {
        if (i == KILN__INFER_ATTEMPTS_MAX)
            return without_base(in);
        if (i > 0)
            status = begin_again(in);
        if (status == KILN_OK)
            status = attempt(in, &again);
    }
    return status;
}

/* Returns the inference that asked for this one, if it is of this frontend. */
static kiln__infer *parent_of(const kiln__infer *in)
{
    kiln_inference *parent = kiln_inference_parent(in->task.inference);
    const kiln_signature *signature =
        parent == NULL ? NULL : kiln_inference_signature(parent);

    return signature != NULL && signature->function->frontend ==
                                    in->task.signature->function->frontend
               ? kiln_inference_user(parent)
               : NULL;
}

kiln_status kiln__infer_method(kiln__language *language,
                               kiln_inference *inference,
                               const kiln__infer_request *request,
                               kiln_error **error)
{
    const kiln__match *match = request->match;
    kiln_context *context = kiln__language_context(language);
    kiln__infer *in = kiln__allocate(&context->alloc, sizeof *in);
    kiln_status status;

    if (in == NULL)
        return kiln__error_no_memory(error);
    *in = (kiln__infer){
        .context = context,
        .alloc = &context->alloc,
        .task = {.language = language,
                 .inference = inference,
                 .signature = request->signature,
                 .match = match,
                 .method = match->method,
                 .definition = kiln__method_definition(match->method),
                 .config = request->config,
                 .world = request->world,
                 .error = error}};
    in->chain.parent = parent_of(in);
    in->chain.depth =
        in->chain.parent == NULL ? 0 : in->chain.parent->chain.depth + 1;
    in->chain.root =
        in->chain.parent == NULL ? in : in->chain.parent->chain.root;
    in->chain.root->chain.inferred++;
    in->chain.assumed = kiln__infer_recall(in);
    kiln_inference_set_root(inference, kiln__method_digest(match->method));
    if (kiln__method_is_runtime(match->method))
        kiln_inference_set_runtime(inference);
    kiln_inference_set_user(inference, in);
    status = attempt_until_settled(in);
    kiln_inference_set_user(inference, NULL);
    kiln__infer_end(in);
    kiln__infer_forget(in);
    kiln__deallocate(&context->alloc, in, sizeof *in);
    return status;
}
