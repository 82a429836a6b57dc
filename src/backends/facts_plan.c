/* facts_plan.c - makes plans of facts: what a launch really has to do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/facts_plan.h"

#include "base/data/memory.h"

/*
 * Planning happens once, when a kernel is loaded, so that a launch checks
 * nothing of the program and decodes nothing:
 *
 * - each number of the launch is read once, and constants are computed here
 * - the result is a conjunction. Each of its terms becomes a check of its own,
 *   so that the first one that fails ends the evaluation
 * - what is computed only for one other instruction is computed by that one's
 *   step, where there is a step for the two
 * - what nothing needs is left out
 */

#define TEMPORARY 0x8000u /* marks numbers of slots that come last */

/* What is known of an instruction, by its number. */
typedef struct planned {
    kiln__fact fact; /* operands are values that stand for themselves */
    uint64_t value;  /* of a constant */
    uint16_t same;   /* the value that this one is */
    uint16_t slot;
    uint16_t uses;
    uint8_t bits; /* it is below 2 to the power of that */
    uint8_t is_constant, is_input;
    uint8_t is_term; /* of the conjunction */
    uint8_t is_inner;
    uint8_t is_part; /* the step of another value computes it */
    uint8_t step;    /* KILN__STORE_...; its operands: */
    uint16_t a, b, c;
} planned;

typedef struct planner {
    planned at[KILN__FACTS_MOST];
    size_t count;
    kiln__facts_input inputs[KILN__FACTS_MOST];
    uint64_t constants[2 * KILN__FACTS_MOST];
    /* A value, its check, and the end. */
    kiln__facts_step steps[2 * KILN__FACTS_MOST + 2];
    uint16_t temporaries;
    int never;     /* some term is 0 */
    int is_number; /* the last value may be another number than 0 and 1 */
    kiln__facts_plan plan;
} planner;

/* ---- values ---- */

