/* infer_names.c - what names mean: variables, bindings, constants. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"

/*
 * A name that the method assigns anywhere is a variable everywhere in it. Other
 * names are looked up in the package, once in each attempt: each look-up is a
 * query that the result depends on.
 */

/* ---- symbols ---- */

static uint64_t hash_name(const kiln_package *package, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)package;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash ^ (hash >> 29);
}

static kiln__symbol **symbol_slot(const kiln__infer_names *names,
                                  const kiln_package *package, const char *name,
                                  uint64_t hash)
{
    kiln__symbol **symbols = names->symbols;
    size_t at = (size_t)hash & (names->capacity - 1);

    while (symbols[at] != NULL &&
           (symbols[at]->hash != hash || symbols[at]->package != package ||
            strcmp(symbols[at]->name, name) != 0))
        at = (at + 1) & (names->capacity - 1);
    return &symbols[at];
}

static int symbols_grow(kiln__infer_names *names, kiln__arena *arena)
{
    kiln__infer_names grown = {.count = names->count,
                               .capacity =
                                   names->capacity ? names->capacity * 2 : 32};

    grown.symbols = kiln__arena_allocate_array(arena, grown.capacity,
                                               sizeof *grown.symbols);
    if (grown.symbols == NULL)
        return 0;
    for (size_t i = 0; i < names->capacity; i++) {
        kiln__symbol *s = names->symbols[i];

        if (s != NULL)
            *symbol_slot(&grown, s->package, s->name, s->hash) = s;
    }
    *names = grown;
    return 1;
}

/* Returns NULL only when out of memory. */
kiln__symbol *kiln__infer_symbol(kiln__infer *in, const kiln_package *package,
                                 const char *name)
{
    const uint64_t hash = hash_name(package, name);
    kiln__symbol **slot, *symbol;

    if (in->status != KILN_OK)
        return NULL;
    if (in->names.count * 2 >= in->names.capacity &&
        !symbols_grow(&in->names, &in->arena))
        return (void)kiln__infer_fail(in, KILN_ENOMEM), NULL;
    slot = symbol_slot(&in->names, package, name, hash);
    if (*slot != NULL)
        return *slot;
    symbol = kiln__arena_allocate(&in->arena, sizeof *symbol);
    if (symbol == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), NULL;
    symbol->name = name;
    symbol->package = package;
    symbol->hash = hash;
    *slot = symbol;
    in->names.count++;
    return symbol;
}

const kiln__binding *kiln__infer_binding(kiln__infer *in, kiln__symbol *symbol)
{
    kiln_status status;

    if (symbol->is_bound)
        return &symbol->binding;
    status = kiln__ask_binding(&symbol->binding, &in->facts, symbol->package,
                               symbol->name);
    if (status == KILN_ENOTFOUND)
        symbol->binding = (kiln__binding){0};
    else if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    symbol->is_bound = 1;
    return &symbol->binding;
}

kiln__variable *kiln__infer_declare(kiln__infer *in, kiln__symbol *symbol,
                                    kiln__variable_kind kind)
{
    kiln__variable *variable =
        kiln__arena_allocate(&in->arena, sizeof *variable);

    if (variable == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), NULL;
    variable->kind = kind;
    variable->name = symbol->name;
    variable->outer = symbol->variable;
    symbol->variable = variable;
    return variable;
}

/* ---- the method's variables ---- */

/* A local that is assigned at several places, or in a loop that is copied, is
   no compile-time integer. */
static void scan_name(kiln__infer *in, const char *name, int in_copies)
{
    kiln__symbol *symbol =
        kiln__infer_symbol(in, kiln__method_package(in->task.method), name);

    if (symbol == NULL)
        return;
    if (symbol->variable != NULL) {
        symbol->variable->decays = 1;
        return;
    }
    if (kiln__infer_declare(in, symbol, KILN__VARIABLE_LOCAL) != NULL)
        symbol->variable->decays = in_copies;
}

/* Declares what the statement assigns. `in_copies`: it is in a static loop, of
   which the IR has several copies. */
