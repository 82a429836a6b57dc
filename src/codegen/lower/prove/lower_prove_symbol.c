/* lower_prove_symbol.c - makes symbols, the values of the interpretation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/lower/prove/lower_prove.h"

/*
 * Symbols are kept in a hash table, so that equal expressions are one symbol.
 * Aggregates are split into symbols of their fields, up to FIELDS_MAX. All
 * memory is the arena's. When it runs out, `failed` is set, functions return
 * NULL, and the proof is given up as a whole.
 */

#define BUCKETS 1024
#define FIELDS_MAX 64 /* larger aggregates are not split */

static kiln__prove_symbol *allocate(kiln__prover *p)
{
    static const kiln__prove_symbol none;
    kiln__prove_symbol *s = kiln__arena_allocate(p->arena, sizeof *s);

    if (s == NULL) {
        p->failed = 1;
        return NULL;
    }
    *s = none;
    s->id = p->symbol_count++;
    return s;
}

kiln__prove_symbol *kiln__prove_symbol_leaf(kiln__prover *p, int32_t kind,
                                            kiln__range range)
{
    kiln__prove_symbol *s = allocate(p);

    if (s == NULL)
        return NULL;
    s->kind = kind;
    s->range = range;
    kiln__prove_symbol_bound(s);
    return s;
}

void kiln__prove_size(kiln__prover *p, kiln__prove_symbol *s, LLVMValueRef most)
{
    s->least = 0;
    s->greatest = p->size_most;
    p->sizes = p->sizes == NULL
                   ? most
                   : LLVMBuildOr(p->l->builder, p->sizes, most, "");
}

/* ---- one symbol for equal expressions ---- */

static uint32_t id_of(const kiln__prove_symbol *s)
{
    return s == NULL ? UINT32_MAX : s->id;
}

static kiln__prove_symbol **bucket(kiln__prover *p,
                                   const kiln__prove_form *form)
{
    uint64_t hash = form->op;

    if (p->symbols == NULL) {
        p->symbols =
            kiln__arena_allocate_array(p->arena, BUCKETS, sizeof *p->symbols);
        p->failed |= p->symbols == NULL;
    }
    hash = hash * 31 + (uint64_t)form->kind;
    hash = hash * 1000003 + (uint64_t)form->imm;
    for (int i = 0; i < 3; i++)
        hash = hash * 1000003 + id_of(form->operands[i]);
    hash ^= hash >> 32;
    return p->symbols == NULL ? NULL
                              : &p->symbols[(hash ^ hash >> 16) % BUCKETS];
}

/* Constants are found by their value. */
kiln__prove_symbol *kiln__prove_symbol_constant(kiln__prover *p, int32_t kind,
                                                int64_t value)
{
    const kiln__prove_form form = {
        .op = KILN__IR_CONST, .kind = kind, .imm = value};
    kiln__prove_symbol *s = kiln__prove_symbol_make(p, &form);

    if (s != NULL && s->range.low == NULL) {
        s->op = KILN__IR_CONST;
        s->range = kiln__range_point(kind == KILN_TYPE_BOOL
                                         ? kiln__prove_truth(p, value != 0)
                                         : kiln__prove_number(p, value));
    }
    return s;
}

unsigned kiln__prove_loose_ends(const kiln__prove_symbol *s)
{
    return s == NULL || s->has_facts ? 0 : s->loose;
}

/* Sums of numbers of which nothing is known are such, too, and minima as far
   as they go down; what masks, divisions and comparisons give is not. */
static unsigned loose(const kiln__prove_form *form)
{
    const unsigned a = kiln__prove_loose_ends(form->operands[0]);
    const unsigned b = kiln__prove_loose_ends(form->operands[1]);

    switch (form->op) {
    case KILN__IR_CONVERT:
    case KILN__IR_CHECKED:
        return a;
    case KILN__IR_ADD:
        return a | b;
    case KILN__IR_SUB:
    case KILN__IR_MUL:
    case KILN__IR_SHL:
        return (a | b) != 0 ? KILN__LOOSE : 0;
    case KILN__IR_SELECT:
        return a | b | kiln__prove_loose_ends(form->operands[2]);
    case KILN__IR_MATH:
        if (form->imm == KILN__MATH_MIN)
            return ((a | b) & KILN__LOOSE_LOW) | (a & b);
        if (form->imm == KILN__MATH_MAX)
            return ((a | b) & KILN__LOOSE_HIGH) | (a & b);
        return 0;
    default:
        return 0;
    }
}

