/* infer_assign.c - assignments to locals, elements and fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "infer.h"

/*
 * A place is a local or an array element, and steps into it: fields and
 * vector elements. To change a part is to store the whole anew with that part
 * replaced. What a place is made of is evaluated once, however often it is
 * read.
 */

/* ---- locals ---- */

static kiln__variable *not_assignable(kiln__infer *in, const kiln__ast *ast,
                                      const char *hint, const char *what,
                                      const char *name)
{
    (void)kiln__infer_error(in, ast->span, "not-assignable", hint,
                            "`%s` is %s and cannot be assigned", name, what);
    return NULL;
}

/* The package's own names stay what they are; core's may be shadowed. */
static const char *binding_refusal(kiln__infer *in,
                                   const kiln__binding *binding)
{
    kiln_package *core = kiln__infer_core(in);

    switch (binding->kind) {
    case KILN__BINDING_FUNCTION:
        return binding->generic->package == core ? NULL : "a function";
    case KILN__BINDING_CONST:
        return binding->package == core ? NULL : "a constant";
    case KILN__BINDING_TYPE:
    case KILN__BINDING_SCALAR:
        return "a type";
    case KILN__BINDING_PACKAGE:
        return "a package";
    case KILN__BINDING_NONE:
    default:
        return NULL;
    }
}

kiln__variable *kiln__infer_assignable(kiln__infer *in, const char *name,
                                       const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->package, name);
    kiln__variable *variable = symbol == NULL ? NULL : symbol->variable;
    const char *what;

    if (variable == NULL)
        return NULL;
    if (variable->kind == KILN__VARIABLE_LOOP)
        return not_assignable(in, ast, "copy it to another local",
                              "the variable of a loop", name);
    if (variable->kind == KILN__VARIABLE_VALUE)
        return not_assignable(in, ast, NULL, "a compile-time value", name);
    if (variable->type != NULL || variable->poisoned || variable->checked)
        return variable;
    variable->checked = 1;
    what = binding_refusal(in, kiln__infer_binding(in, symbol));
    if (what == NULL)
        return variable;
    variable->poisoned = 1;
    kiln__flow_assign(in, variable);
    return not_assignable(in, ast, "choose another name for the local", what,
                          name);
}

static kiln__value unstable(kiln__infer *in, const kiln__variable *variable,
                            const kiln__value *value, const kiln__ast *ast)
{
    const char *place = kiln__infer_place(in, variable->place);
    const char *type = kiln_type_text(variable->type);
    const char *hint = NULL;

    if (value->kind == KILN__VALUE_TYPED && kiln__infer_is_plain(value) &&
        kiln__type_is_scalar(variable->type))
        hint = kiln__infer_format(
            in, "convert here, %s(...), or begin with `%s: %s = ...` at %s",
            type, variable->name, kiln_type_text(value->type), place);
    else if (value->kind == KILN__VALUE_LITERAL)
        hint = kiln__infer_format(in, "begin with `%s: f64 = ...` at %s",
                                  variable->name, place);
    return kiln__infer_error(in, ast->span, "unstable-variable", hint,
                             "`%s` is %s since %s, and would become %s here",
                             variable->name, type, place,
                             kiln__infer_describe(in, value));
}

/* The type that a value gives to a local. */
static const kiln_type *type_of_local(kiln__infer *in,
                                      const kiln__variable *variable,
                                      const kiln__value *value)
{
    const int is_float =
        value->kind == KILN__VALUE_LITERAL && value->constant.is_float;

    if (value->kind == KILN__VALUE_LITERAL ||
        (kiln__value_is_static(value) && variable->decays))
        return kiln__infer_scalar(in, is_float ? KILN_TYPE_F64 : KILN_TYPE_I64);
    return value->type;
}

static void set_type(kiln__infer *in, kiln__variable *variable,
                     const kiln_type *type, const kiln__ast *ast)
{
    variable->type = type;
    variable->place = ast->span;
    if (type->size > 0)
        variable->local = kiln__infer_local(in, variable->name, type);
}

