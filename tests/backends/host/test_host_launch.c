/* test_host_launch.c - launches: every group once, exceptions, print. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread backends host */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/host/host_backend.h"
#include "backends/report_text.h"
#include "base/system/cores.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"

/*
 * Functions of C with the convention of generated code are launched directly:
 * no compiler and no image takes part.
 */
#define THREADS 4

typedef struct fixture {
    kiln_context context;
    kiln__host_pool *pool;
    kiln__host_record record;
    kiln_kernel_info info;
    kiln_kernel kernel;
} fixture;

static void take_a_while(void *env, uint64_t first, uint64_t last)
{
    (void)env;
    usleep((useconds_t)(1000 * (last - first)));
}

/* A pool has its threads once a job took long enough to be worth them. */
static void start_threads(kiln__host_pool *pool)
{
    kiln__host_pool_run(pool, 2 * THREADS, take_a_while, NULL);
}

static int setup_with(void **state, uint32_t threads)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->context.alloc = kiln__malloc;
    f->context.thread_limit = threads;
    f->info.name = "entry";
    f->info.method = "main.entry()";
    f->kernel.info = &f->info;
    f->kernel.context = &f->context;
    assert_ok(kiln__host_pool_new(&f->pool, &f->context));
    *state = f;
    return 0;
}

static int setup_idle(void **state)
{
    return setup_with(state, THREADS);
}

static int setup(void **state)
{
    setup_idle(state);
    start_threads(((fixture *)*state)->pool);
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln__host_pool_free(f->pool);
    free(f);
    return 0;
}

static kiln_launch_request request_of(const fixture *f, kiln__host_entry entry,
                                      void *arguments)
{
    kiln_launch_request request = {
        .size = sizeof request,
        .kernel = &f->kernel,
        .grid = {1, 1, 1},
        .arguments = arguments,
    };

    memcpy(&request.function, &entry, sizeof request.function);
    return request;
}

static kiln_status launch(fixture *f, const kiln_launch_request *request)
{
    return kiln__host_launch(&f->context, f->pool, request, &f->record,
                             &test_error);
}

/* ---- the pool ---- */

typedef struct tally {
    atomic_uint *hits;
    uint64_t count;
    atomic_uint bad;
} tally;

static void count_hits(void *env, uint64_t first, uint64_t last)
{
    tally *t = env;

    if (first >= last || last > t->count)
        atomic_fetch_add(&t->bad, 1);
    for (uint64_t i = first; i < last && i < t->count; i++)
        atomic_fetch_add(&t->hits[i], 1);
}

static void run_and_check(kiln__host_pool *pool, uint64_t count)
{
    tally t = {.count = count};

    t.hits = calloc(count + 1, sizeof *t.hits);
    assert_non_null(t.hits);
    kiln__host_pool_run(pool, count, count_hits, &t);

    assert_int_equal(atomic_load(&t.bad), 0);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(atomic_load(&t.hits[i]), 1);
    free(t.hits);
}

static void every_index_runs_exactly_once(void **state)
{
    fixture *f = *state;

    for (uint64_t count = 0; count < 70; count++)
        run_and_check(f->pool, count);
    run_and_check(f->pool, 100003);
}

typedef struct progress {
    tally tally;
    uint64_t slow_from; /* these indices take long */
} progress;

static void slow_down(void *env, uint64_t first, uint64_t last)
{
    progress *p = env;

    count_hits(&p->tally, first, last);
    for (uint64_t i = first; i < last; i++)
        if (i >= p->slow_from)
            usleep(50);
}

/* Threads that join in the midst of a job take what is left, and no more. */
static void threads_may_join_at_any_index(void **state)
{
    (void)state;
    for (uint64_t from = 0; from < 40; from += 3) {
        kiln_context context = {.alloc = kiln__malloc, .thread_limit = THREADS};
        atomic_uint hits[64] = {0};
        progress p = {{.hits = hits, .count = 64}, from};
        kiln__host_pool *pool;

        assert_ok(kiln__host_pool_new(&pool, &context));
        kiln__host_pool_run(pool, 64, slow_down, &p);
        kiln__host_pool_free(pool);
        assert_int_equal(atomic_load(&p.tally.bad), 0);
        for (int i = 0; i < 64; i++)
            assert_int_equal(atomic_load(&hits[i]), 1);
    }
}

