/* facts.c - evaluates the facts that a kernel's faster entry needs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/facts.h"

#include <stdatomic.h>
#include <string.h>

#include "backends/facts_plan.h"
#include "base/error.h"
#include "tiers/binary/artifact.h"

/*
 * A launch comes again and again with the same sizes, or with some buffers in
 * turn. So the last verdicts are remembered, in a few *places*: each holds the
 * numbers that the facts read, and the verdict. A launch whose numbers are all
 * there computes nothing.
 *
 * A place is read without a lock while others write it. Its sequence is odd
 * while it is written, and grows each time. Who reads it looks at the sequence
 * before and after, and believes nothing if that has changed. Each word is
 * stored with release and loaded with acquire, so a word of a later writer
 * makes its odd sequence visible, too. Of two writers one gives up.
 */

#define PLACES 4
#define PLACE_HEAD 2 /* words before the numbers: the sequence, the verdict */
#define LINE_WORDS 8 /* of a processor's cache */

struct kiln__launch_facts {
    const kiln_alloc *alloc;
    kiln__facts_plan plan;
    _Atomic uint64_t *places;
    size_t place_words;
    _Atomic uint32_t next; /* the place to write next, about */
};

/* ---- making ---- */

kiln_status kiln__facts_make(kiln__launch_facts **out, const kiln_alloc *alloc,
                             const void *facts, size_t size)
{
    kiln__launch_facts *made = kiln__allocate(alloc, sizeof *made);
    kiln_status status;

    if (made == NULL)
        return KILN_ENOMEM;
    made->alloc = alloc;
    status = kiln__facts_plan_make(&made->plan, alloc, facts, size);
    if (status == KILN_OK) {
        made->place_words =
            (made->plan.input_count + PLACE_HEAD + LINE_WORDS - 1) /
            LINE_WORDS * LINE_WORDS;
        made->places = kiln__allocate_array(alloc, PLACES * made->place_words,
                                            sizeof *made->places);
        status = made->places == NULL ? KILN_ENOMEM : KILN_OK;
    }
    if (status != KILN_OK) {
        kiln__facts_close(made);
        return status;
    }
    for (size_t i = 0; i < PLACES * made->place_words; i++)
        atomic_init(&made->places[i], 0);
    atomic_init(&made->next, 0);
    *out = made;
    return KILN_OK;
}

void kiln__facts_close(kiln__launch_facts *facts)
{
    if (facts == NULL)
        return;
    kiln__facts_plan_free(&facts->plan, facts->alloc);
    kiln__deallocate(facts->alloc, facts->places,
                     PLACES * facts->place_words * sizeof *facts->places);
    kiln__deallocate(facts->alloc, facts, sizeof *facts);
}

kiln_status kiln__facts_open(kiln__launch_facts **out, const kiln_alloc *alloc,
                             const kiln_artifact *artifact, kiln_error **error)
{
    const size_t count = kiln_artifact_kernel_count(artifact);
    kiln_status status;

    *out = NULL;
    if (artifact->facts == NULL)
        return KILN_OK;
    for (size_t i = 0; i < count; i++) {
        const kiln_kernel_info *info = kiln_artifact_kernel(artifact, i);

        if (!kiln__facts_fit(artifact->facts, artifact->fact_size,
                             info->argument_bytes))
            return kiln__error_set(error, KILN_ECORRUPT,
                                   "%s: facts that do not fit its arguments",
                                   info->name);
    }
    status = kiln__facts_make(out, alloc, artifact->facts, artifact->fact_size);
    return status == KILN_OK ? KILN_OK : kiln__error_no_memory(error);
}

/* ---- evaluating ---- */

static uint64_t short_word(const uint8_t *at, uint32_t size)
{
    uint64_t value = 0;

    memcpy(&value, at, size); /* hosts are little-endian, as devices are */
    return value;
}