static void store_local(kiln__infer *in, kiln__variable *variable,
                        const kiln__value *value, const kiln__ast *ast)
{
    if (variable->type->size > 0)
        kiln__infer_set(in, variable->local, kiln__infer_use(in, value, ast),
                        ast);
    else
        kiln__infer_discard(in, value, ast);
}

static void bind_variable(kiln__infer *in, kiln__variable *variable,
                          const kiln__value *given, const kiln__ast *ast)
{
    kiln__value value = *given;

    kiln__flow_assign(in, variable);
    if (kiln__value_is_vague(&value)) {
        in->broken = 1;
        if (variable->type == NULL && value.kind == KILN__VALUE_POISON)
            variable->poisoned = 1;
        return;
    }
    if (variable->poisoned)
        return;
    if (variable->type == NULL)
        set_type(in, variable, type_of_local(in, variable, &value), ast);
    else if (!kiln__infer_adapts(&value, variable->type) &&
             (value.kind != KILN__VALUE_LITERAL || value.constant.is_float ||
              !kiln__kind_is_an_integer(variable->type->kind))) {
        (void)unstable(in, variable, &value, ast);
        return;
    }
    value = kiln__infer_adapt(in, &value, variable->type, ast, "the variable");
    if (!kiln__value_is_vague(&value))
        store_local(in, variable, &value, ast);
}

void kiln__infer_bind(kiln__infer *in, const char *name,
                      const kiln__value *value, const kiln__ast *ast)
{
    kiln__variable *variable = kiln__infer_assignable(in, name, ast);

    if (variable != NULL)
        bind_variable(in, variable, value, ast);
}

/* ---- places ---- */

typedef struct step {
    int is_field;
    size_t field;
    kiln__again index;      /* of a vector's element: i64 */
    const kiln_type *whole; /* what the step goes into */
} step;

typedef struct place {
    kiln__variable *variable; /* or NULL: an element of `array` */
    kiln__again array;
    kiln__again indices[KILN_RANK_MAX];
    step *steps;
    size_t count;
    const kiln_type *type; /* of the place */
    const kiln__ast *ast;  /* of the element */
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

/* The value at the place after its first `count` steps. */
static uint32_t read_place(kiln__infer *in, const place *p, size_t count)
{
    uint32_t nodes[1 + KILN_RANK_MAX] = {0};
    uint32_t node;

    if (p->variable != NULL) {
        node = kiln__infer_read(in, p->variable->local, p->variable->type);
    } else {
        const kiln_type *array = p->array.type;

        nodes[0] = kiln__infer_again_read(in, &p->array);
        for (size_t i = 0; i < array->rank; i++)
            nodes[i + 1] = kiln__infer_again_read(in, &p->indices[i]);
        node = kiln__infer_node(in, KILN__IR_LOAD, array->element, p->ast, 0,
                                nodes, 1 + array->rank);
    }
    for (size_t i = 0; i < count; i++) {
        const step *s = &p->steps[i];

        nodes[0] = node;
        nodes[1] = s->is_field ? 0 : kiln__infer_again_read(in, &s->index);
        node = kiln__infer_node(
            in, s->is_field ? KILN__IR_FIELD : KILN__IR_ELEMENT, part_of(s),
            p->ast, (int64_t)s->field, nodes, s->is_field ? 1 : 2);
    }
    return node;
}

/* The whole before step `i` with the part behind it replaced. */
static uint32_t with_part(kiln__infer *in, const place *p, size_t i,
                          uint32_t value)
{
    const step *s = &p->steps[i];
    uint32_t nodes[3] = {read_place(in, p, i), value, 0};

    if (s->is_field)
        return kiln__infer_node(in, KILN__IR_WITH_FIELD, s->whole, p->ast,
                                (int64_t)s->field, nodes, 2);
    nodes[1] = kiln__infer_again_read(in, &s->index);
    nodes[2] = value;
    return kiln__infer_node(in, KILN__IR_WITH_ELEMENT, s->whole, p->ast, 0,
                            nodes, 3);
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
    nodes[0] = kiln__infer_again_read(in, &p->array);
    for (size_t i = 0; i < rank; i++)
        nodes[i + 1] = kiln__infer_again_read(in, &p->indices[i]);
    nodes[1 + rank] = value;
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_STORE, NULL, p->ast, 0,
                                          nodes, 2 + rank));
}