kiln__prove_symbol *kiln__prove_symbol_make(kiln__prover *p,
                                            const kiln__prove_form *form)
{
    kiln__prove_symbol **head = bucket(p, form), *s;

    if (head == NULL)
        return NULL;
    for (s = *head; s != NULL; s = s->chain)
        if (s->op == form->op && s->kind == form->kind && s->imm == form->imm &&
            memcmp(s->operands, form->operands, sizeof form->operands) == 0)
            return s;
    s = allocate(p);
    if (s == NULL)
        return NULL;
    s->op = form->op;
    s->kind = form->kind;
    s->imm = form->imm;
    memcpy(s->operands, form->operands, sizeof form->operands);
    s->loose = loose(form);
    kiln__prove_symbol_bound(s);
    s->chain = *head;
    *head = s;
    return s;
}

/* ---- differences ----
 *
 * Of x - (x & mask) and x - x / n * n, ranges of the operands tell nothing: the
 * two sides of the difference go together. In arithmetic that wraps they are
 * x & ~mask and x % n.
 */

static kiln__prove_symbol *apply(kiln__prover *p, uint32_t op, int32_t kind,
                                 kiln__prove_symbol *a, kiln__prove_symbol *b)
{
    const kiln__prove_form form = {.op = op, .kind = kind, .operands = {a, b}};

    return kiln__prove_symbol_make(p, &form);
}

static int is_of(const kiln__prove_symbol *s, uint32_t op, int32_t kind)
{
    return s != NULL && s->op == op && s->kind == kind &&
           s->operands[0] != NULL && s->operands[1] != NULL;
}

/* Returns how many times x the symbol is, of that kind; 0: it is no multiple.
 */
static int64_t times(const kiln__prove_symbol *s, const kiln__prove_symbol *x,
                     int32_t kind)
{
    if (s == x)
        return 1;
    if (!is_of(s, KILN__IR_MUL, kind))
        return 0;
    for (int i = 0; i < 2; i++)
        if (s->operands[i] == x && s->operands[1 - i]->op == KILN__IR_CONST)
            return s->operands[1 - i]->imm;
    return 0;
}

/* Returns c * x - (x & mask) as (c - 1) * x + (x & ~mask); NULL: `b` is not of
   this form, or c is not above 0. */
static kiln__prove_symbol *less_masked(kiln__prover *p, kiln__prove_symbol *a,
                                       kiln__prove_symbol *b, int32_t kind)
{
    for (int i = 0; i < 2; i++) {
        kiln__prove_symbol *x = b->operands[i], *rest, *other;
        const int64_t count = times(a, x, kind);

        if (count <= 0)
            continue;
        other =
            apply(p, KILN__IR_SUB, kind,
                  kiln__prove_symbol_constant(p, kind, -1), b->operands[1 - i]);
        rest = apply(p, KILN__IR_AND, kind, x, other);
        if (count == 1)
            return rest;
        return apply(p, KILN__IR_ADD, kind,
                     apply(p, KILN__IR_MUL, kind,
                           kiln__prove_symbol_constant(p, kind, count - 1), x),
                     rest);
    }
    return NULL;
}

/* Returns a - a / n * n as a % n, or NULL. */
static kiln__prove_symbol *less_whole(kiln__prover *p, kiln__prove_symbol *a,
                                      kiln__prove_symbol *b, int32_t kind)
{
    for (int i = 0; i < 2; i++) {
        kiln__prove_symbol *quotient = b->operands[i];

        if (is_of(quotient, KILN__IR_IDIV, kind) &&
            quotient->operands[0] == a &&
            quotient->operands[1] == b->operands[1 - i])
            return apply(p, KILN__IR_IREM, kind, a, b->operands[1 - i]);
    }
    return NULL;
}

kiln__prove_symbol *kiln__prove_symbol_apply(kiln__prover *p, uint32_t op,
                                             int32_t kind,
                                             kiln__prove_symbol *a,
                                             kiln__prove_symbol *b)
{
    kiln__prove_symbol *made = NULL;

    if (op == KILN__IR_SUB && kiln__kind_is_signed(kind)) {
        if (is_of(b, KILN__IR_AND, kind))
            made = less_masked(p, a, b, kind);
        else if (is_of(b, KILN__IR_MUL, kind))
            made = less_whole(p, a, b, kind);
    }
    return made != NULL ? made : apply(p, op, kind, a, b);
}

