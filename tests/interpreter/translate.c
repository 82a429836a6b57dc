/* translate.c - translates the tree of a function to steps of a stack
   machine. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* Tests have enough memory, so running out of it ends the program. */
void *machine_allocate(size_t count, size_t size)
{
    void *memory = calloc(count == 0 ? 1 : count, size);

    if (memory == NULL) {
        fputs("interpreter: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *machine_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    void *grown;

    if (count <= *capacity)
        return items;
    *capacity = count * 2;
    grown = realloc(items, *capacity * size);
    if (grown == NULL) {
        fputs("interpreter: out of memory\n", stderr);
        abort();
    }
    return grown;
}

/* ---- layouts ---- */

static void add_part(layout *all, const layout *part, uint32_t offset)
{
    for (uint32_t i = 0; i < part->cells; i++, all->cells++)
        if (all->leaves != NULL && part->leaves != NULL)
            all->leaves[all->cells] =
                (leaf){part->leaves[i].offset + offset, part->leaves[i].kind};
}

static uint32_t round_up(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

/* Counts the cells of the fields, to make room for the leaves. */
static uint32_t count_cells(const function *f, const kiln__ir_type *type)
{
    uint32_t cells = 0;

    for (size_t i = 0; i < type->length; i++)
        cells += f->layouts[kiln__ir_field(&f->ir, type, i)].cells;
    return cells;
}

/* Puts fields one after the other, in the layout of a C struct. */
static void lay_out_fields(const function *f, const kiln__ir_type *type,
                           layout *out)
{
    uint32_t end = 0;

    out->leaves = machine_allocate(count_cells(f, type), sizeof(leaf));
    for (size_t i = 0; i < type->length; i++) {
        const layout *part = &f->layouts[kiln__ir_field(&f->ir, type, i)];
        const uint32_t offset = round_up(end, part->alignment);

        add_part(out, part, offset);
        if (part->size > 0)
            end = offset + part->size;
        if (part->size > 0 && part->alignment > out->alignment)
            out->alignment = part->alignment;
    }
    out->size = round_up(end, out->alignment);
}

static void lay_out(const function *f, uint32_t index)
{
    const kiln__ir_type *type = kiln__ir_type_at(&f->ir, index);
    layout *out = &f->layouts[index];
    const uint32_t bytes = (kiln__kind_width(type->kind) + 7) / 8;

    out->alignment = 1;
    if (kiln__kind_is_scalar(type->kind)) {
        *out = (layout){1, bytes, bytes, machine_allocate(1, sizeof(leaf))};
        out->leaves[0] = (leaf){0, type->kind};
    } else if (type->kind == KILN_TYPE_ARRAY) {
        out->cells = 1 + 2 * type->length;
        out->alignment = 8;
    } else if (kiln__kind_has_fields(type->kind) ||
               type->kind == KILN_TYPE_VECTOR) {
        lay_out_fields(f, type, out);
    }
}

static void lay_out_frame(function *f)
{
    f->layouts = machine_allocate(f->ir.types.count, sizeof *f->layouts);
    f->places = machine_allocate(f->ir.locals.count, sizeof *f->places);
    f->turns = machine_allocate(f->ir.nodes.count, sizeof *f->turns);
    for (uint32_t i = 0; i < f->ir.types.count; i++)
        lay_out(f, i);
    for (size_t i = 0; i < f->ir.locals.count; i++) {
        f->places[i] = f->frame;
        f->frame += f->layouts[f->ir.locals.items[i].type].cells;
    }
    for (size_t i = 0; i < f->ir.nodes.count; i++)
        if (f->ir.nodes.items[i].op == KILN__IR_FOR) {
            f->turns[i] = f->frame;
            f->frame += 3;
        }
}

/* ---- steps ---- */

typedef struct translator {
    function *f;
    size_t step_capacity;
    uint32_t *labels; /* their positions */
    size_t label_count, label_capacity;
    uint32_t leave; /* labels of the innermost loop */
    uint32_t go_on;
} translator;

static void emit(translator *t, uint32_t op, uint32_t node, uint32_t target)
{
    function *f = t->f;

    f->steps = machine_grow(f->steps, &t->step_capacity, f->step_count + 1,
                            sizeof *f->steps);
    f->steps[f->step_count++] = (step){op, node, target};
}

static uint32_t new_label(translator *t)
{
    t->labels = machine_grow(t->labels, &t->label_capacity, t->label_count + 1,
                             sizeof *t->labels);
    return (uint32_t)t->label_count++;
}

static void place(translator *t, uint32_t label)
{
    t->labels[label] = (uint32_t)t->f->step_count;
}

static uint32_t operand(const translator *t, uint32_t node, size_t i)
{
    return kiln__ir_operand(&t->f->ir, kiln__ir_node_at(&t->f->ir, node), i);
}

static void emit_node(translator *t, uint32_t index);

static void emit_choice(translator *t, uint32_t index)
{
    const uint32_t op = kiln__ir_node_at(&t->f->ir, index)->op;
    const uint32_t other = new_label(t), end = new_label(t);

    emit_node(t, operand(t, index, 0));
    emit(t, STEP_UNLESS, index, other);
    if (op == KILN__IR_ORELSE)
        emit(t, STEP_PUSH, index, 1);
    else
        emit_node(t, operand(t, index, 1));
    emit(t, STEP_JUMP, index, end);
    place(t, other);
    if (op == KILN__IR_ANDALSO)
        emit(t, STEP_PUSH, index, 0);
    else
        emit_node(t, operand(t, index, op == KILN__IR_ORELSE ? 1 : 2));
    place(t, end);
}

static void emit_if(translator *t, uint32_t index)
{
    const uint32_t count = kiln__ir_node_at(&t->f->ir, index)->count;
    const uint32_t other = new_label(t), end = new_label(t);

    emit_node(t, operand(t, index, 0));
    emit(t, STEP_UNLESS, index, other);
    emit_node(t, operand(t, index, 1));
    emit(t, STEP_JUMP, index, end);
    place(t, other);
    if (count == 3)
        emit_node(t, operand(t, index, 2));
    place(t, end);
}

static void emit_loop(translator *t, uint32_t index)
{
    const uint32_t op = kiln__ir_node_at(&t->f->ir, index)->op;
    const uint32_t leave = t->leave, go_on = t->go_on;
    const uint32_t top = new_label(t);

    t->leave = new_label(t);
    t->go_on = new_label(t);
    if (op == KILN__IR_FOR) {
        emit_node(t, operand(t, index, 0));
        emit_node(t, operand(t, index, 1));
        emit(t, STEP_LOOP_OPEN, index, 0);
        place(t, top);
        emit(t, STEP_LOOP_TEST, index, t->leave);
        emit_node(t, operand(t, index, 3));
        place(t, t->go_on);
        emit(t, STEP_LOOP_NEXT, index, 0);
    } else {
        place(t, top);
        place(t, t->go_on);
        emit_node(t, operand(t, index, 0));
        emit(t, STEP_UNLESS, index, t->leave);
        emit_node(t, operand(t, index, 1));
    }
    emit(t, STEP_JUMP, index, top);
    place(t, t->leave);
    t->leave = leave;
    t->go_on = go_on;
}

static void emit_unrolled(translator *t, uint32_t index)
{
    const uint32_t count = kiln__ir_node_at(&t->f->ir, index)->count;
    const uint32_t leave = t->leave, go_on = t->go_on;

    t->leave = new_label(t);
    for (size_t i = 0; i < count; i++) {
        t->go_on = new_label(t);
        emit_node(t, operand(t, index, i));
        place(t, t->go_on);
    }
    place(t, t->leave);
    t->leave = leave;
    t->go_on = go_on;
}

/* Operands, left to right, then the operation. */
static void emit_plain(translator *t, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&t->f->ir, index);
    uint32_t cells = 0;

    for (size_t i = 0; i < node->count && node->op != KILN__IR_LOCAL_ARRAY;
         i++) {
        const uint32_t part = operand(t, index, i);

        emit_node(t, part);
        cells += t->f->layouts[kiln__ir_node_at(&t->f->ir, part)->type].cells;
    }
    if (node->op == KILN__IR_EVAL || node->op == KILN__IR_PRINT)
        emit(t, STEP_DROP, index, cells);
    else if (node->op != KILN__IR_BLOCK && node->op != KILN__IR_TEXT)
        emit(t, node->op, index, 0);
}

static void emit_node(translator *t, uint32_t index)
{
    switch ((uint32_t)kiln__ir_node_at(&t->f->ir, index)->op) {
    case KILN__IR_ANDALSO:
    case KILN__IR_ORELSE:
    case KILN__IR_CHOOSE:
        emit_choice(t, index);
        break;
    case KILN__IR_IF:
        emit_if(t, index);
        break;
    case KILN__IR_FOR:
    case KILN__IR_WHILE:
        emit_loop(t, index);
        break;
    case KILN__IR_UNROLLED:
        emit_unrolled(t, index);
        break;
    case KILN__IR_BREAK:
        emit(t, STEP_JUMP, index, t->leave);
        break;
    case KILN__IR_CONTINUE:
        emit(t, STEP_JUMP, index, t->go_on);
        break;
    default:
        emit_plain(t, index);
        break;
    }
}

static int is_jump(uint32_t op)
{
    return op == STEP_JUMP || op == STEP_UNLESS || op == STEP_LOOP_TEST;
}

void machine_translate(function *f)
{
    translator t = {.f = f};

    lay_out_frame(f);
    emit_node(&t, f->ir.body);
    emit(&t, KILN__IR_RETURN, f->ir.body, 0);
    for (size_t i = 0; i < f->step_count; i++)
        if (is_jump(f->steps[i].op))
            f->steps[i].target = t.labels[f->steps[i].target];
    free(t.labels);
}

void machine_dispose(function *f)
{
    for (size_t i = 0; i < f->ir.types.count; i++)
        free(f->layouts[i].leaves);
    free(f->layouts);
    free(f->places);
    free(f->turns);
    free(f->steps);
    free(f->callees);
    kiln__ir_dispose(&f->ir);
}