static uint8_t larger(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static int is_compare(unsigned operation)
{
    return operation >= KILN__FACT_EQ && operation <= KILN__FACT_SMUL_WRAPS;
}

static void compute_constant(planner *p, planned *v)
{
    const unsigned count = kiln__fact_operands(v->fact.operation);
    uint64_t operands[3] = {p->at[v->fact.a].value, v->fact.b, v->fact.c};

    if (v->fact.operation == KILN__FACT_HIGH)
        operands[1] = kiln__fact_immediate(&v->fact);
    if (count > 1)
        operands[1] = p->at[v->fact.b].value;
    if (count > 2)
        operands[2] = p->at[v->fact.c].value;
    v->value = kiln__fact_compute(v->fact.operation, v->fact.width, operands);
}

static void find_constant(planner *p, planned *v)
{
    const uint16_t from[3] = {v->fact.a, v->fact.b, v->fact.c};
    const unsigned count = kiln__fact_operands(v->fact.operation);

    if (v->fact.operation == KILN__FACT_CONSTANT) {
        const int64_t number = (int32_t)kiln__fact_immediate(&v->fact);

        v->is_constant = 1;
        v->value = (uint64_t)number & (UINT64_MAX >> (64 - v->fact.width));
    }
    if (count == 0)
        return;
    v->is_constant = 1;
    for (unsigned i = 0; i < count; i++)
        v->is_constant &= p->at[from[i]].is_constant;
    if (v->is_constant)
        compute_constant(p, v);
}

/* Reads an instruction, whose operands are replaced by what they stand for. */
static void read_fact(planner *p, const void *facts, size_t index)
{
    planned *v = &p->at[index];
    kiln__fact *f = &v->fact;
    unsigned count;

    *f = kiln__fact_at(facts, index);
    count = kiln__fact_operands(f->operation);
    if (count > 0)
        f->a = p->at[f->a].same;
    if (count > 1)
        f->b = p->at[f->b].same;
    if (count > 2)
        f->c = p->at[f->c].same;
    v->bits = is_compare(f->operation) ? 1 : f->width;
    v->same = (uint16_t)index;
    if (f->operation == KILN__FACT_CUT && p->at[f->a].bits <= f->width)
        v->same = f->a;
    find_constant(p, v);
}

/* ---- terms ---- */

static int is_conjunction(const planner *p, const planned *v)
{
    return v->fact.operation == KILN__FACT_AND && !v->is_constant &&
           p->at[v->fact.a].bits == 1 && p->at[v->fact.b].bits == 1;
}

/* A term is marked once, however often it is in the conjunction. */
static void add_term(planner *p, uint16_t number)
{
    planned *v = &p->at[number];

    if (v->is_constant) {
        p->never |= v->value != 1;
    } else if (is_conjunction(p, v)) {
        v->is_inner = 1;
    } else if (!v->is_term) {
        v->is_term = 1;
        v->uses++;
    }
}

/* Operands come before what uses them, so one way down finds all. */
static void find_terms(planner *p)
{
    const uint16_t last = p->at[p->count - 1].same;

    if (p->at[last].bits == 1 || p->at[last].is_constant) {
        add_term(p, last);
    } else {
        p->is_number = 1;
        p->at[last].uses++;
        return;
    }
    for (size_t i = p->count; i-- > 0;) {
        const planned *v = &p->at[i];

        if (!v->is_inner)
            continue;
        add_term(p, v->fact.a);
        add_term(p, v->fact.b);
    }
}

static void count_uses(planner *p)
{
    for (size_t i = p->count; i-- > 0;) {
        const planned *v = &p->at[i];
        const unsigned count = kiln__fact_operands(v->fact.operation);

        if (v->uses == 0 || v->is_constant)
            continue;
        if (count > 0)
            p->at[v->fact.a].uses++;
        if (count > 1)
            p->at[v->fact.b].uses++;
        if (count > 2)
            p->at[v->fact.c].uses++;
    }
}

/* ---- steps ---- */

/* Returns the step that is just this instruction, or ANY where its result may
   have to be cut. */
static uint8_t step_of(const planner *p, const planned *v)
{
    static const uint8_t steps[KILN__FACT_COUNT] = {
#define SAME(name) [KILN__FACT_##name] = KILN__STORE_##name
        SAME(ADD),  SAME(SUB),  SAME(MUL),  SAME(AND),  SAME(OR),    SAME(XOR),
        SAME(UMIN), SAME(UMAX), SAME(SMIN), SAME(SMAX), SAME(EQ),    SAME(NE),
        SAME(ULT),  SAME(ULE),  SAME(SLT),  SAME(SLE),  SAME(SELECT)
#undef SAME
    };
    const kiln__fact *f = &v->fact;
    const uint8_t a = p->at[f->a].bits;
    int fits;

    switch (f->operation) {
    case KILN__FACT_EQ:
    case KILN__FACT_NE:
    case KILN__FACT_ULT:
    case KILN__FACT_ULE:
        fits = 1;
        break;
    case KILN__FACT_AND:
    case KILN__FACT_OR:
    case KILN__FACT_XOR:
    case KILN__FACT_UMIN:
    case KILN__FACT_UMAX:
        fits = larger(a, p->at[f->b].bits) <= f->width;
        break;
    case KILN__FACT_SELECT:
        fits = larger(p->at[f->b].bits, p->at[f->c].bits) <= f->width;
        break;
    default: /* an instruction without a step of its own has number 0, too */
        fits = f->width == 64 && (steps[f->operation] != KILN__STORE_ADD ||
                                  f->operation == KILN__FACT_ADD);
        break;
    }
    return fits ? steps[f->operation] : KILN__STORE_ANY;
}

/* The instruction of value `outer` has the step `of`, its operand `part` the
   step `with`: both are the step `is`. */
typedef struct pair {
    uint8_t of, with, is;
    uint8_t first_only; /* `part` has to be the first operand */
} pair;

static const pair pairs[] = {
    {KILN__STORE_AND, KILN__STORE_ULT, KILN__STORE_AND_ULT, 0},
    {KILN__STORE_AND, KILN__STORE_ULE, KILN__STORE_AND_ULE, 0},
    {KILN__STORE_AND, KILN__STORE_SLT, KILN__STORE_AND_SLT, 0},
    {KILN__STORE_AND, KILN__STORE_SLE, KILN__STORE_AND_SLE, 0},
    {KILN__STORE_OR, KILN__STORE_ULT, KILN__STORE_OR_ULT, 0},
    {KILN__STORE_OR, KILN__STORE_ULE, KILN__STORE_OR_ULE, 0},
    {KILN__STORE_OR, KILN__STORE_SLT, KILN__STORE_OR_SLT, 0},
    {KILN__STORE_OR, KILN__STORE_SLE, KILN__STORE_OR_SLE, 0},
    {KILN__STORE_OR, KILN__STORE_OR, KILN__STORE_OR_OR, 0},
    {KILN__STORE_MUL, KILN__STORE_MUL, KILN__STORE_MUL_MUL, 0},
    {KILN__STORE_ADD, KILN__STORE_MUL, KILN__STORE_MUL_ADD, 0},
    {KILN__STORE_ULT, KILN__STORE_ADD, KILN__STORE_ADD_ULT, 1},
    {KILN__STORE_ULT, KILN__STORE_MUL, KILN__STORE_MUL_ULT, 1},
    {KILN__STORE_ULT, KILN__STORE_OR, KILN__STORE_OR_ULT_ALL, 1},
    {KILN__STORE_SLT, KILN__STORE_ADD, KILN__STORE_ADD_SLT, 1},
};

/* Lets one step compute the value and its operand `part`; `other` is the other
   operand. Returns whether there is such a step. */
static int join(planner *p, planned *v, uint16_t part, uint16_t other)
{
    planned *with = &p->at[part];

    if (with->uses != 1 || with->is_constant || with->is_input)
        return 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].of != v->step || pairs[i].with != with->step ||
            (pairs[i].first_only && part != v->a))
            continue;
        v->step = pairs[i].is;
        v->a = with->a;
        v->b = with->b;
        v->c = other;
        with->is_part = 1;
        return 1;
    }
    return 0;
}

