/* infer_builtin.c - the rules of the built-in functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/program/builtins.h"

#include <math.h>

#include "frontend/infer/infer.h"
#include "ir/ir_tables.h"

/*
 * Each built-in function has a rule (builtins.h), and each rule is a function
 * here or in infer_group.c and infer_heap.c. A rule gets the arguments as
 * values, converts them, and returns the value of the call. What can be known
 * at compile time becomes a constant and has no node. The arguments of a
 * refused call are reported once.
 */

static kiln__value poison(kiln__infer *in)
{
    in->broken = 1;
    return kiln__value_of(KILN__VALUE_POISON);
}

static const kiln_type *lane(const kiln_type *type)
{
    return type->kind == KILN_TYPE_VECTOR ? type->element : type;
}

static const kiln__ast *argument_place(const kiln__ast *ast, size_t i)
{
    return ast->kind == KILN__AST_CALL && i + 1 < ast->count
               ? ast->children[i + 1]
               : ast;
}

static kiln__value wrong_argument(kiln__infer *in, const kiln__builtin *builtin,
                                  const char *wanted, const kiln__value *value,
                                  const kiln__ast *place, const char *hint)
{
    return kiln__infer_error(in, place->span, "wrong-type", hint,
                             "`%s` takes %s, but this is %s", builtin->name,
                             wanted, kiln__infer_describe(in, value));
}

/* ---- sizes ---- */

static kiln__value array_length(kiln__infer *in, const kiln__value *value,
                                const kiln__ast *ast)
{
    const uint32_t node = kiln__infer_use(in, value, ast);

    return kiln__infer_made(in, KILN__IR_LENGTH,
                            kiln__infer_scalar(in, KILN_TYPE_I64), ast, 0,
                            (kiln__operands){&node, 1});
}

static kiln__value length_rule(kiln__infer *in, const kiln__builtin *builtin,
                               const kiln__value *value, const kiln__ast *ast)
{
    const kiln_type *type =
        value->kind == KILN__VALUE_TYPED ? value->type : NULL;
    size_t count;

    if (type != NULL && type->kind == KILN_TYPE_ARRAY)
        return array_length(in, value, ast);
    if (type == NULL ||
        (type->kind != KILN_TYPE_TUPLE && type->kind != KILN_TYPE_VECTOR))
        return wrong_argument(in, builtin, "an array, tuple or vector", value,
                              argument_place(ast, 0), NULL);
    count = type->kind == KILN_TYPE_TUPLE ? type->field_count : type->length;
    kiln__infer_discard(in, value, ast);
    return kiln__infer_static(in, (kiln__wide)count, ast->span);
}

static kiln__value size_rule(kiln__infer *in, const kiln__builtin *builtin,
                             const kiln__value *arguments, const kiln__ast *ast)
{
    const kiln__value *array = &arguments[0];
    const kiln__ast *place = argument_place(ast, 1);
    kiln__wide dimension;
    uint32_t node;

    if (array->kind != KILN__VALUE_TYPED ||
        array->type->kind != KILN_TYPE_ARRAY)
        return wrong_argument(in, builtin, "an array", array,
                              argument_place(ast, 0), NULL);
    if (!kiln__infer_known_integer(&arguments[1], &dimension))
        return kiln__infer_error(in, place->span, "not-constant", NULL,
                                 "the dimension is a constant");
    if (dimension < 0 || dimension >= (kiln__wide)array->type->rank)
        return kiln__infer_error(
            in, place->span, "bad-index", NULL, "%s has the dimensions 0 to %u",
            kiln_type_text(array->type), array->type->rank - 1);
    kiln__infer_discard(in, &arguments[1], ast);
    node = kiln__infer_use(in, array, ast);
    return kiln__infer_made(in, KILN__IR_SIZE,
                            kiln__infer_scalar(in, KILN_TYPE_I64), ast,
                            (int64_t)dimension, (kiln__operands){&node, 1});
}

