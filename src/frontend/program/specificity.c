/* specificity.c - decides which of two methods is the more specific one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * A wide method covers a narrow one when it takes every call that the narrow
 * one takes. The type parameters of the narrow method stand for unknown types.
 * Those of the wide method are bound to terms: types, or parts of the narrow
 * method's patterns. A parameter that is bound twice must be bound to the same
 * type. So two terms are equal only when each stands for a single type: Any
 * does not equal Any.
 */
typedef struct term {
    const kiln_type *type;        /* if not NULL, the term is this type */
    const kiln__pattern *pattern; /* otherwise the term is this pattern */
} term;

typedef struct covering {
    const kiln__method *wide;
    const kiln__method *narrow;
    term bound[KILN__TYPE_PARAMETERS_MAX];
    kiln__facts facts;
    int failed;
} covering;

static const kiln__pattern any_pattern = {.kind = KILN__PATTERN_ANY};

static term term_of(const kiln__pattern *pattern)
{
    if (pattern == NULL)
        return (term){NULL, &any_pattern};
    if (pattern->kind == KILN__PATTERN_EXACT)
        return (term){pattern->type, NULL};
    return (term){NULL, pattern};
}

/* ---- whether two terms stand for the same single type ---- */

static int is_same(const covering *c, term a, term b);

/* True for a struct with parameters, as it is now: a pattern may be older. */
static int has_parameters(const covering *c, const kiln__named_type *named)
{
    named = kiln__slot_type(named->slot, c->facts.world);
    return named != NULL && named->definition->type_parameter_count > 0;
}

static int is_same_pattern(const covering *c, const kiln__pattern *a,
                           const kiln__pattern *b)
{
    if (a->kind != b->kind || a->count != b->count || a->rank != b->rank ||
        a->strided != b->strided)
        return 0;
    if (a->kind == KILN__PATTERN_PARAMETER)
        return a->index == b->index;
    if (a->kind == KILN__PATTERN_ANY || a->kind == KILN__PATTERN_ABSTRACT)
        return 0;
    if (a->kind == KILN__PATTERN_STRUCT &&
        (a->named->slot != b->named->slot ||
         (a->count == 0 && has_parameters(c, a->named))))
        return 0;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same(c, term_of(a->children[i]), term_of(b->children[i])))
            return 0;
    return 1;
}

/* Structs are patterns even without parameters; see type_pattern.c. */
static int is_same_struct(const covering *c, const kiln__pattern *pattern,
                          const kiln_type *type)
{
    if (pattern->kind != KILN__PATTERN_STRUCT ||
        type->kind != KILN_TYPE_STRUCT ||
        type->origin != pattern->named->slot ||
        type->parameter_count != pattern->count)
        return 0;
    for (size_t i = 0; i < pattern->count; i++)
        if (!is_same(c, term_of(pattern->children[i]),
                     (term){type->parameters[i], NULL}))
            return 0;
    return 1;
}

static int is_same(const covering *c, term a, term b)
{
    if (a.type != NULL && b.type != NULL)
        return a.type == b.type;
    if (a.type != NULL)
        return is_same_struct(c, b.pattern, a.type);
    if (b.type != NULL)
        return is_same_struct(c, a.pattern, b.type);
    return is_same_pattern(c, a.pattern, b.pattern);
}

/* ---- whether a pattern takes everything that a term stands for ---- */

static int pattern_covers(covering *c, const kiln__pattern *wide, term narrow);

/* True when the abstract type takes everything that the term stands for. */
static int abstract_covers(covering *c, const kiln__named_type *wide,
                           term narrow)
{
    const kiln__pattern *pattern = narrow.pattern;
    int32_t kind = KILN_TYPE_NONE;

    if (narrow.type != NULL)
        return kiln__abstract_takes(wide, narrow.type, &c->facts);
    switch (pattern->kind) {
    case KILN__PATTERN_ABSTRACT:
    case KILN__PATTERN_STRUCT:
        return kiln__type_descends(
            kiln__slot_type(pattern->named->slot, c->facts.world), wide->slot,
            &c->facts);
    case KILN__PATTERN_ARRAY:
        kind = KILN_TYPE_ARRAY;
        break;
    case KILN__PATTERN_VECTOR:
        kind = KILN_TYPE_VECTOR;
        break;
    case KILN__PATTERN_TUPLE:
        kind = KILN_TYPE_TUPLE;
        break;
    case KILN__PATTERN_STATIC:
        kind = KILN_TYPE_STATIC;
        break;
    case KILN__PATTERN_TYPE:
        kind = KILN_TYPE_TYPE;
        break;
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_EXACT:
    case KILN__PATTERN_PARAMETER:
        return 0;
    }
    return (wide->kinds & (1u << kind)) != 0;
}

/* Returns 1 when the term has the parts of a pattern of that kind, 0 when it is
   of another kind. Missing parts (of `Vec`, `Complex`) are Any. */
static int term_kind_is(term narrow, int32_t kind,
                        kiln__pattern_kind pattern_kind)
{
    if (narrow.type != NULL)
        return narrow.type->kind == kind;
    if (narrow.pattern->kind == KILN__PATTERN_ABSTRACT)
        return narrow.pattern->named->kinds == 1u << kind;
    return narrow.pattern->kind == pattern_kind;
}

