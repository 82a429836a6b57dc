/* methods.c - the methods of a function, and finding one among many. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/sum.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * A function with few methods has only lists of them. One with many has two
 * tables, too, which say where to look: by shape, for methods that may be the
 * same as another; and by types, for methods that may take a call.
 *
 * For calls, methods are in groups. The methods of a group have the same number
 * of parameters, and the same of their parameters are *deciding*: they take one
 * type, or the types of one struct. The deciding types select a list in the
 * group, for a method and for a call alike. Where an argument may become
 * another type than it has, as literals may, the lists cannot be used. Literals
 * become numbers, so a parameter that takes a number decides only in methods
 * without other deciding parameters.
 *
 * When a table cannot get memory, it is left out or stays small. Then the same
 * methods are found, but more slowly.
 */
#define METHODS_FEW 8 /* up to so many are walked as a list */
#define GROUPS_MAX 16 /* groups with deciding parameters */
#define FIRST_CAPACITY 16

struct kiln__method_group {
    size_t parameter_count;
    uint64_t mask; /* bit i: parameter i is deciding */
    size_t count;  /* number of methods */
    kiln__method **lists;
    size_t capacity; /* number of lists, a power of two */
    kiln__method_group *next;
};

static const kiln_alloc *alloc_of(const kiln__generic *generic)
{
    return generic->package->language->alloc;
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    const uint64_t words[2] = {a, b};

    return kiln__hash_words(words, 2);
}

/* ---- the same methods, by shape ---- */

static kiln__method **same_list(const kiln__generic *generic, uint64_t shape)
{
    return &generic->same[shape & (generic->same_capacity - 1)];
}

static void same_put(kiln__generic *generic, kiln__method *method)
{
    kiln__method **list = same_list(generic, method->shape);

    method->next_same = *list;
    *list = method;
}

static void same_put_all(kiln__generic *generic, kiln__method *list)
{
    for (; list != NULL; list = list->next)
        same_put(generic, list);
}

static void same_dispose(kiln__generic *generic)
{
    kiln__deallocate(alloc_of(generic), generic->same,
                     generic->same_capacity * sizeof(kiln__method *));
    generic->same = NULL;
    generic->same_capacity = 0;
}

/* Makes the table for all linked methods, twice as large as needed. */
static void same_make(kiln__generic *generic)
{
    size_t capacity = FIRST_CAPACITY;
    kiln__method **lists;

    while (capacity < 2 * generic->method_count)
        capacity *= 2;
    lists = kiln__allocate_array(alloc_of(generic), capacity,
                                 sizeof(kiln__method *));
    if (lists == NULL)
        return;
    same_dispose(generic);
    generic->same = lists;
    generic->same_capacity = capacity;
    same_put_all(generic, generic->methods);
    same_put_all(generic, generic->pending);
}

static void same_take(kiln__generic *generic, const kiln__method *method)
{
    kiln__method **link;

    if (generic->same == NULL)
        return;
    link = same_list(generic, method->shape);
    while (*link != method)
        link = &(*link)->next_same;
    *link = method->next_same;
}

void kiln__method_add(kiln__method *method)
{
    kiln__generic *generic = method->generic;

    method->next = generic->pending;
    generic->pending = method;
    method->is_pending = 1;
    generic->method_count++;
    if (generic->same != NULL)
        same_put(generic, method);
    if (generic->method_count > METHODS_FEW &&
        generic->method_count > generic->same_capacity)
        same_make(generic);
}

/* All pending methods are taken back together, so the first call empties the
   list. */
void kiln__method_take_back(kiln__method *method)
{
    kiln__generic *generic = method->generic;

    same_take(generic, method);
    generic->pending = NULL;
    generic->method_count--;
}

static int is_same_table(const kiln__method *a, const kiln__method *b)
{
    if (a->overlay == NULL || b->overlay == NULL)
        return a->overlay == b->overlay;
    return strcmp(a->overlay, b->overlay) == 0;
}