static kiln__value rank_rule(kiln__infer *in, const kiln__builtin *builtin,
                             const kiln__value *value, const kiln__ast *ast)
{
    if (value->kind != KILN__VALUE_TYPED ||
        value->type->kind != KILN_TYPE_ARRAY)
        return wrong_argument(in, builtin, "an array", value,
                              argument_place(ast, 0), NULL);
    kiln__infer_discard(in, value, ast);
    return kiln__infer_static(in, value->type->rank, ast->span);
}

/* ---- mathematics ---- */

static int domain_has(int32_t domain, int32_t kind)
{
    return ((domain & KILN__DOMAIN_FLOAT) && kiln__kind_is_float(kind)) ||
           ((domain & KILN__DOMAIN_INTEGER) && kiln__kind_is_integer(kind));
}

/* A float function of integer literals only is one of f64. Returns false after
   an error. */
static int floats_of_literals(kiln__infer *in, kiln__value *arguments,
                              size_t count, const kiln__ast *ast)
{
    for (size_t i = 0; i < count; i++) {
        arguments[i] = kiln__infer_decay(in, &arguments[i], ast);
        if (!kiln__value_is_loose(&arguments[i]))
            return 1;
    }
    for (size_t i = 0; i < count; i++) {
        arguments[i] = kiln__infer_adapt(
            in, &arguments[i], kiln__infer_scalar(in, KILN_TYPE_F64),
            argument_place(ast, i), "the argument");
        if (kiln__value_is_vague(&arguments[i]))
            return 0;
    }
    return 1;
}

/* Converts the arguments to one type of the domain; false after an error. */
static int unify_arguments(kiln__infer *in, const kiln__builtin *builtin,
                           kiln__value *arguments, size_t count, int32_t domain,
                           const kiln__ast *ast)
{
    const char *hint = NULL;

    if (domain == KILN__DOMAIN_FLOAT &&
        !floats_of_literals(in, arguments, count, ast))
        return 0;
    if (!kiln__infer_unify(in, arguments, count, ast, builtin->name))
        return 0;
    if (domain_has(domain, lane(arguments[0].type)->kind))
        return 1;
    if (domain == KILN__DOMAIN_FLOAT)
        hint = "convert it: f32(...) or f64(...)";
    (void)wrong_argument(in, builtin,
                         domain == KILN__DOMAIN_FLOAT ? "floats" : "integers",
                         &arguments[0], argument_place(ast, 0), hint);
    return 0;
}

static kiln__value math_node(kiln__infer *in, int32_t math,
                             const kiln_type *type, const kiln__value *values,
                             size_t count, const kiln__ast *ast)
{
    uint32_t nodes[3] = {0, 0, 0};

    for (size_t i = 0; i < count; i++)
        nodes[i] = kiln__infer_use(in, &values[i], ast);
    return kiln__infer_made(in, KILN__IR_MATH, type, ast, math,
                            (kiln__operands){nodes, count});
}

/* min, max and abs of untyped constants are untyped constants. */
static int fold_math(int32_t math, const kiln__value *a, const kiln__value *b,
                     kiln__value *out)
{
    const kiln__constant *x = &a->constant;
    const kiln__constant *y = &b->constant;

    if (a->kind != KILN__VALUE_LITERAL || b->kind != KILN__VALUE_LITERAL ||
        x->is_float || y->is_float)
        return 0;
    *out = *a;
    if (math == KILN__MATH_ABS && x->integer < 0)
        out->constant.integer = -x->integer;
    else if ((math == KILN__MATH_MIN && y->integer < x->integer) ||
             (math == KILN__MATH_MAX && y->integer > x->integer))
        *out = *b;
    return math == KILN__MATH_ABS || math == KILN__MATH_MIN ||
           math == KILN__MATH_MAX;
}

