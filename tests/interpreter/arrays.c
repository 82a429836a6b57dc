/* arrays.c - steps on aggregates, elements and arrays. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "machine.h"

/* ---- aggregates ---- */

static uint32_t field_place(const machine_work *w, int64_t field)
{
    const kiln__ir_type *type =
        kiln__ir_type_at(&w->f->ir, machine_type_of(w, 0));
    uint32_t cells = 0;

    for (int64_t i = 0; i < field; i++)
        cells +=
            w->f->layouts[kiln__ir_field(&w->f->ir, type, (size_t)i)].cells;
    return cells;
}

void machine_fields(const machine_work *w)
{
    const uint32_t all = machine_layout_of(w, 0)->cells;
    const uint32_t at = field_place(w, w->node->imm);

    if (w->node->op == KILN__IR_FIELD) {
        machine_push(w, w->operands + at, w->f->layouts[w->node->type].cells);
        return;
    }
    memmove(w->operands + at, w->operands + all,
            machine_layout_of(w, 1)->cells * sizeof(cell));
    machine_push(w, w->operands, all);
}

void machine_splat(const machine_work *w)
{
    const uint32_t lanes = w->f->layouts[w->node->type].cells;
    cell out[KILN__IR_VECTOR_MAX];

    for (uint32_t i = 0; i < lanes; i++)
        out[i] = w->operands[0];
    machine_push(w, out, lanes);
}

/* Returns false, after an exception or an undefined access, when `index` is not
   below `size`. */
static int check_index(const machine_work *w, int64_t index, int64_t size)
{
    if (index >= 0 && index < size)
        return 1;
    if ((w->node->flags & KILN__IR_BOUNDS_OFF) != 0 ||
        (w->in->launch->bounds_off &&
         (w->node->flags & KILN__IR_BOUNDS_ON) == 0)) {
        machine_end(w->in, INTERPRETER_UNDEFINED, "an index is out of bounds");
        return 0;
    }
    machine_raise(w->in, w->it, w->node, KILN_EXCEPTION_BOUNDS, index, size);
    return 0;
}

void machine_elements(const machine_work *w)
{
    const uint32_t lanes = machine_layout_of(w, 0)->cells;
    const cell at = w->operands[lanes];

    if (!check_index(w, (int64_t)at, (int64_t)lanes))
        return;
    if (w->node->op == KILN__IR_ELEMENT) {
        machine_push_one(w, w->operands[at]);
        return;
    }
    w->operands[at] = w->operands[lanes + 1];
    machine_push(w, w->operands, lanes);
}

/* ---- arrays ---- */

void machine_shape(const machine_work *w)
{
    const uint32_t rank =
        kiln__ir_type_at(&w->f->ir, machine_type_of(w, 0))->length;
    cell length = 1;

    for (uint32_t i = 0; i < rank; i++)
        length *= w->operands[1 + i];
    machine_push_one(w, w->node->op == KILN__IR_SIZE
                            ? w->operands[1 + w->node->imm]
                            : length);
}

/* Returns the element that the array and the following indices refer to, or
   NULL. */
static unsigned char *find_element(const machine_work *w,
                                   const layout **element)
{
    const kiln__ir_type *type =
        kiln__ir_type_at(&w->f->ir, machine_type_of(w, 0));
    const uint32_t rank = type->length;
    const cell *array = w->operands, *indices = array + 1 + 2 * rank;
    int64_t offset = 0;
    uintptr_t address;

    *element = &w->f->layouts[type->element];
    for (uint32_t i = 0; i < rank; i++) {
        if (!check_index(w, (int64_t)indices[i], (int64_t)array[1 + i]))
            return NULL;
        offset += (int64_t)(indices[i] * array[1 + rank + i]);
    }
    address = (uintptr_t)(array[0] + (cell)offset * (*element)->size);
    return (unsigned char *)address; /* cells have addresses as numbers */
}

void machine_access(const machine_work *w)
{
    const uint32_t rank =
        kiln__ir_type_at(&w->f->ir, machine_type_of(w, 0))->length;
    const cell *values = w->operands + 1 + 3 * rank;
    const layout *element;
    unsigned char *at = find_element(w, &element);
    cell old, stored;

    if (at == NULL)
        return;
    if (w->node->op == KILN__IR_STORE) {
        memory_store(element, at, values);
        machine_push(w, NULL, 0);
    } else if (w->node->op == KILN__IR_ATOMIC) {
        memory_load(element, at, &old);
        stored =
            memory_atomic(w->node->imm, element->leaves[0].kind, old, values);
        memory_store(element, at, &stored);
        machine_push_one(w, old);
    } else {
        /* There may be more cells than the operands had. */
        w->it->cell_count -= w->taken;
        machine_reserve(w->in, w->it, element->cells);
        if (w->in->result->ending == INTERPRETER_DONE)
            memory_load(element, at, &w->it->cells[w->it->cell_count]);
        w->it->cell_count += element->cells;
    }
}

static const shared *find_shared(interpreter *in, const function *f,
                                 uint32_t node, size_t size)
{
    shared *s;

    for (size_t i = 0; i < in->shared_count; i++)
        if (in->shared[i].function == f && in->shared[i].node == node)
            return &in->shared[i];
    in->shared = machine_grow(in->shared, &in->shared_capacity,
                              in->shared_count + 1, sizeof *in->shared);
    s = &in->shared[in->shared_count++];
    *s = (shared){f, node, machine_allocate(size, 1), size};
    memset(s->bytes, 0xa5, size);
    return s;
}

void machine_local_array(const machine_work *w)
{
    const kiln__ir_type *type = kiln__ir_type_at(&w->f->ir, w->node->type);
    size_t size = w->f->layouts[type->element].size;
    cell array[1 + 2 * KILN_RANK_MAX];
    cell stride = 1;

    for (uint32_t i = 0; i < type->length; i++) {
        const int64_t extent = kiln__ir_operand_at(&w->f->ir, w->node, i)->imm;

        array[1 + i] = (cell)extent;
        array[1 + type->length + i] = stride;
        stride *= (cell)extent;
        size *= (size_t)extent;
    }
    array[0] =
        (cell)(uintptr_t)find_shared(w->in, w->f, w->step->node, size)->bytes;
    machine_give(w->in, w->it, 0, array, 1 + 2 * (size_t)type->length);
}
