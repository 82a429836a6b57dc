/* execute.c - one item, step by step. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "machine.h"

#define FRAMES_MAX 2000
#define CELLS_MAX ((size_t)1 << 20)

void machine_end(interpreter *in, int ending, const char *reason)
{
    if (in->result->ending != INTERPRETER_DONE)
        return;
    in->result->ending = ending;
    in->result->reason = reason;
}

/* ---- the stack ---- */

static const frame *top_frame(const item *it)
{
    return &it->frames[it->frame_count - 1];
}

void machine_reserve(interpreter *in, item *it, size_t count)
{
    if (it->cell_count + count > CELLS_MAX)
        machine_end(in, INTERPRETER_LIMIT, "an item's stack is full");
    else
        it->cells = machine_grow(it->cells, &it->cell_capacity,
                                 it->cell_count + count, sizeof *it->cells);
}

/* Replaces `taken` cells by the `given` ones. */
void machine_give(interpreter *in, item *it, size_t taken, const cell *given,
                  size_t count)
{
    it->cell_count -= taken;
    machine_reserve(in, it, count);
    if (in->result->ending != INTERPRETER_DONE)
        return;
    if (count > 0)
        memmove(&it->cells[it->cell_count], given, count * sizeof *given);
    it->cell_count += count;
}

/* ---- the context of a step ---- */

uint32_t machine_type_of(const machine_work *w, size_t operand)
{
    return kiln__ir_operand_at(&w->f->ir, w->node, operand)->type;
}

const layout *machine_layout_of(const machine_work *w, size_t operand)
{
    return &w->f->layouts[machine_type_of(w, operand)];
}

void machine_push(const machine_work *w, const cell *cells, size_t count)
{
    machine_give(w->in, w->it, w->taken, cells, count);
}

void machine_push_one(const machine_work *w, cell value)
{
    machine_push(w, &value, 1);
}

void machine_raise(interpreter *in, item *it, const kiln__ir_node *node,
                   int32_t kind, int64_t value0, int64_t value1)
{
    interpreter_result *out = in->result;
    interpreter_exception *e;

    out->exceptions =
        machine_grow(out->exceptions, &in->exception_capacity,
                     out->exception_count + 1, sizeof *out->exceptions);
    e = &out->exceptions[out->exception_count++];
    *e = (interpreter_exception){.kind = kind,
                                 .method = top_frame(it)->function->ir.method,
                                 .ordinal = node->ordinal,
                                 .values = {value0, value1}};
    memcpy(e->group, in->group_id, sizeof e->group);
    memcpy(e->item, it->global_id, sizeof e->item);
    it->state = ITEM_FAILED;
}

/* ---- arithmetic ---- */

static void arithmetic(const machine_work *w)
{
    const int32_t kind = kiln__ir_lane_kind(&w->f->ir, machine_type_of(w, 0));
    const uint32_t lanes = machine_layout_of(w, 0)->cells;
    cell out[KILN__IR_VECTOR_MAX];
    int fault = NUMBER_FINE;

    for (uint32_t i = 0; i < lanes; i++) {
        const cell a = w->operands[i];

        if (w->node->count == 1)
            out[i] = number_unary(w->node->op, kind, a);
        else
            out[i] = number_binary(w->node->op, kind, a, w->operands[lanes + i],
                                   &fault);
        if (fault == NUMBER_DIVISION) {
            machine_raise(w->in, w->it, w->node, KILN_EXCEPTION_DIVISION,
                          (int64_t)a, 0);
            return;
        }
    }
    machine_push(w, out, lanes);
}

static void compare(const machine_work *w)
{
    const int32_t kind = kiln__ir_kind(&w->f->ir, machine_type_of(w, 0));

    machine_push_one(
        w, number_compare(w->node->op, kind, w->operands[0], w->operands[1]));
}

