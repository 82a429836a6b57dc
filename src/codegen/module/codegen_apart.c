/* codegen_apart.c - facts of a launch about where its arrays are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/facts_abi.h"
#include "base/error.h"
#include "codegen/facts/facts_writer.h"
#include "codegen/module/codegen_stages.h"

/*
 * Two facts are about addresses. Arrays do not overlap, of which one is
 * written: then loads may be moved and joined. And the elements of an array are
 * aligned as their size allows, not only as their parts need: then an element
 * is moved by one access.
 *
 * Each is assumed only where it makes a difference, since launches of which it
 * does not hold lose the whole entry. Programs often write an array in place
 * where each item reads its own element and then writes it; that needs no such
 * fact. Strided arrays are views, whose elements often lie between those of
 * others, so nothing is assumed of them. Where checks are left, loads that see
 * no stores are no reason: checks need the registers that such loads take.
 *
 * This is decided when all functions are inlined. So these facts are appended
 * to those that lowering made (lower_facts.c), which bound sizes and extents:
 * where these hold, nothing here overflows. An array is taken for the bytes
 * from its first element to its last one.
 */

#define ARRAYS_MOST 32
#define PAIRS_MOST 24           /* a launch checks them, one after the other */
#define ELEMENT_MOST (1u << 20) /* bytes */

/* An array's first byte, and the byte after its last one. */
typedef struct extent {
    uint16_t low, high;
} extent;

/* ---- instructions ---- */

static uint16_t binary(kiln__facts_writer *w, unsigned operation, uint16_t a,
                       uint16_t b)
{
    return kiln__facts_put(w, operation, 64, (const uint16_t[]){a, b, 0});
}

static uint16_t constant(kiln__facts_writer *w, uint32_t value)
{
    return kiln__facts_put_immediate(w, KILN__FACT_CONSTANT, 64, 0, value);
}

/* Reads 8 bytes of the packed arguments. */
static uint16_t word(kiln__facts_writer *w, uint64_t at)
{
    return kiln__facts_put_immediate(w, KILN__FACT_WORD, 64, 8, (uint32_t)at);
}

/* Adds a condition, a number of one bit, to all before it. */
static uint16_t add(kiln__facts_writer *w, uint16_t all, uint16_t condition)
{
    return kiln__facts_put(w, KILN__FACT_AND, 1,
                           (const uint16_t[]){all, condition, 0});
}

/* ---- extents ---- */

static uint16_t times_size(kiln__facts_writer *w, uint16_t count,
                           const kiln__parameter *array)
{
    return binary(w, KILN__FACT_MUL, count,
                  constant(w, (uint32_t)array->element_size));
}

static extent extent_of(kiln__facts_writer *w, const kiln__parameter *array,
                        uint64_t place)
{
    const uint16_t base = word(w, place);
    uint16_t count = word(w, place + 8);

    for (uint32_t i = 1; i < array->rank; i++)
        count = binary(w, KILN__FACT_MUL, count, word(w, place + 8 + 8 * i));
    return (extent){
        base, binary(w, KILN__FACT_ADD, base, times_size(w, count, array))};
}

static uint16_t are_apart(kiln__facts_writer *w, extent a, extent b)
{
    return kiln__facts_put(
        w, KILN__FACT_OR, 1,
        (const uint16_t[]){binary(w, KILN__FACT_ULE, a.high, b.low),
                           binary(w, KILN__FACT_ULE, b.high, a.low), 0});
}

/* ---- the arrays ---- */

typedef struct array_list {
    kiln__llvm_array used[ARRAYS_MOST]; /* by what the kernel's code does */
    const kiln__parameter *described[ARRAYS_MOST];
    uint64_t places[ARRAYS_MOST]; /* in the packed arguments */
    unsigned count;
} array_list;

/* Returns whether all arrays are known well enough. */
static int list_arrays(const kiln__codegen_job *job, array_list *out)
{
    uint64_t end = 0;

    out->count = 0;
    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *parameter = &job->parameters[i];
        const uint64_t place = kiln__parameter_place(parameter, &end);

        if (parameter->passing != KILN__PARAMETER_ARRAY)
            continue;
        if (out->count == ARRAYS_MOST || parameter->element_size > ELEMENT_MOST)
            return 0;
        out->used[out->count] = (kiln__llvm_array){.at = parameter->entry_at};
        out->described[out->count] = parameter;
        out->places[out->count++] = place;
    }
    return 1;
}

