/* test_host_heavy.c - few items that take long get smaller groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread backends host */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/host_backend.h"
#include "base/system/cores.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"

#define THREADS 2
#define ITEMS_MAX 4096

typedef struct fixture {
    kiln_context context;
    kiln__host_pool *pool;
    kiln__host_record record;
    kiln_kernel_info info;
    kiln_kernel kernel;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->context.alloc = kiln__malloc;
    f->context.thread_limit = THREADS;
    f->info.name = "entry";
    f->info.method = "main.entry()";
    f->info.any_block = KILN_ANY_BLOCK_ALIKE;
    f->kernel.info = &f->info;
    f->kernel.context = &f->context;
    assert_ok(kiln__host_pool_new(&f->pool, &f->context));
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

/* ---- a kernel that counts its items ---- */

typedef struct tally {
    atomic_uint hits[ITEMS_MAX];
    uint64_t block[3];
    int is_slow;     /* each group takes a millisecond */
    int32_t returns; /* by the entry */
} tally;

static void count_group(tally *t, const struct kiln__host_launch_state *launch,
                        uint64_t group)
{
    const uint64_t id[3] = {
        group % launch->groups[0],
        group / launch->groups[0] % launch->groups[1],
        group / launch->groups[0] / launch->groups[1],
    };
    uint64_t at[3];

    for (uint64_t i = 0;
         i < launch->block[0] * launch->block[1] * launch->block[2]; i++) {
        at[0] = id[0] * launch->block[0] + i % launch->block[0];
        at[1] =
            id[1] * launch->block[1] + i / launch->block[0] % launch->block[1];
        at[2] =
            id[2] * launch->block[2] + i / launch->block[0] / launch->block[1];
        if (at[0] < launch->grid[0] && at[1] < launch->grid[1] &&
            at[2] < launch->grid[2])
            atomic_fetch_add(
                &t->hits[(at[2] * launch->grid[1] + at[1]) * launch->grid[0] +
                         at[0]],
                1);
    }
}

static int32_t count_items(struct kiln__host_launch_state *launch,
                           const void *arguments, uint64_t first, uint64_t last,
                           void *memory)
{
    tally *t;

    (void)memory;
    memcpy(&t, arguments, sizeof t);
    if (first == 0)
        memcpy(t->block, launch->block, sizeof t->block);
    for (uint64_t g = first; g < last; g++) {
        if (t->is_slow)
            usleep(1000);
        count_group(t, launch, g);
    }
    return t->returns;
}

static void launch(fixture *f, tally *t, const uint64_t grid[3],
                   const uint64_t block[3])
{
    const kiln__host_entry entry = count_items;
    kiln_launch_request request = {
        .size = sizeof request, .kernel = &f->kernel, .arguments = &t};
    const uint64_t items = grid[0] * grid[1] * grid[2];

    memcpy(&request.function, &entry, sizeof request.function);
    for (int i = 0; i < 3; i++) {
        request.grid[i] = grid[i];
        request.block[i] = (uint32_t)block[i];
    }
    memset(t->hits, 0, sizeof t->hits);
    assert_ok(kiln__host_launch(&f->context, f->pool, &request, &f->record,
                                &test_error));
    for (uint64_t i = 0; i < ITEMS_MAX; i++)
        assert_int_equal(atomic_load(&t->hits[i]), i < items);
}

static const uint64_t row[3] = {16, 1, 1}, chosen[3] = {0, 0, 0};

static void skip_on_one_core(void)
{
    if (kiln__core_count() == 1)
        test_skip(SKIP_MACHINE, "nothing is shared on one core");
}

static void the_second_launch_has_smaller_groups(void **state)
{
    static tally t;

    skip_on_one_core();
    t = (tally){.is_slow = 1};
    launch(*state, &t, row, chosen);
    assert_int_equal(t.block[0], 16);
    launch(*state, &t, row, chosen);
    assert_in_range(t.block[0], 1, 8);
}

/* What a kernel can see of its groups depends on the launch alone. */
static void kernels_that_see_their_groups_keep_them(void **state)
{
    fixture *f = *state;
    static tally t;

    t = (tally){.is_slow = 1};
    f->info.any_block = KILN_ANY_BLOCK_RUNS;
    for (int i = 0; i < 4; i++) {
        launch(f, &t, row, chosen);
        assert_int_equal(t.block[0], 16);
    }
}

static void a_block_that_is_asked_for_is_kept(void **state)
{
    static const uint64_t block[3] = {8, 1, 1};
    static tally t;

    t = (tally){.is_slow = 1};
    for (int i = 0; i < 4; i++) {
        launch(*state, &t, row, block);
        assert_int_equal(t.block[0], 8);
    }
}

/* Groups of memory do not grow, and items have the memory of their group. */
static void kernels_with_memory_may_be_heavy(void **state)
{
    fixture *f = *state;
    static tally t;

    t = (tally){.is_slow = 1};
    f->info.private_bytes = 8;
    for (int i = 0; i < 4; i++)
        launch(f, &t, row, chosen);
    assert_in_range(t.block[0], 1, 16);
}

static const uint64_t grids[][3] = {{2, 1, 1},    {3, 5, 7},   {1000, 1, 1},
                                    {1, 1, 17},   {16, 4, 2},  {33, 31, 1},
                                    {2048, 2, 1}, {1, 4096, 1}};

#define GRIDS (sizeof grids / sizeof *grids)

/* Whatever earlier launches were like, and whatever this one is. */
static void every_item_runs_exactly_once(void **state)
{
    static tally t;

    for (size_t i = 0; i < 600; i++) {
        t = (tally){.is_slow = i % 5 < 2 && i < 200};
        launch(*state, &t, grids[i * 7 % GRIDS], chosen);
    }
}

typedef struct many {
    fixture *f;
    atomic_uint next;
} many;

/* A queue of its own, the pool of all. */
static void *launch_from_a_thread(void *argument)
{
    many *m = argument;
    fixture own = *m->f;
    tally *t = calloc(1, sizeof *t);
    const unsigned number = atomic_fetch_add(&m->next, 1);

    if (t == NULL)
        abort();
    own.kernel.info = &own.info;
    for (size_t i = 0; i < 60; i++) {
        *t = (tally){.is_slow = (i + number) % 3 == 0};
        launch(&own, t, grids[(i + number) % 5], chosen);
    }
    free(t);
    return NULL;
}

static void many_queues_may_launch_at_once(void **state)
{
    many m = {.f = *state};

    harness_run_threads(4, launch_from_a_thread, &m);
}

/* A launch that was stopped tells nothing about the kernel. */
static void a_stopped_launch_is_an_error_and_the_next_one_is_not(void **state)
{
    fixture *f = *state;
    const kiln__host_entry entry = count_items;
    static tally t;
    tally *argument = &t;
    kiln_launch_request request = {.size = sizeof request,
                                   .kernel = &f->kernel,
                                   .grid = {16, 1, 1},
                                   .arguments = &argument};

    memcpy(&request.function, &entry, sizeof request.function);
    for (int i = 0; i < 6; i++) {
        t = (tally){.is_slow = 1, .returns = i % 2};
        assert_status(i % 2 ? KILN_EDEVICE : KILN_OK,
                      kiln__host_launch(&f->context, f->pool, &request,
                                        &f->record, &test_error));
    }
}

/* ---- what code generation says of kernels ---- */

static const char text[] = "fn ask() = group_id(0)\n"
                           "kernel plain(y)\n"
                           "    y[global_id(0)] = f32(global_size(0))\n"
                           "end\n"
                           "kernel local_ids(y)\n"
                           "    y[global_id(0)] = f32(local_id(0))\n"
                           "end\n"
                           "kernel sizes(y)\n"
                           "    y[global_id(0)] = f32(local_size(0))\n"
                           "end\n"
                           "kernel counts(y)\n"
                           "    y[global_id(0)] = f32(group_count(0))\n"
                           "end\n"
                           "kernel lanes(y)\n"
                           "    y[global_id(0)] = f32(lane_id())\n"
                           "end\n"
                           "kernel calls(y)\n"
                           "    y[global_id(0)] = f32(ask())\n"
                           "end\n"
                           "kernel waits(y)\n"
                           "    y[global_id(0)] = 1\n"
                           "    barrier()\n"
                           "    y[global_id(0)] = 2\n"
                           "end\n";

static int32_t any_block_of(kiln_context *context, kiln_package *package,
                            const char *name)
{
    const kiln_type *type;
    kiln_signature signature = {NULL, &type, 1};
    const kiln_config *config;
    const kiln_kernel *kernel;

    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, name, &test_error));
    assert_ok(kiln_type_parse(&type, context, NULL, "f32[:]", &test_error));
    assert_ok(
        kiln_compile(&kernel, context, &signature, config, NULL, &test_error));
    return kiln_kernel_get_info(kernel)->any_block;
}

static void kernels_say_whether_they_see_their_groups(void **state)
{
    static const char *const seeing[] = {"local_ids", "sizes", "counts",
                                         "lanes",     "calls", "waits"};
    kiln_context *context;
    kiln_package *package;

    (void)state;
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_int_equal(any_block_of(context, package, "plain"),
                     KILN_ANY_BLOCK_ALIKE);
    for (size_t i = 0; i < sizeof seeing / sizeof *seeing; i++)
        assert_int_equal(any_block_of(context, package, seeing[i]),
                         KILN_ANY_BLOCK_RUNS);
    kiln_context_free(context);
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POOL(the_second_launch_has_smaller_groups),
        WITH_POOL(kernels_that_see_their_groups_keep_them),
        WITH_POOL(a_block_that_is_asked_for_is_kept),
        WITH_POOL(kernels_with_memory_may_be_heavy),
        WITH_POOL(every_item_runs_exactly_once),
        WITH_POOL(many_queues_may_launch_at_once),
        WITH_POOL(a_stopped_launch_is_an_error_and_the_next_one_is_not),
        cmocka_unit_test(kernels_say_whether_they_see_their_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