/* ---- aggregates ---- */

kiln__prove_symbol *kiln__prove_symbol_fields(kiln__prover *p, uint32_t count)
{
    kiln__prove_symbol *s = allocate(p);

    if (s == NULL)
        return NULL;
    s->op = KILN__SYMBOL_FIELDS;
    s->field_count = count;
    s->fields = kiln__arena_allocate_array(p->arena, count, sizeof *s->fields);
    p->failed |= s->fields == NULL;
    return s->fields == NULL ? NULL : s;
}

/* Returns the number of fields that a type is split into; 0: it stays whole. */
static uint32_t fields_of(const kiln__ir_type *type)
{
    const int has_fields =
        kiln__kind_has_fields(type->kind) || type->kind == KILN_TYPE_ARRAY;

    return has_fields && type->length <= FIELDS_MAX ? type->length : 0;
}

/* A byte may well be an index that is checked, a large number is none that a
   launch could know of. */
static void read_from_memory(kiln__prove_symbol *s)
{
    int64_t low, high;

    if (!kiln__kind_is_integer(s->kind))
        return;
    if (kiln__kind_width(s->kind) >= 32)
        s->loose =
            kiln__kind_is_signed(s->kind) ? KILN__LOOSE : KILN__LOOSE_HIGH;
    else if (kiln__prove_bounds(s->kind, &low, &high))
        s->spread = high - low;
}

/* Makes a symbol of the type, field by field: zeros or unknown scalars. */
static kiln__prove_symbol *build(kiln__prover *p, const kiln__ir *ir,
                                 uint32_t index, int is_zero)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, index);
    const uint32_t count = fields_of(type);
    kiln__prove_symbol *s;
    kiln__range full;

    if (count == 0) {
        full = kiln__range_full(p, type->kind);
        if (is_zero && full.low != NULL)
            return kiln__prove_symbol_constant(p, type->kind, 0);
        s = kiln__prove_symbol_leaf(p, type->kind, full);
        if (s != NULL)
            read_from_memory(s);
        return s;
    }
    s = kiln__prove_symbol_fields(p, count);
    for (uint32_t i = 0; s != NULL && i < count; i++) {
        if (type->kind == KILN_TYPE_ARRAY) {
            full = kiln__range_full(p, KILN_TYPE_I64);
            full.low = kiln__prove_number(p, 0);
            s->fields[i] = kiln__prove_symbol_leaf(p, KILN_TYPE_I64, full);
        } else {
            s->fields[i] = build(p, ir, kiln__ir_field(ir, type, i), is_zero);
        }
        if (s->fields[i] == NULL)
            return NULL;
    }
    return s;
}

kiln__prove_symbol *kiln__prove_symbol_unknown(kiln__prover *p,
                                               const kiln__ir *ir,
                                               uint32_t type)
{
    return build(p, ir, type, 0);
}

kiln__prove_symbol *kiln__prove_symbol_zero(kiln__prover *p, const kiln__ir *ir,
                                            uint32_t type)
{
    return build(p, ir, type, 1);
}

static kiln__prove_symbol *scalar_of(kiln__prover *p, int32_t kind,
                                     LLVMValueRef value)
{
    if (kiln__range_full(p, kind).low == NULL)
        return kiln__prove_symbol_leaf(p, kind, kiln__range_full(p, kind));
    if (kind != KILN_TYPE_BOOL)
        value = LLVMBuildIntCast2(p->l->builder, value, p->l->i64,
                                  kiln__kind_is_signed(kind), "");
    return kiln__prove_symbol_leaf(p, kind, kiln__range_point(value));
}

static kiln__prove_symbol *size_of(kiln__prover *p, LLVMValueRef value)
{
    kiln__prove_symbol *s =
        kiln__prove_symbol_leaf(p, KILN_TYPE_I64, kiln__range_point(value));

    if (s != NULL)
        kiln__prove_size(p, s, value);
    return s;
}

