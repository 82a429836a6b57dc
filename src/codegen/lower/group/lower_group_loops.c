/* lower_group_loops.c - finds loops that are better outside of the items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

/*
 * Take a loop that all items of a group run together, in which neighbours read
 * and write neighbouring elements. It cannot be vectorised itself, since its
 * iterations access elements that lie far apart. Run once for the group, with
 * the items inside, each iteration is a loop over neighbours. (A dot product
 * with a stride of the whole grid became 3 to 33 times as fast, a plain matrix
 * product twice.) Items do not race, so their iterations may run in any order.
 *
 * This is done in a kernel without collective operations, for FOR loops of some
 * length under uniform control (lower_group_guards.c makes it uniform). Every
 * access in the loop must be either the same for the items of a row or at a
 * distance of one element, and its callees must only compute. At least one
 * access has to be of the second sort; or a float is summed up, in an order
 * that vectors would not keep; or an integer goes from one iteration to the
 * next and is not just a sum, as the state of a generator of random numbers.
 * What is loaded from places that were loaded themselves may be anywhere.
 */

#define FEW_ITERATIONS 16 /* LLVM unrolls these */

typedef enum stride {
    STRIDE_NONE, /* the same along the innermost dimension */
    STRIDE_ONE,
    STRIDE_OTHER
} stride;

typedef kiln__group_finder finder;

/* What makes it worth while to move a loop. */
typedef struct reasons {
    int neighbours; /* some access is at STRIDE_ONE */
    int floats;     /* it accumulates floats, in order: no vectors */
    int gathers;    /* some load is from a place that was loaded */
    int chains;     /* integers that vectors of iterations cannot compute */
} reasons;

static stride stride_of(const finder *f, uint32_t index, unsigned depth);

static stride sum_stride(const finder *f, const kiln__ir_node *node,
                         unsigned depth)
{
    const stride a = stride_of(f, kiln__ir_operand(f->ir, node, 0), depth);
    const stride b = stride_of(f, kiln__ir_operand(f->ir, node, 1), depth);

    if (b == STRIDE_NONE)
        return a;
    return a == STRIDE_NONE && node->op == KILN__IR_ADD ? b : STRIDE_OTHER;
}

static stride query_stride(const finder *f, const kiln__ir_node *node)
{
    const int64_t query = node->imm / 4;

    if (query != KILN__QUERY_GLOBAL_ID && query != KILN__QUERY_LOCAL_ID)
        return STRIDE_OTHER;
    return node->imm % 4 == f->l->job->inner_dimension ? STRIDE_ONE
                                                       : STRIDE_NONE;
}

/* Returns the stride of a counter. It is the same for all items where the
   loop's bounds are, also under a guard that is yet to be moved. */
static stride counter_stride(const finder *f, uint32_t loop, unsigned depth)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, loop);

    for (size_t i = 0; i < 2; i++)
        if (stride_of(f, kiln__ir_operand(f->ir, node, i), depth) !=
            STRIDE_NONE)
            return STRIDE_OTHER;
    return STRIDE_NONE;
}

/* Returns by how much the value differs between neighbours in the innermost
   loop. */
static stride stride_of(const finder *f, uint32_t index, unsigned depth)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (node->op == KILN__IR_LOCAL && node->imm + 1 == (int64_t)f->strided)
        return STRIDE_ONE;
    if (f->view->values[index] == KILN__UNIFORM_GROUP)
        return STRIDE_NONE;
    if (depth > 16)
        return STRIDE_OTHER;
    switch ((uint32_t)node->op) {
    case KILN__IR_QUERY:
        return query_stride(f, node);
    case KILN__IR_ADD:
    case KILN__IR_SUB:
        return sum_stride(f, node, depth + 1);
    case KILN__IR_MUL:
        return sum_stride(f, node, depth + 1) == STRIDE_NONE ? STRIDE_NONE
                                                             : STRIDE_OTHER;
    case KILN__IR_CONVERT: /* also of an i32, which hardly ever wraps */
        return stride_of(f, kiln__ir_operand(f->ir, node, 0), depth + 1);
    case KILN__IR_LOCAL:
        if (f->loops[node->imm] != 0)
            return counter_stride(f, f->loops[node->imm] - 1, depth + 1);
        if (f->sets[node->imm] == 0)
            return STRIDE_OTHER;
        return stride_of(
            f,
            kiln__ir_operand(
                f->ir, kiln__ir_node_at(f->ir, f->sets[node->imm] - 1), 0),
            depth + 1);
    default:
        return STRIDE_OTHER;
    }
}