kiln__method *kiln__method_find_same(const kiln__method *method, int is_pending,
                                     uint64_t world, int *failed)
{
    const kiln__generic *generic = method->generic;
    kiln__method *list = is_pending ? generic->pending : generic->methods;

    if (generic->same != NULL)
        list = *same_list(generic, method->shape);
    while (list != NULL) {
        if (list->shape == method->shape && list->is_pending == is_pending &&
            !list->leaving && is_same_table(list, method) &&
            kiln__method_covers(list, method, world, failed) &&
            kiln__method_covers(method, list, world, failed))
            break;
        list = generic->same != NULL ? list->next_same : list->next;
    }
    return list;
}

/* ---- deciding parameters ---- */

/* Returns a number that is equal for types which a deciding pattern cannot tell
   apart. */
static uint64_t type_head(const kiln_type *type)
{
    uint64_t head;

    switch (type->kind) {
    case KILN_TYPE_STRUCT:
        return type->origin != NULL ? (uint64_t)(uintptr_t)type->origin
                                    : type->hash;
    case KILN_TYPE_ARRAY:
        return mixed(2 * (uint64_t)type->rank + type->strided,
                     type_head(type->element));
    case KILN_TYPE_TYPE:
        return mixed(KILN_TYPE_TYPE, type_head(type->element));
    case KILN_TYPE_TUPLE:
        head = type->field_count;
        for (size_t i = 0; i < type->field_count; i++)
            head = mixed(head, type_head(type->fields[i].type));
        return head;
    default:
        return type->hash;
    }
}

/* True when the pattern takes one type, or the types of one struct. Stores what
   type_head() returns for them. */
static int pattern_head(uint64_t *out, const kiln__pattern *pattern)
{
    uint64_t part = 0;

    switch (pattern->kind) {
    case KILN__PATTERN_EXACT:
        *out = type_head(pattern->type);
        return 1;
    case KILN__PATTERN_STRUCT:
        *out = (uint64_t)(uintptr_t)pattern->named->slot;
        return 1;
    case KILN__PATTERN_ARRAY:
        if (!pattern_head(&part, pattern->children[0]))
            return 0;
        *out = mixed(2 * (uint64_t)pattern->rank + pattern->strided, part);
        return 1;
    case KILN__PATTERN_TYPE:
        if (!pattern_head(&part, pattern->children[0]))
            return 0;
        *out = mixed(KILN_TYPE_TYPE, part);
        return 1;
    case KILN__PATTERN_TUPLE:
        *out = pattern->count;
        for (size_t i = 0; i < pattern->count; i++) {
            if (!pattern_head(&part, pattern->children[i]))
                return 0;
            *out = mixed(*out, part);
        }
        return 1;
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_ABSTRACT:
    case KILN__PATTERN_PARAMETER: /* it takes a Static even beyond its bound */
    case KILN__PATTERN_VECTOR:
    case KILN__PATTERN_STATIC:
        break;
    }
    return 0;
}

static int is_number(const kiln__pattern *pattern)
{
    return pattern->kind == KILN__PATTERN_EXACT &&
           kiln__type_is_scalar(pattern->type);
}

/* Returns the deciding parameters. Those that take numbers decide only if no
   others do. */
static uint64_t deciding(const kiln__method *method)
{
    uint64_t mask = 0, numbers = 0, head;

    for (size_t i = 0; i < method->parameter_count; i++) {
        if (is_number(method->parameters[i]))
            numbers |= (uint64_t)1 << i;
        else if (pattern_head(&head, method->parameters[i]))
            mask |= (uint64_t)1 << i;
    }
    return mask != 0 ? mask : numbers;
}

static uint64_t method_alike(const kiln__method *method, uint64_t mask)
{
    uint64_t alike = 0, head = 0;

    for (size_t i = 0; i < method->parameter_count; i++)
        if ((mask >> i & 1) != 0 && pattern_head(&head, method->parameters[i]))
            alike = mixed(alike, head);
    return alike;
}

