/* target_check.c - finds what a kernel uses and its target lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "context/targets/target_check.h"
#include "ir/ir_tables.h"

/* ---- findings ---- */

static int is_full(const kiln__device_check *c)
{
    return c->finding_count == KILN__DEVICE_FINDINGS_MAX;
}

static void add_finding(kiln__device_check *c, size_t function, uint32_t node,
                        const char *code, const char *hint, const char *message)
{
    if (!is_full(c) && !c->arena.failed)
        c->findings[c->finding_count++] =
            (kiln__device_finding){.function = function,
                                   .node = node,
                                   .code = code,
                                   .message = message,
                                   .hint = hint};
}

static const char *option_hint(kiln__device_check *c, const char *option)
{
    return option == NULL
               ? NULL
               : kiln__arena_format(
                     &c->arena, "a target with the option %s has it", option);
}

/* ---- the path from the kernel ---- */

/* A callee comes after its first caller in the closure, so one pass finds all
   functions except those that only recursion reaches. */
static int find_calls(kiln__device_check *c)
{
    c->calls =
        kiln__arena_allocate_array(&c->arena, c->count, sizeof *c->calls);
    if (c->calls == NULL)
        return 0;
    for (size_t f = 0; f < c->count; f++) {
        const kiln__ir *ir = c->functions[f].ir;

        for (uint32_t i = 1; i < ir->nodes.count; i++) {
            const kiln__ir_node *node = kiln__ir_node_at(ir, i);
            size_t callee;

            if (node->op != KILN__IR_CALL)
                continue;
            callee = c->functions[f].callees[node->imm];
            if (callee != 0 && callee > f && c->calls[callee].node == 0)
                c->calls[callee] = (kiln__device_call){f, i};
        }
    }
    return 1;
}

/* ---- the launch ---- */

static const char *list_arguments(kiln__device_check *c,
                                  const kiln__device_launch *launch)
{
    const char *list = "";

    for (size_t i = 0; list != NULL && i < launch->argument_count; i++) {
        const kiln_argument_info *argument = &launch->arguments[i];

        if (argument->size > 0)
            list = kiln__arena_format(&c->arena,
                                      "%s%sargument %zu, %s: %u at "
                                      "%u",
                                      list, *list != '\0' ? "; " : "", i + 1,
                                      argument->type, (unsigned)argument->size,
                                      (unsigned)argument->offset);
    }
    return list;
}

static const char *argument_hint(kiln__device_check *c,
                                 const kiln__device_launch *launch)
{
    const char *list = list_arguments(c, launch);
    const char *option = c->limits->options[2];

    if (list == NULL || option == NULL)
        return list;
    return kiln__arena_format(
        &c->arena, "a target with the option %s takes more; %s", option, list);
}

static void check_arguments(kiln__device_check *c,
                            const kiln__device_launch *launch)
{
    const uint64_t most = c->limits->argument_bytes;
    const uint32_t parameters = c->limits->parameters;

    if (most != 0 && launch->argument_bytes > most)
        add_finding(
            c, 0, 0, "too-many-arguments", argument_hint(c, launch),
            kiln__arena_format(&c->arena,
                               "arguments take %llu bytes, and a kernel for "
                               "%s takes at most %llu",
                               (unsigned long long)launch->argument_bytes,
                               c->limits->target, (unsigned long long)most));
    else if (parameters != 0 && launch->parameters > parameters)
        add_finding(
            c, 0, 0, "too-many-arguments", argument_hint(c, launch),
            kiln__arena_format(&c->arena,
                               "arguments are %llu parameters, an array's "
                               "sizes and strides among them, and a kernel "
                               "for %s takes at most %u",
                               (unsigned long long)launch->parameters,
                               c->limits->target, parameters));
}

