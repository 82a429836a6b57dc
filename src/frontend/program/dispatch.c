/* dispatch.c - finds the most specific method for the types of a call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * A call is tried up to three times, each time with more freedom for the
 * arguments, until some method takes it: with the types as they are; with
 * Static integers as i64; with literals (and Static integers) adapting to a
 * parameter's one scalar type, or to the type that other arguments gave to its
 * type parameter.
 *
 * Nothing is allocated, except the type Static{n} for a vector's length, when a
 * pattern needs it for the first time.
 */
enum { AS_IS, DECAYED, ADAPTED };

typedef struct call {
    const kiln__generic *generic;
    const kiln__argument *arguments;
    size_t count;
    kiln__facts *facts;
    const kiln_type *integer; /* i64 */
    int softness;
    int failed;
} call;

/* ---- one pattern and one type ---- */

int kiln__type_descends(const kiln__named_type *named, const kiln__slot *slot,
                        kiln__facts *facts)
{
    for (int i = 0; named != NULL && i < KILN__TYPE_TREE_MAX; i++) {
        if (named->slot == slot)
            return 1;
        kiln__ask_above(facts, named);
        if (named->parent == NULL)
            return 0;
        named = kiln__slot_type(named->parent->slot, facts->world);
    }
    return 0;
}

int kiln__abstract_takes(const kiln__named_type *named, const kiln_type *type,
                         kiln__facts *facts)
{
    if (named->kinds & (1u << type->kind))
        return 1;
    if (type->kind != KILN_TYPE_STRUCT || type->origin == NULL)
        return 0;
    return kiln__type_descends(kiln__slot_type(type->origin, facts->world),
                               named->slot, facts);
}

static int parameter_takes(kiln__matching *matching, uint32_t index,
                           const kiln_type *type)
{
    const kiln__pattern *bound = matching->method->bounds[index];

    if (matching->parameters[index] != NULL)
        return matching->parameters[index] == type;
    if (bound != NULL && type->kind != KILN_TYPE_STATIC &&
        !kiln__pattern_takes(matching, bound, type))
        return 0;
    matching->parameters[index] = type;
    return 1;
}

static int length_takes(kiln__matching *matching, const kiln__pattern *pattern,
                        const kiln_type *vector)
{
    const kiln_type *length;

    if (pattern->kind == KILN__PATTERN_EXACT)
        return pattern->type->kind == KILN_TYPE_STATIC &&
               pattern->type->value == (int64_t)vector->length;
    if (kiln_type_static(&length, vector->context, vector->length, NULL) !=
        KILN_OK) {
        matching->failed = 1;
        return 0;
    }
    return kiln__pattern_takes(matching, pattern, length);
}

static int tuple_takes(kiln__matching *matching, const kiln__pattern *pattern,
                       const kiln_type *type)
{
    if (type->kind != KILN_TYPE_TUPLE || type->field_count != pattern->count)
        return 0;
    for (size_t i = 0; i < pattern->count; i++)
        if (!kiln__pattern_takes(matching, pattern->children[i],
                                 type->fields[i].type))
            return 0;
    return 1;
}

static int struct_takes(kiln__matching *matching, const kiln__pattern *pattern,
                        const kiln_type *type)
{
    if (type->kind != KILN_TYPE_STRUCT || type->origin != pattern->named->slot)
        return 0;
    if (pattern->count == 0)
        return 1;
    if (type->parameter_count != pattern->count)
        return 0;
    for (size_t i = 0; i < pattern->count; i++)
        if (!kiln__pattern_takes(matching, pattern->children[i],
                                 type->parameters[i]))
            return 0;
    return 1;
}

int kiln__pattern_takes(kiln__matching *matching, const kiln__pattern *pattern,
                        const kiln_type *type)
{
    switch (pattern->kind) {
    case KILN__PATTERN_ANY:
        return 1;
    case KILN__PATTERN_ABSTRACT:
        return kiln__abstract_takes(pattern->named, type, matching->facts);
    case KILN__PATTERN_EXACT:
        return pattern->type == type;
    case KILN__PATTERN_PARAMETER:
        return parameter_takes(matching, pattern->index, type);
    case KILN__PATTERN_ARRAY:
        return type->kind == KILN_TYPE_ARRAY && type->rank == pattern->rank &&
               type->strided == pattern->strided &&
               kiln__pattern_takes(matching, pattern->children[0],
                                   type->element);
    case KILN__PATTERN_VECTOR:
        return type->kind == KILN_TYPE_VECTOR &&
               kiln__pattern_takes(matching, pattern->children[0],
                                   type->element) &&
               length_takes(matching, pattern->children[1], type);
    case KILN__PATTERN_TUPLE:
        return tuple_takes(matching, pattern, type);
    case KILN__PATTERN_STRUCT:
        return struct_takes(matching, pattern, type);
    case KILN__PATTERN_STATIC:
        return type->kind == KILN_TYPE_STATIC &&
               kiln__pattern_takes(matching, pattern->children[0], type);
    case KILN__PATTERN_TYPE:
        return type->kind == KILN_TYPE_TYPE &&
               kiln__pattern_takes(matching, pattern->children[0],
                                   type->element);
    }
    return 0;
}