static uint64_t call_alike(const kiln__method_walk *walk, uint64_t mask)
{
    uint64_t alike = 0;

    for (size_t i = 0; i < walk->count; i++)
        if ((mask >> i & 1) != 0)
            alike = mixed(alike, type_head(walk->arguments[i].type));
    return alike;
}

/* ---- groups ---- */

static void group_put(kiln__method_group *group, kiln__method *method)
{
    kiln__method **list = &group->lists[method->alike & (group->capacity - 1)];

    method->next_alike = *list;
    *list = method;
}

/* Replaces the lists of a group that has too many methods for them. */
static void group_grow(const kiln_alloc *alloc, kiln__method_group *group)
{
    const kiln__method_group old = *group;
    kiln__method **lists =
        kiln__allocate_array(alloc, 2 * old.capacity, sizeof(kiln__method *));

    if (lists == NULL)
        return;
    group->lists = lists;
    group->capacity = 2 * old.capacity;
    for (size_t i = 0; i < old.capacity; i++)
        while (old.lists[i] != NULL) {
            kiln__method *method = old.lists[i];

            old.lists[i] = method->next_alike;
            group_put(group, method);
        }
    kiln__deallocate(alloc, old.lists, old.capacity * sizeof(kiln__method *));
}

static void group_free(const kiln_alloc *alloc, kiln__method_group *group)
{
    kiln__deallocate(alloc, group->lists,
                     group->capacity * sizeof(kiln__method *));
    kiln__deallocate(alloc, group, sizeof *group);
}

static kiln__method_group *group_new(kiln__generic *generic,
                                     size_t parameter_count, uint64_t mask)
{
    const kiln_alloc *alloc = alloc_of(generic);
    kiln__method_group *group = kiln__allocate(alloc, sizeof *group);

    if (group == NULL)
        return NULL;
    group->parameter_count = parameter_count;
    group->mask = mask;
    group->capacity = FIRST_CAPACITY;
    group->lists =
        kiln__allocate_array(alloc, group->capacity, sizeof(kiln__method *));
    if (group->lists == NULL) {
        kiln__deallocate(alloc, group, sizeof *group);
        return NULL;
    }
    group->next = generic->groups;
    generic->groups = group;
    return group;
}

/* Finds or makes the group of a method. When there are too many groups, the
   method goes to one without deciding parameters. */
static kiln__method_group *group_of(kiln__generic *generic,
                                    const kiln__method *method, uint64_t mask)
{
    kiln__method_group *group;
    size_t count = 0;

    for (group = generic->groups; group != NULL; group = group->next) {
        if (group->parameter_count == method->parameter_count &&
            group->mask == mask)
            return group;
        count += group->mask != 0 ? 1 : 0;
    }
    if (mask != 0 && count >= GROUPS_MAX)
        return group_of(generic, method, 0);
    return group_new(generic, method->parameter_count, mask);
}

static int groups_put(kiln__generic *generic, kiln__method *method)
{
    kiln__method_group *group = group_of(generic, method, deciding(method));

    if (group == NULL)
        return 0;
    if (++group->count > group->capacity && group->mask != 0)
        group_grow(alloc_of(generic), group);
    method->group = group;
    method->alike = method_alike(method, group->mask);
    group_put(group, method);
    return 1;
}

static void groups_dispose(kiln__generic *generic)
{
    while (generic->groups != NULL) {
        kiln__method_group *group = generic->groups;

        generic->groups = group->next;
        group_free(alloc_of(generic), group);
    }
}

/* Puts all current methods into groups, or none of them. */
static void groups_make(kiln__generic *generic)
{
    kiln__method *method = generic->methods;

    while (method != NULL && groups_put(generic, method))
        method = method->next;
    if (method != NULL)
        groups_dispose(generic);
}

static void group_drop(kiln__generic *generic, kiln__method_group *group)
{
    kiln__method_group **link = &generic->groups;

    while (*link != group)
        link = &(*link)->next;
    *link = group->next;
    group_free(alloc_of(generic), group);
}