static void check_group(kiln__device_check *c,
                        const kiln__device_launch *launch)
{
    uint32_t group[3];
    const uint32_t most = c->limits->group_items;
    const uint32_t deepest = c->limits->group_depth;
    uint64_t items = 1;

    for (int d = 0; d < 3; d++) {
        const uint32_t size = launch->required_group_size[d];

        group[d] = size != 0 ? size : 1;
        items *= group[d];
    }
    if (most != 0 && items > most)
        add_finding(c, 0, 0, "group-too-large", NULL,
                    kiln__arena_format(
                        &c->arena,
                        "a group of %u x %u x %u items is asked for, "
                        "and one on %s has at most %u",
                        group[0], group[1], group[2], c->limits->target, most));
    else if (deepest != 0 && group[2] > deepest)
        add_finding(
            c, 0, 0, "group-too-large", NULL,
            kiln__arena_format(&c->arena,
                               "a group of %u items along its last dimension "
                               "is asked for, and one on %s has at most %u",
                               group[2], c->limits->target, deepest));
    if (launch->maximum_group_size != 0 && items > launch->maximum_group_size)
        add_finding(
            c, 0, 0, "group-too-large", NULL,
            kiln__arena_format(
                &c->arena,
                "a group of %u x %u x %u items is asked for, and groups "
                "of up to %u",
                group[0], group[1], group[2], launch->maximum_group_size));
    if (most != 0 && launch->maximum_group_size > most)
        add_finding(c, 0, 0, "group-too-large", NULL,
                    kiln__arena_format(
                        &c->arena,
                        "groups of up to %u items are asked for, and "
                        "one on %s has at most %u",
                        launch->maximum_group_size, c->limits->target, most));
}

/* ---- types ---- */

/* True if a value of the type contains one of the kind. The elements of an
   array are elsewhere and do not count. */
static int holds(const kiln__ir *ir, uint32_t type, int32_t kind)
{
    const kiln__ir_type *t = kiln__ir_type_at(ir, type);

    if (t->kind == kind)
        return 1;
    if (t->kind == KILN_TYPE_VECTOR)
        return holds(ir, t->element, kind);
    if (t->kind == KILN_TYPE_STRUCT || t->kind == KILN_TYPE_TUPLE)
        for (uint32_t i = 0; i < t->length; i++)
            if (holds(ir, ir->type_fields.items[t->fields + i], kind))
                return 1;
    return 0;
}

/* The first one in the source text, or the first one of all if none has a
   place. */
static uint32_t first_of_kind(const kiln__ir *ir, int32_t kind)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < ir->nodes.count; i++) {
        const kiln__ir_node *node = kiln__ir_node_at(ir, i);

        if (!holds(ir, node->type, kind))
            continue;
        if (first == 0 ||
            (node->ordinal != 0 &&
             (kiln__ir_node_at(ir, first)->ordinal == 0 ||
              node->ordinal < kiln__ir_node_at(ir, first)->ordinal)))
            first = i;
    }
    return first;
}

static int takes_kind(const kiln__ir *ir, int32_t kind)
{
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        if (holds(ir, ir->locals.items[i].type, kind))
            return 1;
    return 0;
}

static void check_kind(kiln__device_check *c, size_t f, int32_t kind)
{
    const kiln__ir *ir = c->functions[f].ir;
    const uint32_t node = first_of_kind(ir, kind);

    if (node == 0 && !takes_kind(ir, kind))
        return;
    add_finding(c, f, node, "unsupported-type",
                option_hint(c, c->limits->kinds[kind]),
                kiln__arena_format(&c->arena, "%s has no %s", c->limits->target,
                                   kiln__kind_name(kind)));
}

/* ---- operations ---- */

