/* lower_group_strides.c - loops in which items take turns at elements. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower_rewrite.h"

/*
 *     i = global_id(0)                 i = global_id(0)
 *     while i < n                      base = group_id(0) * local_size(0)
 *         a                            while base < n
 *         i += global_size(0)    =>        at = base + local_id(0)
 *     end                                  if at < n a end
 *                                          base += global_size(0)
 *                                      end
 *
 * On the left, items leave the loop at different times, and each of them walks
 * through memory in large steps. On the right, all items of a group stay in the
 * loop until the first one leaves it, so it may run once for the group, and
 * neighbours have neighbouring elements.
 *
 * This is done where the counter is used in the loop only, the step is the same
 * positive number for all items, nothing else ends the loop, and it is then
 * better outside of the items. A counter that wraps around would take more
 * iterations than any launch has time for: the step is a size of the launch, or
 * small.
 */

#define STEP_MAX 4096 /* of a constant */
#define BITS_MOST 56u /* of a number that is added to an id */
#define DEPTH_MOST 8u

typedef kiln__node_list list;

/* Such a loop. */
typedef struct turns {
    kiln__ir_node block; /* of which the loop is a statement */
    uint32_t loop;
    uint32_t counter;   /* a local */
    uint32_t limit;     /* an expression */
    uint32_t start;     /* the same: of the counter */
    uint32_t step;      /* the same */
    uint32_t increment; /* the loop's last statement */
} turns;

typedef struct strider {
    const kiln__lowering *l;
    const kiln__group_finder *finder;
    kiln__ir *ir;
    int changed;
    kiln__rewrite rewrite;
} strider;

/* ---- what loops are like that ---- */

static const kiln__ir_node *node_at(const strider *s, uint32_t index)
{
    return kiln__ir_node_at(s->ir, index);
}

static uint32_t operand(const strider *s, uint32_t index, size_t i)
{
    return kiln__ir_operand(s->ir, node_at(s, index), i);
}

/* True if the expression is the same for all items, and may be evaluated
   wherever its locals have the same values. */
static int is_plain(const strider *s, uint32_t index)
{
    return s->finder->view->values[index] == KILN__UNIFORM_GROUP &&
           (kiln__lower_effects(s->l, &s->l->functions[0], index) &
            (KILN__READS | KILN__WRITES | KILN__CALLS | KILN__CONVERGENT |
             KILN__RAISES | KILN__COSTS)) == 0;
}

/* True if all locals of the expression have been set for good. */
static int is_settled(const strider *s, uint32_t index)
{
    const kiln__ir_node *node = node_at(s, index);

    if (node->op == KILN__IR_LOCAL &&
        (s->finder->sets[node->imm] == 0 ||
         s->finder->sets[node->imm] > index) &&
        kiln__group_changes(s->ir, s->ir->body, index))
        return 0;
    for (size_t i = 0; i < node->count; i++)
        if (!is_settled(s, kiln__ir_operand(s->ir, node, i)))
            return 0;
    return 1;
}

static int is_query(const kiln__ir_node *node, int64_t query)
{
    return node->op == KILN__IR_QUERY && node->imm / 4 == query;
}

static int is_positive(const strider *s, uint32_t index)
{
    const kiln__ir_node *node = node_at(s, index);

    return (node->op == KILN__IR_CONST && node->imm > 0 &&
            node->imm <= STEP_MAX) ||
           is_query(node, KILN__QUERY_GLOBAL_SIZE) ||
           is_query(node, KILN__QUERY_LOCAL_SIZE);
}

/* Finds what the counter begins with, if the block sets it before the loop, and
   if it is used between there and the loop's end only. */
static int find_start(const strider *s, const kiln__ir_node *block, size_t at,
                      turns *out)
{
    uint32_t set = 0, sets = 0;

    for (size_t i = 0; i < at; i++) {
        const uint32_t index = kiln__ir_operand(s->ir, block, i);

        if (node_at(s, index)->op == KILN__IR_SET &&
            node_at(s, index)->imm == out->counter)
            set = index;
    }
    for (uint32_t i = 1; i < s->ir->nodes.count; i++) {
        const kiln__ir_node *node = node_at(s, i);

        if ((node->op != KILN__IR_SET && node->op != KILN__IR_FOR &&
             node->op != KILN__IR_LOCAL) ||
            node->imm != out->counter)
            continue;
        sets += node->op != KILN__IR_LOCAL;
        if (set == 0 || i < set || i > out->loop)
            return 0;
    }
    if (sets != 2)
        return 0;
    out->start = operand(s, set, 0);
    return 1;
}