/* True if the value comes from memory. Elements at such places have to be
   gathered, whatever is inside of what. */
static int is_loaded(const finder *f, uint32_t index, unsigned depth)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (node->op == KILN__IR_LOAD)
        return 1;
    if (depth > 16)
        return 0;
    if (node->op == KILN__IR_LOCAL && f->sets[node->imm] != 0)
        return is_loaded(
            f,
            kiln__ir_operand(
                f->ir, kiln__ir_node_at(f->ir, f->sets[node->imm] - 1), 0),
            depth + 1);
    for (size_t i = 0; i < node->count; i++)
        if (is_loaded(f, kiln__ir_operand(f->ir, node, i), depth + 1))
            return 1;
    return 0;
}

static int access_fits(const finder *f, const kiln__ir_node *node, reasons *r)
{
    const kiln__ir_node *array = kiln__ir_operand_at(f->ir, node, 0);
    const uint32_t rank = kiln__ir_type_at(f->ir, array->type)->length;
    int is_gathered = 0, is_next = 0;

    if (f->view->values[kiln__ir_operand(f->ir, node, 0)] !=
        KILN__UNIFORM_GROUP)
        return 0;
    for (size_t i = 1; i <= rank; i++) {
        const uint32_t index = kiln__ir_operand(f->ir, node, i);
        const stride s = stride_of(f, index, 0);

        if (s == STRIDE_OTHER && node->op == KILN__IR_LOAD &&
            is_loaded(f, index, 0))
            is_gathered = 1;
        else if (s == STRIDE_OTHER || (s == STRIDE_ONE && i > 1))
            return 0;
        is_next |= s == STRIDE_ONE;
    }
    r->neighbours |= is_next && !is_gathered;
    r->gathers |= is_gathered;
    return 1;
}

/* True when the callee only computes. */
static int call_fits(const finder *f, const kiln__ir_node *node)
{
    return (kiln__lower_effect(f->l, &f->l->functions[0], node) &
            (KILN__READS | KILN__WRITES | KILN__PRINTS | KILN__CONVERGENT |
             KILN__SHARES | KILN__RECURS)) == 0;
}

static int mentions(const finder *f, uint32_t index, int64_t local)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (node->op == KILN__IR_LOCAL && node->imm == local)
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (mentions(f, kiln__ir_operand(f->ir, node, i), local))
            return 1;
    return 0;
}

/* True for `s = s op e` where vectors can add up parts of it. */
static int is_reduction(const finder *f, const kiln__ir_node *value,
                        int64_t local)
{
    int count = 0;

    if (value->op != KILN__IR_ADD && value->op != KILN__IR_SUB &&
        value->op != KILN__IR_MUL && value->op != KILN__IR_AND &&
        value->op != KILN__IR_OR && value->op != KILN__IR_XOR &&
        value->op != KILN__IR_MATH)
        return 0;
    for (size_t i = 0; i < value->count; i++) {
        const uint32_t operand = kiln__ir_operand(f->ir, value, i);

        if (kiln__ir_node_at(f->ir, operand)->op != KILN__IR_LOCAL)
            count += 2 * mentions(f, operand, local);
        else
            count += mentions(f, operand, local);
    }
    return count == 1;
}

/* Notes what the SET tells of the order of iterations. */
static void note_set(const finder *f, const kiln__ir_node *set, reasons *r)
{
    const kiln__ir_type *type =
        kiln__ir_type_at(f->ir, f->ir->locals.items[set->imm].type);
    const uint32_t value = kiln__ir_operand(f->ir, set, 0);

    if (kiln__kind_is_float(type->kind))
        r->floats = 1;
    else if (kiln__kind_is_integer(type->kind) &&
             mentions(f, value, set->imm) &&
             !is_reduction(f, kiln__ir_node_at(f->ir, value), set->imm))
        r->chains = 1;
}

/* True when nothing in the loop prevents moving it. */
static int fits(const finder *f, uint32_t index, reasons *r)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (kiln__ir_collective(node) != KILN__COLLECTIVE_NONE)
        return 0;
    switch ((uint32_t)node->op) {
    case KILN__IR_PRINT:
    case KILN__IR_FENCE:
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
    case KILN__IR_RETURN:
        return 0;
    case KILN__IR_CALL:
        if (!call_fits(f, node))
            return 0;
        break;
    case KILN__IR_SET:
        note_set(f, node, r);
        break;
    case KILN__IR_LOAD:
    case KILN__IR_STORE:
        if (!access_fits(f, node, r))
            return 0;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < node->count; i++)
        if (!fits(f, kiln__ir_operand(f->ir, node, i), r))
            return 0;
    return 1;
}

