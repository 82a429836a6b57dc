/* infer_callee.c - infers the method that is called, through tier 1. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "frontend/infer/infer.h"

/*
 * If the callee is being inferred by an outer call, the call has the type that
 * this inference assumes at present. Without an assumption, the call has no
 * type yet.
 */

/* Returns "a -> b -> a", from the head of the cycle to this method and back. */
static const char *cycle_text(kiln__infer *in, const kiln__infer *head)
{
    const char *text = kiln__infer_label(&in->arena, head->task.signature);
    const kiln__infer *at = in;

    for (; at != NULL; at = at == head ? NULL : at->chain.parent) {
        const char *label = kiln__infer_label(&in->arena, at->task.signature);

        if (text == NULL || label == NULL)
            return NULL;
        text = kiln__infer_format(in, "%s -> %s", label, text);
    }
    return text;
}

static void remember_cycle(kiln__infer *in, kiln__infer *head)
{
    const char *text;

    if (head->chain.cycle[0] != '\0')
        return;
    text = cycle_text(in, head);
    if (text != NULL)
        (void)snprintf(head->chain.cycle, sizeof head->chain.cycle, "%s", text);
}

static int is_outside(const kiln__infer *in, const kiln_signature *signature)
{
    return signature->function->frontend != kiln_context_language(in->context);
}

/* True when the recursion goes through another frontend. */
static int leaves_language(const kiln__infer *in,
                           const kiln_signature *signature,
                           const kiln_inference *head)
{
    const kiln_inference *at = in->task.inference;

    for (; at != NULL && at != head; at = kiln_inference_parent(at))
        if (is_outside(in, kiln_inference_signature(at)))
            return 1;
    return is_outside(in, signature);
}

static kiln__value refuse_recursion(kiln__infer *in,
                                    const kiln_signature *signature)
{
    return kiln__infer_error(in, in->walk.span, "unsupported", NULL,
                             "`%s` calls itself through functions of two "
                             "languages",
                             kiln_function_name(signature->function));
}

/* Returns what is assumed of a method that is being inferred; NULL: nothing
   yet. */
static const kiln_type *assumption(kiln__infer *in, kiln_inference *head)
{
    kiln__infer *frame = kiln_inference_user(head);

    if (frame == NULL)
        return NULL;
    remember_cycle(in, frame);
    return frame->returns.declared != NULL ? frame->returns.declared
                                           : frame->chain.assumed;
}

/* The user's errors are taken over, and other failures end this inference,
   too. */
kiln__value kiln__infer_callee_failed(kiln__infer *in, kiln_status status,
                                      kiln_error *error)
{
    if (status == KILN_ECOMPILE && error != NULL)
        return kiln__infer_adopt(in, error);
    if (in->task.error != NULL && *in->task.error == NULL)
        *in->task.error = error;
    else
        kiln_error_free(error);
    return kiln__infer_fail(in, status);
}

/* Stores the callee's index and result. False: `out` is poison or bottom. */
static int ask_callee(kiln__infer *in, const kiln_signature *signature,
                      uint32_t *index, const kiln_type **result,
                      kiln__value *out)
{
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    kiln_error *error = NULL;
    const kiln_status status = kiln_inference_callee(
        in->task.inference, signature, &code, index, &head, &error);

    if (status == KILN_OK) {
        *result = kiln_code_result(code);
        if (is_outside(in, signature) &&
            !kiln__infer_outside_result(in, signature, result))
            return *out = kiln__value_of(KILN__VALUE_POISON), 0;
    } else if (status == KILN_ERECURSION && head != NULL &&
               leaves_language(in, signature, head)) {
        *out = refuse_recursion(in, signature);
        return 0;
    } else if (status == KILN_ERECURSION && head != NULL) {
        *result = assumption(in, head);
    } else {
        *out = is_outside(in, signature)
                   ? kiln__infer_outside_failed(in, status, error)
                   : kiln__infer_callee_failed(in, status, error);
        return 0;
    }
    if (*result != NULL)
        return 1;
    in->bottom = 1;
    in->broken = 1;
    *out = kiln__value_of(KILN__VALUE_BOTTOM);
    return 0;
}

/* Adds the callee. The IR has callees in the same order as the inference. */
static int add_callee(kiln__infer *in, const kiln_signature *signature,
                      uint32_t index, const kiln_type *result)
{
    const char *label;
    uint32_t made = 0;
    kiln_status status;

    if (in->broken || in->status != KILN_OK)
        return 0;
    if (index < in->body.ir.callees.count)
        return 1;
    label = kiln__infer_label(&in->arena, signature);
    status = label == NULL
                 ? KILN_ENOMEM
                 : kiln__ir_add_callee(&in->body.ir, label,
                                       kiln__infer_type(in, result), &made);
    if (status == KILN_OK && made != index)
        status = KILN_EMISMATCH;
    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return status == KILN_OK;
}

kiln__value kiln__infer_callee(kiln__infer *in, const kiln_signature *signature,
                               const uint32_t *nodes, const kiln__ast *ast)
{
    const kiln_type *result = NULL;
    kiln__value value;
    uint32_t index = 0, node = 0;

    if (!ask_callee(in, signature, &index, &result, &value))
        return value;
    if (add_callee(in, signature, index, result))
        node = kiln__infer_node(in, KILN__IR_CALL, result, ast, index,
                                (kiln__operands){nodes, signature->count});
    value = kiln__infer_typed(result, node);
    if (result->kind == KILN_TYPE_NONE)
        value.kind = KILN__VALUE_NOTHING;
    return value;
}
