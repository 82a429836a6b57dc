/* codegen_fewer_facts.c - leaves out what facts say twice. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/facts_abi.h"
#include "base/data/endian.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/facts_writer.h"

/*
 * Facts come from a function that LLVM has simplified (codegen_facts.c), and
 * from what was appended later (codegen_apart.c), which reads the same sizes
 * again. And LLVM joins comparisons with the same power of two: that a and b
 * are small becomes one comparison of a | b, wherever there are two, so the
 * same sizes end up in several of them. Here
 *
 * - what is computed twice is computed once
 * - a | b < 2^n is left out where a | b | c < 2^n is a fact, too
 * - what nothing needs is left out
 *
 * The result is a conjunction of *terms*, which is written anew.
 */

#define SET_WORDS (KILN__FACTS_MOST / 64)

typedef struct node {
    uint8_t operation, width;
    uint8_t is_inner; /* a conjunction that the result is made of */
    uint8_t is_term;
    uint8_t is_needed;
    uint16_t operands[3];
    uint16_t same; /* the value that this one is */
    uint16_t made; /* its number among those that are written */
} node;

typedef struct fewer {
    node at[KILN__FACTS_MOST];
    size_t count;
} fewer;

/* A set of values, by number. */
typedef struct value_set {
    uint64_t words[SET_WORDS];
} value_set;

static unsigned operands_of(unsigned operation)
{
    static const uint8_t counts[] = {
#define OPERANDS(name, operands) operands,
        KILN__FACT_MAP(OPERANDS)
#undef OPERANDS
    };

    return counts[operation];
}

/* ---- reading ---- */

static int is_compare(unsigned operation)
{
    return operation >= KILN__FACT_EQ && operation <= KILN__FACT_SMUL_WRAPS;
}

static int is_truth(const node *n)
{
    return n->width == 1 || is_compare(n->operation);
}

static int commutes(unsigned operation)
{
    return operation == KILN__FACT_ADD || operation == KILN__FACT_MUL ||
           operation == KILN__FACT_AND || operation == KILN__FACT_OR ||
           operation == KILN__FACT_EQ;
}

static void read_node(fewer *f, const uint8_t *at, size_t index)
{
    node *n = &f->at[index];
    const unsigned count = operands_of(at[0]);

    n->operation = at[0];
    n->width = at[1];
    n->same = (uint16_t)index;
    for (unsigned i = 0; i < 3; i++) {
        n->operands[i] = kiln__le16_read(at + 2 + 2 * i);
        if (i < count)
            n->operands[i] = f->at[n->operands[i]].same;
    }
    if (commutes(n->operation) && n->operands[0] > n->operands[1]) {
        const uint16_t first = n->operands[0];

        n->operands[0] = n->operands[1];
        n->operands[1] = first;
    }
    if (n->operation == KILN__FACT_CUT && n->width == 1 &&
        is_truth(&f->at[n->operands[0]]))
        n->same = n->operands[0];
    for (size_t i = 0; i < index && n->same == index; i++)
        if (f->at[i].same == i && f->at[i].operation == n->operation &&
            f->at[i].width == n->width &&
            memcmp(f->at[i].operands, n->operands, sizeof n->operands) == 0)
            n->same = (uint16_t)i;
}

/* ---- terms ---- */

static void mark(fewer *f, uint16_t number)
{
    node *n = &f->at[number];

    if (n->operation == KILN__FACT_AND && is_truth(&f->at[n->operands[0]]) &&
        is_truth(&f->at[n->operands[1]]))
        n->is_inner = 1;
    else
        n->is_term = 1;
}

/* Operands come before what uses them, so one way down finds all. */
static void find_terms(fewer *f)
{
    mark(f, f->at[f->count - 1].same);
    for (size_t i = f->count; i-- > 0;) {
        if (!f->at[i].is_inner)
            continue;
        mark(f, f->at[i].operands[0]);
        mark(f, f->at[i].operands[1]);
    }
}

/* Returns n where the value is a small number n, else 0. */
static uint32_t number_in(const node *n)
{
    const uint32_t number = n->operands[1] | (uint32_t)n->operands[2] << 16;

    return n->operation == KILN__FACT_CONSTANT && number <= INT32_MAX ? number
                                                                      : 0;
}