/* ---- one method and all arguments ---- */

/* Returns which kind of literal the argument acts as. */
static int32_t softness_of(const kiln__argument *argument)
{
    if (argument->literal == KILN__LITERAL_NONE &&
        argument->type->kind == KILN_TYPE_STATIC)
        return KILN__LITERAL_INTEGER;
    return argument->literal;
}

static int is_firm(const call *c, size_t index)
{
    return c->softness == AS_IS ||
           softness_of(&c->arguments[index]) == KILN__LITERAL_NONE;
}

/* Returns the scalar type that a literal would get for this pattern, or
   NULL. */
static const kiln_type *adapted(const kiln__matching *matching,
                                const kiln__pattern *pattern, int32_t literal)
{
    const kiln_type *type = NULL;

    if (pattern->kind == KILN__PATTERN_EXACT)
        type = pattern->type;
    else if (pattern->kind == KILN__PATTERN_PARAMETER)
        type = matching->parameters[pattern->index];
    if (type == NULL ||
        (literal == KILN__LITERAL_FLOAT && !kiln__kind_is_float(type->kind)))
        return NULL;
    return kiln__kind_is_number(type->kind) ? type : NULL;
}

/* Stores the type that an adaptable argument gets; false if none fits. */
static int soft_takes(const call *c, kiln__matching *matching,
                      const kiln__pattern *pattern, size_t index,
                      const kiln_type **out)
{
    const kiln__argument *argument = &c->arguments[index];

    *out = c->softness == ADAPTED
               ? adapted(matching, pattern, softness_of(argument))
               : NULL;
    if (*out != NULL)
        return 1;
    *out = argument->type;
    if (kiln__pattern_takes(matching, pattern, argument->type))
        return 1;
    if (argument->type->kind != KILN_TYPE_STATIC)
        return 0;
    *out = c->integer;
    return kiln__pattern_takes(matching, pattern, c->integer);
}

/* True when the method takes the call; then fills `out`. */
static int applies(call *c, const kiln__method *method, kiln__match *out)
{
    kiln__matching matching = {method, out->parameters, c->facts, 0};
    int takes = 1;

    if (method->parameter_count != c->count)
        return 0;
    memset(out->parameters, 0,
           method->type_parameter_count * sizeof out->parameters[0]);
    for (size_t i = 0; takes && i < c->count; i++) {
        if (!is_firm(c, i))
            continue;
        out->types[i] = c->arguments[i].type;
        takes = kiln__pattern_takes(&matching, method->parameters[i],
                                    out->types[i]);
    }
    for (size_t i = 0; takes && c->softness != AS_IS && i < c->count; i++)
        if (!is_firm(c, i))
            takes = soft_takes(c, &matching, method->parameters[i], i,
                               &out->types[i]);
    c->failed |= matching.failed | c->facts->failed;
    return takes && !c->failed;
}

/* ---- all methods of one table ---- */

typedef struct table_name {
    const char *text; /* NULL: the global table */
    size_t size;
} table_name;

static int is_in_table(const kiln__method *method, table_name table)
{
    if (table.text == NULL || method->overlay == NULL)
        return table.text == NULL && method->overlay == NULL;
    return strncmp(method->overlay, table.text, table.size) == 0 &&
           method->overlay[table.size] == '\0';
}

static int is_visible(const kiln__method *method, uint64_t world)
{
    return method->min_world <= world &&
           world <=
               atomic_load_explicit(&method->max_world, memory_order_relaxed);
}

int kiln__method_is_seen(const kiln__method *method, const char *overlays,
                         uint64_t world)
{
    if (!is_visible(method, world))
        return 0;
    if (method->overlay == NULL)
        return 1;
    while (overlays != NULL && *overlays != '\0') {
        const size_t size = strcspn(overlays, ",");

        if (is_in_table(method, (table_name){overlays, size}))
            return 1;
        overlays += size + (overlays[size] == ',');
    }
    return 0;
}

/* Only arguments that may adapt can match a parameter of another type. */
static kiln__method_walk walk_of(const call *c, int is_full)
{
    kiln__method_walk walk = {.generic = c->generic,
                              .arguments = c->arguments,
                              .count = c->count,
                              .world = c->facts->world,
                              .is_full = is_full};

    for (size_t i = 0; i < c->count; i++)
        if (!is_firm(c, i))
            walk.soft |= (uint64_t)1 << i;
    kiln__method_walk_begin(&walk);
    return walk;
}

static const kiln__method *next_candidate(const call *c, table_name table,
                                          kiln__method_walk *walk)
{
    const kiln__method *method;

    do
        method = kiln__method_walk_next(walk);
    while (method != NULL && !(is_in_table(method, table) &&
                               is_visible(method, c->facts->world)));
    return method;
}

