/* lower_stack.c - raises when calls need more stack than there is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "codegen/lower/lower.h"
#include "kiln/error.h"

/*
 * A recursion need not end. So on a backend that can tell how much stack is
 * left, each function that is not inlined checks it first. How large one frame
 * may be is checked when machine code is made (codegen_frames.c). Runtime
 * functions that tier 2 keeps are never part of a recursion and do not check.
 */

int kiln__lower_guards(const kiln__lowering *l, const kiln__lower_function *f)
{
    return !f->inlined && f->source->runtime == NULL &&
           l->job->backend->item->exhausted != NULL;
}

void kiln__lower_guard(kiln__lowering *l)
{
    /* Ordinal 0: the exception names the method. */
    static const kiln__ir_node method = {.ordinal = 0};
    const LLVMValueRef none = LLVMConstNull(l->i64);

    if (!kiln__lower_guards(l, l->f))
        return;
    kiln__lower_check(
        l, &method,
        l->job->backend->item->exhausted(l->job, l->builder, l->item),
        (kiln__codegen_exception){.kind = KILN_EXCEPTION_MEMORY,
                                  .message = "calls nest too deeply",
                                  .values = {none, none}});
}

/* ---- the stack of this process ---- */

/* Room that a walk over one function's tree, or over LLVM's, may need. */
#define LOWER_RESERVE ((size_t)1 << 20)

int kiln__lower_is_too_deep(kiln__lowering *l)
{
    if (kiln__stack_left() >= LOWER_RESERVE * KILN__STACK_SCALE)
        return 0;
    l->no_memory = 1;
    l->job->too_deep = 1;
    return 1;
}
