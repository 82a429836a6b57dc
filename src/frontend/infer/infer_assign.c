/* infer_assign.c - assignments to locals, elements and fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"

/* ---- locals ---- */

kiln__variable *kiln__infer_not_assignable(kiln__infer *in,
                                           const kiln__ast *ast,
                                           const char *hint, const char *what,
                                           const char *name)
{
    (void)kiln__infer_error(in, ast->span, "not-assignable", hint,
                            "`%s` is %s and cannot be assigned", name, what);
    return NULL;
}

/* Names of the package itself cannot be assigned; those of core can be
   shadowed. */
static const char *binding_refusal(kiln__infer *in,
                                   const kiln__binding *binding)
{
    const kiln_package *core = kiln__infer_core(in);

    switch (binding->kind) {
    case KILN__BINDING_FUNCTION:
        return kiln__generic_is_core(binding->generic) ? NULL : "a function";
    case KILN__BINDING_CONST:
        return binding->package == core ? NULL : "a constant";
    case KILN__BINDING_TYPE:
    case KILN__BINDING_SCALAR:
        return "a type";
    case KILN__BINDING_PACKAGE:
    case KILN__BINDING_OUTSIDE:
        return "a package";
    case KILN__BINDING_OUTSIDE_FUNCTION:
        return "a function";
    case KILN__BINDING_NONE:
    default:
        return NULL;
    }
}

kiln__variable *kiln__infer_assignable(kiln__infer *in, const char *name,
                                       const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, name);
    kiln__variable *variable = symbol == NULL ? NULL : symbol->variable;
    const char *what;

    if (variable == NULL)
        return NULL;
    if (variable->kind == KILN__VARIABLE_LOOP)
        return kiln__infer_not_assignable(in, ast, "copy it to another local",
                                          "the variable of a loop", name);
    if (variable->kind == KILN__VARIABLE_VALUE)
        return kiln__infer_not_assignable(in, ast, NULL, "a compile-time value",
                                          name);
    if (variable->type != NULL || variable->poisoned || variable->checked)
        return variable;
    variable->checked = 1;
    what = binding_refusal(in, kiln__infer_binding(in, symbol));
    if (what == NULL)
        return variable;
    variable->poisoned = 1;
    kiln__flow_assign(in, variable);
    return kiln__infer_not_assignable(
        in, ast, "choose another name for the local", what, name);
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

/* Returns the type that a local gets from a value. */
static const kiln_type *type_of_local(kiln__infer *in,
                                      const kiln__variable *variable,
                                      const kiln__value *value)
{
    const int is_loose = kiln__value_is_loose(value);
    const int is_float = is_loose && value->constant.is_float;

    if (is_loose || (kiln__value_is_static(value) && variable->decays))
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

/* Assigns a value to a local. The first assignment gives the local its type,
   unless an annotation has. */
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
             (!kiln__value_is_loose(&value) || value.constant.is_float ||
              !kiln__kind_is_integer(variable->type->kind))) {
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

/* ---- values ---- */

/* Returns the value that x gets in x op= e. */
kiln__value kiln__infer_combine(kiln__infer *in, const kiln__value *old,
                                const kiln__ast *ast)
{
    kiln__value sides[2] = {*old};

    sides[1] = kiln__infer_loose_operand(in, ast->children[1]);
    return kiln__infer_operate(in, ast->text, sides, 2, ast);
}

/* a[i] = e needs no value twice. */
static int is_plain_store(const kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *target = ast->children[0];

    (void)in;
    return ast->text[0] == '\0' && target->kind == KILN__AST_INDEX &&
           target->children[0]->kind == KILN__AST_NAME;
}

/* Infers a[i] = e without reading the element. */
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
    value = kiln__infer_loose_operand(in, ast->children[1]);
    value = kiln__infer_adapt(in, &value, array->type->element,
                              ast->children[1], "an element");
    if (!good || kiln__value_is_vague(&value)) {
        in->broken = 1;
        return;
    }
    nodes[1 + rank] = kiln__infer_use(in, &value, ast);
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_STORE, NULL, target, 0,
                                          (kiln__operands){nodes, 2 + rank}));
}

static void assign_element(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *name = ast->children[0]->children[0];
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, name->text);
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
    kiln__infer_assign_part(in, ast);
}

/* Returns T of x: T = e, where T may be typeof() an expression. */
static const kiln_type *annotated(kiln__infer *in, const kiln__ast *tree)
{
    kiln__value value;

    if (tree->kind != KILN__AST_TYPEOF)
        return kiln__infer_resolve(in, tree);
    value = kiln__infer_typeof(in, tree->children[0]);
    return value.kind == KILN__VALUE_TYPED ? value.type->element : NULL;
}

/* The type was reported: about what follows from it, nothing is. */
static void poison_variable(kiln__infer *in, const kiln__ast *target)
{
    kiln__variable *variable = kiln__infer_assignable(in, target->text, target);

    in->broken = 1;
    if (variable != NULL && variable->type == NULL)
        variable->poisoned = 1;
}

/* Infers x = e, x op= e, or either with an annotation. */
static void assign_name(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *target = ast->children[0];
    const kiln__ast *annotation = ast->count > 2 ? ast->children[2] : NULL;
    const kiln_type *type = NULL;
    kiln__variable *variable;
    kiln__value value;

    if (annotation != NULL)
        type = annotated(in, annotation);
    if (annotation != NULL && type == NULL)
        poison_variable(in, target);
    if (ast->text[0] != '\0') {
        value = kiln__infer_name(in, target);
        value = kiln__infer_combine(in, &value, ast);
    } else {
        value = kiln__infer_loose_operand(in, ast->children[1]);
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
        kiln__infer_assign_part(in, ast);
}

/* ---- a, b = t ---- */

static void unpack_into(kiln__infer *in, const kiln__ast *ast,
                        const kiln__saved_value *tuple, size_t i)
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
        whole = kiln__infer_read_saved(in, tuple);
        part.node = kiln__infer_node(in, KILN__IR_FIELD, type, name, (int64_t)i,
                                     (kiln__operands){&whole, 1});
    }
    kiln__infer_bind(in, name->text, &part, name);
}

void kiln__infer_unpack(kiln__infer *in, const kiln__ast *ast)
{
    const size_t count = ast->count - 1;
    kiln__value value = kiln__infer_operand(in, ast->children[0]);
    kiln__saved_value tuple;
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
    tuple = kiln__infer_save_copy(in, &value, ast->children[0]);
    for (size_t i = 0; i < count; i++)
        unpack_into(in, ast, &tuple, i);
}