static int covers(call *c, const kiln__method *wide, const kiln__method *narrow)
{
    return kiln__method_covers(wide, narrow, c->facts->world, &c->failed);
}

static int beats(call *c, const kiln__method *a, const kiln__method *b)
{
    return covers(c, b, a) && !covers(c, a, b);
}

/* Returns a method that keeps `best` from being the most specific: every other
   applicable method must be wider than the best one. */
static const kiln__method *rival_of(call *c, table_name table,
                                    const kiln__method *best, int is_full,
                                    kiln__match *scratch)
{
    kiln__method_walk walk = walk_of(c, is_full);
    const kiln__method *method;

    while ((method = next_candidate(c, table, &walk)) != NULL)
        if (method != best && applies(c, method, scratch) &&
            !beats(c, best, method))
            return method;
    return NULL;
}

/* If one method is more specific than all others, any order finds it. Otherwise
   the order decides which two are reported. */
static void find_best(call *c, table_name table, int is_full, kiln__match *out)
{
    kiln__method_walk walk = walk_of(c, is_full);
    const kiln__method *best = NULL, *method;
    int several = 0;

    while ((method = next_candidate(c, table, &walk)) != NULL) {
        if (!applies(c, method, out))
            continue;
        several |= best != NULL;
        if (best == NULL || beats(c, method, best))
            best = method;
    }
    out->method = best;
    out->other = several ? rival_of(c, table, best, is_full, out) : NULL;
}

static kiln_status select_method(call *c, table_name table, kiln__match *out)
{
    find_best(c, table, 0, out);
    if (out->other != NULL)
        find_best(c, table, 1, out);
    if (c->failed)
        return KILN_ENOMEM;
    if (out->method == NULL)
        return KILN_ENOTFOUND;
    if (out->other != NULL)
        return KILN_ECOMPILE;
    (void)applies(c, out->method, out);
    return KILN_OK;
}

/* ---- all tables, all degrees of freedom ---- */

static kiln_status select_overlay(call *c, const char *overlays,
                                  kiln__match *out)
{
    while (overlays != NULL && *overlays != '\0') {
        const size_t size = strcspn(overlays, ",");
        const kiln_status status =
            select_method(c, (table_name){overlays, size}, out);

        if (status != KILN_ENOTFOUND)
            return status;
        overlays += size + (overlays[size] == ',');
    }
    return KILN_ENOTFOUND;
}

static kiln_status select_any(call *c, const char *overlays, kiln__match *out)
{
    kiln_status status = KILN_ENOTFOUND;

    if (c->generic->overlay_count > 0)
        status = select_overlay(c, overlays, out);
    if (status == KILN_ENOTFOUND)
        status = select_method(c, (table_name){NULL, 0}, out);
    return status;
}

/* Returns the last try that makes a difference for these arguments. */
static int softest(const kiln__argument *arguments, size_t count)
{
    int result = AS_IS;

    for (size_t i = 0; i < count; i++)
        if (softness_of(&arguments[i]) != KILN__LITERAL_NONE)
            result = ADAPTED;
    return result;
}

kiln_status kiln__method_try(kiln__match *out, kiln__facts *facts,
                             const kiln__method *method,
                             const kiln__argument *arguments, size_t count)
{
    kiln_context *context = facts->language->context;
    call c = {.arguments = arguments,
              .count = count,
              .facts = facts,
              .integer = kiln_type_scalar(context, KILN_TYPE_I64)};
    const int last = softest(arguments, count);

    out->method = method;
    out->other = NULL;
    if (count > KILN_ARGUMENTS_MAX)
        return KILN_ENOTFOUND;
    for (; c.softness <= last; c.softness++)
        if (applies(&c, method, out))
            return KILN_OK;
    return c.failed ? KILN_ENOMEM : KILN_ENOTFOUND;
}

kiln_status kiln__dispatch(kiln__match *out, const kiln__generic *generic,
                           const kiln__argument *arguments, size_t count,
                           const char *overlays, uint64_t world)
{
    kiln__language *language = generic->package->language;
    /* The question is that of the whole call, so what is above types is not
       recorded separately. */
    kiln__facts facts = {.language = language, .world = world};
    call c = {.generic = generic,
              .arguments = arguments,
              .count = count,
              .facts = &facts,
              .integer = kiln_type_scalar(language->context, KILN_TYPE_I64)};
    const int last = softest(arguments, count);
    kiln_status status = KILN_ENOTFOUND;

    out->method = NULL;
    out->other = NULL;
    if (count > KILN_ARGUMENTS_MAX)
        return KILN_ENOTFOUND;
    kiln__language_read(language);
    while (status == KILN_ENOTFOUND && c.softness <= last) {
        status = select_any(&c, overlays, out);
        c.softness++;
    }
    kiln__language_unlock(language);
    return status;
}