static void check_atomic(kiln__device_check *c, size_t f, uint32_t i)
{
    const kiln__ir *ir = c->functions[f].ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, i);
    const uint32_t array = kiln__ir_operand_at(ir, node, 0)->type;
    const int32_t kind =
        kiln__ir_kind(ir, kiln__ir_type_at(ir, array)->element);
    const unsigned width = kiln__kind_width(kind);
    const char *name = kiln__ir_atomic[node->imm].text;

    if (width == 64 && !c->limits->has_wide_atomics)
        add_finding(
            c, f, i, "unsupported-atomic",
            option_hint(c, c->limits->options[0]),
            kiln__arena_format(&c->arena,
                               "%s has no atomic operations of 64 bits, as "
                               "`%s` on %s is",
                               c->limits->target, name, kiln__kind_name(kind)));
    else if (width < 32 && !c->limits->has_small_atomics)
        add_finding(
            c, f, i, "unsupported-atomic", "elements of 32 bits can be used so",
            kiln__arena_format(&c->arena,
                               "%s has no atomic operations of %u bits, as "
                               "`%s` on %s is",
                               c->limits->target, width, name,
                               kiln__kind_name(kind)));
}

static int is_of_sub_group(const kiln__ir_node *node)
{
    if (node->op == KILN__IR_QUERY) {
        const int64_t query = node->imm / 4;

        return query == KILN__QUERY_SUB_GROUP_SIZE ||
               query == KILN__QUERY_SUB_GROUP_ID ||
               query == KILN__QUERY_LANE_ID;
    }
    return node->op == KILN__IR_GROUP &&
           kiln__ir_collective(node) == KILN__COLLECTIVE_SUB_GROUP;
}

static void check_sub_group(kiln__device_check *c, size_t f, uint32_t i)
{
    const kiln__ir_node *node = kiln__ir_node_at(c->functions[f].ir, i);
    const char *name = node->op == KILN__IR_QUERY
                           ? kiln__ir_query[node->imm / 4].text
                           : kiln__ir_group[node->imm].text;

    if (!c->limits->has_sub_groups)
        add_finding(c, f, i, "unsupported-sub-group",
                    option_hint(c, c->limits->options[1]),
                    kiln__arena_format(&c->arena,
                                       "%s has no sub-groups, which `%s` "
                                       "is about",
                                       c->limits->target, name));
}

static void check_function(kiln__device_check *c, size_t f)
{
    const kiln__ir *ir = c->functions[f].ir;

    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (c->limits->kinds[kind] != NULL)
            check_kind(c, f, kind);
    for (uint32_t i = 1; i < ir->nodes.count && !is_full(c); i++) {
        const kiln__ir_node *node = kiln__ir_node_at(ir, i);

        if (node->op == KILN__IR_ATOMIC)
            check_atomic(c, f, i);
        else if (is_of_sub_group(node))
            check_sub_group(c, f, i);
    }
}

/* ---- recursion ---- */

typedef struct frame {
    size_t function;
    uint32_t next; /* the next node to look at */
} frame;

enum { UNSEEN, OPEN, DONE };

static void found_cycle(kiln__device_check *c, const frame *at, size_t callee)
{
    const char *name = c->functions[callee].ir->name;

    add_finding(
        c, at->function, at->next - 1, "unsupported-recursion",
        "a loop does the same",
        kiln__arena_format(&c->arena,
                           at->function == callee
                               ? "`%s` calls itself, and %s has no recursion"
                               : "`%s` is called again from within, and %s "
                                 "has no recursion",
                           name, c->limits->target));
}

/* Follows one call, or marks the function as done. */
static int step(kiln__device_check *c, frame *stack, size_t *depth,
                uint8_t *states)
{
    frame *at = &stack[*depth - 1];
    const kiln__uniform_function *function = &c->functions[at->function];

    while (at->next < function->ir->nodes.count) {
        const kiln__ir_node *node = kiln__ir_node_at(function->ir, at->next++);
        size_t callee;

        if (node->op != KILN__IR_CALL)
            continue;
        callee = function->callees[node->imm];
        if (states[callee] == OPEN)
            found_cycle(c, at, callee);
        if (states[callee] != UNSEEN)
            continue;
        states[callee] = OPEN;
        stack[(*depth)++] = (frame){callee, 1};
        return 1;
    }
    return 0;
}

