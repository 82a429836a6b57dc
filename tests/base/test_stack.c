/* test_stack.c - what is known of the stack that code runs on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln.h"
#include "support/harness.h"
#include "support/process/stacks.h"

typedef struct measure {
    size_t left;
    int is_low;
    char lowest;
} measure;

/* Reads the last byte that is said to be there. */
static void take_measure(void *env)
{
    measure *m = env;
    const char *here = __builtin_frame_address(0);

    m->left = kiln__stack_left();
    m->is_low = kiln__stack_is_low();
    m->lowest = here[256 - (ptrdiff_t)m->left];
}

/* Sizes are known but where a sanitizer's variables stand in each stack. */
static void know_sizes(void)
{
#if defined(__SANITIZE_THREAD__)
    test_skip(SKIP_SANITIZER,
              "the thread sanitizer's variables stand in each thread's stack");
#endif
}

static void a_threads_stack_is_measured(void **state)
{
    (void)state;
    know_sizes();
    for (size_t kib = 64; kib <= 1024; kib *= 2) {
        const size_t size = kib * STACKS_KIB;
        measure m = {0};

        stacks_run_thread(size, take_measure, &m);
        assert_in_range(m.left, size - 16 * STACKS_KIB, size);
        assert_false(m.is_low);
    }
}

static void a_small_stack_is_low_at_once(void **state)
{
    measure m = {0};

    (void)state;
    stacks_run_thread(20 * STACKS_KIB, take_measure, &m);
    assert_true(m.is_low);
}

static void the_first_threads_stack_is_what_it_may_grow_to(void **state)
{
    struct rlimit limit;
    measure m = {0};

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_STACK, &limit), 0);
    take_measure(&m);
    if (limit.rlim_cur < ((rlim_t)64 << 20))
        assert_in_range(m.left, limit.rlim_cur / 2, limit.rlim_cur);
    else
        assert_in_range(m.left, (size_t)32 << 20, (size_t)64 << 20);
}

static void fork_in_a_thread(void *env)
{
    pid_t child = fork();
    measure m = {0};
    int status;

    if (child == 0) {
        take_measure(&m);
        _exit(m.left <= 128 * STACKS_KIB && !m.is_low ? 0 : 1);
    }
    *(int *)env = waitpid(child, &status, 0) == child && status == 0;
}

static void a_childs_only_thread_keeps_its_stack(void **state)
{
    int is_fine = 0;

    (void)state;
    know_sizes();
    stacks_run_thread(128 * STACKS_KIB, fork_in_a_thread, &is_fine);
    assert_true(is_fine);
}

/* ---- stacks that are not the thread's own ---- */

static void take_unknown(void *env)
{
    kiln__stack_begin(NULL);
    take_measure(env);
}

static void take_told(void *env)
{
    kiln__stack_begin(stacks_coroutine_limit());
    take_measure(env);
}

static void of_an_unknown_stack_little_is_taken_for_granted(void **state)
{
    const size_t size = 1024 * STACKS_KIB;
    measure m = {0}, own = {0};

    (void)state;
    stacks_run_coroutine(size, take_unknown, &m);
    assert_in_range(m.left, KILN__STACK_ASSUMED - 4096, KILN__STACK_ASSUMED);
    assert_false(m.is_low);
    take_measure(&own); /* back on the thread's own */
    assert_in_range(own.left, size, (size_t)1 << 40);
}

static void a_stack_is_what_the_host_says(void **state)
{
    const size_t size = 1024 * STACKS_KIB;
    measure m = {0};

    (void)state;
    stacks_run_coroutine(size, take_told, &m);
    assert_in_range(m.left, size - 16 * STACKS_KIB, size);
}

/* A frame further down than what was granted to the call. */
static void go_down(void *env)
{
    volatile char room[KILN__STACK_ASSUMED / 2];

    room[0] = 1;
    kiln__stack_nest(1);
    kiln__stack_begin(NULL);
    take_measure(env);
    kiln__stack_nest(-1);
    (void)room[0];
}

static void begin_and_go_down(void *env)
{
    kiln__stack_begin(NULL);
    go_down(env);
}

static void what_a_callback_calls_is_granted_nothing_more(void **state)
{
    measure m = {0};

    (void)state;
    stacks_run_coroutine(1024 * STACKS_KIB, begin_and_go_down, &m);
    assert_in_range(m.left, KILN__STACK_ASSUMED / 4, KILN__STACK_ASSUMED / 2);
    assert_true(m.is_low);
}

/* ---- errors ---- */

static void make_error(void *env)
{
    (void)kiln__stack_left();
    (void)kiln__stack_error(env);
}

static void an_error_names_the_stack(void **state)
{
    kiln_error *error = NULL;
    char text[64];

    (void)state;
    know_sizes();
    stacks_run_thread(64 * STACKS_KIB, make_error, &error);
    assert_int_equal(kiln_error_status(error), KILN_ESTACK);
    (void)snprintf(text, sizeof text, "stack of %zu KiB",
                   64 * STACKS_KIB / 1024);
    assert_contains(kiln_error_message(error), text);
    kiln_error_free(error);
    error = NULL;
    stacks_run_coroutine(64 * STACKS_KIB, make_error, &error);
    assert_contains(kiln_error_message(error), "has switched to");
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_threads_stack_is_measured),
        cmocka_unit_test(a_small_stack_is_low_at_once),
        cmocka_unit_test(the_first_threads_stack_is_what_it_may_grow_to),
        cmocka_unit_test(a_childs_only_thread_keeps_its_stack),
        cmocka_unit_test(of_an_unknown_stack_little_is_taken_for_granted),
        cmocka_unit_test(a_stack_is_what_the_host_says),
        cmocka_unit_test(what_a_callback_calls_is_granted_nothing_more),
        cmocka_unit_test(an_error_names_the_stack)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