static void add_value(value_set *set, uint16_t number)
{
    set->words[number / 64] |= (uint64_t)1 << number % 64;
}

/* Stores the values that are joined by | in what a term compares with a power
   of two, and returns that; 0 for other terms. */
static uint32_t parts_of(const fewer *f, const node *term, value_set *out)
{
    uint32_t most;

    if (!term->is_term || term->operation != KILN__FACT_ULT)
        return 0;
    most = number_in(&f->at[term->operands[1]]);
    if ((most & (most - 1)) != 0)
        return 0;
    memset(out, 0, sizeof *out);
    add_value(out, term->operands[0]);
    for (size_t i = f->count; i-- > 0;) {
        const node *n = &f->at[i];
        const uint64_t bit = (uint64_t)1 << i % 64;

        if ((out->words[i / 64] & bit) == 0 || n->operation != KILN__FACT_OR)
            continue;
        out->words[i / 64] &= ~bit;
        add_value(out, n->operands[0]);
        add_value(out, n->operands[1]);
    }
    return most;
}

static int is_within(const value_set *part, const value_set *all)
{
    for (size_t i = 0; i < SET_WORDS; i++)
        if ((part->words[i] & ~all->words[i]) != 0)
            return 0;
    return 1;
}

/* A term is implied by another one that has its values among others, and
   compares them with no more. Of two that say the same the last one stays. */
static int is_implied(const fewer *f, const node *term)
{
    value_set part, all;
    const uint32_t most = parts_of(f, term, &part);

    for (size_t i = 0; i < f->count && most != 0; i++) {
        const uint32_t other =
            &f->at[i] == term ? 0 : parts_of(f, &f->at[i], &all);

        if (other != 0 && other <= most && is_within(&part, &all))
            return 1;
    }
    return 0;
}

static void drop_implied(fewer *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (is_implied(f, &f->at[i]))
            f->at[i].is_term = 0;
}

/* ---- writing ---- */

static void find_needed(fewer *f)
{
    for (size_t i = f->count; i-- > 0;) {
        node *n = &f->at[i];

        n->is_needed |= n->is_term;
        for (unsigned k = 0; k < operands_of(n->operation); k++)
            f->at[n->operands[k]].is_needed |= n->is_needed;
    }
}

static void write_values(fewer *f, kiln__facts_writer *w)
{
    for (size_t i = 0; i < f->count; i++) {
        node *n = &f->at[i];
        uint16_t operands[3];

        if (!n->is_needed)
            continue;
        memcpy(operands, n->operands, sizeof operands);
        for (unsigned k = 0; k < operands_of(n->operation); k++)
            operands[k] = f->at[operands[k]].made;
        n->made = kiln__facts_put(w, n->operation, n->width, operands);
    }
}

static void write_terms(const fewer *f, kiln__facts_writer *w)
{
    uint16_t all = 0;
    int any = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (!f->at[i].is_term)
            continue;
        all = any ? kiln__facts_put(w, KILN__FACT_AND, 1,
                                    (const uint16_t[]){all, f->at[i].made, 0})
                  : f->at[i].made;
        any = 1;
    }
    /* The last value is the result. */
    if (all + 1u != w->count)
        (void)kiln__facts_put(w, KILN__FACT_CUT, 1,
                              (const uint16_t[]){all, 0, 0});
}

void kiln__facts_fewer(kiln__codegen_job *job)
{
    fewer *f = kiln__arena_allocate(&job->arena, sizeof *f);
    kiln__facts_writer w = {0};

    w.bytes = kiln__arena_allocate(&job->arena,
                                   (size_t)KILN__FACTS_MOST * KILN__FACT_BYTES);
    if (job->fact_size == 0 || f == NULL || w.bytes == NULL)
        return;
    memset(f, 0, sizeof *f);
    f->count = job->fact_size / KILN__FACT_BYTES;
    for (size_t i = 0; i < f->count; i++)
        read_node(f, (const uint8_t *)job->facts + i * KILN__FACT_BYTES, i);
    find_terms(f);
    drop_implied(f);
    find_needed(f);
    write_values(f, &w);
    write_terms(f, &w);
    if (w.failed)
        return;
    job->facts = w.bytes;
    job->fact_size = w.count * KILN__FACT_BYTES;
}
