/* ir_verify.c - checks everything that lowering relies on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "base/system/float_mode.h"
#include "ir/ir_tables.h"

/*
 * Each pass relies on those before it: the tables; the nodes one by one
 * (indices first, then the rules of ir_rules.c); the places of nodes, from the
 * root down; and the ends of blocks, from the leaves up. No pass recurses, so
 * depth costs no stack.
 */

/* What is known of one node. */
typedef struct note {
    uint32_t user;      /* 0: none yet */
    uint32_t loop;      /* the innermost enclosing loop or UNROLLED, or 0 */
    uint32_t iteration; /* the block of that UNROLLED, or 0 */
    uint16_t depth;     /* of the tree below the node */
    uint8_t broken;     /* a loop that a BREAK leaves */
    uint8_t continued;  /* a block of UNROLLED that a CONTINUE leaves */
    uint8_t ends;       /* control never continues after it */
} note;

/* The size of a type with everything in it. */
typedef struct extent {
    uint32_t leaves;
    uint16_t depth;
    uint8_t has_array;
    uint8_t has_bytes;
} extent;

typedef struct verifier {
    const kiln__ir *ir;
    kiln_error **error;
    extent *extents;
    note *notes;
} verifier;

static kiln_status fault(const verifier *v, const char *what)
{
    const char *name = v->ir->name;

    return kiln__error_set(v->error, KILN_ECORRUPT, "typed IR of %s: %s",
                           name == NULL ? "no name" : name, what);
}

static kiln_status too_many(const verifier *v, const char *what, size_t count,
                            size_t most)
{
    const char *name = v->ir->name;

    return kiln__error_set(v->error, KILN_ECORRUPT,
                           "typed IR of %s: %zu %s; there are at most %zu",
                           name == NULL ? "no name" : name, count, what, most);
}

static kiln_status fault_at(const verifier *v, const char *table, size_t index,
                            const char *what)
{
    const char *name = v->ir->name;

    return kiln__error_set(v->error, KILN_ECORRUPT,
                           "typed IR of %s: %s %zu: %s",
                           name == NULL ? "no name" : name, table, index, what);
}

static kiln_status fault_of(const verifier *v, size_t index, const char *what)
{
    const kiln__ir_op op = (kiln__ir_op)v->ir->nodes.items[index].op;

    return kiln__error_set(v->error, KILN_ECORRUPT,
                           "typed IR of %s: node %zu (%s): %s", v->ir->name,
                           index, kiln__ir_op_name(op), what);
}

/* ---- tables ---- */

static kiln_status check_sizes(const verifier *v)
{
    const kiln__ir *ir = v->ir;
    const size_t counts[] = {
        ir->types.count,    ir->type_fields.count, ir->locals.count,
        ir->callees.count,  ir->strings.count,     ir->nodes.count,
        ir->operands.count,
    };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] > KILN__IR_NODES_MAX)
            return too_many(v, "entries in one table", counts[i],
                            KILN__IR_NODES_MAX);
    if (ir->types.count > KILN__IR_TYPES_MAX)
        return too_many(v, "types", ir->types.count, KILN__IR_TYPES_MAX);
    if (ir->name == NULL || ir->method == NULL)
        return fault(v, "the function has no name");
    if (ir->nodes.count < 2 || ir->types.count == 0)
        return fault(v, "the function has no body");
    return KILN_OK;
}

static const char *array_fault(const verifier *v, const kiln__ir_type *type)
{
    if (type->length < 1 || type->length > KILN_RANK_MAX)
        return "the rank is not 1 to 4";
    if (v->extents[type->element].has_array)
        return "an array holds arrays";
    if (!v->extents[type->element].has_bytes)
        return "the elements have no bytes";
    return NULL;
}

static const char *vector_fault(const verifier *v, const kiln__ir_type *type)
{
    if (type->length < 1 || type->length > KILN__IR_VECTOR_MAX)
        return "the vector's length is not 1 to 256";
    if (!kiln__kind_is_scalar(kiln__ir_kind(v->ir, type->element)))
        return "the elements are not scalars";
    return NULL;
}

