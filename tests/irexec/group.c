/* group.c - runs the items of groups, and lets them wait for each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"

/*
 * Rounds: each item that can go on runs until it waits or ends, in one round
 * from the first to the last, in the next from the last to the first, so that
 * a barrier that is missing shows. Then whoever waits is let go on, if all are
 * there whom he waits for, and at the same place of the code. Items that have
 * ended are not waited for: those that raised an exception leave the kernel.
 * Without an exception nobody may end while others wait; a kernel that raises
 * tells so by the first word of its state (device_abi.h).
 *
 * The memory of the group is filled before each group with what is no value
 * that anybody expects.
 */

#define ITEMS_MAX 1024
#define LANES_MAX 64
#define FILLING 0xff

enum { READY, AT_BARRIER, AT_LANES, ENDED };

typedef struct item {
    item_ids ids;
    int state;
    const void *place;
    uint64_t value;
    fibre fibre;
} item;

/* Values that lanes have given, of each sub-group. */
typedef struct given {
    uint64_t values[LANES_MAX];
    uint64_t present;
} given;

/* A thread that left a launch by a signal has it still. */
static pthread_mutex_t one_launch = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static struct {
    const irexec_function *function;
    const irexec_launch *launch;
    item items[ITEMS_MAX];
    given given[ITEMS_MAX];
    uint32_t count;
    uint32_t lanes;
    item *current;
    char *message; /* of the launch; not empty: it has failed */
    const volatile uint32_t *phase; /* of the state, or NULL */
    jmp_buf *alone;
} run;

const item_ids *this_item(void)
{
    return &run.current->ids;
}

const irexec_launch *this_launch(void)
{
    return run.launch;
}

uint32_t lanes_of_sub_group(void)
{
    return run.lanes;
}

static int has_failed(void)
{
    return run.message[0] != '\0';
}

/* The first thing that goes wrong is what is told. */
__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    if (has_failed())
        return;
    va_start(arguments, format);
    (void)vsnprintf(run.message, IREXEC_MESSAGE, format, arguments);
    va_end(arguments);
}

/* ---- in an item ---- */

static void end_item(void)
{
    run.current->state = ENDED;
    fibre_end(&run.current->fibre);
}

static void wait_in(int state, const void *place)
{
    item *own = run.current;

    own->state = state;
    own->place = place;
    fibre_leave(&own->fibre);
}

void wait_for_group(const void *place)
{
    wait_in(AT_BARRIER, place);
}

const uint64_t *wait_for_lanes(const void *place, uint64_t value,
                               uint64_t *present)
{
    item *own = run.current;
    const given *all = &run.given[own->ids.number / run.lanes];

    own->value = value;
    wait_in(AT_LANES, place);
    *present = all->present;
    return all->values;
}

void fail_item(const char *message)
{
    fail("item %u of group %u, %u, %u: %s", run.current->ids.number,
         run.current->ids.group[0], run.current->ids.group[1],
         run.current->ids.group[2], message);
    if (!run.function->module->is_together)
        longjmp(*run.alone, 1);
    for (;;)
        end_item();
}

static void run_item(void)
{
    run.function->enter(run.launch->block);
    for (;;)
        end_item();
}

/* ---- letting items go on ---- */

static int has_exception(void)
{
    return run.phase != NULL && *run.phase != 0;
}

/* Of `count` items from the first: whether those that have not ended wait in
   `state`, all at one place. */
static int is_together(const item *first, uint32_t count, int state)
{
    const item *other = NULL;
    uint32_t ended = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (first[i].state == ENDED) {
            ended++;
            continue;
        }
        if (first[i].state != state)
            return 0;
        if (other != NULL && other->place != first[i].place)
            fail("items %u and %u wait for each other at different places",
                 other->ids.number, first[i].ids.number);
        other = &first[i];
    }
    if (other != NULL && ended > 0 && !has_exception())
        fail("item %u waits for items that have ended", other->ids.number);
    return other != NULL;
}

static void let_go_on(item *first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (first[i].state != ENDED)
            first[i].state = READY;
}

static void hand_out(item *first, uint32_t count)
{
    given *all = &run.given[first->ids.number / run.lanes];

    all->present = 0;
    memset(all->values, FILLING, sizeof all->values);
    for (uint32_t i = 0; i < count; i++)
        if (first[i].state != ENDED) {
            all->values[i] = first[i].value;
            all->present |= (uint64_t)1 << i;
        }
    let_go_on(first, count);
}

/* False when nobody can go on. */
static int next_round(void)
{
    int any = 0;

    for (uint32_t i = 0; i < run.count; i += run.lanes) {
        const uint32_t left = run.count - i;
        const uint32_t count = left < run.lanes ? left : run.lanes;

        if (is_together(&run.items[i], count, AT_LANES)) {
            hand_out(&run.items[i], count);
            any = 1;
        }
    }
    if (any || !is_together(run.items, run.count, AT_BARRIER))
        return any;
    let_go_on(run.items, run.count);
    return 1;
}