static int64_t reading(int32_t from)
{
    switch (from) {
    case KILN_TYPE_F64:
        return KILN_VALUE_F64;
    case KILN_TYPE_F32:
        return KILN_VALUE_F32;
    case KILN_TYPE_F16:
        return KILN_VALUE_F16;
    case KILN_TYPE_BF16:
        return KILN_VALUE_BF16;
    default:
        return kiln__kind_is_signed(from) ? KILN_VALUE_I64 : KILN_VALUE_U64;
    }
}

static void convert(const machine_work *w)
{
    const int32_t from = kiln__ir_kind(&w->f->ir, machine_type_of(w, 0));
    const int32_t to = kiln__ir_kind(&w->f->ir, w->node->type);
    const cell a = w->operands[0];
    int fault = NUMBER_FINE;
    const cell value = number_convert(w->node->op, from, to, a, &fault);
    const double number = number_to_double(from, a);
    int64_t bits = (int64_t)a;

    if (fault != NUMBER_INEXACT) {
        machine_push_one(w, value);
        return;
    }
    if (kiln__kind_is_float(from))
        memcpy(&bits, &number, sizeof bits);
    machine_raise(w->in, w->it, w->node, KILN_EXCEPTION_INEXACT, bits,
                  reading(from));
}

static void mathematics(const machine_work *w)
{
    const int32_t kind = kiln__ir_lane_kind(&w->f->ir, machine_type_of(w, 0));
    const uint32_t lanes = machine_layout_of(w, 0)->cells;
    cell out[KILN__IR_VECTOR_MAX];

    for (uint32_t i = 0; i < lanes; i++) {
        cell a[3] = {0};

        for (uint32_t j = 0; j < w->node->count; j++)
            a[j] = w->operands[j * lanes + i];
        out[i] = number_math(w->node->imm, kind, a);
    }
    machine_push(w, out, lanes);
}

/* ---- calls and ids ---- */

static void call(const machine_work *w)
{
    interpreter *in = w->in;
    item *it = w->it;
    const size_t callee = w->f->callees[w->node->imm];
    const function *f = &in->functions[callee];

    if (it->frame_count >= FRAMES_MAX) {
        machine_end(in, INTERPRETER_LIMIT, "calls nest too deep");
        return;
    }
    it->frames = machine_grow(it->frames, &it->frame_capacity,
                              it->frame_count + 1, sizeof *it->frames);
    it->frames[it->frame_count++] = (frame){f, 0, it->cell_count - w->taken};
    machine_reserve(in, it, f->frame - w->taken);
    if (in->result->ending == INTERPRETER_DONE)
        it->cell_count += f->frame - w->taken;
}

static void give_back(const machine_work *w)
{
    item *it = w->it;

    it->frame_count--;
    memmove(&it->cells[w->base], w->operands, w->taken * sizeof(cell));
    it->cell_count = w->base + w->taken;
    if (it->frame_count == 0)
        it->state = ITEM_DONE;
}

static void query(const machine_work *w)
{
    const interpreter_launch *l = w->in->launch;
    const int64_t d = w->node->imm % 4;
    cell value = 0;

    switch (w->node->imm / 4) {
    case KILN__QUERY_GLOBAL_ID:
        value = w->it->global_id[d];
        break;
    case KILN__QUERY_LOCAL_ID:
        value = w->it->local_id[d];
        break;
    case KILN__QUERY_GROUP_ID:
        value = w->in->group_id[d];
        break;
    case KILN__QUERY_GLOBAL_SIZE:
        value = l->grid[d];
        break;
    case KILN__QUERY_LOCAL_SIZE:
        value = l->block[d];
        break;
    case KILN__QUERY_GROUP_COUNT:
        value = (l->grid[d] - 1) / l->block[d] + 1;
        break;
    case KILN__QUERY_SUB_GROUP_SIZE:
        value = w->in->launch->sub_group;
        break;
    case KILN__QUERY_SUB_GROUP_ID:
        value = w->it->number / w->in->launch->sub_group;
        break;
    default: /* LANE_ID */
        value = w->it->number % w->in->launch->sub_group;
        break;
    }
    machine_push_one(w, value);
}

/* ---- loops ---- */