/* Looks at the loop's end: `counter += step`. */
static int find_step(const strider *s, turns *out)
{
    const uint32_t body = operand(s, out->loop, 1);
    const kiln__ir_node *block = node_at(s, body), *sum;

    if (block->count == 0)
        return 0;
    out->increment = kiln__ir_operand(s->ir, block, block->count - 1);
    if (node_at(s, out->increment)->op != KILN__IR_SET ||
        node_at(s, out->increment)->imm != out->counter)
        return 0;
    sum = node_at(s, operand(s, out->increment, 0));
    if (sum->op != KILN__IR_ADD)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        const kiln__ir_node *counter = kiln__ir_operand_at(s->ir, sum, i);

        out->step = kiln__ir_operand(s->ir, sum, 1 - i);
        if (counter->op == KILN__IR_LOCAL && counter->imm == out->counter)
            return is_positive(s, out->step);
    }
    return 0;
}

/* True for `counter < limit`, of numbers as ids are. */
static int find_limit(const strider *s, turns *out)
{
    const kiln__ir_node *node = node_at(s, out->loop), *condition, *counter;
    int is_less;

    if (node->op != KILN__IR_WHILE)
        return 0;
    condition = kiln__ir_operand_at(s->ir, node, 0);
    is_less = condition->op == KILN__IR_LT;
    if (!is_less && condition->op != KILN__IR_GT)
        return 0;
    counter = kiln__ir_operand_at(s->ir, condition, is_less ? 0 : 1);
    if (counter->op != KILN__IR_LOCAL ||
        kiln__ir_kind(s->ir, counter->type) != KILN_TYPE_I64)
        return 0;
    out->counter = (uint32_t)counter->imm;
    out->limit = kiln__ir_operand(s->ir, condition, is_less ? 1 : 0);
    return out->counter >= s->ir->parameter_count && is_plain(s, out->limit) &&
           !kiln__group_changes(s->ir, out->loop, out->limit);
}

static int is_own_id(const kiln__ir_node *node)
{
    return node->imm % 4 == 0 && (is_query(node, KILN__QUERY_GLOBAL_ID) ||
                                  is_query(node, KILN__QUERY_LOCAL_ID));
}

static int is_statement_of(const strider *s, const kiln__ir_node *block,
                           uint32_t index)
{
    for (size_t i = 0; i < block->count; i++)
        if (kiln__ir_operand(s->ir, block, i) == index)
            return 1;
    return 0;
}

/* Returns the value of a local that is set once, before the node, and whatever
   the item's way to the loop; else the node itself. */
static uint32_t value_of(const strider *s, const turns *of, uint32_t index)
{
    const kiln__ir_node *node = node_at(s, index);
    const uint32_t set =
        node->op == KILN__IR_LOCAL ? s->finder->sets[node->imm] : 0;

    return set != 0 && set < index &&
                   (is_statement_of(s, &of->block, set - 1) ||
                    is_statement_of(s, node_at(s, s->ir->body), set - 1))
               ? operand(s, set - 1, 0)
               : index;
}

/* Returns which operand of a sum is the same for all items, or 2. */
static size_t fixed_part(const strider *s, const kiln__ir_node *sum)
{
    size_t i = sum->op == KILN__IR_ADD ? 0 : 2;

    while (i < 2 && (!is_plain(s, kiln__ir_operand(s->ir, sum, i)) ||
                     !is_settled(s, kiln__ir_operand(s->ir, sum, i))))
        i++;
    return i;
}

/* How many bits a number that is the same for all items has at most, with its
   sign; sizes are those of memory. */
static unsigned bits_of(const strider *s, const turns *of, uint32_t index,
                        unsigned depth)
{
    const kiln__ir_node *node = node_at(s, value_of(s, of, index));
    const unsigned all = 64;
    unsigned a, b;

    switch ((uint32_t)node->op) {
    case KILN__IR_CONST:
        return node->imm >= -STEP_MAX && node->imm <= STEP_MAX ? 14 : all;
    case KILN__IR_QUERY:
    case KILN__IR_LENGTH:
    case KILN__IR_SIZE:
        return 42;
    case KILN__IR_CONVERT:
        return kiln__scalar_of(
                   kiln__ir_kind(s->ir,
                                 kiln__ir_operand_at(s->ir, node, 0)->type))
                   ->bits +
               1u;
    case KILN__IR_ADD:
    case KILN__IR_SUB:
    case KILN__IR_MUL:
        break;
    default:
        return all;
    }
    if (depth == DEPTH_MOST)
        return all;
    a = bits_of(s, of, kiln__ir_operand(s->ir, node, 0), depth + 1);
    b = bits_of(s, of, kiln__ir_operand(s->ir, node, 1), depth + 1);
    return node->op == KILN__IR_MUL ? a + b : (a > b ? a : b) + 1;
}