static void scan(kiln__infer *in, const kiln__ast *ast, int in_copies)
{
    if (ast == NULL || in->status != KILN_OK || !kiln__infer_enter(in, ast))
        return;
    switch ((uint32_t)ast->kind) {
    case KILN__AST_ASSIGN:
        if (ast->children[0]->kind == KILN__AST_NAME)
            scan_name(in, ast->children[0]->text,
                      in_copies || ast->text[0] != '\0');
        break;
    case KILN__AST_UNPACK:
        for (size_t i = 1; i < ast->count; i++)
            scan_name(in, ast->children[i]->text, in_copies);
        break;
    case KILN__AST_LOCAL:
        scan_name(in, ast->text, in_copies);
        break;
    case KILN__AST_FOR:
        scan(in, ast->children[3], in_copies || ast->flag != 0);
        break;
    case KILN__AST_BLOCK:
    case KILN__AST_IF:
    case KILN__AST_WHILE:
    case KILN__AST_SWITCH:
        for (size_t i = 0; i < ast->count; i++)
            scan(in, ast->children[i], in_copies);
        break;
    default:
        break;
    }
    kiln__infer_leave(in);
}

void kiln__infer_scan(kiln__infer *in, const kiln__ast *body)
{
    scan(in, body, 0);
}

/* Returns the value of a variable; reports one that may not be assigned yet. */
static kiln__value read_variable(kiln__infer *in, kiln__variable *variable,
                                 const kiln__ast *ast)
{
    if (variable->kind == KILN__VARIABLE_VALUE)
        return variable->value;
    if (variable->poisoned)
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    if (!variable->assigned && in->flow.reachable) {
        kiln__flow_assign(in, variable); /* one report is enough */
        return kiln__infer_error(
            in, ast->span, "unassigned-variable",
            "give it a value before the branch or loop that may not run",
            "`%s` may be used before it is assigned", variable->name);
    }
    if (variable->type == NULL) {
        in->broken = 1;
        return kiln__value_of(in->bottom ? KILN__VALUE_BOTTOM
                                         : KILN__VALUE_POISON);
    }
    if (variable->type->size == 0)
        return kiln__infer_typed(variable->type, 0);
    return kiln__infer_typed(
        variable->type, kiln__infer_read(in, variable->local, variable->type));
}

/* ---- values of bindings ---- */

kiln__value kiln__infer_function_value(kiln__infer *in,
                                       const kiln__generic *generic)
{
    const kiln_type *type = NULL;
    const kiln_status status = kiln_type_function(
        &type, in->context, kiln__generic_function(generic), NULL);

    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    return kiln__infer_typed(type, 0);
}

kiln__value kiln__infer_type_value(kiln__infer *in, const kiln_type *of)
{
    const kiln_type *type = NULL;
    const kiln_status status = kiln__type_type(&type, in->context, of, NULL);

    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    return kiln__infer_typed(type, 0);
}

kiln_package *kiln__infer_core(const kiln__infer *in)
{
    return kiln__language_core(in->task.language);
}

kiln__type_scope kiln__infer_scope(kiln__infer *in)
{
    return (kiln__type_scope){
        .facts = &in->facts,
        .package = in->at.package,
        .definition = in->at.in_constant ? NULL : in->task.definition,
        .parameters = in->at.in_constant ? NULL : in->task.match->parameters,
        .diagnostics = &in->diagnostics,
        .source = in->at.source,
    };
}

const kiln_type *kiln__infer_resolve(kiln__infer *in, const kiln__ast *tree)
{
    const kiln__type_scope scope = kiln__infer_scope(in);
    const kiln_type *type = NULL;
    kiln_status status;

    if (in->status != KILN_OK)
        return NULL;
    status = kiln__type_resolve(&type, &scope, tree);
    if (status == KILN_OK)
        return type;
    in->broken = 1;
    if (status != KILN_ECOMPILE)
        (void)kiln__infer_fail(in, status);
    return NULL;
}

/* Moves the walk into a constant's definition; returns where it was. */
static kiln__standpoint move_to(kiln__infer *in, const kiln__binding *binding,
                                const kiln__ast *ast)
{
    const kiln__standpoint before = in->at;

    in->at.source = binding->source;
    in->at.package = binding->package;
    if (!before.in_constant)
        in->at.ordinal = ast->ordinal;
    in->at.in_constant = 1;
    return before;
}

static int is_cheap(const kiln__value *value)
{
    return value->kind == KILN__VALUE_LITERAL ||
           value->kind == KILN__VALUE_POISON ||
           (value->kind == KILN__VALUE_TYPED &&
            (value->known || (value->type->size == 0 && value->node == 0)));
}

