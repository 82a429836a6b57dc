/* test_copies.c - two copies of the library in one process do not meet. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#define PROGRAM(name) \
    "text", "main", "main.kiln", \
        "kernel " name "(y)\n    y[global_id(0)] = f32(7)\nend\n"
#define PATIENT "KILN_CACHE_WAIT=3000s"

static worker both;

static void copy_module(const char *name)
{
    char command[512];

    (void)snprintf(command, sizeof command, "cp '%s' '%s'", WORKER_MODULE,
                   workers_path(name));
    assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
    if (workers_setup(state) != 0)
        return -1;
    copy_module("first.so");
    copy_module("second.so");
    return 0;
}

#define START(how, ...) \
    WORKER_START(&both, "PROGRAM=" COPIES_PROGRAM, PATIENT, how, \
                 workers_path("first.so"), workers_path("second.so"), \
                 __VA_ARGS__)

static void check_one_build(const char *how)
{
    START(how, PROGRAM("k"), "compile", "main.k", "f32[:]", "run", "main.k",
          "--", PROGRAM("k"), "compile", "main.k", "f32[:]", "run", "main.k");
    worker_end(&both);
    assert_int_equal(workers_count(both.text, "compile built"), 1);
    assert_int_equal(workers_count(both.text, "compile store"), 1);
    assert_int_equal(workers_count(both.text, "run 7 7 7 7 7 7 7 7"), 2);
}

static void copies_exclude_each_other_like_processes(void **state)
{
    (void)state;
    check_one_build("names");
}

static void copies_in_namespaces_of_the_loader_do_too(void **state)
{
    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    check_one_build("namespaces");
}

/* A fork by one of them is one for both. */
static void a_child_of_one_copy_works_while_the_other_builds(void **state)
{
    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    START("names", PROGRAM("a"), "compile", "main.a", "f32[:]", "say", "ready",
          "wait", workers_path("on"), "fork", PROGRAM("late"), "run",
          "main.late", "join", "--", "wait", workers_path("begin"),
          PROGRAM("b"), "hold", workers_path("go"), "run", "main.b");
    worker_expect(&both, "say ready");
    workers_touch("begin");
    worker_expect(&both, "held main.b");
    workers_touch("on");
    worker_expect(&both, "join ok");
    workers_touch("go");
    worker_end(&both);
    assert_contains(both.text, "child run 7 7 7 7 7 7 7 7");
    assert_int_equal(workers_count(both.text, "run 7 7 7 7 7 7 7 7"), 3);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_exclude_each_other_like_processes),
        TEST(copies_in_namespaces_of_the_loader_do_too),
        TEST(a_child_of_one_copy_works_while_the_other_builds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