static void groups_take(kiln__generic *generic, const kiln__method *method)
{
    kiln__method_group *group = method->group;
    kiln__method **link;

    if (generic->groups == NULL)
        return;
    link = &group->lists[method->alike & (group->capacity - 1)];
    while (*link != method)
        link = &(*link)->next_alike;
    *link = method->next_alike;
    if (--group->count == 0)
        group_drop(generic, group);
}

/* ---- current methods ---- */

void kiln__method_link(kiln__method *method)
{
    kiln__generic *generic = method->generic;

    generic->pending = NULL;
    method->is_pending = 0;
    method->previous = NULL;
    method->next = generic->methods;
    if (method->next != NULL)
        method->next->previous = method;
    generic->methods = method;
    generic->overlay_count += method->overlay != NULL;
    if (method->replaces) {
        generic->replacing_count++;
        generic->package->language->replacing_count++;
    }
    if (generic->groups != NULL) {
        if (!groups_put(generic, method))
            groups_dispose(generic);
    } else if (generic->method_count > METHODS_FEW) {
        groups_make(generic);
    }
}

void kiln__method_retire(kiln__method *method, uint64_t last)
{
    kiln__generic *generic = method->generic;

    same_take(generic, method);
    groups_take(generic, method);
    generic->method_count--;
    if (method->previous != NULL)
        method->previous->next = method->next;
    else
        generic->methods = method->next;
    if (method->next != NULL)
        method->next->previous = method->previous;
    atomic_store_explicit(&method->max_world, last, memory_order_relaxed);
    method->next = generic->retired;
    generic->retired = method;
    if (generic->retired_world < last)
        generic->retired_world = last;
}

void kiln__methods_dispose(kiln__generic *generic)
{
    same_dispose(generic);
    groups_dispose(generic);
}

/* ---- methods that may take a call ---- */

static int is_certain(const kiln__method_walk *walk)
{
    const kiln__method_group *group = walk->generic->groups;

    for (; group != NULL; group = group->next)
        if (group->parameter_count == walk->count &&
            (group->mask & walk->soft) != 0)
            return 0;
    return walk->generic->groups != NULL;
}

/* Enters the list of this group, or of the next group that has one. */
static void enter_group(kiln__method_walk *walk,
                        const kiln__method_group *group)
{
    while (group != NULL && group->parameter_count != walk->count)
        group = group->next;
    walk->group = group;
    walk->next = NULL;
    if (group == NULL)
        return;
    walk->alike = call_alike(walk, group->mask);
    walk->next = group->lists[walk->alike & (group->capacity - 1)];
}

void kiln__method_walk_begin(kiln__method_walk *walk)
{
    walk->group = NULL;
    walk->is_last = 0;
    if (!walk->is_full && is_certain(walk))
        enter_group(walk, walk->generic->groups);
    else
        walk->next = walk->generic->methods;
}

/* After the current methods come retired ones that an older world still
   sees. */
static int enter_next(kiln__method_walk *walk)
{
    if (walk->group != NULL) {
        enter_group(walk, walk->group->next);
        return 1;
    }
    if (walk->is_last || walk->world > walk->generic->retired_world)
        return 0;
    walk->is_last = 1;
    walk->next = walk->generic->retired;
    return 1;
}

/* Methods were retired one after the other, and the last one is the first in
   the list. So those after an ended one have ended, too. */
static int has_ended(const kiln__method *method, uint64_t world)
{
    return atomic_load_explicit(&method->max_world, memory_order_relaxed) <
           world;
}

const kiln__method *kiln__method_walk_next(kiln__method_walk *walk)
{
    for (;;) {
        const kiln__method *method = walk->next;

        if (method == NULL) {
            if (!enter_next(walk))
                return NULL;
            continue;
        }
        if (walk->is_last && has_ended(method, walk->world))
            return NULL;
        walk->next = walk->group != NULL ? method->next_alike : method->next;
        if (method->parameter_count == walk->count &&
            (walk->group == NULL || method->alike == walk->alike))
            return method;
    }
}