/* Members that a kind does not use must be zero, so that equal types are equal
   bytes. */
static const char *unused_fault(const kiln__ir_type *type)
{
    const int32_t kind = type->kind;
    const int sized = kind == KILN_TYPE_ARRAY || kind == KILN_TYPE_VECTOR;
    const int named = kind == KILN_TYPE_STRUCT || kind == KILN_TYPE_FUNCTION ||
                      kind == KILN_TYPE_TYPE;

    if ((type->strided != 0 && kind != KILN_TYPE_ARRAY) || type->strided > 1)
        return "strided is set";
    if (type->element != 0 && !sized)
        return "an element is set";
    if (type->length != 0 && !sized && !kiln__kind_has_fields(kind))
        return "a length is set";
    if (type->value != 0 && kind != KILN_TYPE_STATIC)
        return "a value is set";
    if ((type->name != NULL) != named)
        return named ? "the name is missing" : "a name is set";
    return NULL;
}

/* Adds to type `index` what a part of type `part` contributes. */
static const char *add_part(const verifier *v, size_t index, uint32_t part)
{
    extent *all = &v->extents[index];
    const extent *one;

    if (part >= index)
        return "a part is no earlier type";
    one = &v->extents[part];
    if (kiln__ir_kind(v->ir, part) == KILN_TYPE_NONE)
        return "a part has no value";
    if (one->leaves > KILN__IR_LEAVES_MAX - all->leaves)
        return "the type has more than 65536 scalars";
    all->leaves += one->leaves;
    all->has_array |= one->has_array;
    all->has_bytes |= one->has_bytes;
    if (one->depth >= all->depth)
        all->depth = (uint16_t)(one->depth + 1);
    return all->depth > KILN__IR_TYPE_DEPTH_MAX
               ? "the type nests more than 64 levels"
               : NULL;
}

static const char *type_fault(const verifier *v, size_t index, size_t *fields)
{
    const kiln__ir_type *type = &v->ir->types.items[index];
    const int has_fields = kiln__kind_has_fields(type->kind);
    const char *what;

    v->extents[index] = (extent){
        .leaves = 1, .has_bytes = (uint8_t)kiln__kind_is_scalar(type->kind)};
    if (type->kind == KILN_TYPE_FOREIGN || type->kind >= KILN_TYPE_KIND_COUNT)
        return "the kind is unknown";
    if ((what = unused_fault(type)) != NULL)
        return what;
    if (type->fields != (has_fields ? *fields : 0))
        return "the fields are not in order";
    if (has_fields && type->length > v->ir->type_fields.count - *fields)
        return "fields are missing";
    for (size_t i = 0; has_fields && i < type->length; i++)
        if ((what = add_part(v, index, kiln__ir_field(v->ir, type, i))))
            return what;
    *fields += has_fields ? type->length : 0;
    if (type->kind == KILN_TYPE_ARRAY || type->kind == KILN_TYPE_VECTOR) {
        if ((what = add_part(v, index, type->element)) != NULL)
            return what;
        what = type->kind == KILN_TYPE_ARRAY ? array_fault(v, type)
                                             : vector_fault(v, type);
    }
    if (type->kind == KILN_TYPE_ARRAY)
        v->extents[index].has_array = 1;
    else if (type->kind == KILN_TYPE_VECTOR)
        v->extents[index].leaves = type->length;
    return what;
}

static kiln_status check_types(const verifier *v)
{
    size_t fields = 0;

    for (size_t i = 0; i < v->ir->types.count; i++) {
        const char *what = type_fault(v, i, &fields);

        if (what != NULL)
            return fault_at(v, "type", i, what);
    }
    if (fields != v->ir->type_fields.count)
        return fault(v, "fields belong to no type");
    return KILN_OK;
}

