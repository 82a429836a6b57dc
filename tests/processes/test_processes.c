/* test_processes.c - one build on a machine, whatever its processes do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process/namespaces.h"

/* Longer than any test lasts: who waits must not give up. And so short that
   whoever waits in vain goes on soon. */
#define PATIENT "KILN_CACHE_WAIT=3000s"
#define HASTY "KILN_CACHE_WAIT=1s"

#define PROGRAM \
    "text", "main", "main.kiln", \
        "fn twice(x) = x + x\n" \
        "kernel k(y)\n" \
        "    i = global_id(0)\n" \
        "    y[i] = twice(f32(i)) + 1.0\n" \
        "end\n" \
        "kernel other(y)\n" \
        "    y[global_id(0)] = twice(f32(3))\n" \
        "end\n"
#define COMPILE(name) "compile", "main." name, "f32[:]"
#define RUN "run", "main.k"
#define RESULT "run 1 3 5 7 9 11 13 15\n"

static worker first, second;

/* ---- many at once ---- */

static void eight_cold_processes_build_one_kernel_once(void **state)
{
    static worker workers[8];

    (void)state;
    for (size_t i = 0; i < 8; i++)
        WORKER_START(&workers[i], PATIENT, PROGRAM, "wait", workers_path("go"),
                     COMPILE("k"), RUN);
    workers_touch("go");
    for (size_t i = 0; i < 8; i++)
        worker_end(&workers[i]);
    assert_int_equal(workers_total(workers, 8, "compile built"), 1);
    assert_int_equal(workers_total(workers, 8, "compile store"), 7);
    assert_int_equal(workers_total(workers, 8, RESULT), 8);
}

#define KEYS 45
#if HARNESS_MALLOC_AFTER_FORK && HARNESS_THREADS_AFTER_FORK
#define PROCESSES 64
#else
#define PROCESSES 12
#endif

/* Each compiles all of them, and begins with another one. */
static void start_rotated(worker *w, const char *text, size_t begin)
{
    static char names[KEYS][16];
    const char *arguments[8 + 3 * KEYS] = {
        PATIENT, "text", "main", "main.kiln", text, "wait", workers_path("go"),
    };
    size_t count = 7;

    for (size_t i = 0; i < KEYS; i++) {
        const size_t key = (begin + i) % KEYS;

        (void)snprintf(names[key], sizeof names[key], "main.k%zu", key);
        arguments[count++] = "compile";
        arguments[count++] = names[key];
        arguments[count++] = "f32[:]";
    }
    arguments[count] = NULL;
    worker_start(w, arguments);
}

static void forty_five_keys_are_built_forty_five_times(void **state)
{
    worker *workers = calloc(PROCESSES, sizeof *workers);
    static char text[KEYS * 64];

    (void)state;
    assert_non_null(workers);
    text[0] = '\0';
    for (size_t i = 0; i < KEYS; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "kernel k%zu(y)\n    y[global_id(0)] = %zu.0\nend\n", i,
                       i);
    for (size_t i = 0; i < PROCESSES; i++)
        start_rotated(&workers[i], text, i);
    workers_touch("go");
    for (size_t i = 0; i < PROCESSES; i++)
        worker_end(&workers[i]);
    assert_int_equal(workers_total(workers, PROCESSES, "compile built"), KEYS);
    assert_int_equal(workers_total(workers, PROCESSES, "compile store"),
                     (PROCESSES - 1) * KEYS);
    free(workers);
}

/* ---- a holder that never ends its build ---- */

/* The first worker, in the middle of the build of main.k. */
static void start_holder(void)
{
    WORKER_START(&first, PROGRAM, "hold", workers_path("go"), COMPILE("k"));
    worker_expect(&first, "held main.k");
}

