/* test_passing_faults.c - what fails once works the next time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault host cuda */
#include "everything.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "context/context.h"
#include "support/harness.h"
#include "support/process/system_calls.h"

/*
 * A process that begins does everything, while one system call fails: the n-th
 * of its kind, for each n, or all of them from there on. Nothing may come of
 * that but errors. Then nothing fails any more, and the same context must do
 * everything, with all that it has: stores, packs, worker processes, devices.
 *
 * A process takes a while. So of the many calls of a kind some are left out,
 * but for `test_passing_faults --all`.
 */

#define NO_MORE 10 /* that many calls there were not */
#define CANNOT 11
#define LIMIT_S 100

/* A call, and what it says of the moment and of nothing else. */
typedef struct passing {
    const char *name;
    int number;
    int reason;
    long stride; /* so that each of so many is tried */
    int lasts;   /* also tried with all calls from one on */
} passing;

/* A folder that it could not look at, the loader never looks into again. */
static const passing table[] = {
    {"openat", SYS_openat, EMFILE, 7, 1},
    {"openat", SYS_openat, ENFILE, 23, 1},
    {"openat", SYS_openat, ENOMEM, 23, 1},
    {"mmap", SYS_mmap, ENOMEM, 3, 1},
    {"fcntl", SYS_fcntl, EMFILE, 5, 1},
    {"socketpair", SYS_socketpair, EMFILE, 1, 1},
    {"pipe2", SYS_pipe2, ENFILE, 1, 1},
    {"clone3", SYS_clone3, EAGAIN, 1, 1},
    {"clone3", SYS_clone3, ENOMEM, 1, 1},
    {"clone", SYS_clone, EAGAIN, 1, 1},
    {"memfd_create", SYS_memfd_create, EMFILE, 1, 1},
    {"memfd_create", SYS_memfd_create, EPERM, 1, 1},
    {"pidfd_open", SYS_pidfd_open, EMFILE, 1, 1},
    {"mprotect", SYS_mprotect, ENOMEM, 41, 1},
    {"sendto", SYS_sendto, ENOBUFS, 2, 1},
    {"poll", SYS_poll, ENOMEM, 2, 1},
    {"renameat2", SYS_renameat2, ENOMEM, 1, 1},
    {"getrandom", SYS_getrandom, EAGAIN, 3, 1},
    {"newfstatat", SYS_newfstatat, ENOMEM, 11, 0},
    {"fstatfs", SYS_fstatfs, ENOMEM, 1, 1},
    {"mkdirat", SYS_mkdirat, ENOMEM, 3, 1},
    {"mkdir", SYS_mkdir, ENOMEM, 1, 1},
    {"execve", SYS_execve, ENOMEM, 1, 1},
    {"readlink", SYS_readlink, ENOMEM, 1, 1},
};
#define ROWS (sizeof table / sizeof *table)

/* ---- the process that is tried ---- */

/* With the first row of each number. */
static int watch_all(void)
{
    int numbers[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        numbers[i] = table[i].number;
    return system_calls_watch(numbers, ROWS);
}

/* --one FOLDER ROW AT TIMES */
static int try_one(char **arguments)
{
    const passing *row = &table[atoi(arguments[1])];
    const system_fault fault = {.number = row->number,
                                .reason = row->reason,
                                .at = atol(arguments[2]),
                                .times = atol(arguments[3])};
    everything e;
    long failed;
    int good;

    (void)alarm(LIMIT_S);
    if (!watch_all())
        return CANNOT;
    system_calls_fail(&fault);
    if (everything_begin(&e, arguments[0], 0) == KILN_OK)
        (void)everything_do(&e, 0, 0);
    failed = system_calls_failed();
    system_calls_fail(NULL);
    if (!e.context && everything_begin(&e, arguments[0], 1) != KILN_OK)
        return 1;
    good = everything_has_recovered(&e);
    everything_end(&e);
    return !good ? 1 : failed == 0 ? NO_MORE : 0;
}

/* ---- those who try ---- */

static int run(const char *folder, size_t row, long at, long times)
{
    char numbers[3][32];

    (void)snprintf(numbers[0], sizeof *numbers, "%zu", row);
    (void)snprintf(numbers[1], sizeof *numbers, "%ld", at);
    (void)snprintf(numbers[2], sizeof *numbers, "%ld", times);
    return everything_try(folder, (const char *const[]){numbers[0], numbers[1],
                                                        numbers[2], NULL});
}

static int tries_all;

/* The next call to begin with: those that fail from there on fail later, too.
 */
static long next_of(long at, size_t row, long times)
{
    if (tries_all)
        return at + 1;
    return times < 0 ? at * 2 : at + table[row].stride;
}

/* How many ended otherwise than well. */
static int try_row(const char *folder, size_t row, long times)
{
    const char *reason = strerrorname_np(table[row].reason);
    int ending = 0, failures = 0;
    long tried = 0;

    for (long at = 1; ending != NO_MORE && ending != CANNOT;
         at = next_of(at, row, times), tried++) {
        ending = run(folder, row, at, times);
        if (ending == 0 || ending == NO_MORE || ending == CANNOT)
            continue;
        print_error("%s: %s at call %ld, %ld times: ended with %d\n",
                    table[row].name, reason, at, times, ending);
        failures++;
    }
    if (ending == CANNOT)
        test_skip(SKIP_MACHINE, "the kernel lets nobody watch system calls");
    print_message("%s: %s, tried at %ld calls\n", table[row].name, reason,
                  tried - 1);
    return failures;
}

static void a_call_that_fails_once_fails_for_that_once(void **state)
{
    int failures = 0;

    for (size_t row = 0; row < ROWS; row++)
        failures += try_row(*state, row, 1);
    assert_int_equal(failures, 0);
}

static void calls_that_fail_for_a_while_fail_for_that_while(void **state)
{
    int failures = 0;

    for (size_t row = 0; row < ROWS; row++)
        failures += table[row].lasts ? try_row(*state, row, -1) : 0;
    assert_int_equal(failures, 0);
}

static int setup(void **state)
{
    if (temporary_folder_setup(state) != 0)
        return -1;
    everything_prepare(*state);
    return 0;
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, setup, temporary_folder_teardown)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_call_that_fails_once_fails_for_that_once),
        IN_FOLDER(calls_that_fail_for_a_while_fail_for_that_while),
    };

    (void)setenv("KILN_CUDA_DRIVER", FAKE_CUDA, 1);
    if (count == 6 && strcmp(arguments[1], "--one") == 0)
        return try_one(arguments + 2);
    tries_all = count == 2 && strcmp(arguments[1], "--all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