static int find_place(kiln__infer *in, const kiln__ast *ast, place *p);

/* A step from the element type of an array to one of its elements. */
static int array_place(kiln__infer *in, const kiln__ast *ast,
                       const kiln__value *array, place *p)
{
    kiln__value index;

    p->variable = NULL;
    p->array = kiln__infer_again(in, array, ast);
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
        p->indices[i - 1] = kiln__infer_again(in, &index, ast);
    }
    return 1;
}

/* An element of a tuple or vector. */
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
        (step){.whole = p->type, .index = kiln__infer_again(in, &index, ast)};
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

static int name_place(kiln__infer *in, const kiln__ast *ast, place *p)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->package, ast->text);
    kiln__value value;

    if (symbol == NULL)
        return 0;
    p->variable = symbol->variable;
    if (p->variable == NULL) {
        (void)kiln__infer_binding(in, symbol);
        if (symbol->binding.kind == KILN__BINDING_NONE)
            (void)kiln__infer_unknown_name(in, ast);
        else
            (void)not_assignable(in, ast, NULL, "no local", ast->text);
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
    (void)not_assignable(in, ast, NULL, "a value without parts", ast->text);
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

/* Anything else may give an array whose element is stored. */
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

/* ---- values ---- */

/* x op= e: what x becomes. */
static kiln__value combine(kiln__infer *in, const kiln__value *old,
                           const kiln__ast *ast)
{
    const kiln__operator *operator= kiln__operator_find(ast->text);
    kiln__value sides[2] = {*old};

    sides[1] = kiln__infer_operand(in, ast->children[1]);
    if (operator!= NULL && kiln__infer_is_plain(&sides[0]) &&
        kiln__infer_is_plain(&sides[1]))
        return kiln__infer_binary(in, operator, & sides[0], &sides[1], ast);
    return kiln__infer_call_operator(in, ast->text, sides, 2, ast);
}

static void assign_part(kiln__infer *in, const kiln__ast *ast)
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
        value = kiln__infer_operand(in, ast->children[1]);
    } else {
        value = kiln__infer_typed(p.type, read_place(in, &p, p.count));
        value = combine(in, &value, ast);
    }
    value = kiln__infer_adapt(in, &value, p.type, ast->children[1],
                              p.variable == NULL && p.count == 0 ? "an element"
                                                                 : "the part");
    if (kiln__value_is_vague(&value))
        in->broken = 1;
    else
        write_place(in, &p, kiln__infer_use(in, &value, ast), ast);
}

/* a[i] = e needs nothing twice. */
static int is_plain_store(const kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *target = ast->children[0];

    (void)in;
    return ast->text[0] == '\0' && target->kind == KILN__AST_INDEX &&
           target->children[0]->kind == KILN__AST_NAME;
}

static void store_element(kiln__infer *in, const kiln__ast *ast,
                          const kiln__value *array)
{
    const kiln__ast *target = ast->children[0];
    const uint32_t rank = array->type->rank;
    kiln__value indices[KILN_RANK_MAX] = {{0}};
    uint32_t nodes[2 + KILN_RANK_MAX] = {array->node};
    const int good = kiln__infer_indices(in, array->type, target, indices);
    kiln__value value;

    for (size_t i = 0; good && i < rank; i++)
        nodes[i + 1] = kiln__infer_use(in, &indices[i], target);
    value = kiln__infer_operand(in, ast->children[1]);
    value = kiln__infer_adapt(in, &value, array->type->element,
                              ast->children[1], "an element");
    if (!good || kiln__value_is_vague(&value)) {
        in->broken = 1;
        return;
    }
    nodes[1 + rank] = kiln__infer_use(in, &value, ast);
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_STORE, NULL, target, 0,
                                          nodes, 2 + rank));
}

static void assign_element(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *name = ast->children[0]->children[0];
    kiln__symbol *symbol = kiln__infer_symbol(in, in->package, name->text);
    kiln__value array;

    if (symbol != NULL && symbol->variable != NULL &&
        symbol->variable->type != NULL &&
        symbol->variable->type->kind == KILN_TYPE_ARRAY) {
        array = kiln__infer_name(in, name);
        if (!kiln__value_is_vague(&array)) {
            store_element(in, ast, &array);
            return;
        }
    }
    assign_part(in, ast);
}