/* Leaves the second one the time to meet the lock. It must not need it. */
static void kill_holder(void)
{
    (void)usleep(50000);
    assert_int_equal(kill(first.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(worker_wait(&first)));
}

static void a_killed_holder_is_followed_at_once(void **state)
{
    (void)state;
    start_holder();
    WORKER_START(&second, PATIENT, PROGRAM, COMPILE("k"), RUN);
    kill_holder();
    worker_end(&second);
    assert_contains(second.text, "compile built");
    assert_contains(second.text, RESULT);
    assert_contains(WORKER(PROGRAM, COMPILE("k")), "compile store");
}

static void a_stopped_holder_is_waited_for_within_the_bound(void **state)
{
    int status;

    (void)state;
    start_holder();
    assert_int_equal(kill(first.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(first.pid, &status, WUNTRACED), first.pid);
    assert_true(WIFSTOPPED(status));
    assert_contains(WORKER(HASTY, PROGRAM, COMPILE("k"), RUN), "compile built");
    /* What it built is there for others, while the first is still stopped. */
    assert_contains(WORKER(PATIENT, PROGRAM, COMPILE("k"), RUN),
                    "compile store");
    assert_int_equal(kill(first.pid, SIGCONT), 0);
    workers_touch("go");
    worker_end(&first);
    assert_contains(first.text, "compile built");
}

static void other_keys_of_a_stopped_holder_are_free(void **state)
{
    (void)state;
    start_holder();
    assert_int_equal(kill(first.pid, SIGSTOP), 0);
    assert_contains(WORKER(PATIENT, PROGRAM, COMPILE("other")),
                    "compile built");
    assert_int_equal(kill(first.pid, SIGCONT), 0);
    workers_touch("go");
    worker_end(&first);
}

/* LLVM has gone all the way before, or fork() would wait for the build. */
static void start_holder_with(const char *child)
{
    WORKER_START(&first, PROGRAM, COMPILE("other"), "hold", workers_path("go"),
                 "start", "main.k", "f32[:]", "until_held", child,
                 workers_path("child"), "finish");
    worker_expect(&first, "held main.k");
    worker_expect(&first, "child lives");
}

static void the_child_of_a_killed_holder_holds_nothing(void **state)
{
    (void)state;
    start_holder_with("idle_child");
    WORKER_START(&second, PATIENT, PROGRAM, COMPILE("k"));
    kill_holder();
    worker_end(&second);
    assert_contains(second.text, "compile built");
    workers_touch("child");
}

static void a_child_nobody_knows_of_delays_within_the_bound(void **state)
{
    (void)state;
    start_holder_with("hidden_child");
    kill_holder();
    assert_contains(WORKER(HASTY, PROGRAM, COMPILE("k"), RUN), "compile built");
    workers_touch("child");
}

/* ---- fork during a build ---- */

static void a_child_of_a_building_process_works(void **state)
{
    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    WORKER_START(&first, HASTY, PROGRAM, "text", "more", "more.kiln",
                 "kernel late(y)\n    y[global_id(0)] = 2.0\nend\n",
                 COMPILE("other"), "hold", workers_path("go"), "start",
                 "main.k", "f32[:]", "until_held", "fork", "run", "more.late",
                 "run", "main.other", "join", "finish", RUN);
    worker_expect(&first, "join ok");
    workers_touch("go");
    worker_end(&first);
    assert_contains(first.text, "child run 2 2 2 2 2 2 2 2\n");
    assert_contains(first.text, "child run 6 6 6 6 6 6 6 6\n");
    assert_contains(first.text, "finish ok\n" RESULT);
}

/* Of the parent's build, which goes on: the child is like any process. */
static void a_child_builds_what_its_parent_holds_within_the_bound(void **state)
{
    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    WORKER_START(&first, HASTY, PROGRAM, COMPILE("other"), "hold",
                 workers_path("go"), "start", "main.k", "f32[:]", "until_held",
                 "fork", "say", "forked", "wait", workers_path("on"),
                 COMPILE("k"), RUN, "join", "finish");
    worker_expect(&first, "child say forked");
    workers_touch("on");
    worker_expect(&first, "child " RESULT);
    workers_touch("go");
    worker_end(&first);
    assert_contains(first.text, "child compile built main.k");
    assert_contains(first.text, "finish ok");
}

static void a_child_before_any_build_works(void **state)
{
    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    WORKER_START(&first, PATIENT, PROGRAM, "fork", COMPILE("k"), RUN, "join");
    worker_end(&first);
    assert_int_equal(workers_count(first.text, "compile built"), 1);
    assert_int_equal(workers_count(first.text, "compile store"), 1);
    assert_int_equal(workers_count(first.text, RESULT), 2);
}

/* ---- processes that do not see each other ---- */

static int can_unshare(void)
{
    const pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(!namespaces_leave(CLONE_NEWPID));
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void processes_of_one_number_share_a_folder(void **state)
{
    static worker workers[4];

    (void)state;
    if (!can_unshare())
        test_skip(SKIP_MACHINE, "it gives no name spaces");
    for (size_t i = 0; i < 4; i++)
        WORKER_START(&workers[i], "UNSHARE=1", PATIENT, PROGRAM, "wait",
                     workers_path("go"), COMPILE("k"), COMPILE("other"), RUN);
    workers_touch("go");
    for (size_t i = 0; i < 4; i++)
        worker_end(&workers[i]);
    assert_int_equal(workers_total(workers, 4, "compile built"), 2);
    assert_int_equal(workers_total(workers, 4, RESULT), 4);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(eight_cold_processes_build_one_kernel_once),
        TEST(forty_five_keys_are_built_forty_five_times),
        TEST(a_killed_holder_is_followed_at_once),
        TEST(a_stopped_holder_is_waited_for_within_the_bound),
        TEST(other_keys_of_a_stopped_holder_are_free),
        TEST(the_child_of_a_killed_holder_holds_nothing),
        TEST(a_child_nobody_knows_of_delays_within_the_bound),
        TEST(a_child_of_a_building_process_works),
        TEST(a_child_builds_what_its_parent_holds_within_the_bound),
        TEST(a_child_before_any_build_works),
        TEST(processes_of_one_number_share_a_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