static void many_short_runs_follow_each_other(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < 2000; i++)
        run_and_check(f->pool, (uint64_t)(2 + i % 40));
}

static void threads_that_sleep_are_woken(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < 20; i++) {
        run_and_check(f->pool, 64);
        usleep(4000); /* longer than a worker watches */
    }
}

static void *run_again_and_again(void *argument)
{
    fixture *f = argument;

    for (int i = 0; i < 300; i++) {
        atomic_uint hits[64] = {0};
        tally t = {.hits = hits, .count = 64};

        kiln__host_pool_run(f->pool, 64, count_hits, &t);
        for (int k = 0; k < 64; k++)
            if (atomic_load(&hits[k]) != 1)
                abort();
    }
    return NULL;
}

static void several_threads_may_run_at_once(void **state)
{
    harness_run_threads(4, run_again_and_again, *state);
}

static void run_inside(void *env, uint64_t first, uint64_t last)
{
    run_again_and_again(env);
    (void)first;
    (void)last;
}

static void a_run_inside_a_run_does_not_block(void **state)
{
    fixture *f = *state;

    kiln__host_pool_run(f->pool, 3, run_inside, f);
}

static void one_thread_is_enough(void **state)
{
    run_and_check(((fixture *)*state)->pool, 1000);
}

static int setup_single(void **state)
{
    return setup_with(state, 1);
}

