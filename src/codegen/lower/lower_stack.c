/* lower_stack.c - calls that need more stack than there is raise. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "codegen/lower/lower.h"
#include "kiln/error.h"

/*
 * On a backend that can tell, each function that stays one looks first whether
 * there is stack left: it may be part of a recursion that does not end. Its
 * own frame is bounded when it is emitted. Runtime functions that tier 2 keeps
 * are never part of one.
 */

int kiln__lower_guards(const kiln__lowering *l, const kiln__lower_function *f)
{
    return !f->inlined && f->source->runtime == NULL &&
           l->job->backend->exhausted != NULL;
}

void kiln__lower_guard(kiln__lowering *l)
{
    static const kiln__ir_node method = {.ordinal = 0}; /* its name */
    const LLVMValueRef none = LLVMConstNull(l->i64);

    if (!kiln__lower_guards(l, l->f))
        return;
    kiln__lower_check(
        l, &method, l->job->backend->exhausted(l->job, l->builder, l->item),
        KILN_EXCEPTION_MEMORY, "calls nest too deeply", none, none);
}

/* ---- the stack of this process ---- */

/* What walks one function's tree, or LLVM's, has room for that. */
#define LOWER_RESERVE ((size_t)1 << 20)

int kiln__lower_is_too_deep(kiln__lowering *l)
{
    if (kiln__stack_left() >= LOWER_RESERVE * KILN__STACK_SCALE)
        return 0;
    l->no_memory = 1;
    l->job->too_deep = 1;
    return 1;
}