static void choose_steps(planner *p)
{
    for (size_t i = 0; i < p->count; i++) {
        planned *v = &p->at[i];

        if (v->uses == 0 || v->is_constant || v->is_input)
            continue;
        v->step = step_of(p, v);
        v->a = v->fact.a;
        v->b = v->fact.b;
        v->c = v->fact.c;
        if (kiln__fact_operands(v->fact.operation) == 2 &&
            v->step != KILN__STORE_ANY && !join(p, v, v->b, v->a))
            (void)join(p, v, v->a, v->b);
    }
}

/* ---- slots ---- */

static int is_read(const planned *v, uint32_t size)
{
    if (v->uses == 0)
        return 0;
    return size == 0 ? v->fact.operation == KILN__FACT_SHAPE
                     : v->fact.operation == KILN__FACT_WORD &&
                           (size == 8) == (v->fact.a == 8);
}

static uint16_t input_slot(planner *p, kiln__facts_input input)
{
    uint32_t i = 0;

    while (i < p->plan.input_count &&
           (p->inputs[i].at != input.at || p->inputs[i].size != input.size))
        i++;
    if (i == p->plan.input_count)
        p->inputs[p->plan.input_count++] = input;
    return (uint16_t)i;
}

/* Gives slots to the numbers of one kind; `size` is 8, 0 for sizes of the
   shape, or 1 for shorter words. */
static void read_inputs(planner *p, uint32_t size)
{
    for (size_t i = 0; i < p->count; i++) {
        planned *v = &p->at[i];
        const int is_word = v->fact.operation == KILN__FACT_WORD;

        if (!is_read(v, size))
            continue;
        v->slot = input_slot(
            p, is_word ? (kiln__facts_input){kiln__fact_immediate(&v->fact),
                                             v->fact.a}
                       : (kiln__facts_input){v->fact.a, 0});
        v->is_input = v->fact.width == (is_word ? 8 * v->fact.a : 64);
    }
}

static void find_inputs(planner *p)
{
    read_inputs(p, 8);
    p->plan.word_count = p->plan.input_count;
    read_inputs(p, 0);
    p->plan.shape_count = p->plan.input_count - p->plan.word_count;
    read_inputs(p, 1);
}

static uint16_t constant_slot(planner *p, uint64_t value)
{
    uint32_t i = 0;

    while (i < p->plan.constant_count && p->constants[i] != value)
        i++;
    if (i == p->plan.constant_count)
        p->constants[p->plan.constant_count++] = value;
    return (uint16_t)(p->plan.input_count + i);
}

static uint16_t slot_of(planner *p, uint16_t number)
{
    const planned *v = &p->at[number];

    return v->is_constant ? constant_slot(p, v->value) : v->slot;
}

/* ---- writing ---- */