kiln__prove_symbol *kiln__prove_symbol_of(kiln__prover *p, const kiln__ir *ir,
                                          uint32_t index, LLVMValueRef value)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, index);
    const uint32_t count = fields_of(type);
    kiln__prove_symbol *s;

    if (count == 0)
        return scalar_of(p, type->kind, value);
    s = kiln__prove_symbol_fields(p, count);
    for (uint32_t i = 0; s != NULL && i < count; i++) {
        const int is_array = type->kind == KILN_TYPE_ARRAY;
        LLVMValueRef part = LLVMBuildExtractValue(p->l->builder, value,
                                                  is_array ? 1 + i : i, "");

        s->fields[i] = is_array ? size_of(p, part)
                                : kiln__prove_symbol_of(
                                      p, ir, kiln__ir_field(ir, type, i), part);
        if (s->fields[i] == NULL)
            return NULL;
    }
    return s;
}

/* ---- one of two ---- */

static int both_have_fields(const kiln__prove_symbol *a,
                            const kiln__prove_symbol *b)
{
    return a->op == KILN__SYMBOL_FIELDS && b->op == KILN__SYMBOL_FIELDS &&
           a->field_count == b->field_count;
}

/* Makes a symbol for a whole aggregate of which nothing is known. */
static kiln__prove_symbol *opaque(kiln__prover *p)
{
    return kiln__prove_symbol_leaf(p, KILN_TYPE_NONE,
                                   kiln__range_full(p, KILN_TYPE_NONE));
}

kiln__prove_symbol *kiln__prove_symbol_choose(kiln__prover *p,
                                              kiln__prove_symbol *condition,
                                              kiln__prove_symbol *a,
                                              kiln__prove_symbol *b)
{
    kiln__prove_symbol *s;

    if (a == b || condition == NULL || a == NULL || b == NULL)
        return a;
    if (!both_have_fields(a, b))
        return a->kind != b->kind || a->kind == KILN_TYPE_NONE
                   ? opaque(p)
                   : kiln__prove_symbol_make(
                         p,
                         &(kiln__prove_form){
                             KILN__IR_SELECT, a->kind, 0, {condition, a, b}});
    s = kiln__prove_symbol_fields(p, a->field_count);
    for (uint32_t i = 0; s != NULL && i < a->field_count; i++)
        s->fields[i] =
            kiln__prove_symbol_choose(p, condition, a->fields[i], b->fields[i]);
    return s;
}

static kiln__range join_ranges(kiln__prover *p, kiln__prove_path *from_a,
                               kiln__range a, kiln__prove_path *from_b,
                               kiln__range b)
{
    kiln__range both = kiln__range_join(p, a, b);

    if (both.low == NULL)
        return both;
    both = kiln__range_select(p, from_b->dead, a, both);
    return kiln__range_select(p, from_a->dead, b, both);
}

static kiln__prove_symbol *join_scalars(kiln__prover *p,
                                        kiln__prove_path *from_a,
                                        const kiln__prove_symbol *a,
                                        kiln__prove_path *from_b,
                                        const kiln__prove_symbol *b)
{
    kiln__prove_symbol *s = kiln__prove_symbol_leaf(
        p, a->kind,
        join_ranges(p, from_a, kiln__prove_path_range(p, from_a, a), from_b,
                    kiln__prove_path_range(p, from_b, b)));

    if (s != NULL) {
        s->least = a->least < b->least ? a->least : b->least;
        s->greatest = a->greatest > b->greatest ? a->greatest : b->greatest;
        s->loose = kiln__prove_loose_ends(a) | kiln__prove_loose_ends(b);
    }
    return s;
}

kiln__prove_symbol *kiln__prove_symbol_join(kiln__prover *p,
                                            kiln__prove_path *from_a,
                                            kiln__prove_symbol *a,
                                            kiln__prove_path *from_b,
                                            kiln__prove_symbol *b)
{
    kiln__prove_symbol *s;

    if (a == b || a == NULL || b == NULL)
        return a;
    if (!both_have_fields(a, b)) {
        if (a->kind != b->kind || a->kind == KILN_TYPE_NONE)
            return opaque(p);
        return join_scalars(p, from_a, a, from_b, b);
    }
    s = kiln__prove_symbol_fields(p, a->field_count);
    for (uint32_t i = 0; s != NULL && i < a->field_count; i++)
        s->fields[i] = kiln__prove_symbol_join(p, from_a, a->fields[i], from_b,
                                               b->fields[i]);
    return s;
}
