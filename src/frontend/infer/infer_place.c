/* infer_place.c - assignments to parts of values: elements and fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * A place is a local or an array element, followed by steps: fields and vector
 * elements. To change a part, the whole is stored again with that part
 * replaced. The expressions in a place are evaluated once, however often it is
 * read.
 */

typedef struct step {
    int is_field;
    size_t field;
    kiln__saved_value index; /* of a vector's element: an i64 */
    const kiln_type *whole;  /* type of the value that the step goes into */
} step;

typedef struct place {
    kiln__variable *variable; /* NULL: the place is an element of `array` */
    kiln__saved_value array;
    kiln__saved_value indices[KILN_RANK_MAX];
    step *steps;
    size_t count;
    const kiln_type *type; /* of the value at the place */
    const kiln__ast *ast;  /* of the array element */
} place;

static const kiln_type *part_of(const step *s)
{
    return s->whole->kind == KILN_TYPE_VECTOR ? s->whole->element
                                              : s->whole->fields[s->field].type;
}

static void add_field(place *p, size_t field)
{
    p->steps[p->count] =
        (step){.is_field = 1, .field = field, .whole = p->type};
    p->type = part_of(&p->steps[p->count++]);
}

/* Reads the value at the place after its first `count` steps. */
static uint32_t read_place(kiln__infer *in, const place *p, size_t count)
{
    uint32_t nodes[1 + KILN_RANK_MAX] = {0};
    uint32_t node;

    if (p->variable != NULL) {
        node = kiln__infer_read(in, p->variable->local, p->variable->type);
    } else {
        const kiln_type *array = p->array.type;

        nodes[0] = kiln__infer_read_saved(in, &p->array);
        for (size_t i = 0; i < array->rank; i++)
            nodes[i + 1] = kiln__infer_read_saved(in, &p->indices[i]);
        node = kiln__infer_node(in, KILN__IR_LOAD, array->element, p->ast, 0,
                                (kiln__operands){nodes, 1 + array->rank});
    }
    for (size_t i = 0; i < count; i++) {
        const step *s = &p->steps[i];

        nodes[0] = node;
        nodes[1] = s->is_field ? 0 : kiln__infer_read_saved(in, &s->index);
        node = kiln__infer_node(in,
                                s->is_field ? KILN__IR_FIELD : KILN__IR_ELEMENT,
                                part_of(s), p->ast, (int64_t)s->field,
                                (kiln__operands){nodes, s->is_field ? 1 : 2});
    }
    return node;
}

/* Returns the value before step `i`, with the part that the step leads to
   replaced. */
static uint32_t with_part(kiln__infer *in, const place *p, size_t i,
                          uint32_t value)
{
    const step *s = &p->steps[i];
    uint32_t nodes[3] = {read_place(in, p, i), value, 0};

    if (s->is_field)
        return kiln__infer_node(in, KILN__IR_WITH_FIELD, s->whole, p->ast,
                                (int64_t)s->field, (kiln__operands){nodes, 2});
    nodes[1] = kiln__infer_read_saved(in, &s->index);
    nodes[2] = value;
    return kiln__infer_node(in, KILN__IR_WITH_ELEMENT, s->whole, p->ast, 0,
                            (kiln__operands){nodes, 3});
}

static void write_place(kiln__infer *in, const place *p, uint32_t value,
                        const kiln__ast *ast)
{
    uint32_t nodes[2 + KILN_RANK_MAX] = {0};
    uint32_t rank;

    for (size_t i = p->count; i > 0; i--)
        value = with_part(in, p, i - 1, value);
    if (p->variable != NULL) {
        kiln__infer_set(in, p->variable->local, value, ast);
        return;
    }
    rank = p->array.type->rank;
    nodes[0] = kiln__infer_read_saved(in, &p->array);
    for (size_t i = 0; i < rank; i++)
        nodes[i + 1] = kiln__infer_read_saved(in, &p->indices[i]);
    nodes[1 + rank] = value;
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_STORE, NULL, p->ast, 0,
                                          (kiln__operands){nodes, 2 + rank}));
}

static int find_place(kiln__infer *in, const kiln__ast *ast, place *p);

/* Adds a step from an array's element type to an element of that. */
static int array_place(kiln__infer *in, const kiln__ast *ast,
                       const kiln__value *array, place *p)
{
    kiln__value index;

    p->variable = NULL;
    p->array = kiln__infer_save(in, array, ast);
    p->count = 0;
    p->type = array->type->element;
    p->ast = ast;
    if (ast->count - 1 != array->type->rank) {
        kiln__value indices[KILN_RANK_MAX];

        return kiln__infer_indices(in, array->type, ast, indices);
    }
    for (size_t i = 1; i < ast->count; i++) {
        index = kiln__infer_operand(in, ast->children[i]);
        index = kiln__infer_index(in, &index, ast->children[i]);
        if (kiln__value_is_vague(&index))
            return 0;
        p->indices[i - 1] = kiln__infer_save(in, &index, ast);
    }
    return 1;
}