static void read_inputs(const kiln__facts_plan *plan, uint64_t *slots,
                        const void *arguments, const kiln__facts_shape *shape)
{
    const kiln__facts_input *inputs = plan->inputs;
    uint32_t i = 0;

    for (; i < plan->word_count; i++)
        memcpy(&slots[i], (const uint8_t *)arguments + inputs[i].at, 8);
    for (; i < plan->word_count + plan->shape_count; i++)
        slots[i] = shape->sizes[inputs[i].at];
    for (; i < plan->input_count; i++)
        slots[i] = short_word((const uint8_t *)arguments + inputs[i].at,
                              inputs[i].size);
}

static uint64_t any(const kiln__facts_step *at, uint64_t a, uint64_t b,
                    uint64_t c)
{
    return kiln__fact_compute(at->operation, at->width,
                              (const uint64_t[]){a, b, c});
}

static int follow(const kiln__facts_plan *plan, uint64_t *slots)
{
    for (uint32_t i = 0; i < plan->constant_count; i++)
        slots[plan->input_count + i] = plan->constants[i];
    for (const kiln__facts_step *at = plan->steps;; at++) {
        const uint64_t a = slots[at->a], b = slots[at->b], c = slots[at->c];

        switch (at->step) {
#define STEP(name, result) \
    case KILN__STORE_##name: \
        slots[at->to] = (uint64_t)(result); \
        break; \
    case KILN__CHECK_##name: \
        if ((result) == 0) \
            return 0; \
        break;
            KILN__STEP_MAP(STEP)
#undef STEP
        case KILN__STEP_HOLD:
            return 1;
        default:
            return 0;
        }
    }
}

int kiln__facts_evaluate(const kiln__launch_facts *facts, const void *arguments,
                         const kiln__facts_shape *shape)
{
    uint64_t slots[KILN__FACTS_SLOTS];

    slots[0] = 0; /* where there are no numbers, steps still name it */
    read_inputs(&facts->plan, slots, arguments, shape);
    return follow(&facts->plan, slots);
}

/* ---- remembering ---- */

/* Returns the verdict that the place has for these numbers, or -1. */
static int remembered(_Atomic uint64_t *place, const uint64_t *numbers,
                      uint32_t count)
{
    const uint64_t before = atomic_load_explicit(place, memory_order_acquire);
    uint64_t verdict;

    for (uint32_t i = 0; i < count; i++)
        if (atomic_load_explicit(&place[PLACE_HEAD + i],
                                 memory_order_acquire) != numbers[i])
            return -1;
    verdict = atomic_load_explicit(&place[1], memory_order_acquire);
    /* An odd sequence: it is being written; 0: it never was. */
    return before != 0 && before % 2 == 0 &&
                   atomic_load_explicit(place, memory_order_relaxed) == before
               ? (int)verdict
               : -1;
}

static void remember(kiln__launch_facts *facts, const uint64_t *numbers,
                     int verdict)
{
    const uint32_t next =
        atomic_load_explicit(&facts->next, memory_order_relaxed);
    _Atomic uint64_t *place =
        &facts->places[next % PLACES * facts->place_words];
    uint64_t sequence = atomic_load_explicit(place, memory_order_relaxed);

    if (sequence % 2 != 0 || !atomic_compare_exchange_strong_explicit(
                                 place, &sequence, sequence + 1,
                                 memory_order_acquire, memory_order_relaxed))
        return;
    atomic_store_explicit(&facts->next, next + 1, memory_order_relaxed);
    atomic_store_explicit(&place[1], (uint64_t)verdict, memory_order_release);
    for (uint32_t i = 0; i < facts->plan.input_count; i++)
        atomic_store_explicit(&place[PLACE_HEAD + i], numbers[i],
                              memory_order_release);
    atomic_store_explicit(place, sequence + 2, memory_order_release);
}

int kiln__facts_hold(kiln__launch_facts *facts, const void *arguments,
                     const kiln__facts_shape *shape)
{
    uint64_t slots[KILN__FACTS_SLOTS];
    int verdict;

    slots[0] = 0;
    read_inputs(&facts->plan, slots, arguments, shape);
    for (size_t i = 0; i < PLACES; i++) {
        verdict = remembered(&facts->places[i * facts->place_words], slots,
                             facts->plan.input_count);
        if (verdict >= 0)
            return verdict;
    }
    verdict = follow(&facts->plan, slots);
    remember(facts, slots, verdict);
    return verdict;
}