static kiln__facts_step step_for(planner *p, const planned *v)
{
    const unsigned operation = v->fact.operation;
    kiln__facts_step step = {.step = v->step,
                             .operation = v->fact.operation,
                             .width = v->fact.width};

    /* Words and sizes are here only to be cut. */
    if (operation == KILN__FACT_WORD || operation == KILN__FACT_SHAPE) {
        step.operation = KILN__FACT_CUT;
        step.a = v->slot;
        return step;
    }
    step.a = slot_of(p, v->a);
    if (operation == KILN__FACT_HIGH)
        step.b = constant_slot(p, kiln__fact_immediate(&v->fact));
    else if (operation == KILN__FACT_EXTEND)
        step.b = constant_slot(p, v->fact.b);
    else if (kiln__fact_operands(operation) > 1)
        step.b = slot_of(p, v->b);
    /* A step for two instructions has three operands, as SELECT has. */
    if (operation == KILN__FACT_SELECT ||
        (v->step > KILN__STORE_SELECT && v->step != KILN__STORE_ANY))
        step.c = slot_of(p, v->c);
    return step;
}

static void put(planner *p, kiln__facts_step step)
{
    p->steps[p->plan.step_count++] = step;
}

/* Writes the value's step, or its check, or both. */
static void write_value(planner *p, planned *v)
{
    kiln__facts_step step = step_for(p, v);

    if (v->is_term && v->uses == 1) {
        step.step += KILN__STORE_TO_CHECK;
        put(p, step);
        return;
    }
    v->slot = step.to = (uint16_t)(TEMPORARY | p->temporaries++);
    put(p, step);
    if (v->is_term)
        put(p, (kiln__facts_step){
                   .step = KILN__CHECK_OR, .a = v->slot, .b = v->slot});
}

static uint16_t final_slot(const planner *p, uint16_t slot)
{
    return (uint16_t)((slot & TEMPORARY) == 0
                          ? slot
                          : (slot & ~TEMPORARY) + p->plan.input_count +
                                p->plan.constant_count);
}

static void write_steps(planner *p)
{
    for (size_t i = 0; i < p->count; i++) {
        planned *v = &p->at[i];

        if (v->uses > 0 && !v->is_constant && !v->is_part && !v->is_input)
            write_value(p, v);
    }
    if (p->is_number)
        put(p, (kiln__facts_step){.step = KILN__CHECK_EQ,
                                  .a = slot_of(p, p->at[p->count - 1].same),
                                  .b = constant_slot(p, 1)});
    put(p, (kiln__facts_step){.step = KILN__STEP_HOLD});
    for (size_t i = 0; i < p->plan.step_count; i++) {
        kiln__facts_step *step = &p->steps[i];

        step->to = final_slot(p, step->to);
        step->a = final_slot(p, step->a);
        step->b = final_slot(p, step->b);
        step->c = final_slot(p, step->c);
    }
}

static void make(planner *p, const void *facts)
{
    for (size_t i = 0; i < p->count; i++)
        read_fact(p, facts, i);
    find_terms(p);
    if (p->never) {
        put(p, (kiln__facts_step){.step = KILN__STEP_FAIL});
        return;
    }
    count_uses(p);
    find_inputs(p);
    choose_steps(p);
    write_steps(p);
}

/* ---- plans ---- */

static kiln_status copy(kiln__facts_plan *out, const planner *p,
                        const kiln_alloc *alloc)
{
    *out = p->plan;
    out->inputs = kiln__allocate_copy(alloc, p->inputs,
                                      p->plan.input_count * sizeof *p->inputs);
    out->constants = kiln__allocate_copy(
        alloc, p->constants, p->plan.constant_count * sizeof *p->constants);
    out->steps = kiln__allocate_copy(alloc, p->steps,
                                     p->plan.step_count * sizeof *p->steps);
    return out->inputs == NULL || out->constants == NULL || out->steps == NULL
               ? KILN_ENOMEM
               : KILN_OK;
}

kiln_status kiln__facts_plan_make(kiln__facts_plan *out,
                                  const kiln_alloc *alloc, const void *facts,
                                  size_t size)
{
    planner *p = kiln__allocate(alloc, sizeof *p);
    kiln_status status;

    if (p == NULL)
        return KILN_ENOMEM;
    p->count = size / KILN__FACT_BYTES;
    make(p, facts);
    status = copy(out, p, alloc);
    kiln__deallocate(alloc, p, sizeof *p);
    return status;
}

void kiln__facts_plan_free(const kiln__facts_plan *plan,
                           const kiln_alloc *alloc)
{
    kiln__deallocate(alloc, plan->inputs,
                     plan->input_count * sizeof *plan->inputs);
    kiln__deallocate(alloc, plan->constants,
                     plan->constant_count * sizeof *plan->constants);
    kiln__deallocate(alloc, plan->steps,
                     plan->step_count * sizeof *plan->steps);
}
