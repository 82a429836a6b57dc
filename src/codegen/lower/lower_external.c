/* lower_external.c - calls of functions of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

/*
 * The module of an external function was adapted (codegen/foreign), and defines
 *
 *     i32 @symbol(ptr %item, <arguments as an entry takes them>, ptr %result)
 *
 * It returns 0, or 1 after it raised an exception. This is the other direction
 * of lower_called.c.
 */

typedef struct passing {
    kiln__lowering *l;
    LLVMValueRef function;
    LLVMValueRef *values;
    unsigned count;
    int is_wrong; /* the module has other parameters */
} passing;

static const kiln__external *external_of(const kiln__lowering *l,
                                         const kiln__lower_function *f)
{
    return l->job->externals != NULL ? &l->job->externals[f - l->functions]
                                     : NULL;
}

int kiln__lower_external_raises(const kiln__lowering *l,
                                const kiln__lower_function *f)
{
    const kiln__external *external = external_of(l, f);

    return external != NULL && external->can_fail;
}

/* ---- arguments ---- */

static void add(passing *p, LLVMValueRef value)
{
    const unsigned at = p->count;

    if (at >= LLVMCountParams(p->function) ||
        LLVMTypeOf(LLVMGetParam(p->function, at)) != LLVMTypeOf(value)) {
        p->is_wrong = 1;
        return;
    }
    p->values[p->count++] = value;
}

/* Other languages align a vector to its size, and up to this much. */
#define BYTES_ALIGNMENT 128u

static unsigned alignment_of(const kiln__lower_type *described)
{
    unsigned alignment = described->alignment;

    while (alignment < described->size && alignment < BYTES_ALIGNMENT)
        alignment *= 2;
    return alignment;
}

/* Returns memory of the item for a value. It is in the function's first block,
   where it is no part of a loop. */
static LLVMValueRef add_memory(const passing *p, uint32_t type)
{
    const kiln__lowering *l = p->l;
    const kiln__lower_type *described = &l->f->types[type];
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(l->builder);
    const LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(l->f->value);
    const LLVMValueRef before = LLVMGetFirstInstruction(first);
    LLVMValueRef made;

    if (before != NULL)
        LLVMPositionBuilderBefore(l->builder, before);
    else
        LLVMPositionBuilderAtEnd(l->builder, first);
    made = LLVMBuildAlloca(
        l->builder,
        LLVMArrayType2(LLVMInt8TypeInContext(l->context), described->size), "");
    LLVMSetAlignment(made, alignment_of(described));
    LLVMPositionBuilderAtEnd(l->builder, here);
    return made;
}

static void add_bytes(passing *p, uint32_t type, LLVMValueRef value)
{
    const LLVMValueRef memory = add_memory(p, type);

    kiln__lower_write(p->l, type, memory, value);
    add(p, memory);
}

static void add_argument(passing *p, uint32_t type, LLVMValueRef value)
{
    const kiln__lowering *l = p->l;
    const kiln__parameter described = kiln__lower_describe(l, type);

    switch (described.passing) {
    case KILN__PARAMETER_EMPTY:
        break;
    case KILN__PARAMETER_SCALAR:
        add(p, described.kind == KILN_TYPE_BOOL
                   ? LLVMBuildZExt(l->builder, value,
                                   LLVMInt8TypeInContext(l->context), "")
                   : value);
        break;
    case KILN__PARAMETER_ARRAY:
        for (unsigned i = 0; i < kiln__lower_flat_count(&described); i++)
            add(p, LLVMBuildExtractValue(l->builder, value, i, ""));
        break;
    default:
        add_bytes(p, type, value);
        break;
    }
}

static LLVMValueRef parameter(const kiln__lowering *l, uint32_t index)
{
    const uint32_t type = l->ir->locals.items[index].type;

    return kiln__ir_type_is_empty(l->ir, type)
               ? LLVMConstNull(kiln__lower_type_of(l, type))
               : LLVMGetParam(l->f->value, index + 1);
}

/* ---- the call ---- */

static int add_arguments(passing *p, LLVMValueRef *result)
{
    kiln__lowering *l = p->l;

    p->values = kiln__arena_allocate_array(
        &l->job->arena, LLVMCountParams(p->function) + 1, sizeof *p->values);
    if (p->values == NULL) {
        l->no_memory = 1;
        return 0;
    }
    add(p, l->item);
    for (uint32_t i = 0; i < l->ir->parameter_count; i++)
        add_argument(p, l->ir->locals.items[i].type, parameter(l, i));
    if (!kiln__ir_type_is_empty(l->ir, l->ir->result)) {
        *result = add_memory(p, l->ir->result);
        add(p, *result);
    }
    return !p->is_wrong && p->count == LLVMCountParams(p->function);
}

static LLVMValueRef call(const passing *p, const kiln__external *external,
                         const kiln__ir_node *node)
{
    kiln__lowering *l = p->l;
    const LLVMValueRef flag = LLVMBuildCall2(
        l->builder, external->type, p->function, p->values, p->count, "");

    if (external->can_fail)
        kiln__lower_pass_on(l, node,
                            LLVMBuildICmp(l->builder, LLVMIntNE, flag,
                                          LLVMConstNull(LLVMTypeOf(flag)), ""));
    return flag;
}

LLVMValueRef kiln__lower_external(kiln__lowering *l, const kiln__ir_node *node)
{
    const kiln__external *external = external_of(l, l->f);
    LLVMValueRef result = NULL;
    passing p = {.l = l};

    if (external != NULL && external->module != NULL)
        p.function = LLVMGetNamedFunction(l->job->module, l->f->source->symbol);
    if (p.function == NULL || !add_arguments(&p, &result))
        return kiln__lower_unknown(l, node, "external");
    (void)call(&p, external, node);
    return result != NULL ? kiln__lower_read(l, node->type, result)
                          : LLVMConstNull(kiln__lower_type_of(l, node->type));
}