static void open_loop(const machine_work *w)
{
    const kiln__ir_node *by = kiln__ir_operand_at(&w->f->ir, w->node, 2);
    const int is_signed =
        kiln__kind_is_signed(kiln__ir_kind(&w->f->ir, by->type));
    cell *turns = &w->it->cells[w->base + w->f->turns[w->step->node]];
    const cell low = w->it->cells[w->it->cell_count - 2];
    const cell high = w->it->cells[w->it->cell_count - 1];
    const int up = !is_signed || by->imm > 0;
    const int any = is_signed ? up ? (int64_t)low < (int64_t)high
                                   : (int64_t)low > (int64_t)high
                              : low < high;
    const cell distance = up ? high - low : low - high;
    const cell size = up ? (cell)by->imm : (cell)0 - (cell)by->imm;

    turns[0] = low;
    turns[1] = (cell)by->imm;
    turns[2] = any ? (distance - 1) / size + 1 : 0;
    w->it->cell_count -= 2;
}

static void test_loop(const machine_work *w)
{
    const uint32_t local = w->f->places[w->node->imm];
    cell *turns = &w->it->cells[w->base + w->f->turns[w->step->node]];
    frame *top = &w->it->frames[w->it->frame_count - 1];

    if (turns[2] == 0)
        top->next = w->step->target;
    else
        w->it->cells[w->base + local] = turns[0];
}

static void next_loop(const machine_work *w)
{
    const int32_t kind =
        kiln__ir_kind(&w->f->ir, w->f->ir.locals.items[w->node->imm].type);
    cell *turns = &w->it->cells[w->base + w->f->turns[w->step->node]];

    turns[0] = number_extend(kind, turns[0] + turns[1]);
    turns[2]--;
}

/* ---- one step ---- */

static void locals(const machine_work *w)
{
    const uint32_t local = (uint32_t)w->node->imm;
    const uint32_t cells =
        w->f->layouts[w->f->ir.locals.items[local].type].cells;
    const size_t at = w->base + w->f->places[local];

    if (w->node->op == KILN__IR_SET) {
        memmove(&w->it->cells[at], w->operands, cells * sizeof(cell));
        machine_push(w, NULL, 0);
        return;
    }
    machine_reserve(w->in, w->it, cells);
    if (w->in->result->ending == INTERPRETER_DONE)
        machine_give(w->in, w->it, 0, &w->it->cells[at], cells);
}

static void select_one(const machine_work *w)
{
    const uint32_t cells = w->f->layouts[w->node->type].cells;

    machine_push(w, w->operands + 1 + (w->operands[0] != 0 ? 0 : cells), cells);
}

static void check_assertion(const machine_work *w)
{
    if (w->operands[0] != 0)
        machine_push(w, NULL, 0);
    else
        machine_raise(w->in, w->it, w->node, KILN_EXCEPTION_ASSERTION, 0, 0);
}

static void jump(const machine_work *w)
{
    frame *top = &w->it->frames[w->it->frame_count - 1];

    if (w->step->op == STEP_JUMP || w->it->cells[--w->it->cell_count] == 0)
        top->next = w->step->target;
}

/* Runs a step that typed IR has no operation for; false for any other step. */
static int run_own_step(const machine_work *w)
{
    switch (w->step->op) {
    case STEP_JUMP:
    case STEP_UNLESS:
        jump(w);
        return 1;
    case STEP_PUSH:
        machine_give(w->in, w->it, 0, &(cell){w->step->target}, 1);
        return 1;
    case STEP_DROP:
        w->it->cell_count -= w->step->target;
        return 1;
    case STEP_LOOP_OPEN:
        open_loop(w);
        return 1;
    case STEP_LOOP_TEST:
        test_loop(w);
        return 1;
    case STEP_LOOP_NEXT:
        next_loop(w);
        return 1;
    default:
        return 0;
    }
}