static void check_recursion(kiln__device_check *c)
{
    frame *stack =
        kiln__arena_allocate_array(&c->arena, c->count + 1, sizeof *stack);
    uint8_t *states = kiln__arena_allocate(&c->arena, c->count);
    size_t depth = 1;

    if (stack == NULL || states == NULL)
        return;
    stack[0] = (frame){0, 1};
    states[0] = OPEN;
    while (depth > 0)
        if (!step(c, stack, &depth, states))
            states[stack[--depth].function] = DONE;
}

/* ---- memory of a group ---- */

static uint64_t bytes_of(const kiln__ir *ir, uint32_t type, uint64_t *alignment)
{
    const kiln__ir_type *t = kiln__ir_type_at(ir, type);
    uint64_t size = 0, most = 1;

    if (t->kind == KILN_TYPE_VECTOR)
        return t->length * bytes_of(ir, t->element, alignment);
    if (t->kind != KILN_TYPE_STRUCT && t->kind != KILN_TYPE_TUPLE) {
        size = kiln__kind_bytes(t->kind);
        *alignment = size != 0 ? size : 1;
        return size;
    }
    for (uint32_t i = 0; i < t->length; i++) {
        uint64_t own = 1;
        const uint64_t bytes =
            bytes_of(ir, ir->type_fields.items[t->fields + i], &own);

        size = (size + own - 1) / own * own + bytes;
        most = own > most ? own : most;
    }
    *alignment = most;
    return (size + most - 1) / most * most;
}

static uint64_t array_bytes(const kiln__ir *ir, const kiln__ir_node *node)
{
    uint64_t alignment;
    uint64_t bytes =
        bytes_of(ir, kiln__ir_type_at(ir, node->type)->element, &alignment);

    for (size_t i = 0; i < node->count; i++)
        if (__builtin_mul_overflow(
                bytes, (uint64_t)kiln__ir_operand_at(ir, node, i)->imm, &bytes))
            return UINT64_MAX;
    /* Each array begins at a multiple of 8. */
    return bytes > UINT64_MAX - 7 ? UINT64_MAX : (bytes + 7) & ~(uint64_t)7;
}

/* Reports the first array that exceeds the limit, once. */
static void check_local(kiln__device_check *c)
{
    const uint64_t most = c->limits->local_bytes;
    uint64_t sum = 0;

    if (most == 0)
        return;
    for (size_t f = 0; f < c->count; f++) {
        const kiln__ir *ir = c->functions[f].ir;

        for (uint32_t i = 1; i < ir->nodes.count; i++) {
            const kiln__ir_node *node = kiln__ir_node_at(ir, i);

            if (node->op != KILN__IR_LOCAL_ARRAY)
                continue;
            if (__builtin_add_overflow(sum, array_bytes(ir, node), &sum))
                sum = UINT64_MAX;
            if (sum <= most)
                continue;
            add_finding(
                c, f, i, "local-memory", NULL,
                kiln__arena_format(&c->arena,
                                   "with this one local arrays take %llu "
                                   "bytes, and a group on %s has %llu",
                                   (unsigned long long)sum, c->limits->target,
                                   (unsigned long long)most));
            return;
        }
    }
}

/* ---- all of it ---- */

kiln_status kiln__device_check_run(kiln__device_check *c,
                                   const kiln_alloc *alloc,
                                   const kiln__device_limits *limits,
                                   const kiln__uniform_function *functions,
                                   size_t count,
                                   const kiln__device_launch *launch)
{
    *c = (kiln__device_check){
        .limits = limits, .functions = functions, .count = count};
    kiln__arena_init(&c->arena, alloc);
    if (!find_calls(c))
        return KILN_ENOMEM;
    check_arguments(c, launch);
    check_group(c, launch);
    for (size_t f = 0; f < count; f++)
        check_function(c, f);
    check_local(c);
    if (!limits->has_recursion)
        check_recursion(c);
    return c->arena.failed ? KILN_ENOMEM : KILN_OK;
}

void kiln__device_check_dispose(kiln__device_check *c)
{
    kiln__arena_dispose(&c->arena);
}