static kiln_status check_parameters(const verifier *v)
{
    const kiln__ir *ir = v->ir;

    if (ir->parameter_count > ir->locals.count)
        return fault(v, "parameters are missing");
    if (ir->kernel > 1)
        return fault(v, "the kernel mark is neither 0 nor 1");
    if (ir->kernel && kiln__ir_kind(ir, ir->result) != KILN_TYPE_NONE)
        return fault(v, "a kernel returns a value");
    for (size_t i = 0; ir->kernel && i < ir->parameter_count; i++) {
        const uint32_t type = ir->locals.items[i].type;

        if (v->extents[type].has_array &&
            kiln__ir_kind(ir, type) != KILN_TYPE_ARRAY)
            return fault_at(v, "local", i, "an argument holds arrays");
    }
    return KILN_OK;
}

static kiln_status check_tables(const verifier *v)
{
    const kiln__ir *ir = v->ir;

    if (ir->result >= ir->types.count)
        return fault(v, "the result's type is missing");
    for (size_t i = 0; i < ir->locals.count; i++)
        if (ir->locals.items[i].type >= ir->types.count ||
            kiln__ir_kind(ir, ir->locals.items[i].type) == KILN_TYPE_NONE)
            return fault_at(v, "local", i, "it has no type");
    for (size_t i = 0; i < ir->callees.count; i++)
        if (ir->callees.items[i].result >= ir->types.count ||
            ir->callees.items[i].name == NULL)
            return fault_at(v, "callee", i, "it has no type or name");
    for (size_t i = 0; i < ir->strings.count; i++)
        if (ir->strings.items[i] == NULL)
            return fault_at(v, "string", i, "it is missing");
    return check_parameters(v);
}

/* ---- nodes one by one ---- */

static const char *immediate_fault(const kiln__ir *ir,
                                   const kiln__ir_node *node)
{
    const kiln__ir_immediate immediate = kiln__ir_ops[node->op].immediate;
    size_t limit;

    switch (immediate) {
    case KILN__IMMEDIATE_NONE:
        return node->imm == 0 ? NULL : "an immediate is set";
    case KILN__IMMEDIATE_LOCAL:
        limit = ir->locals.count;
        break;
    case KILN__IMMEDIATE_CALLEE:
        limit = ir->callees.count;
        break;
    case KILN__IMMEDIATE_STRING:
        limit = ir->strings.count;
        break;
    case KILN__IMMEDIATE_QUERY:
        limit = KILN__QUERY_COUNT * 4;
        break;
    case KILN__IMMEDIATE_MATH:
    case KILN__IMMEDIATE_ATOMIC:
    case KILN__IMMEDIATE_GROUP:
        (void)kiln__ir_names(immediate, &limit);
        break;
    case KILN__IMMEDIATE_BITS:
    case KILN__IMMEDIATE_FIELD:
    case KILN__IMMEDIATE_DIMENSION:
    default: /* the rules check these */
        return NULL;
    }
    return node->imm >= 0 && (uint64_t)node->imm < limit
               ? NULL
               : "the immediate is out of range";
}

/* Checks the place of an operand. In a structured statement all operands after
   the first `values` ones are blocks. A BLOCK contains statements; all else has
   values. */
static const char *place_fault(const kiln__ir_node *node, size_t i,
                               const kiln__ir_node *operand)
{
    const int is_statement = kiln__ir_ops[operand->op].statement;
    size_t values = SIZE_MAX;

    if (node->op == KILN__IR_BLOCK)
        return is_statement ? NULL : "a block holds a value";
    if (node->op == KILN__IR_IF || node->op == KILN__IR_WHILE)
        values = 1;
    else if (node->op == KILN__IR_FOR)
        values = 3;
    else if (node->op == KILN__IR_UNROLLED)
        values = 0;
    if (i >= values)
        return operand->op == KILN__IR_BLOCK ? NULL : "a block is missing";
    if (is_statement)
        return "a statement is used as a value";
    if (operand->op == KILN__IR_TEXT && node->op != KILN__IR_PRINT)
        return "a text is used as a value";
    return NULL;
}