/* Infers the expression of a constant, in the scope of its definition. */
static kiln__value constant_value(kiln__infer *in, kiln__symbol *symbol,
                                  const kiln__ast *ast)
{
    const kiln__binding *binding = &symbol->binding;
    kiln__standpoint before;
    kiln__value value;

    if (symbol->is_constant)
        return symbol->constant;
    if (symbol->evaluating)
        return kiln__infer_error(in, ast->span, "cyclic-constant", NULL,
                                 "the constant `%s` is defined by itself",
                                 symbol->name);
    if (in->walk.constants_left == 0)
        return kiln__infer_error(in, ast->span, "too-large", NULL,
                                 "the constants of one method need more than "
                                 "%d evaluations",
                                 KILN__INFER_CONSTANTS_MAX);
    in->walk.constants_left--;
    symbol->evaluating = 1;
    before = move_to(in, binding, ast);
    value = kiln__infer_operand(in, binding->definition->body);
    in->at = before;
    symbol->evaluating = 0;
    symbol->is_constant = is_cheap(&value);
    symbol->constant = value;
    return value;
}

static kiln__value named_type_value(kiln__infer *in,
                                    const kiln__binding *binding,
                                    const kiln__ast *ast)
{
    const kiln_type *type = kiln__infer_resolve(in, ast);

    (void)binding;
    return type == NULL ? kiln__value_of(KILN__VALUE_POISON)
                        : kiln__infer_type_value(in, type);
}

kiln__value kiln__infer_bound_value(kiln__infer *in, kiln__symbol *symbol,
                                    const kiln__ast *ast)
{
    const kiln__binding *binding = &symbol->binding;

    switch (binding->kind) {
    case KILN__BINDING_FUNCTION:
        return kiln__infer_function_value(in, binding->generic);
    case KILN__BINDING_TYPE:
        return named_type_value(in, binding, ast);
    case KILN__BINDING_SCALAR:
        return kiln__infer_type_value(in, binding->type);
    case KILN__BINDING_CONST:
        return constant_value(in, symbol, ast);
    case KILN__BINDING_OUTSIDE_FUNCTION:
        return kiln__infer_outside_value(in, ast);
    case KILN__BINDING_OUTSIDE:
    case KILN__BINDING_PACKAGE:
        return kiln__infer_error(in, ast->span, "wrong-type",
                                 "write package.name",
                                 "the package `%s` is no value", ast->text);
    case KILN__BINDING_NONE:
    default:
        return kiln__infer_unknown_name(in, ast);
    }
}

static kiln__variable *variable_of(const kiln__infer *in,
                                   const kiln__symbol *symbol)
{
    return in->at.in_constant ? NULL : symbol->variable;
}

int kiln__infer_is_variable(kiln__infer *in, const char *name)
{
    const kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, name);

    return symbol != NULL && variable_of(in, symbol) != NULL &&
           symbol->variable->kind != KILN__VARIABLE_VALUE;
}

kiln__symbol *kiln__infer_bound(kiln__infer *in, const kiln__ast *ast)
{
    const int is_member = ast->kind == KILN__AST_MEMBER &&
                          ast->children[0]->kind == KILN__AST_NAME;
    const kiln__ast *name = is_member ? ast->children[0] : ast;
    kiln__symbol *symbol;
    const kiln__binding *binding;

    if (name->kind != KILN__AST_NAME)
        return NULL;
    symbol = kiln__infer_symbol(in, in->at.package, name->text);
    if (symbol == NULL || variable_of(in, symbol) != NULL)
        return NULL;
    binding = kiln__infer_binding(in, symbol);
    if (in->status != KILN_OK)
        return NULL;
    if (!is_member)
        return symbol;
    if (binding->kind != KILN__BINDING_PACKAGE)
        return NULL;
    symbol = kiln__infer_symbol(in, binding->package, ast->text);
    if (symbol != NULL)
        (void)kiln__infer_binding(in, symbol);
    return symbol;
}

kiln__value kiln__infer_name(kiln__infer *in, const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, ast->text);
    kiln__variable *variable;

    if (symbol == NULL)
        return kiln__value_of(KILN__VALUE_POISON);
    variable = variable_of(in, symbol);
    if (variable != NULL)
        return read_variable(in, variable, ast);
    (void)kiln__infer_binding(in, symbol);
    return kiln__infer_bound_value(in, symbol, ast);
}