static void check_ended(void)
{
    static const char *const states[] = {"is ready", "waits at a barrier",
                                         "waits for its sub-group", "ended"};

    for (uint32_t i = 1; i < run.count; i++)
        if (run.items[i].state != run.items[0].state)
            fail("item 0 %s, item %u %s", states[run.items[0].state], i,
                 states[run.items[i].state]);
    if (run.items[0].state != ENDED)
        fail("all items wait, and not for each other");
}

/* ---- a group ---- */

static void resume(item *of)
{
    if (of->state != READY)
        return;
    run.current = of;
    fibre_resume(&of->fibre);
}

static void run_round(int is_backwards)
{
    for (uint32_t i = 0; i < run.count && !has_failed(); i++)
        resume(&run.items[is_backwards ? run.count - 1 - i : i]);
}

static void run_together(void)
{
    int round = 0;

    for (uint32_t i = 0; i < run.count; i++)
        if (fibre_start(&run.items[i].fibre, run_item) != 0) {
            fail("no memory for stacks");
            return;
        }
    do
        run_round(round++ % 2);
    while (!has_failed() && next_round());
    if (!has_failed())
        check_ended();
}

static void run_alone(void)
{
    jmp_buf alone;

    run.alone = &alone;
    if (setjmp(alone) != 0)
        return;
    for (uint32_t i = 0; i < run.count; i++) {
        run.current = &run.items[i];
        run.function->enter(run.launch->block);
    }
}

static void name_items(const uint32_t group[3])
{
    const uint32_t *size = run.launch->items;

    for (uint32_t i = 0; i < run.count; i++) {
        item *one = &run.items[i];

        one->state = READY;
        one->ids.number = i;
        one->ids.lane = i % run.lanes;
        one->ids.local[0] = i % size[0];
        one->ids.local[1] = i / size[0] % size[1];
        one->ids.local[2] = i / size[0] / size[1];
        memcpy(one->ids.group, group, sizeof one->ids.group);
    }
}

/* The launch's dynamic memory ends before that of the module does. */
static void check_dynamic(const shared_variable *of)
{
    const unsigned char *bytes = of->address;

    for (uint64_t i = run.launch->dynamic; i < of->size; i++)
        if (bytes[i] != FILLING) {
            fail("byte %llu of the dynamic memory was written, of which the "
                 "launch has %u",
                 (unsigned long long)i, run.launch->dynamic);
            return;
        }
}

static void run_group(const uint32_t group[3])
{
    const irexec_module *module = run.function->module;

    for (size_t i = 0; i < module->shared_count; i++)
        memset(module->shared[i].address, FILLING,
               (size_t)module->shared[i].size);
    name_items(group);
    if (module->is_together)
        run_together();
    else
        run_alone();
    for (size_t i = 0; i < module->shared_count; i++)
        if (module->shared[i].is_dynamic)
            check_dynamic(&module->shared[i]);
}

static void run_groups(void)
{
    const uint32_t *groups = run.launch->groups;
    uint32_t at[3];

    for (at[2] = 0; at[2] < groups[2]; at[2]++)
        for (at[1] = 0; at[1] < groups[1]; at[1]++)
            for (at[0] = 0; at[0] < groups[0] && !has_failed(); at[0]++)
                run_group(at);
}

/* A kernel that may raise has the address of its state in front of its last
   argument. */
static const volatile uint32_t *phase_of(const irexec_function *function,
                                         const irexec_launch *launch)
{
    const volatile uint32_t *state;

    if (function->module->hidden == 0 ||
        launch->block_size < function->block_size)
        return NULL;
    memcpy(&state,
           (const char *)launch->block + function->block_size -
               function->module->hidden * sizeof(uint64_t),
           sizeof state);
    return state;
}

int irexec_run(const irexec_function *function, const irexec_launch *launch,
               char *message)
{
    const uint32_t *items = launch->items;
    const uint64_t count = (uint64_t)items[0] * items[1] * items[2];
    int failed;

    (void)pthread_mutex_lock(&one_launch);
    message[0] = '\0';
    run.function = function;
    run.launch = launch;
    run.message = message;
    run.phase = phase_of(function, launch);
    run.lanes = function->module->lanes;
    run.count = (uint32_t)count;
    if (launch->dynamic > IREXEC_DYNAMIC_MAX)
        fail("%u bytes of dynamic memory", launch->dynamic);
    else if (count == 0 || count > ITEMS_MAX)
        fail("groups of %llu items", (unsigned long long)count);
    else if (launch->block_size < function->block_size)
        fail("%zu bytes of arguments, but the kernel takes %zu",
             launch->block_size, function->block_size);
    else
        run_groups();
    failed = has_failed();
    pthread_mutex_unlock(&one_launch);
    return failed;
}