/* True for literals of which one at least is OPEN, and none is a shift. */
static int are_loose(const kiln__value *arguments, size_t count)
{
    int is_open = 0;

    for (size_t i = 0; i < count; i++) {
        if (!kiln__value_is_loose(&arguments[i]) ||
            kiln__infer_open_has_shift(&arguments[i]))
            return 0;
        is_open |= arguments[i].kind == KILN__VALUE_OPEN;
    }
    return is_open;
}

static kiln__value math_rule(kiln__infer *in, const kiln__builtin *builtin,
                             kiln__value *arguments, size_t count,
                             const kiln__ast *ast)
{
    const int32_t domain = kiln__ir_math[builtin->data].domain;
    kiln__value folded;
    const int is_static = kiln__value_is_static(&arguments[0]) &&
                          kiln__value_is_static(&arguments[count - 1]);

    if (domain == KILN__DOMAIN_BOTH) {
        for (size_t i = 0; i < count; i++)
            arguments[i] = kiln__infer_decay(in, &arguments[i], ast);
        if (fold_math(builtin->data, &arguments[0], &arguments[count - 1],
                      &folded))
            return is_static ? kiln__infer_static(in, folded.constant.integer,
                                                  ast->span)
                             : folded;
        for (size_t i = 0; i < count; i++)
            arguments[i] = kiln__infer_open_exact(
                in, &arguments[i], &arguments[count - 1 - i], 0, ast);
        if (are_loose(arguments, count))
            return kiln__infer_open(
                in,
                &(kiln__operation){.op = KILN__IR_MATH, .imm = builtin->data},
                arguments, count, ast);
    }
    if (!unify_arguments(in, builtin, arguments, count, domain, ast))
        return poison(in);
    return math_node(in, builtin->data, arguments[0].type, arguments, count,
                     ast);
}

static kiln__value test_rule(kiln__infer *in, const kiln__builtin *builtin,
                             kiln__value *arguments, const kiln__ast *ast)
{
    const kiln_type *type = kiln__infer_scalar(in, KILN_TYPE_BOOL);
    kiln_status status = KILN_OK;

    if (!unify_arguments(in, builtin, arguments, 1, KILN__DOMAIN_FLOAT, ast))
        return poison(in);
    if (arguments[0].type->kind == KILN_TYPE_VECTOR)
        status = kiln_type_vector(&type, in->context, type,
                                  arguments[0].type->length, NULL);
    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    return math_node(in, builtin->data, type, arguments, 1, ast);
}

static kiln__value clamp_rule(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, const kiln__ast *ast)
{
    const kiln_type *type;
    kiln__value pair[2];

    for (size_t i = 0; i < 9; i++)
        arguments[i % 3] = kiln__infer_open_exact(in, &arguments[i % 3],
                                                  &arguments[i / 3], 0, ast);
    if (!unify_arguments(in, builtin, arguments, 3, KILN__DOMAIN_BOTH, ast))
        return poison(in);
    type = arguments[0].type;
    pair[0] = math_node(in, KILN__MATH_MAX, type, arguments, 2, ast);
    pair[1] = arguments[2];
    return math_node(in, KILN__MATH_MIN, type, pair, 2, ast);
}

static kiln__value sign_rule(kiln__infer *in, kiln__value *arguments,
                             const kiln__ast *ast)
{
    if (!kiln__infer_unify(in, arguments, 1, ast, "sign"))
        return poison(in);
    return kiln__infer_apply_name(in, "sign_of", arguments, 1, ast);
}

static kiln__value trunc_rule(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast)
{
    if (count == 1) {
        if (!unify_arguments(in, builtin, arguments, 1, KILN__DOMAIN_FLOAT,
                             ast))
            return poison(in);
        return math_node(in, builtin->data, arguments[0].type, arguments, 1,
                         ast);
    }
    if (arguments[0].kind != KILN__VALUE_TYPED ||
        arguments[0].type->kind != KILN_TYPE_TYPE)
        return wrong_argument(in, builtin, "a type first", &arguments[0],
                              argument_place(ast, 0), NULL);
    return kiln__infer_convert(in, KILN__IR_SATURATE,
                               arguments[0].type->element, &arguments[1], ast);
}

