/* infer_node.c - builds typed IR from values. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/system/stack.h"
#include "frontend/infer/infer.h"

/*
 * Every node has one user, so a value is used once; what is needed again is
 * read again (kiln__infer_save). Constants and values without bytes have no
 * node until they are used.
 */

typedef struct kiln__type_entry {
    const kiln_type *type;
    uint32_t index;
} type_entry;

/* ---- types ---- */

const kiln_type *kiln__infer_scalar(const kiln__infer *in, int32_t kind)
{
    return kiln_type_scalar(in->context, kind);
}

static type_entry *type_slot(type_entry *entries, size_t capacity,
                             const kiln_type *type)
{
    size_t at = (size_t)type->hash & (capacity - 1);

    while (entries[at].type != NULL && entries[at].type != type)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static int types_grow(kiln__infer_body *body, kiln__arena *arena)
{
    const size_t capacity = body->type_capacity ? body->type_capacity * 2 : 32;
    type_entry *entries =
        kiln__arena_allocate_array(arena, capacity, sizeof *entries);

    if (entries == NULL)
        return 0;
    for (size_t i = 0; i < body->type_capacity; i++)
        if (body->types[i].type != NULL)
            *type_slot(entries, capacity, body->types[i].type) = body->types[i];
    body->types = entries;
    body->type_capacity = capacity;
    return 1;
}

/* Makes room for one more; half of the slots stay free. */
static int types_reserve(kiln__infer *in)
{
    if (in->body.type_count * 2 < in->body.type_capacity ||
        types_grow(&in->body, &in->arena))
        return 1;
    (void)kiln__infer_fail(in, KILN_ENOMEM);
    return 0;
}

static const char *type_name(const kiln_type *type)
{
    return type->kind == KILN_TYPE_STRUCT || type->kind == KILN_TYPE_FUNCTION ||
                   type->kind == KILN_TYPE_TYPE
               ? kiln_type_text(type)
               : NULL;
}

/* Adds a type to the IR, with the types of its parts. */
static uint32_t make_type(kiln__infer *in, const kiln_type *type)
{
    const int has_fields =
        type->kind == KILN_TYPE_STRUCT || type->kind == KILN_TYPE_TUPLE;
    const size_t count = has_fields ? type->field_count : 0;
    kiln__ir_type made = {.kind = (uint8_t)type->kind,
                          .strided = (uint8_t)type->strided,
                          .value = type->value,
                          .name = type_name(type)};
    uint32_t *fields =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *fields);
    uint32_t index = 0;
    kiln_status status;

    if (fields == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), 0;
    if (type->kind == KILN_TYPE_ARRAY || type->kind == KILN_TYPE_VECTOR)
        made.element = kiln__infer_type(in, type->element);
    for (size_t i = 0; i < count; i++)
        fields[i] = kiln__infer_type(in, type->fields[i].type);
    made.length = type->kind == KILN_TYPE_ARRAY    ? type->rank
                  : type->kind == KILN_TYPE_VECTOR ? type->length
                                                   : (uint32_t)count;
    if (in->status != KILN_OK)
        return 0;
    status = kiln__ir_add_type(&in->body.ir, &made, fields, &index);
    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return index;
}

uint32_t kiln__infer_type(kiln__infer *in, const kiln_type *type)
{
    type_entry *entry;
    uint32_t index;

    if (kiln__stack_is_low())
        (void)kiln__infer_fail(in, KILN_ESTACK);
    if (in->status != KILN_OK)
        return 0;
    if (!types_reserve(in))
        return 0;
    entry = type_slot(in->body.types, in->body.type_capacity, type);
    if (entry->type != NULL)
        return entry->index;
    index = make_type(in, type);
    /* Adding the type's parts has used the room, and may have moved the
       table. */
    if (in->status != KILN_OK || !types_reserve(in))
        return 0;
    entry = type_slot(in->body.types, in->body.type_capacity, type);
    if (entry->type == NULL) {
        *entry = (type_entry){type, index};
        in->body.type_count++;
    }
    return index;
}

/* ---- an attempt's memory ---- */

kiln__facts kiln__infer_facts(const kiln__infer *in)
{
    return (kiln__facts){.language = in->task.language,
                         .world = in->task.world,
                         .overlays = in->task.config->overlays,
                         .inference = in->task.inference};
}