/* x: T = e, where T may be typeof() an expression. */
static const kiln_type *annotated(kiln__infer *in, const kiln__ast *tree)
{
    kiln__value value;

    if (tree->kind != KILN__AST_TYPEOF)
        return kiln__infer_resolve(in, tree);
    value = kiln__infer_typeof(in, tree->children[0]);
    return value.kind == KILN__VALUE_TYPED ? value.type->element : NULL;
}

static void assign_name(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *target = ast->children[0];
    const kiln__ast *annotation = ast->count > 2 ? ast->children[2] : NULL;
    const kiln_type *type = NULL;
    kiln__variable *variable;
    kiln__value value;

    if (annotation != NULL)
        type = annotated(in, annotation);
    if (ast->text[0] != '\0') {
        value = kiln__infer_name(in, target);
        value = combine(in, &value, ast);
    } else {
        value = kiln__infer_operand(in, ast->children[1]);
    }
    variable = kiln__infer_assignable(in, target->text, target);
    if (variable == NULL) {
        in->broken = 1;
        return;
    }
    if (type != NULL && variable->type == NULL && !variable->poisoned)
        set_type(in, variable, type, target);
    else if (type != NULL && variable->type != NULL && variable->type != type) {
        value = kiln__infer_typed(type, 0);
        (void)unstable(in, variable, &value, target);
        return;
    }
    if (type != NULL)
        value = kiln__infer_adapt(in, &value, type, ast->children[1],
                                  "the variable");
    bind_variable(in, variable, &value,
                  annotation == NULL && variable->type == NULL
                      ? target
                      : ast->children[1]);
}

void kiln__infer_assignment(kiln__infer *in, const kiln__ast *ast)
{
    if (ast->children[0]->kind == KILN__AST_NAME)
        assign_name(in, ast);
    else if (is_plain_store(in, ast))
        assign_element(in, ast);
    else
        assign_part(in, ast);
}

/* ---- a, b = t ---- */

static void unpack_into(kiln__infer *in, const kiln__ast *ast,
                        const kiln__again *tuple, size_t i)
{
    const kiln__ast *name = ast->children[i + 1];
    const kiln_type *type = tuple->type->kind == KILN_TYPE_VECTOR
                                ? tuple->type->element
                                : tuple->type->fields[i].type;
    kiln__value part = kiln__infer_typed(type, 0);
    uint32_t whole;

    if (strcmp(name->text, "_") == 0)
        return;
    if (type->size > 0) {
        whole = kiln__infer_again_read(in, tuple);
        part.node = kiln__infer_node(in, KILN__IR_FIELD, type, name, (int64_t)i,
                                     &whole, 1);
    }
    kiln__infer_bind(in, name->text, &part, name);
}

void kiln__infer_unpack(kiln__infer *in, const kiln__ast *ast)
{
    const size_t count = ast->count - 1;
    kiln__value value = kiln__infer_operand(in, ast->children[0]);
    kiln__again tuple;
    size_t parts = 0;

    if (value.kind == KILN__VALUE_TYPED)
        parts = value.type->kind == KILN_TYPE_TUPLE    ? value.type->field_count
                : value.type->kind == KILN_TYPE_VECTOR ? value.type->length
                                                       : 0;
    if (!kiln__value_is_vague(&value) && parts != count)
        value =
            kiln__infer_error(in, ast->children[0]->span, "wrong-type", NULL,
                              "a tuple of %zu is taken apart, but this is %s",
                              count, kiln__infer_describe(in, &value));
    if (kiln__value_is_vague(&value)) {
        for (size_t i = 0; i < count; i++)
            if (strcmp(ast->children[i + 1]->text, "_") != 0)
                kiln__infer_bind(in, ast->children[i + 1]->text, &value,
                                 ast->children[i + 1]);
        return;
    }
    tuple = kiln__infer_keep(in, &value, ast->children[0]);
    for (size_t i = 0; i < count; i++)
        unpack_into(in, ast, &tuple, i);
}