static void a_child_of_fork_has_threads_of_its_own(void **state)
{
    fixture *f = *state;
    int status;
    pid_t child;

    if (!HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    assert_ok(kiln__fork_list_add(&f->context.fork));
    run_and_check(f->pool, 1000);
    child = fork();
    if (child == 0) {
        run_again_and_again(f);
        kiln__host_pool_free(f->pool);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    kiln__fork_list_remove(&f->context.fork);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_and_check(f->pool, 1000);
}

/* Backwards, to show that the order is the host's. */
static void for_each(void *env, size_t count,
                     void (*body)(void *argument, size_t index), void *argument)
{
    ++*(int *)env;
    while (count > 0)
        body(argument, --count);
}

static void the_host_may_bring_its_own_threads(void **state)
{
    fixture *f = *state;
    int calls = 0;

    f->context.host.parallel_for = for_each;
    f->context.host_env = &calls;
    run_and_check(f->pool, 1001);
    run_and_check(f->pool, 2);
    assert_int_equal(calls, 2);
}

static void enter_or_leave(void *env)
{
    atomic_fetch_add((atomic_int *)env, 1);
}

static void the_host_hears_of_every_thread(void **state)
{
    fixture *f = *state;
    atomic_int calls = 0;

    if (kiln__core_count() == 1)
        test_skip(SKIP_MACHINE, "no threads are started on one core");
    f->context.host.thread_enter = enter_or_leave;
    f->context.host.thread_leave = enter_or_leave;
    f->context.host_env = &calls;
    start_threads(f->pool);
    run_and_check(f->pool, 1000);
    kiln__host_pool_free(f->pool);
    f->pool = NULL;
    assert_int_equal(atomic_load(&calls), 2 * (THREADS - 1));
}

/* None of these jobs is worth threads, and all of them together are. */
static void short_jobs_bring_threads_in_the_end(void **state)
{
    fixture *f = *state;
    atomic_int calls = 0;

    if (kiln__core_count() == 1)
        test_skip(SKIP_MACHINE, "no threads are started on one core");
    f->context.host.thread_enter = enter_or_leave;
    f->context.host.thread_leave = enter_or_leave;
    f->context.host_env = &calls;
    for (int i = 0; i < 100; i++) {
        atomic_uint hits[2] = {0};
        progress p = {{.hits = hits, .count = 2}, 0};

        kiln__host_pool_run(f->pool, 2, slow_down, &p);
        assert_int_equal(atomic_load(&hits[0]) + atomic_load(&hits[1]), 2);
    }
    kiln__host_pool_free(f->pool);
    f->pool = NULL;
    assert_int_equal(atomic_load(&calls), 2 * (THREADS - 1));
}

/* On one core, threads would only take it from each other. The affinity of this
   thread is that of the pool which is made on it. */
static void on_one_core_no_thread_is_started(void **state)
{
    kiln_context context = {.alloc = kiln__malloc, .thread_limit = THREADS};
    atomic_int calls = 0;
    cpu_set_t before, one;
    kiln__host_pool *pool;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    context.host.thread_enter = enter_or_leave;
    context.host_env = &calls;
    assert_ok(kiln__host_pool_new(&pool, &context));
    start_threads(pool);
    for (uint64_t count = 0; count < 70; count++)
        run_and_check(pool, count);
    kiln__host_pool_free(pool);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(atomic_load(&calls), 0);
}

/* The pool was made for all cores, and then its caller is held on one, with the
   threads that it starts there: launches go on. */
static void a_caller_may_be_held_on_a_core(void **state)
{
    fixture *f = *state;
    cpu_set_t before, one;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)kiln__core_current(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    start_threads(f->pool);
    for (int i = 0; i < 300; i++)
        run_and_check(f->pool, 64);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    run_and_check(f->pool, 1000);
}

static kiln_status run_once(const kiln_alloc *alloc, void *env)
{
    kiln_context context = {.alloc = *alloc, .thread_limit = THREADS};
    kiln__host_pool *pool;
    kiln_status status = kiln__host_pool_new(&pool, &context);

    (void)env;
    if (status != KILN_OK)
        return status;
    run_and_check(pool, 100);
    start_threads(pool);
    run_and_check(pool, 100);
    kiln__host_pool_free(pool);
    return KILN_OK;
}

static void a_pool_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(run_once, NULL);
}

/* ---- launches ---- */

typedef struct seen_groups {
    atomic_uint *hits;
    uint64_t count;
    uint64_t block[3];
    uint64_t groups[3];
    atomic_uint bad;
} seen_groups;

static int32_t see_groups(struct kiln__host_launch_state *launch,
                          const void *arguments, uint64_t first, uint64_t last,
                          void *memory)
{
    seen_groups *seen;

    (void)memory;
    memcpy(&seen, arguments, sizeof seen);
    if (first == 0) {
        memcpy(seen->block, launch->block, sizeof seen->block);
        memcpy(seen->groups, launch->groups, sizeof seen->groups);
    }
    for (uint64_t g = first; g < last; g++)
        if (g < seen->count)
            atomic_fetch_add(&seen->hits[g], 1);
        else
            atomic_fetch_add(&seen->bad, 1);
    return 0;
}

static void every_group_runs_exactly_once(void **state)
{
    fixture *f = *state;
    seen_groups seen = {.count = 7 * 3 * 5};
    const seen_groups *argument = &seen;
    kiln_launch_request request = request_of(f, see_groups, &argument);

    seen.hits = calloc(seen.count, sizeof *seen.hits);
    assert_non_null(seen.hits);
    request.grid[0] = 97; /* 7 groups of 16, the last one cut */
    request.grid[1] = 11; /* 3 of 4 */
    request.grid[2] = 5;
    request.block[0] = 16;
    request.block[1] = 4;
    request.block[2] = 1;
    assert_ok(launch(f, &request));

    assert_int_equal(seen.groups[0], 7);
    assert_int_equal(seen.groups[1], 3);
    assert_int_equal(seen.groups[2], 5);
    assert_int_equal(seen.block[0], 16);
    assert_int_equal(atomic_load(&seen.bad), 0);
    for (uint64_t i = 0; i < seen.count; i++)
        assert_int_equal(atomic_load(&seen.hits[i]), 1);
    free(seen.hits);
}

static void assert_block(uint64_t x, uint64_t y, uint64_t z, uint64_t bx,
                         uint64_t by, uint64_t bz)
{
    const uint64_t grid[3] = {x, y, z};
    uint64_t block[3];

    kiln__host_choose_block(block, grid);
    assert_int_equal(block[0], bx);
    assert_int_equal(block[1], by);
    assert_int_equal(block[2], bz);
}

static void a_chosen_block_has_at_most_4096_items(void **state)
{
    (void)state;
    assert_block(1, 1, 1, 1, 1, 1);
    assert_block(1000000, 1, 1, 4096, 1, 1);
    assert_block(64, 64, 64, 64, 64, 1);
    assert_block(66, 66, 66, 66, 62, 1);
    assert_block(3, 5000, 7, 3, 1365, 1);
}

static void a_small_grid_is_shared_in_large_pieces(void **state)
{
    (void)state;
    assert_block(1000, 1, 1, 1000, 1, 1);
    assert_block(10, 10, 10, 10, 10, 10);
    assert_block(16, 16, 16, 16, 16, 4);
    assert_block(66, 66, 1, 66, 16, 1);
    assert_block(1, 1, 5000, 1, 1, 1250);
    assert_block(16384, 1, 1, 4096, 1, 1);
}

/* ---- exceptions ---- */

typedef struct site_bytes {
    uint32_t kind;
    uint32_t ordinal;
    char texts[64]; /* method NUL message NUL */
} site_bytes;

static const site_bytes bounds = {KILN_EXCEPTION_BOUNDS, 9,
                                  "main.fill\0index out of bounds"};
static const site_bytes assertion = {KILN_EXCEPTION_ASSERTION, 3,
                                     "main.check\0x is positive"};
static const site_bytes division = {KILN_EXCEPTION_DIVISION, 1, "main.half\0"};

/* Raises in every group from the argument's number on. */
static int32_t raise_late(struct kiln__host_launch_state *launch,
                          const void *arguments, uint64_t first, uint64_t last,
                          void *memory)
{
    uint64_t from;
    struct kiln__host_item item = {.launch = launch};

    (void)memory;
    memcpy(&from, arguments, sizeof from);
    for (uint64_t g = first; g < last; g++) {
        if (g < from)
            continue;
        item.group_id[0] = g;
        item.global_id[0] = 100 * g + 7;
        launch->raise(launch, &item, &bounds, (int64_t)g, 50);
        return 1;
    }
    return 0;
}

static void an_exception_stops_the_launch_and_is_recorded(void **state)
{
    fixture *f = *state;
    uint64_t from = 50;
    kiln_launch_request request = request_of(f, raise_late, &from);
    const kiln_exception *exception = &f->record.exception;

    request.grid[0] = 100 * 1000;
    request.block[0] = 100;
    request.block[1] = request.block[2] = 1;
    for (int i = 0; i < 50; i++) {
        char message[128];

        memset(&f->record, 0, sizeof f->record);
        assert_int_equal(launch(f, &request), KILN_EEXCEPTION);
        assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
        assert_string_equal(exception->method, "main.fill");
        assert_string_equal(exception->kernel, "main.entry()");
        assert_int_equal(exception->ordinal, 9);
        assert_true(exception->group[0] >= from);
        assert_int_equal(exception->item[0], 100 * exception->group[0] + 7);
        assert_int_equal(exception->values[0], exception->group[0]);
        assert_int_equal(exception->values[1], 50);
        (void)snprintf(message, sizeof message,
                       "index out of bounds: index %d, size 50",
                       (int)exception->group[0]);
        assert_string_equal(exception->message, message);
    }
}

/* Raises the site whose address is the argument, twice. */
static int32_t raise_site(struct kiln__host_launch_state *launch,
                          const void *arguments, uint64_t first, uint64_t last,
                          void *memory)
{
    struct kiln__host_item item = {.launch = launch};
    const void *site;

    (void)memory;
    (void)first;
    (void)last;
    memcpy(&site, arguments, sizeof site);
    launch->raise(launch, &item, site, 1, 2);
    launch->raise(launch, &item, &bounds, 1, 2);
    return 1;
}

static void assert_message(fixture *f, const site_bytes *site,
                           const char *message)
{
    const kiln_launch_request request = request_of(f, raise_site, &site);

    assert_int_equal(launch(f, &request), KILN_EEXCEPTION);
    assert_int_equal(f->record.exception.kind, site->kind);
    assert_string_equal(f->record.exception.message, message);
}

static void the_first_exception_wins_and_says_what_happened(void **state)
{
    fixture *f = *state;

    assert_message(f, &assertion, "assertion failed: x is positive");
    assert_message(f, &division, "division by zero");
}

static int32_t only_fail(struct kiln__host_launch_state *launch,
                         const void *arguments, uint64_t first, uint64_t last,
                         void *memory)
{
    (void)launch;
    (void)arguments;
    (void)first;
    (void)last;
    (void)memory;
    return 1;
}

static void a_failure_without_an_exception_is_an_error(void **state)
{
    fixture *f = *state;
    const kiln_launch_request request = request_of(f, only_fail, NULL);

    assert_fails(KILN_EDEVICE, "raised no exception", launch(f, &request));
}

/* ---- print ---- */

static char printed[65536];
static size_t printed_size;
static pthread_mutex_t printed_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_text(void *env, const char *text, size_t size)
{
    (void)env;
    pthread_mutex_lock(&printed_lock);
    if (printed_size + size < sizeof printed) {
        memcpy(printed + printed_size, text, size);
        printed_size += size;
        printed[printed_size] = '\0';
    }
    pthread_mutex_unlock(&printed_lock);
}

static void print_parts(fixture *f, const struct kiln__host_print_part *parts,
                        uint64_t count)
{
    kiln__printer printer;

    printed_size = 0;
    printed[0] = '\0';
    f->context.host.print = take_text;
    kiln__print_begin(&printer, &f->context.alloc);
    for (uint64_t i = 0; i < count; i++)
        kiln__print_part(&printer, parts[i].kind,
                         (const char *)(uintptr_t)parts[i].bits, parts[i].bits);
    kiln__print_end(&printer, &f->context);
}

static struct kiln__host_print_part text_part(const char *text)
{
    return (struct kiln__host_print_part){KILN__PRINT_TEXT,
                                          (uint64_t)(uintptr_t)text};
}

static void assert_float_prints(fixture *f, uint64_t kind, double value,
                                const char *text)
{
    struct kiln__host_print_part part = {.kind = kind};

    memcpy(&part.bits, &value, sizeof value);
    print_parts(f, &part, 1);
    assert_string_equal(printed, text);
}

static void a_record_prints_as_c_would(void **state)
{
    const struct kiln__host_print_part parts[] = {
        text_part("i = "),   {KILN__PRINT_I64, (uint64_t)-5},
        text_part(", u = "), {KILN__PRINT_U64, UINT64_MAX},
        text_part(" "),      {KILN__PRINT_BOOL, 1},
        text_part(" "),      {KILN__PRINT_BOOL, 0},
        text_part("\n"),
    };

    print_parts(*state, parts, 9);
    assert_string_equal(printed,
                        "i = -5, u = 18446744073709551615 true false\n");
}

static void floats_print_their_shortest_digits(void **state)
{
    fixture *f = *state;
    const uint64_t f64 = KILN__PRINT_F64, f32 = KILN__PRINT_F32;

    assert_float_prints(f, f64, 0.1, "0.1");
    assert_float_prints(f, f64, 0.1 + 0.2, "0.30000000000000004");
    assert_float_prints(f, f32, (double)0.1f, "0.1");
    assert_float_prints(f, f64, (double)0.1f, "0.10000000149011612");
    assert_float_prints(f, f64, 0, "0");
    assert_float_prints(f, f64, -0.0, "-0");
    assert_float_prints(f, f64, 1, "1");
    assert_float_prints(f, f64, -2.5, "-2.5");
    assert_float_prints(f, f64, 1234567, "1234567");
    assert_float_prints(f, f64, 1e15, "1000000000000000");
    assert_float_prints(f, f64, 1e16, "1e+16");
    assert_float_prints(f, f64, 0.0001, "0.0001");
    assert_float_prints(f, f64, 0.00001234, "1.234e-05");
    assert_float_prints(f, f64, 1.7976931348623157e308,
                        "1.7976931348623157e+308");
    assert_float_prints(f, f64, 5e-324, "5e-324");
    assert_float_prints(f, f32, (double)3.4028235e38f, "3.4028235e+38");
    assert_float_prints(f, f64, __builtin_inf(), "inf");
    assert_float_prints(f, f64, -__builtin_inf(), "-inf");
    assert_float_prints(f, f64, __builtin_nan(""), "nan");
}

/* What says how a value is written may come from a damaged artifact. */
static void no_format_does_harm(void **state)
{
    static const char *const damaged[] = {
        "n", "s", "", "%", "*d", "f", "ld", "- +#0.", "99999999999999999999q"};

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        const struct kiln__host_print_part parts[] = {
            {KILN__PRINT_FORMAT, (uint64_t)(uintptr_t)damaged[i]},
            {KILN__PRINT_I64, 5},
            {KILN__PRINT_I64, 6},
            {KILN__PRINT_FORMAT, (uint64_t)(uintptr_t) "d"}};

        print_parts(*state, parts, 4);
        if (i + 1 < sizeof damaged / sizeof *damaged)
            assert_string_equal(printed, "?6");
        else
            assert_int_equal(printed_size, 4096 + 1);
    }
}