kiln_status kiln__infer_begin(kiln__infer *in)
{
    kiln__ir_init(&in->body.ir, in->alloc);
    kiln__arena_init(&in->arena, in->alloc);
    kiln__diagnostics_init(&in->diagnostics, in->alloc);
    in->diagnostics.limit = KILN__INFER_ERRORS_MAX;
    in->status = kiln__ir_scalar(&in->body.ir, KILN_TYPE_NONE, &in->body.none);
    in->facts = kiln__infer_facts(in);
    in->facts.arena = &in->arena;
    in->flow.reachable = 1;
    in->walk.constants_left = KILN__INFER_CONSTANTS_MAX;
    in->at.source = kiln__method_source(in->task.method);
    in->at.package = kiln__method_package(in->task.method);
    in->walk.span = in->task.definition->name_span;
    return in->status;
}

void kiln__infer_end(kiln__infer *in)
{
    kiln__array_dispose(in->alloc, &in->body.statements);
    kiln__array_dispose(in->alloc, &in->flow.trail);
    kiln__array_dispose(in->alloc, &in->returns.pending);
    kiln__diagnostics_dispose(&in->diagnostics);
    kiln__ir_dispose(&in->body.ir);
    kiln__arena_dispose(&in->arena);
}

/* ---- nodes ---- */

/* Returns the switches that affect the operation. */
static uint16_t flags_of(const kiln__infer *in, kiln__ir_op op)
{
    uint32_t mask = 0;

    if (op == KILN__IR_LOAD || op == KILN__IR_STORE || op == KILN__IR_ELEMENT ||
        op == KILN__IR_WITH_ELEMENT || op == KILN__IR_ATOMIC)
        mask = KILN__IR_BOUNDS_FLAGS;
    else if ((op >= KILN__IR_NEG && op <= KILN__IR_DIV) ||
             (op >= KILN__IR_EQ && op <= KILN__IR_GE) ||
             op == KILN__IR_CHOOSE || op == KILN__IR_SELECT ||
             op == KILN__IR_MATH)
        mask = KILN__IR_FLOAT_FLAGS;
    return (uint16_t)(in->walk.flags & mask);
}

static int too_large(kiln__infer *in)
{
    const int method = in->body.ir.nodes.count >= KILN__INFER_NODES_MAX;

    if (!method && in->chain.root->chain.nodes++ < KILN__INFER_NODES_ALL_MAX)
        return 0;
    (void)kiln__infer_error(
        in, in->walk.here == NULL ? in->walk.span : in->walk.here->span,
        "too-large", "static loops make a copy for each iteration",
        "%s more than %d operations",
        method ? "the method has"
               : "the methods called from here have together",
        method ? KILN__INFER_NODES_MAX : KILN__INFER_NODES_ALL_MAX);
    (void)kiln__infer_fail(in, KILN_ECOMPILE);
    return 1;
}

uint32_t kiln__infer_node(kiln__infer *in, kiln__ir_op op,
                          const kiln_type *type, const kiln__ast *ast,
                          int64_t imm, kiln__operands operands)
{
    kiln__ir_node node = {.op = (uint16_t)op, .imm = imm};
    uint32_t index = 0;
    kiln_status status;

    if (in->status != KILN_OK || too_large(in))
        return 0;
    for (size_t i = 0; i < operands.count; i++)
        if (operands.nodes[i] == 0) {
            in->broken = 1;
            return 0;
        }
    node.flags = flags_of(in, op);
    node.type = type == NULL ? in->body.none : kiln__infer_type(in, type);
    if (ast != NULL)
        node.ordinal = in->at.in_constant ? in->at.ordinal : ast->ordinal;
    if (in->status != KILN_OK)
        return 0;
    status = kiln__ir_add_node(&in->body.ir, &node, operands.nodes,
                               operands.count, &index);
    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return index;
}

kiln__value kiln__infer_typed(const kiln_type *type, uint32_t node)
{
    return (kiln__value){.kind = KILN__VALUE_TYPED, .type = type, .node = node};
}