/* ---- arrays that do not overlap ---- */

static int is_pair(const array_list *list, unsigned a, unsigned b)
{
    const kiln__llvm_array *x = &list->used[a], *y = &list->used[b];

    return (x->is_written && (y->is_read || y->is_written)) ||
           (y->is_written && (x->is_read || x->is_written));
}

/* Returns how many pairs must not overlap; 0: too many, or one of them is
   strided. */
static unsigned count_pairs(const array_list *list)
{
    unsigned count = 0;

    for (unsigned b = 1; b < list->count; b++)
        for (unsigned a = 0; a < b; a++) {
            if (!is_pair(list, a, b))
                continue;
            if ((list->described[a]->strided | list->described[b]->strided) !=
                0)
                return 0;
            count++;
        }
    return count <= PAIRS_MOST ? count : 0;
}

static uint16_t put_apart(kiln__facts_writer *w, const array_list *list,
                          uint16_t all)
{
    extent extents[ARRAYS_MOST];

    for (unsigned i = 0; i < list->count; i++)
        extents[i] = extent_of(w, list->described[i], list->places[i]);
    for (unsigned b = 1; b < list->count; b++)
        for (unsigned a = 0; a < b; a++)
            if (is_pair(list, a, b))
                all = add(w, all, are_apart(w, extents[a], extents[b]));
    return all;
}

static kiln__facts_writer begin(const kiln__codegen_job *job)
{
    return (kiln__facts_writer){job->facts, job->fact_size / KILN__FACT_BYTES,
                                0};
}

/* Returns whether there was room for what was written. */
static int end(kiln__codegen_job *job, const kiln__facts_writer *w)
{
    if (!w->failed)
        job->fact_size = w->count * KILN__FACT_BYTES;
    return !w->failed;
}

static void assume_apart(kiln__codegen_job *job, array_list *list)
{
    const kiln__codegen_device *device = job->backend->device;
    const uint16_t known = (uint16_t)(job->fact_size / KILN__FACT_BYTES - 1);
    int matters = 0;
    const kiln__llvm_arrays arrays = {list->used, list->count, &matters};
    kiln__facts_writer w = begin(job);

    if (!kiln__llvm_find_uses(job->known_entry, &arrays,
                              device->has_read_only_loads &&
                                  !job->safe_can_fail))
        return;
    if (!matters || count_pairs(list) == 0)
        return;
    (void)put_apart(&w, list, known);
    if (end(job, &w))
        kiln__llvm_set_apart(job->known_entry, &arrays, device->scope);
}

/* ---- arrays whose elements are aligned ---- */

/* Returns how the array's elements are aligned if its first one is, or 0 where
   each part of an element is moved by itself, however it is aligned. */
static uint32_t alignment_of(const kiln__parameter *array)
{
    uint32_t alignment = KILN__ACCESS_MOST;

    while (array->element_size % alignment != 0)
        alignment /= 2;
    return alignment > array->element_alignment ? alignment : 0;
}

static uint16_t put_aligned(kiln__facts_writer *w, const array_list *list,
                            uint16_t all)
{
    for (unsigned i = 0; i < list->count; i++) {
        const uint32_t alignment = alignment_of(list->described[i]);
        uint16_t rest;

        if (alignment == 0)
            continue;
        rest = binary(w, KILN__FACT_AND, word(w, list->places[i]),
                      constant(w, alignment - 1));
        all = add(w, all, binary(w, KILN__FACT_EQ, rest, constant(w, 0)));
    }
    return all;
}

static int assume_aligned(kiln__codegen_job *job, const array_list *list)
{
    const uint16_t known = (uint16_t)(job->fact_size / KILN__FACT_BYTES - 1);
    kiln__facts_writer w = begin(job);

    if (put_aligned(&w, list, known) == known || !end(job, &w))
        return 0;
    for (unsigned i = 0; i < list->count; i++) {
        const uint32_t alignment = alignment_of(list->described[i]);

        if (alignment != 0)
            kiln__llvm_set_aligned(job->known_entry, list->used[i].at,
                                   alignment);
    }
    return 1;
}

int kiln__assume_places(kiln__codegen_job *job)
{
    array_list list;

    if (kiln__job_has_foreign(job) || !list_arrays(job, &list))
        return 0;
    assume_apart(job, &list);
    return job->backend->device->aligns_vectors && assume_aligned(job, &list);
}