static kiln__value convert_rule(kiln__infer *in, const kiln__builtin *builtin,
                                kiln__value *arguments, const kiln__ast *ast)
{
    if (arguments[0].kind != KILN__VALUE_TYPED ||
        arguments[0].type->kind != KILN_TYPE_TYPE ||
        !kiln__type_is_scalar(arguments[0].type->element))
        return wrong_argument(in, builtin, "a scalar type first", &arguments[0],
                              argument_place(ast, 0), NULL);
    return kiln__infer_convert(in, (kiln__ir_op)builtin->data,
                               arguments[0].type->element, &arguments[1], ast);
}

/* ---- select, limits, compile-time integers ---- */

static kiln__value select_rule(kiln__infer *in, const kiln__builtin *builtin,
                               kiln__value *arguments, const kiln__ast *ast)
{
    const kiln__value *c = &arguments[0];

    if (c->kind != KILN__VALUE_TYPED || c->type->kind != KILN_TYPE_BOOL)
        return kiln__infer_error(in, argument_place(ast, 0)->span,
                                 "condition-not-bool", NULL,
                                 "`%s` takes a Bool first, but this is %s",
                                 builtin->name, kiln__infer_describe(in, c));
    return kiln__infer_choose(in, KILN__IR_SELECT, kiln__infer_use(in, c, ast),
                              &arguments[1], &arguments[2], ast);
}

static double float_limit(int32_t limit, int32_t kind)
{
    switch (limit) {
    case KILN__LIMIT_LEAST:
        return -HUGE_VAL;
    case KILN__LIMIT_MOST:
        return HUGE_VAL;
    case KILN__LIMIT_EPS:
        return ldexp(1, 1 - kiln__scalar_of(kind)->significand);
    default:
        return limit == KILN__LIMIT_ONE ? 1 : 0;
    }
}

static kiln__constant limit_of(int32_t limit, int32_t kind)
{
    kiln__constant constant = {0};

    if (kiln__kind_is_float(kind)) {
        constant.is_float = 1;
        constant.real = float_limit(limit, kind);
    } else {
        constant.integer = limit == KILN__LIMIT_LEAST ? kiln__fold_least(kind)
                           : limit == KILN__LIMIT_MOST
                               ? kiln__fold_most(kind)
                               : limit == KILN__LIMIT_ONE;
    }
    return constant;
}

/* Returns a limit of a type of numbers as a constant, in every element for a
   vector. */
static kiln__value limit_rule(kiln__infer *in, const kiln__builtin *builtin,
                              const kiln__value *given, const kiln__ast *ast)
{
    kiln__value value = kiln__infer_decay(in, given, ast);
    const kiln_type *type;
    kiln__constant constant;
    uint32_t node;

    value = kiln__infer_settle(in, &value, ast);
    if (value.kind != KILN__VALUE_TYPED)
        return poison(in);
    type =
        value.type->kind == KILN_TYPE_TYPE ? value.type->element : value.type;
    if (!kiln__kind_is_float(lane(type)->kind) &&
        (!kiln__kind_is_integer(lane(type)->kind) ||
         builtin->data == KILN__LIMIT_EPS))
        return wrong_argument(in, builtin,
                              builtin->data == KILN__LIMIT_EPS
                                  ? "a float type"
                                  : "a type of numbers",
                              &value, argument_place(ast, 0), NULL);
    kiln__infer_discard(in, &value, ast);
    constant = limit_of(builtin->data, lane(type)->kind);
    value = kiln__infer_constant(lane(type), &constant);
    if (type == lane(type))
        return value;
    node = kiln__infer_use(in, &value, ast);
    return kiln__infer_made(in, KILN__IR_SPLAT, type, ast, 0,
                            (kiln__operands){&node, 1});
}