kiln__value kiln__infer_made(kiln__infer *in, kiln__ir_op op,
                             const kiln_type *type, const kiln__ast *ast,
                             int64_t imm, kiln__operands operands)
{
    const uint32_t node = kiln__infer_node(in, op, type, ast, imm, operands);

    /* Even if an operand is missing, the type is known. */
    return kiln__infer_typed(type, node);
}

static uint32_t use_constant(kiln__infer *in, const kiln__value *value)
{
    return kiln__infer_node(
        in, KILN__IR_CONST, value->type, NULL,
        kiln__fold_bits(&value->constant, value->type->kind),
        KILN__NO_OPERANDS);
}

uint32_t kiln__infer_use(kiln__infer *in, const kiln__value *value,
                         const kiln__ast *ast)
{
    kiln__value settled;

    switch (value->kind) {
    case KILN__VALUE_LITERAL:
        settled = kiln__infer_settle(in, value, ast);
        return settled.kind == KILN__VALUE_TYPED ? use_constant(in, &settled)
                                                 : 0;
    case KILN__VALUE_OPEN:
        return kiln__infer_settle(in, value, ast).node;
    case KILN__VALUE_TYPED:
        if (value->known)
            return use_constant(in, value);
        if (value->node == 0 && value->type->size == 0)
            return kiln__infer_node(in, KILN__IR_UNIT, value->type, NULL, 0,
                                    KILN__NO_OPERANDS);
        break;
    case KILN__VALUE_POISON:
    case KILN__VALUE_BOTTOM:
    case KILN__VALUE_NOTHING:
    default:
        in->broken = 1;
        return 0;
    }
    if (value->node == 0)
        in->broken = 1;
    return value->node;
}

kiln__value kiln__infer_constant(const kiln_type *type,
                                 const kiln__constant *constant)
{
    return (kiln__value){.kind = KILN__VALUE_TYPED,
                         .type = type,
                         .known = 1,
                         .constant = *constant};
}

kiln__value kiln__infer_boolean(kiln__infer *in, int truth, int is_static)
{
    const kiln__constant constant = {.integer = truth != 0};
    kiln__value value =
        kiln__infer_constant(kiln__infer_scalar(in, KILN_TYPE_BOOL), &constant);

    value.is_static = is_static;
    return value;
}

kiln__value kiln__infer_static(kiln__infer *in, kiln__wide value,
                               kiln__span span)
{
    const kiln_type *type = NULL;
    char text[KILN__WIDE_TEXT];
    kiln_status status;

    if (!kiln__fold_fits(value, KILN_TYPE_I64))
        return kiln__infer_error(in, span, "literal-range", NULL,
                                 "%s does not fit a compile-time integer",
                                 kiln__wide_text(text, value));
    status = kiln_type_static(&type, in->context, (int64_t)value, NULL);
    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    return kiln__infer_typed(type, 0);
}

/* ---- locals and statements ---- */

uint32_t kiln__infer_local(kiln__infer *in, const char *name,
                           const kiln_type *type)
{
    const uint32_t index = kiln__infer_type(in, type);
    uint32_t local = 0;
    kiln_status status;

    if (in->status != KILN_OK)
        return 0;
    status = kiln__ir_add_local(&in->body.ir, name, index, &local);
    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return local;
}

uint32_t kiln__infer_read(kiln__infer *in, uint32_t local,
                          const kiln_type *type)
{
    return kiln__infer_node(in, KILN__IR_LOCAL, type, NULL, local,
                            KILN__NO_OPERANDS);
}

void kiln__infer_emit(kiln__infer *in, uint32_t statement)
{
    if (statement == 0)
        in->broken = 1;
    else if (!kiln__array_push(in->alloc, &in->body.statements, statement))
        (void)kiln__infer_fail(in, KILN_ENOMEM);
}

void kiln__infer_set(kiln__infer *in, uint32_t local, uint32_t value,
                     const kiln__ast *ast)
{
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_SET, NULL, ast, local,
                                          (kiln__operands){&value, 1}));
}

size_t kiln__infer_open_block(kiln__infer *in)
{
    return in->body.statements.count;
}

uint32_t kiln__infer_close_block(kiln__infer *in, size_t mark)
{
    uint32_t node;

    if (in->status != KILN_OK)
        return 0;
    node =
        kiln__infer_node(in, KILN__IR_BLOCK, NULL, NULL, 0,
                         (kiln__operands){in->body.statements.count > mark
                                              ? &in->body.statements.items[mark]
                                              : NULL,
                                          in->body.statements.count - mark});
    in->body.statements.count = mark;
    return node;
}