static void run_value(const machine_work *w)
{
    const uint32_t op = w->node->op;

    if (op >= KILN__IR_EQ && op <= KILN__IR_GE)
        compare(w);
    else if (op >= KILN__IR_CONVERT && op <= KILN__IR_BITCAST)
        convert(w);
    else if (op >= KILN__IR_NEG && op <= KILN__IR_INVERT)
        arithmetic(w);
    else if (op == KILN__IR_FIELD || op == KILN__IR_WITH_FIELD)
        machine_fields(w);
    else if (op == KILN__IR_ELEMENT || op == KILN__IR_WITH_ELEMENT)
        machine_elements(w);
    else if (op == KILN__IR_LENGTH || op == KILN__IR_SIZE)
        machine_shape(w);
    else if (op == KILN__IR_LOAD || op == KILN__IR_ATOMIC)
        machine_access(w);
    else if (op == KILN__IR_CONST)
        machine_push_one(
            w, number_constant(kiln__ir_kind(&w->f->ir, w->node->type),
                               w->node->imm));
}

static void run_operation(const machine_work *w)
{
    switch ((uint32_t)w->node->op) {
    case KILN__IR_LOCAL:
    case KILN__IR_SET:
        locals(w);
        break;
    case KILN__IR_SELECT:
        select_one(w);
        break;
    case KILN__IR_MATH:
        mathematics(w);
        break;
    case KILN__IR_SPLAT:
        machine_splat(w);
        break;
    case KILN__IR_STORE:
        machine_access(w);
        break;
    case KILN__IR_LOCAL_ARRAY:
        machine_local_array(w);
        break;
    case KILN__IR_CALL:
        call(w);
        break;
    case KILN__IR_QUERY:
        query(w);
        break;
    case KILN__IR_RETURN:
        give_back(w);
        break;
    case KILN__IR_ASSERT:
        check_assertion(w);
        break;
    case KILN__IR_TUPLE: /* its cells are on the stack already */
    case KILN__IR_UNIT:
        break;
    default:
        run_value(w);
        break;
    }
}

static size_t operand_cells(const function *f, const kiln__ir_node *node)
{
    size_t cells = 0;

    for (size_t i = 0; i < node->count; i++)
        cells += f->layouts[kiln__ir_operand_at(&f->ir, node, i)->type].cells;
    return cells;
}

static const step *current_step(const item *it)
{
    const frame *top = top_frame(it);

    return &top->function->steps[top->next];
}

const kiln__ir_node *machine_waits_at(const item *it)
{
    return kiln__ir_node_at(&top_frame(it)->function->ir,
                            current_step(it)->node);
}

cell *machine_operands(const item *it)
{
    return &it->cells[it->cell_count - operand_cells(top_frame(it)->function,
                                                     machine_waits_at(it))];
}

/* True before an operation of several items: the item has to stop. */
static int stops(item *it)
{
    const step *s = current_step(it);

    if (s->op != KILN__IR_BARRIER && s->op != KILN__IR_GROUP)
        return 0;
    it->state = s->op == KILN__IR_GROUP &&
                        machine_waits_at(it)->imm < KILN__GROUP_GROUP_ADD
                    ? ITEM_AT_SUB_GROUP
                    : ITEM_AT_GROUP;
    return 1;
}

void machine_run_item(interpreter *in, item *it)
{
    while (in->result->ending == INTERPRETER_DONE && it->state == ITEM_READY &&
           !stops(it)) {
        frame *top = &it->frames[it->frame_count - 1];
        machine_work w = {
            .in = in, .it = it, .f = top->function, .base = top->base};

        w.step = &w.f->steps[top->next++];
        w.node = kiln__ir_node_at(&w.f->ir, w.step->node);
        if (in->steps_left-- == 0) {
            in->steps_left = 0;
            machine_end(in, INTERPRETER_LIMIT, "too many steps");
            return;
        }
        if (run_own_step(&w))
            continue;
        if (w.node->op != KILN__IR_LOCAL_ARRAY && w.node->op != KILN__IR_BLOCK)
            w.taken = operand_cells(w.f, w.node);
        w.operands = &it->cells[it->cell_count - w.taken];
        if (w.node->op == KILN__IR_BLOCK) /* the end of a function */
            give_back(&w);
        else
            run_operation(&w);
    }
}