static kiln__value static_rule(kiln__infer *in, const kiln__value *value,
                               const kiln__ast *ast)
{
    kiln__wide known;

    if (!kiln__infer_known_integer(value, &known))
        return kiln__infer_error(in, argument_place(ast, 0)->span,
                                 "not-constant", NULL,
                                 "static(e) takes a constant integer");
    kiln__infer_discard(in, value, ast);
    return kiln__infer_static(in, known, ast->span);
}

static kiln__value value_rule(kiln__infer *in, const kiln__builtin *builtin,
                              const kiln__value *value, const kiln__ast *ast)
{
    kiln__value integer;

    if (!kiln__value_is_static(value))
        return wrong_argument(in, builtin, "a Static", value,
                              argument_place(ast, 0), NULL);
    integer = kiln__infer_decay(in, value, ast);
    return kiln__infer_settle(in, &integer, ast);
}

/* ---- operators, and the choice of the rule ---- */

static kiln__value operator_rule(kiln__infer *in, const kiln__builtin *builtin,
                                 kiln__value *arguments, size_t count,
                                 const kiln__ast *ast)
{
    const kiln__operator *operator= kiln__operator_find(builtin->name);

    return operator== NULL
               ? poison(in)
               : kiln__infer_by_rule(in, operator, arguments, count, ast);
}

static kiln__value barrier_rule(kiln__infer *in, const kiln__ast *ast)
{
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_BARRIER, NULL, ast, 0,
                                          KILN__NO_OPERANDS));
    return kiln__value_of(KILN__VALUE_NOTHING);
}

/* A function with an effect, or one that depends on the item, is not
   constant. */
static int is_constant_rule(kiln__builtin_rule rule)
{
    return rule != KILN__RULE_QUERY && rule < KILN__RULE_ATOMIC;
}

/* True for rules that give literals the type of something else. */
static int takes_open(kiln__builtin_rule rule)
{
    return rule == KILN__RULE_OPERATOR || rule == KILN__RULE_MATH ||
           rule == KILN__RULE_CLAMP || rule == KILN__RULE_SELECT ||
           rule == KILN__RULE_CONVERT || rule == KILN__RULE_TRUNC ||
           rule == KILN__RULE_ATOMIC;
}

static kiln__value by_rule(kiln__infer *in, const kiln__builtin *builtin,
                           kiln__value *arguments, size_t count,
                           const kiln__ast *ast)
{
    switch (builtin->rule) {
    case KILN__RULE_OPERATOR:
        return operator_rule(in, builtin, arguments, count, ast);
    case KILN__RULE_QUERY:
        return kiln__infer_query(in, builtin, arguments, count, ast);
    case KILN__RULE_LENGTH:
        return length_rule(in, builtin, &arguments[0], ast);
    case KILN__RULE_SIZE:
        return size_rule(in, builtin, arguments, ast);
    case KILN__RULE_RANK:
        return rank_rule(in, builtin, &arguments[0], ast);
    case KILN__RULE_MATH:
        return math_rule(in, builtin, arguments, count, ast);
    case KILN__RULE_TEST:
        return test_rule(in, builtin, arguments, ast);
    case KILN__RULE_CLAMP:
        return clamp_rule(in, builtin, arguments, ast);
    case KILN__RULE_SIGN:
        return sign_rule(in, arguments, ast);
    case KILN__RULE_SELECT:
        return select_rule(in, builtin, arguments, ast);
    case KILN__RULE_LIMIT:
        return limit_rule(in, builtin, &arguments[0], ast);
    case KILN__RULE_CONVERT:
        return convert_rule(in, builtin, arguments, ast);
    case KILN__RULE_TRUNC:
        return trunc_rule(in, builtin, arguments, count, ast);
    case KILN__RULE_STATIC:
        return static_rule(in, &arguments[0], ast);
    case KILN__RULE_VALUE:
        return value_rule(in, builtin, &arguments[0], ast);
    case KILN__RULE_ATOMIC:
        return kiln__infer_atomic(in, builtin, arguments, count, ast);
    case KILN__RULE_BARRIER:
        return barrier_rule(in, ast);
    case KILN__RULE_GROUP:
        return kiln__infer_group(in, builtin, arguments, ast);
    case KILN__RULE_ALLOCATE:
    case KILN__RULE_FREE:
    case KILN__RULE_FENCE:
    case KILN__RULE_HEAP:
        return kiln__infer_heap(in, builtin, arguments, count, ast);
    case KILN__RULE_TYPEOF: /* with one argument, infer_call.c handles it */
    case KILN__RULE_NONE:
    default:
        return kiln__infer_error(in, ast->span, "unsupported", NULL,
                                 "`%s` is no value here", builtin->name);
    }
}