static int32_t print_groups(struct kiln__host_launch_state *launch,
                            const void *arguments, uint64_t first,
                            uint64_t last, void *memory)
{
    (void)arguments;
    for (uint64_t g = first; g < last; g++) {
        const struct kiln__host_print_part parts[] = {
            text_part("["), {KILN__PRINT_U64, g}, text_part("]")};

        (void)memory;
        launch->print(launch, parts, 3);
    }
    return 0;
}

static void records_of_several_threads_do_not_mix(void **state)
{
    fixture *f = *state;
    kiln_launch_request request = request_of(f, print_groups, NULL);
    const char *at = printed;
    int records = 0;

    printed_size = 0;
    f->context.host.print = take_text;
    request.grid[0] = 1000 * 8;
    request.block[0] = 8;
    request.block[1] = request.block[2] = 1;
    assert_ok(launch(f, &request));

    for (; *at != '\0'; records++) {
        assert_int_equal(*at++, '[');
        at += strspn(at, "0123456789");
        assert_int_equal(*at++, ']');
    }
    assert_int_equal(records, 1000);
}

static void without_a_listener_printing_does_nothing(void **state)
{
    fixture *f = *state;
    kiln_launch_request request = request_of(f, print_groups, NULL);

    f->context.host.print = NULL;
    request.grid[0] = 10;
    assert_ok(launch(f, &request));
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POOL(every_index_runs_exactly_once),
        cmocka_unit_test(threads_may_join_at_any_index),
        WITH_POOL(many_short_runs_follow_each_other),
        WITH_POOL(threads_that_sleep_are_woken),
        WITH_POOL(several_threads_may_run_at_once),
        WITH_POOL(a_run_inside_a_run_does_not_block),
        cmocka_unit_test_setup_teardown(one_thread_is_enough, setup_single,
                                        teardown),
        WITH_POOL(a_child_of_fork_has_threads_of_its_own),
        WITH_POOL(the_host_may_bring_its_own_threads),
        cmocka_unit_test_setup_teardown(the_host_hears_of_every_thread,
                                        setup_idle, teardown),
        cmocka_unit_test_setup_teardown(short_jobs_bring_threads_in_the_end,
                                        setup_idle, teardown),
        cmocka_unit_test(on_one_core_no_thread_is_started),
        cmocka_unit_test_setup_teardown(a_caller_may_be_held_on_a_core,
                                        setup_idle, teardown),
        cmocka_unit_test(a_pool_survives_a_failing_allocator),
        WITH_POOL(every_group_runs_exactly_once),
        cmocka_unit_test(a_chosen_block_has_at_most_4096_items),
        cmocka_unit_test(a_small_grid_is_shared_in_large_pieces),
        WITH_POOL(an_exception_stops_the_launch_and_is_recorded),
        WITH_POOL(the_first_exception_wins_and_says_what_happened),
        WITH_POOL(a_failure_without_an_exception_is_an_error),
        WITH_POOL(a_record_prints_as_c_would),
        WITH_POOL(floats_print_their_shortest_digits),
        WITH_POOL(no_format_does_harm),
        WITH_POOL(records_of_several_threads_do_not_mix),
        WITH_POOL(without_a_listener_printing_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