/* True if the expression is the item's id and what is the same for all, and
   small: where a sum wraps around, neighbours are not one apart. */
static int has_id(const strider *s, const turns *of, uint32_t index)
{
    const kiln__ir_node *node = node_at(s, value_of(s, of, index));
    const size_t fixed = is_own_id(node) ? 2 : fixed_part(s, node);

    return is_own_id(node) ||
           (fixed < 2 &&
            bits_of(s, of, kiln__ir_operand(s->ir, node, fixed), 0) <=
                BITS_MOST &&
            has_id(s, of, kiln__ir_operand(s->ir, node, 1 - fixed)));
}

/* Looks at statement `at` of the block. */
static int find_turns(const strider *s, const kiln__ir_node *block, size_t at,
                      turns *out)
{
    *out = (turns){.block = *block, .loop = kiln__ir_operand(s->ir, block, at)};
    return find_limit(s, out) && find_step(s, out) &&
           find_start(s, block, at, out) && has_id(s, out, out->start) &&
           kiln__group_strides_fit(s->finder, operand(s, out->loop, 1),
                                   out->counter);
}

/* ---- the new loop ---- */

/* The types that new nodes have. */
typedef struct types {
    uint32_t number;
    uint32_t truth;
    uint32_t nothing;
} types;

static uint32_t add_local(strider *s, uint32_t type)
{
    uint32_t local = 0;

    if (kiln__ir_add_local(s->ir, "", type, &local) != KILN_OK)
        s->rewrite.no_memory = 1;
    return local;
}

static uint32_t leaf(strider *s, kiln__ir_op op, uint32_t type, int64_t imm)
{
    const kiln__ir_node node = {.op = (uint16_t)op, .type = type, .imm = imm};

    return kiln__rewrite_add(&s->rewrite, node, NULL, 0);
}

static uint32_t pair(strider *s, kiln__ir_op op, uint32_t type, uint32_t a,
                     uint32_t b)
{
    const kiln__ir_node node = {.op = (uint16_t)op, .type = type};
    const uint32_t parts[2] = {a, b};

    return kiln__rewrite_add(&s->rewrite, node, parts, 2);
}

static uint32_t set(strider *s, const types *t, uint32_t local, uint32_t value)
{
    const kiln__ir_node node = {
        .op = KILN__IR_SET, .type = t->nothing, .imm = local};

    return kiln__rewrite_add(&s->rewrite, node, &value, 1);
}

/* Makes what has_id() has found, for the group's first item. */
static uint32_t first_start(strider *s, const types *t, const turns *of,
                            uint32_t index)
{
    const kiln__ir_node node = *node_at(s, value_of(s, of, index));
    const size_t fixed = is_own_id(&node) ? 0 : fixed_part(s, &node);

    if (is_query(&node, KILN__QUERY_LOCAL_ID))
        return leaf(s, KILN__IR_CONST, t->number, 0);
    if (is_own_id(&node))
        return pair(
            s, KILN__IR_MUL, t->number,
            leaf(s, KILN__IR_QUERY, t->number, 4 * KILN__QUERY_GROUP_ID),
            leaf(s, KILN__IR_QUERY, t->number, 4 * KILN__QUERY_LOCAL_SIZE));
    return pair(
        s, KILN__IR_ADD, t->number,
        kiln__group_copy(&s->rewrite, s->l,
                         kiln__ir_operand(s->ir, &node, fixed)),
        first_start(s, t, of, kiln__ir_operand(s->ir, &node, 1 - fixed)));
}

static void rename_local(strider *s, uint32_t index, int64_t from, int64_t to)
{
    kiln__ir_node *node = &s->ir->nodes.items[index];

    if (node->op == KILN__IR_LOCAL && node->imm == from)
        node->imm = to;
    for (size_t i = 0; i < node->count; i++)
        rename_local(s, kiln__ir_operand(s->ir, node, i), from, to);
}

static uint32_t is_below_limit(strider *s, const types *t, const turns *of,
                               uint32_t local)
{
    return pair(s, KILN__IR_LT, t->truth,
                leaf(s, KILN__IR_LOCAL, t->number, local),
                kiln__group_copy(&s->rewrite, s->l, of->limit));
}