static const char *operands_fault(const verifier *v, size_t index,
                                  size_t *operands)
{
    const kiln__ir_node *node = &v->ir->nodes.items[index];
    note *notes = v->notes;

    if (node->operands != *operands ||
        node->count > v->ir->operands.count - *operands)
        return "the operands are not in order";
    *operands += node->count;
    for (size_t i = 0; i < node->count; i++) {
        const uint32_t operand = kiln__ir_operand(v->ir, node, i);
        const char *what;

        if (operand == 0 || operand >= index)
            return "an operand does not stand before its user";
        if (notes[operand].user != 0)
            return "an operand has two users";
        notes[operand].user = (uint32_t)index;
        if (notes[operand].depth >= notes[index].depth)
            notes[index].depth = (uint16_t)(notes[operand].depth + 1);
        what = place_fault(node, i, &v->ir->nodes.items[operand]);
        if (what != NULL)
            return what;
    }
    return notes[index].depth > KILN__IR_DEPTH_MAX ? "the tree is too deep"
                                                   : NULL;
}

static const char *flags_fault(uint32_t flags)
{
    const uint32_t all = KILN__IR_BOUNDS_FLAGS | KILN__IR_FLOAT_FLAGS;
    const uint32_t on =
        KILN__IR_BOUNDS_ON | KILN__IR_FAST_ON | KILN__IR_CONTRACT_ON;

    /* The bit after each "on" switch is its "off". */
    if ((flags & ~all) != 0 || ((flags & on) << 1 & flags) != 0)
        return "the flags contradict each other";
    return NULL;
}

static const char *node_fault(const verifier *v, size_t index, size_t *operands)
{
    const kiln__ir_node *node = &v->ir->nodes.items[index];
    const kiln__ir_op_info *info;
    const char *what;

    if (node->op == KILN__IR_NONE || node->op >= KILN__IR_OP_COUNT)
        return "there is no such operation";
    info = &kiln__ir_ops[node->op];
    if (node->type >= v->ir->types.count)
        return "the type is missing";
    if (node->count < (uint32_t)info->least ||
        (info->most >= 0 && node->count > (uint32_t)info->most))
        return "the number of operands is wrong";
    if (info->statement && kiln__ir_kind(v->ir, node->type) != KILN_TYPE_NONE)
        return "a statement has a type";
    if ((what = flags_fault(node->flags)) != NULL ||
        (what = immediate_fault(v->ir, node)) != NULL ||
        (what = operands_fault(v, index, operands)) != NULL)
        return what;
    return kiln__ir_rule(v->ir, node);
}

static int is_unused(const kiln__ir_node *node)
{
    return node->op == KILN__IR_NONE && node->flags == 0 && node->type == 0 &&
           node->ordinal == 0 && node->operands == 0 && node->count == 0 &&
           node->imm == 0;
}

static kiln_status check_nodes(const verifier *v)
{
    const kiln__ir *ir = v->ir;
    size_t operands = 0;

    if (!is_unused(&ir->nodes.items[0]))
        return fault(v, "node 0 is in use");
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const char *what = node_fault(v, i, &operands);

        if (what != NULL)
            return fault_of(v, i, what);
    }
    if (operands != ir->operands.count)
        return fault(v, "operands belong to no node");
    if (ir->body != ir->nodes.count - 1 ||
        ir->nodes.items[ir->body].op != KILN__IR_BLOCK)
        return fault(v, "the last node is not the body");
    for (size_t i = 1; i + 1 < ir->nodes.count; i++)
        if (v->notes[i].user == 0)
            return fault_of(v, i, "nothing uses it");
    return KILN_OK;
}

/* ---- places, from the root down ---- */

static int is_loop(uint32_t op)
{
    return op == KILN__IR_WHILE || op == KILN__IR_FOR ||
           op == KILN__IR_UNROLLED;
}