/* Returns a part of a term: an element, a field, a parameter or a length. */
static term term_part(covering *c, term narrow, size_t index)
{
    const kiln_type *type = narrow.type, *length;

    if (type == NULL)
        return index < narrow.pattern->count
                   ? term_of(narrow.pattern->children[index])
                   : term_of(NULL);
    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        return (term){type->fields[index].type, NULL};
    case KILN_TYPE_STRUCT:
        return (term){type->parameters[index], NULL};
    case KILN_TYPE_STATIC:
        return narrow;
    case KILN_TYPE_VECTOR:
        if (index == 0)
            return (term){type->element, NULL};
        if (kiln_type_static(&length, type->context, type->length, NULL) ==
            KILN_OK)
            return (term){length, NULL};
        c->failed = 1;
        return term_of(NULL);
    default:
        return (term){type->element, NULL};
    }
}

static int parts_cover(covering *c, const kiln__pattern *wide, term narrow)
{
    for (size_t i = 0; i < wide->count; i++)
        if (!pattern_covers(c, wide->children[i], term_part(c, narrow, i)))
            return 0;
    return 1;
}

static int array_covers(covering *c, const kiln__pattern *wide, term narrow)
{
    uint32_t rank, strided;

    if (narrow.type != NULL) {
        rank = narrow.type->rank;
        strided = narrow.type->strided;
    } else {
        rank = narrow.pattern->rank;
        strided = narrow.pattern->strided;
    }
    return term_kind_is(narrow, KILN_TYPE_ARRAY, KILN__PATTERN_ARRAY) &&
           rank == wide->rank && strided == wide->strided &&
           parts_cover(c, wide, narrow);
}

static int tuple_covers(covering *c, const kiln__pattern *wide, term narrow)
{
    size_t count;

    if (narrow.type != NULL)
        count = narrow.type->field_count;
    else if (narrow.pattern->kind == KILN__PATTERN_TUPLE)
        count = narrow.pattern->count;
    else
        return 0;
    return term_kind_is(narrow, KILN_TYPE_TUPLE, KILN__PATTERN_TUPLE) &&
           count == wide->count && parts_cover(c, wide, narrow);
}

static int struct_covers(covering *c, const kiln__pattern *wide, term narrow)
{
    if (narrow.type != NULL) {
        if (narrow.type->kind != KILN_TYPE_STRUCT ||
            narrow.type->origin != wide->named->slot ||
            (wide->count > 0 && narrow.type->parameter_count != wide->count))
            return 0;
    } else if (narrow.pattern->kind != KILN__PATTERN_STRUCT ||
               narrow.pattern->named->slot != wide->named->slot ||
               (wide->count > 0 && narrow.pattern->count > 0 &&
                narrow.pattern->count != wide->count)) {
        return 0;
    }
    return parts_cover(c, wide, narrow);
}

static int parameter_covers(covering *c, uint32_t index, term narrow)
{
    const kiln__pattern *bound = c->wide->bounds[index];
    term *bound_to = &c->bound[index];

    if (bound_to->type != NULL || bound_to->pattern != NULL)
        return is_same(c, *bound_to, narrow);
    if (bound != NULL && !pattern_covers(c, bound, narrow))
        return 0;
    *bound_to = narrow;
    return 1;
}

/* True when the pattern takes everything that the term stands for; binds type
   parameters. */
static int pattern_covers(covering *c, const kiln__pattern *wide, term narrow)
{
    if (wide->kind == KILN__PATTERN_ANY)
        return 1;
    if (wide->kind == KILN__PATTERN_PARAMETER)
        return parameter_covers(c, wide->index, narrow);
    if (narrow.type == NULL && narrow.pattern->kind == KILN__PATTERN_PARAMETER)
        narrow = term_of(c->narrow->bounds[narrow.pattern->index]);
    switch (wide->kind) {
    case KILN__PATTERN_ABSTRACT:
        return abstract_covers(c, wide->named, narrow);
    case KILN__PATTERN_EXACT:
        return narrow.type == wide->type;
    case KILN__PATTERN_ARRAY:
        return array_covers(c, wide, narrow);
    case KILN__PATTERN_VECTOR:
        return term_kind_is(narrow, KILN_TYPE_VECTOR, wide->kind) &&
               parts_cover(c, wide, narrow);
    case KILN__PATTERN_TUPLE:
        return tuple_covers(c, wide, narrow);
    case KILN__PATTERN_STRUCT:
        return struct_covers(c, wide, narrow);
    case KILN__PATTERN_STATIC:
        return term_kind_is(narrow, KILN_TYPE_STATIC, wide->kind) &&
               parts_cover(c, wide, narrow);
    case KILN__PATTERN_TYPE:
        return term_kind_is(narrow, KILN_TYPE_TYPE, wide->kind) &&
               parts_cover(c, wide, narrow);
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_PARAMETER:
        break;
    }
    return 0;
}

int kiln__method_covers(const kiln__method *wide, const kiln__method *narrow,
                        uint64_t world, int *failed)
{
    covering c = {
        .wide = wide,
        .narrow = narrow,
        .facts = {.language = wide->package->language, .world = world}};

    if (wide->parameter_count != narrow->parameter_count)
        return 0;
    for (size_t i = 0; i < wide->parameter_count; i++)
        if (!pattern_covers(&c, wide->parameters[i],
                            term_of(narrow->parameters[i]))) {
            *failed |= c.failed;
            return 0;
        }
    *failed |= c.failed;
    return !c.failed;
}