/* ---- discarding what was built ---- */

kiln__ir_mark kiln__infer_mark(const kiln__infer *in)
{
    return (kiln__ir_mark){in->body.ir.nodes.count, in->body.ir.operands.count,
                           in->body.statements.count};
}

void kiln__infer_rollback(kiln__infer *in, kiln__ir_mark mark)
{
    in->body.ir.nodes.count = mark.nodes;
    in->body.ir.operands.count = mark.operands;
    in->body.statements.count = mark.statements;
}

/* Returns the first node of the tree whose root is `node`. Users come after
   their operands. So, going backwards, the tree is complete when each operand
   was found. */
static uint32_t first_node(const kiln__infer *in, uint32_t node)
{
    uint32_t missing = in->body.ir.nodes.items[node].count;

    while (missing > 0 && node > 1)
        missing += in->body.ir.nodes.items[--node].count - 1;
    return node;
}

static int has_effect(const kiln__infer *in, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++) {
        const uint32_t op = in->body.ir.nodes.items[i].op;

        if (op == KILN__IR_CALL || op == KILN__IR_ATOMIC ||
            op == KILN__IR_GROUP)
            return 1;
    }
    return 0;
}

static void discard_node(kiln__infer *in, uint32_t node, const kiln__ast *ast)
{
    uint32_t first;

    if (node == 0 || in->status != KILN_OK)
        return;
    first = first_node(in, node);
    if (node + 1 == in->body.ir.nodes.count && !has_effect(in, first, node) &&
        (in->body.statements.count == 0 ||
         in->body.statements.items[in->body.statements.count - 1] < first)) {
        in->body.ir.nodes.count = first;
        in->body.ir.operands.count = in->body.ir.nodes.items[first].operands;
        return;
    }
    if (in->walk.conditional > 0 && has_effect(in, first, node))
        (void)kiln__infer_error(
            in, ast->span, "unsupported",
            "call the function in a statement of its own",
            "only the type of this value is used, but it has an effect that "
            "depends on a condition");
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_EVAL, NULL, ast, 0,
                                          (kiln__operands){&node, 1}));
}

void kiln__infer_discard(kiln__infer *in, const kiln__value *value,
                         const kiln__ast *ast)
{
    if (value->kind == KILN__VALUE_TYPED)
        discard_node(in, value->node, ast);
    else if (value->kind == KILN__VALUE_OPEN)
        discard_node(in, kiln__infer_use(in, value, ast), ast);
}

/* ---- reading a value more than once ---- */

kiln__saved_value kiln__infer_save_copy(kiln__infer *in,
                                        const kiln__value *value,
                                        const kiln__ast *ast)
{
    kiln__saved_value saved = {.type = value->type, .value = *value};

    if (value->kind != KILN__VALUE_TYPED || value->node == 0 ||
        in->status != KILN_OK)
        return saved;
    saved.is_local = 1;
    saved.local = kiln__infer_local(in, NULL, value->type);
    kiln__infer_set(in, saved.local, value->node, ast);
    return saved;
}

kiln__saved_value kiln__infer_save(kiln__infer *in, const kiln__value *value,
                                   const kiln__ast *ast)
{
    const kiln__ir_node *node;
    kiln__saved_value saved = {.type = value->type, .value = *value};

    if (value->kind != KILN__VALUE_TYPED || value->node == 0 ||
        in->status != KILN_OK)
        return saved;
    node = &in->body.ir.nodes.items[value->node];
    if (node->op != KILN__IR_LOCAL ||
        value->node + 1 != in->body.ir.nodes.count)
        return kiln__infer_save_copy(in, value, ast);
    saved.is_local = 1;
    saved.local = (uint32_t)node->imm;
    in->body.ir.nodes.count--;
    return saved;
}

uint32_t kiln__infer_read_saved(kiln__infer *in, const kiln__saved_value *saved)
{
    if (saved->is_local)
        return kiln__infer_read(in, saved->local, saved->type);
    return kiln__infer_use(in, &saved->value, NULL);
}