/* Adds a step to an element of a tuple or vector. */
static int element_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    kiln__value index = kiln__infer_operand(in, ast->children[1]);
    size_t position = 0;
    kiln__wide known;

    if (kiln__value_is_vague(&index))
        return 0;
    if (p->type->kind == KILN_TYPE_TUPLE ||
        kiln__infer_known_integer(&index, &known)) {
        kiln__infer_discard(in, &index, ast);
        if (!kiln__infer_position(in, &index, p->type, ast->children[1],
                                  &position))
            return 0;
        add_field(p, position);
        return 1;
    }
    index = kiln__infer_index(in, &index, ast->children[1]);
    if (kiln__value_is_vague(&index))
        return 0;
    p->steps[p->count] =
        (step){.whole = p->type, .index = kiln__infer_save(in, &index, ast)};
    p->type = part_of(&p->steps[p->count++]);
    return 1;
}

static int index_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    const kiln_type *type;
    kiln__value array;

    if (!find_place(in, ast->children[0], p))
        return 0;
    type = p->type;
    if (type->kind == KILN_TYPE_ARRAY) {
        array = kiln__infer_typed(type, read_place(in, p, p->count));
        return array_place(in, ast, &array, p);
    }
    if ((type->kind == KILN_TYPE_TUPLE || type->kind == KILN_TYPE_VECTOR) &&
        ast->count == 2)
        return element_place(in, ast, p);
    (void)kiln__infer_error(in, ast->children[0]->span, "bad-index", NULL,
                            "%s has no such elements", kiln_type_text(type));
    return 0;
}

/* Begins a place with a local; reports anything else that the name may mean. */
static int name_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, ast->text);
    kiln__value value;

    if (symbol == NULL)
        return 0;
    p->variable = symbol->variable;
    if (p->variable == NULL) {
        (void)kiln__infer_binding(in, symbol);
        if (symbol->binding.kind == KILN__BINDING_NONE)
            (void)kiln__infer_unknown_name(in, ast);
        else
            (void)kiln__infer_not_assignable(in, ast, NULL, "no local",
                                             ast->text);
        return 0;
    }
    value = kiln__infer_name(in, ast);
    if (kiln__value_is_vague(&value))
        return 0;
    kiln__infer_discard(in, &value, ast);
    if (p->variable->kind != KILN__VARIABLE_LOCAL)
        return kiln__infer_assignable(in, ast->text, ast) != NULL;
    p->type = value.type;
    if (p->type->size > 0)
        return 1;
    (void)kiln__infer_not_assignable(in, ast, NULL, "a value without parts",
                                     ast->text);
    return 0;
}

static int member_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    size_t field = 0;

    if (!find_place(in, ast->children[0], p) ||
        !kiln__infer_field_number(in, p->type, ast, &field))
        return 0;
    add_field(p, field);
    return 1;
}

/* Any other expression may return an array whose element is assigned. */
static int value_place(kiln__infer *in, const kiln__ast *ast)
{
    (void)kiln__infer_error(in, ast->span, "not-assignable",
                            "assign it to a local first",
                            "only parts of locals can be assigned");
    return 0;
}

static int find_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    int found;

    if (!kiln__infer_enter(in, ast))
        return 0;
    p->ast = ast;
    if (ast->kind == KILN__AST_NAME)
        found = name_place(in, ast, p);
    else if (ast->kind == KILN__AST_MEMBER)
        found = member_place(in, ast, p);
    else if (ast->kind == KILN__AST_INDEX)
        found = index_place(in, ast, p);
    else
        found = value_place(in, ast);
    kiln__infer_leave(in);
    return found && in->status == KILN_OK;
}

static size_t steps_of(const kiln__ast *target)
{
    size_t count = 1;

    for (; target->kind == KILN__AST_MEMBER || target->kind == KILN__AST_INDEX;
         target = target->children[0])
        count++;
    return count;
}

void kiln__infer_assign_part(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *target = ast->children[0];
    place p = {.steps = kiln__arena_allocate_array(&in->arena, steps_of(target),
                                                   sizeof *p.steps)};
    kiln__value value;

    if (p.steps == NULL) {
        (void)kiln__infer_fail(in, KILN_ENOMEM);
        return;
    }
    if (!find_place(in, target, &p)) {
        in->broken = 1;
        (void)kiln__infer_operand(in, ast->children[1]);
        return;
    }
    if (ast->text[0] == '\0') {
        value = kiln__infer_loose_operand(in, ast->children[1]);
    } else {
        value = kiln__infer_typed(p.type, read_place(in, &p, p.count));
        value = kiln__infer_combine(in, &value, ast);
    }
    value = kiln__infer_adapt(in, &value, p.type, ast->children[1],
                              p.variable == NULL && p.count == 0 ? "an element"
                                                                 : "the part");
    if (kiln__value_is_vague(&value))
        in->broken = 1;
    else
        write_place(in, &p, kiln__infer_use(in, &value, ast), ast);
}