/* True for `round(u8, x)` and the like. */
static int rounds_to_type(const kiln__builtin *builtin,
                          const kiln__value *arguments, size_t count)
{
    static const char *const names[] = {"ceil", "floor", "rint", "round"};

    if (count != 2 || arguments[0].kind != KILN__VALUE_TYPED ||
        arguments[0].type->kind != KILN_TYPE_TYPE)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(builtin->name, names[i]) == 0)
            return 1;
    return 0;
}

/* Returns how a call with the wrong number of arguments is meant, or NULL. */
static const char *count_hint(kiln__infer *in, const kiln__builtin *builtin,
                              const kiln__value *arguments, size_t count)
{
    if (rounds_to_type(builtin, arguments, count))
        return kiln__infer_format(in,
                                  "write `u8(%s(x))`, which raises where it "
                                  "does not fit, or `trunc(u8, %s(x))`",
                                  builtin->name, builtin->name);
    switch ((int32_t)builtin->rule) {
    case KILN__RULE_ATOMIC:
        return kiln__infer_format(in, "write `%s(a, i, v)` for `a[i]`",
                                  builtin->name);
    case KILN__RULE_SIZE:
        return "`size(a, 0)` is that of a dimension, `length(a)` of all";
    case KILN__RULE_LENGTH:
        return "`size(a, 0)` is the size of a dimension";
    case KILN__RULE_BARRIER:
        return "write `barrier()`; it takes no flags";
    default:
        return NULL;
    }
}

kiln__value kiln__infer_builtin(kiln__infer *in, const kiln__builtin *builtin,
                                kiln__value *arguments, size_t count,
                                const kiln__ast *ast)
{
    /* An atomic operation has more arguments with several indices, and counts
       them itself. */
    if (count < builtin->least ||
        (count > builtin->most && builtin->rule != KILN__RULE_ATOMIC)) {
        if (builtin->least == builtin->most)
            return kiln__infer_error(in, ast->span, "no-method",
                                     count_hint(in, builtin, arguments, count),
                                     "`%s` takes %d argument%s, not %zu",
                                     builtin->name, builtin->least,
                                     builtin->least == 1 ? "" : "s", count);
        return kiln__infer_error(
            in, ast->span, "no-method", NULL,
            "`%s` takes %d %s %d arguments, not %zu", builtin->name,
            builtin->least, builtin->most - builtin->least > 1 ? "to" : "or",
            builtin->most, count);
    }
    if (in->at.in_constant && !is_constant_rule(builtin->rule))
        return kiln__infer_error(in, ast->span, "not-constant", NULL,
                                 "`%s` is not for constants", builtin->name);
    for (size_t i = 0; i < count && !takes_open(builtin->rule); i++)
        if (arguments[i].kind == KILN__VALUE_OPEN)
            arguments[i] =
                kiln__infer_settle(in, &arguments[i], argument_place(ast, i));
    return by_rule(in, builtin, arguments, count, ast);
}