static kiln_status check_places(const verifier *v)
{
    const kiln__ir *ir = v->ir;

    for (size_t i = ir->nodes.count - 1; i-- > 1;) {
        const uint32_t op = ir->nodes.items[i].op;
        const uint32_t user = v->notes[i].user;
        const uint32_t user_op = ir->nodes.items[user].op;
        note *n = &v->notes[i];

        n->loop = is_loop(user_op) ? user : v->notes[user].loop;
        n->iteration = user_op == KILN__IR_UNROLLED ? (uint32_t)i
                       : is_loop(user_op)           ? 0
                                                    : v->notes[user].iteration;
        if (op != KILN__IR_BREAK && op != KILN__IR_CONTINUE)
            continue;
        if (n->loop == 0)
            return fault_of(v, i, "there is no loop around it");
        if (op == KILN__IR_BREAK)
            v->notes[n->loop].broken = 1;
        else if (n->iteration != 0)
            v->notes[n->iteration].continued = 1;
    }
    return KILN_OK;
}

/* ---- ends, from the leaves up ---- */

static int any_ends(const verifier *v, const kiln__ir_node *node,
                    int is_unrolled)
{
    for (size_t i = 0; i < node->count; i++) {
        const note *n = &v->notes[kiln__ir_operand(v->ir, node, i)];

        if (n->ends && !(is_unrolled && n->continued))
            return 1;
    }
    return 0;
}

/* True when control never continues after the statement. */
static int ends(const verifier *v, size_t index)
{
    const kiln__ir_node *node = &v->ir->nodes.items[index];
    const kiln__ir_node *condition;

    switch ((uint32_t)node->op) {
    case KILN__IR_RETURN:
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
        return 1;
    case KILN__IR_BLOCK:
        return any_ends(v, node, 0);
    case KILN__IR_UNROLLED:
        return !v->notes[index].broken && any_ends(v, node, 1);
    case KILN__IR_IF:
        return node->count == 3 &&
               v->notes[kiln__ir_operand(v->ir, node, 1)].ends &&
               v->notes[kiln__ir_operand(v->ir, node, 2)].ends;
    case KILN__IR_WHILE:
        condition = kiln__ir_operand_at(v->ir, node, 0);
        return condition->op == KILN__IR_CONST && condition->imm == 1 &&
               !v->notes[index].broken;
    default:
        return 0;
    }
}

static kiln_status check_ends(const verifier *v)
{
    const kiln__ir *ir = v->ir;

    for (size_t i = 1; i < ir->nodes.count; i++)
        v->notes[i].ends = (uint8_t)ends(v, i);
    if (kiln__ir_kind(ir, ir->result) != KILN_TYPE_NONE &&
        !v->notes[ir->body].ends)
        return fault(v, "the end of the body is reached without a result");
    return KILN_OK;
}

static kiln_status check_all(const verifier *v)
{
    KILN_TRY(check_types(v));
    KILN_TRY(check_tables(v));
    KILN_TRY(check_nodes(v));
    KILN_TRY(check_places(v));
    return check_ends(v);
}

kiln_status kiln__ir_verify(const kiln__ir *ir, kiln_error **error)
{
    const size_t types = ir->types.count, nodes = ir->nodes.count;
    verifier v = {.ir = ir, .error = error};
    kiln_status status;
    fenv_t mode;

    KILN_TRY(check_sizes(&v));
    v.extents = kiln__allocate_array(ir->alloc, types, sizeof *v.extents);
    v.notes = kiln__allocate_array(ir->alloc, nodes, sizeof *v.notes);
    /* Constants are compared, which may trap where the host wants that. */
    kiln__float_begin(&mode);
    if (v.extents == NULL || v.notes == NULL)
        status = kiln__error_no_memory(error);
    else
        status = check_all(&v);
    kiln__float_end(&mode);
    kiln__deallocate(ir->alloc, v.extents, types * sizeof *v.extents);
    kiln__deallocate(ir->alloc, v.notes, nodes * sizeof *v.notes);
    return status;
}
