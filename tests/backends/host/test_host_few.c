/* test_host_few.c - launches of few items, which are shared where that pays. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread backends host */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/host/host_backend.h"
#include "base/system/cores.h"
#include "support/harness.h"

#define THREADS 2

typedef struct fixture {
    kiln_context context;
    kiln__host_pool *pool;
} fixture;

static void take_a_while(void *env, uint64_t first, uint64_t last)
{
    (void)env;
    usleep((useconds_t)(1000 * (last - first)));
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->context.alloc = kiln__malloc;
    f->context.thread_limit = THREADS;
    assert_ok(kiln__host_pool_new(&f->pool, &f->context));
    /* A pool has its threads once a job took long enough to be worth them. */
    kiln__host_pool_run(f->pool, 4 * THREADS, take_a_while, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln__host_pool_free(f->pool);
    free(f);
    return 0;
}

static const char a_function, another_function;

/* ---- groups that take long ---- */

/* Two groups. With `together`, the first one waits until the second one has
   begun, which another thread must do. */
typedef struct pair {
    int together;
    atomic_int begun;
    atomic_int gave_up;
} pair;

#define WAITS_MAX 10000 /* of a millisecond each */

static void run_group_of_pair(pair *p, uint64_t group)
{
    int waits = 0;

    if (group == 1)
        atomic_store(&p->begun, 1);
    while (group == 0 && p->together && !atomic_load(&p->begun) &&
           waits < WAITS_MAX) {
        usleep(1000);
        waits++;
    }
    if (waits == WAITS_MAX)
        atomic_store(&p->gave_up, 1);
    usleep(2000);
}

static void run_pair(void *env, uint64_t first, uint64_t last)
{
    for (uint64_t group = first; group < last; group++)
        run_group_of_pair(env, group);
}

/* The first run shows that groups take long; the second one shares them from
   the beginning. */
static void what_took_long_is_shared_at_once(void **state)
{
    fixture *f = *state;
    pair p = {0};

    if (kiln__core_count() < THREADS)
        test_skip(SKIP_MACHINE, "threads are not used on one core");
    kiln__host_run_few(f->pool, 2, run_pair, &p, &a_function);
    p = (pair){.together = 1};
    kiln__host_run_few(f->pool, 2, run_pair, &p, &a_function);
    assert_int_equal(atomic_load(&p.gave_up), 0);
}

/* ---- every group, once ---- */

#define GROUPS_MAX 40

typedef struct tally {
    atomic_uint hits[GROUPS_MAX];
    uint64_t slow; /* this group takes long; GROUPS_MAX: none */
} tally;

static void count_hits(void *env, uint64_t first, uint64_t last)
{
    tally *t = env;

    for (uint64_t i = first; i < last; i++) {
        atomic_fetch_add(&t->hits[i], 1);
        if (i == t->slow)
            usleep(100);
    }
}

static void run_and_check(fixture *f, uint64_t count, uint64_t slow,
                          const void *function)
{
    tally t = {.slow = slow};

    kiln__host_run_few(f->pool, count, count_hits, &t, function);
    for (uint64_t i = 0; i < GROUPS_MAX; i++)
        assert_int_equal(atomic_load(&t.hits[i]), i < count);
}

/* Whatever the last run was like, and whatever this one is. */
static void every_group_runs_exactly_once(void **state)
{
    static const uint64_t slow[] = {GROUPS_MAX, 0, 1, 2};

    for (uint64_t count = 1; count <= GROUPS_MAX; count += 3)
        for (size_t i = 0; i < 16; i++) {
            run_and_check(*state, count, slow[i % 4], &a_function);
            run_and_check(*state, count, slow[i / 4], &another_function);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_took_long_is_shared_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_group_runs_exactly_once, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