/* Returns the old loop's body without the increment, under a condition. */
static uint32_t guarded_body(strider *s, const types *t, const turns *of,
                             uint32_t at)
{
    const kiln__ir_node block = *node_at(s, operand(s, of->loop, 1));
    list body = {NULL, 0, 0};
    uint32_t made;

    for (size_t i = 0; i + 1 < block.count; i++) {
        const uint32_t statement = kiln__ir_operand(s->ir, &block, i);

        rename_local(s, statement, of->counter, at);
        kiln__rewrite_append(&s->rewrite, &body, statement);
    }
    made = pair(s, KILN__IR_IF, t->nothing, is_below_limit(s, t, of, at),
                kiln__rewrite_block(&s->rewrite, &body));
    kiln__rewrite_dispose(&s->rewrite, &body);
    return made;
}

static uint32_t new_loop(strider *s, const types *t, const turns *of,
                         uint32_t base)
{
    const uint32_t at = add_local(s, t->number);
    const uint32_t id =
        leaf(s, KILN__IR_QUERY, t->number, 4 * KILN__QUERY_LOCAL_ID);
    list body = {NULL, 0, 0};
    uint32_t made;

    kiln__rewrite_append(
        &s->rewrite, &body,
        set(s, t, at,
            pair(s, KILN__IR_ADD, t->number,
                 leaf(s, KILN__IR_LOCAL, t->number, base), id)));
    kiln__rewrite_append(&s->rewrite, &body, guarded_body(s, t, of, at));
    kiln__rewrite_append(
        &s->rewrite, &body,
        set(s, t, base,
            pair(s, KILN__IR_ADD, t->number,
                 leaf(s, KILN__IR_LOCAL, t->number, base),
                 kiln__group_copy(&s->rewrite, s->l, of->step))));
    made = pair(s, KILN__IR_WHILE, t->nothing, is_below_limit(s, t, of, base),
                kiln__rewrite_block(&s->rewrite, &body));
    s->ir->nodes.items[made].flags |= KILN__GROUP_TURNS;
    kiln__rewrite_dispose(&s->rewrite, &body);
    return made;
}

/* Adds the loop in its new form. */
static void add_turns(strider *s, const turns *of, list *out)
{
    const types t = {.number = node_at(s, of->limit)->type,
                     .truth = node_at(s, operand(s, of->loop, 0))->type,
                     .nothing = node_at(s, of->loop)->type};
    const uint32_t base = add_local(s, t.number);

    s->changed = 1;
    kiln__rewrite_append(&s->rewrite, out,
                         set(s, &t, base, first_start(s, &t, of, of->start)));
    kiln__rewrite_append(&s->rewrite, out, new_loop(s, &t, of, base));
}

/* ---- the function ---- */

static void rewrite_node(strider *s, uint32_t index);

/* Gives the block its statements in their new form. */
static void rewrite_block(strider *s, uint32_t index)
{
    const kiln__ir_node block = *node_at(s, index);
    list out = {NULL, 0, 0};
    turns found;
    int changed = 0;

    for (size_t i = 0; i < block.count && !s->rewrite.no_memory; i++) {
        const uint32_t statement = kiln__ir_operand(s->ir, &block, i);

        if (find_turns(s, &block, i, &found)) {
            changed = 1;
            add_turns(s, &found, &out);
            continue;
        }
        rewrite_node(s, statement);
        kiln__rewrite_append(&s->rewrite, &out, statement);
    }
    if (changed && !s->rewrite.no_memory) {
        const uint32_t made = kiln__rewrite_block(&s->rewrite, &out);

        s->ir->nodes.items[index].count = node_at(s, made)->count;
        s->ir->nodes.items[index].operands = node_at(s, made)->operands;
    }
    kiln__rewrite_dispose(&s->rewrite, &out);
}

static void rewrite_node(strider *s, uint32_t index)
{
    const kiln__ir_node node = *node_at(s, index);

    if (node.op == KILN__IR_BLOCK)
        rewrite_block(s, index);
    else
        for (size_t i = 0; i < node.count && !s->rewrite.no_memory; i++)
            rewrite_node(s, kiln__ir_operand(s->ir, &node, i));
}

kiln_status kiln__group_turn_strides(const kiln__group_finder *finder,
                                     int *changed)
{
    const kiln__lowering *l = finder->l;
    kiln__ir *ir = &l->functions[0].ir;
    strider s = {.l = l, .finder = finder, .ir = ir, .rewrite = {ir, 0}};

    rewrite_node(&s, ir->body);
    *changed = s.changed;
    return s.rewrite.no_memory
               ? kiln__job_fail(l->job, KILN_ENOMEM, "out of memory")
               : KILN_OK;
}