static int has_few_iterations(const finder *f, const kiln__ir_node *node)
{
    const kiln__ir_node *low = kiln__ir_operand_at(f->ir, node, 0);
    const kiln__ir_node *high = kiln__ir_operand_at(f->ir, node, 1);
    const int64_t step = kiln__ir_operand_at(f->ir, node, 2)->imm;

    return low->op == KILN__IR_CONST && high->op == KILN__IR_CONST &&
           step > 0 && low->imm > INT32_MIN && low->imm < INT32_MAX &&
           high->imm <= low->imm + FEW_ITERATIONS * (step < 64 ? step : 64);
}

int kiln__group_strides_fit(const kiln__group_finder *f, uint32_t block,
                            uint32_t counter)
{
    kiln__group_finder with_counter = *f;
    reasons r = {0};

    with_counter.strided = counter + 1;
    return fits(&with_counter, block, &r) && r.neighbours;
}

/* True when the bounds of the FOR loop are the same for all items. */
static int counts_alike(const finder *f, const kiln__ir_node *node)
{
    return f->view->values[kiln__ir_operand(f->ir, node, 0)] ==
               KILN__UNIFORM_GROUP &&
           f->view->values[kiln__ir_operand(f->ir, node, 1)] ==
               KILN__UNIFORM_GROUP;
}

int kiln__group_loop_is_wide(const kiln__group_finder *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);
    reasons r = {0};

    return node->op == KILN__IR_FOR && counts_alike(f, node) &&
           fits(f, index, &r) && !r.gathers;
}

int kiln__group_loop_fits(const kiln__group_finder *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);
    reasons r = {0};

    if (node->op == KILN__IR_WHILE && (node->flags & KILN__GROUP_TURNS))
        return 1;
    if (node->op != KILN__IR_FOR || has_few_iterations(f, node))
        return 0;
    return counts_alike(f, node) && fits(f, index, &r) &&
           (r.neighbours || r.floats || r.chains);
}

static int mark(const finder *f, uint32_t index)
{
    kiln__ir_node *node = &f->ir->nodes.items[index];
    int marked = f->view->controls[index] == KILN__UNIFORM_GROUP &&
                 kiln__group_loop_fits(f, index);

    if (marked)
        node->flags |= KILN__GROUP_INTERCHANGED;
    for (size_t i = 0; i < node->count; i++)
        marked |= mark(f, kiln__ir_operand(f->ir, node, i));
    return marked;
}

void kiln__group_mark_loops(const kiln__group_finder *f, int *found)
{
    *found = mark(f, f->ir->body);
}

static void find_sets(const finder *f)
{
    uint32_t *sets = f->sets;

    for (uint32_t i = 1; i < f->ir->nodes.count; i++) {
        const kiln__ir_node *node = &f->ir->nodes.items[i];

        if (node->op != KILN__IR_SET && node->op != KILN__IR_FOR)
            continue;
        f->loops[node->imm] =
            node->op == KILN__IR_FOR && sets[node->imm] == 0 ? i + 1 : 0;
        sets[node->imm] = sets[node->imm] == 0 ? i + 1 : UINT32_MAX;
    }
    for (uint32_t i = 0; i < f->ir->locals.count; i++) {
        if (sets[i] == UINT32_MAX || i < f->ir->parameter_count)
            sets[i] = f->loops[i] = 0;
        if (f->loops[i] != 0)
            sets[i] = 0;
    }
}

kiln_status kiln__group_finder_init(kiln__group_finder *f, kiln__lowering *l)
{
    kiln__lower_function *root = &l->functions[0];

    *f = (kiln__group_finder){
        .l = l,
        .ir = &root->ir,
        .view = kiln__uniform_entry(l->uniform),
        .sets = kiln__arena_allocate_array(
            &l->job->arena, root->ir.locals.count + 1, sizeof *f->sets),
        .loops = kiln__arena_allocate_array(
            &l->job->arena, root->ir.locals.count + 1, sizeof *f->loops),
    };
    if (f->sets == NULL || f->loops == NULL || f->view == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    find_sets(f);
    return KILN_OK;
}
