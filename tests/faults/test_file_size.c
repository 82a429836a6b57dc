/* test_file_size.c - a bound on the size of files costs entries, no process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault host cuda */
#include "everything.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/quiet.h"
#include "kiln/sys/cache_tools.h"
#include "support/harness.h"

#define LIMIT_S 100

static void ignore_check(void *env, const char *name, int32_t verdict,
                         const char *text)
{
    (void)env;
    (void)name;
    (void)verdict;
    (void)text;
}

/* What else writes. Whether it can is not asked. */
static void write_more(everything *e)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;
    char path[512];

    (void)snprintf(path, sizeof path, "%s/delta.kilnpack", e->folder);
    (void)!kiln_delta_save(e->context, path, NULL, NULL, &error);
    kiln_error_free(error);
    (void)!kiln_cache_compact(&report, e->context, 0, NULL);
    (void)!kiln_cache_prune(&report, e->context, NULL);
    (void)!kiln_cache_check(e->context, ignore_check, NULL);
}

/* --one FOLDER LIMIT */
static int try_one(char **arguments)
{
    const rlim_t most = strtoull(arguments[1], NULL, 10);
    const struct rlimit limit = {most, most};
    everything e;
    int good;

    (void)alarm(LIMIT_S);
    if (signal(SIGXFSZ, SIG_DFL) == SIG_ERR ||
        setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    good = everything_begin(&e, arguments[0], 1) == KILN_OK;
    for (unsigned i = 0; i < 2 && good; i++)
        good = everything_do(&e, i, 1) == KILN_OK;
    if (good)
        write_more(&e);
    everything_end(&e);
    return good ? 0 : 1;
}

static int run(const char *folder, unsigned long limit)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%lu", limit);
    return everything_try(folder, (const char *const[]){text, NULL});
}

static void whatever_the_bound_kernels_are_compiled(void **state)
{
    static const unsigned long limits[] = {0,    1,    100,   1000,  2000,
                                           4096, 5000, 10000, 20000, 1000000};
    char trace[600];

    (void)snprintf(trace, sizeof trace, "%s/trace.json", (char *)*state);
    assert_int_equal(setenv("KILN_TRACE", trace, 1), 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const int ending = run(*state, limits[i]);

        if (ending != 0)
            fail_msg("files of at most %lu bytes: ended with %d", limits[i],
                     ending);
    }
    assert_int_equal(unsetenv("KILN_TRACE"), 0);
}

/* ---- the signal that is the host's ---- */

static int is_pending(void)
{
    sigset_t pending;

    assert_int_equal(sigpending(&pending), 0);
    return sigismember(&pending, SIGXFSZ);
}

static void a_signal_of_the_hosts_stays(void **state)
{
    sigset_t blocked, before;
    kiln__quiet quiet;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGXFSZ);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    kiln__quiet_begin(&quiet);
    assert_int_equal(pthread_kill(pthread_self(), SIGXFSZ), 0);
    errno = EFBIG;
    kiln__quiet_end(&quiet);
    assert_int_equal(errno, EFBIG);
    assert_false(is_pending());
    assert_int_equal(pthread_kill(pthread_self(), SIGXFSZ), 0);
    kiln__quiet_begin(&quiet);
    kiln__quiet_end(&quiet);
    assert_true(is_pending());
    assert_int_equal(sigtimedwait(&blocked, NULL, &(struct timespec){0, 0}),
                     SIGXFSZ);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static int setup(void **state)
{
    if (temporary_folder_setup(state) != 0)
        return -1;
    everything_prepare(*state);
    return 0;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whatever_the_bound_kernels_are_compiled,
                                        setup, temporary_folder_teardown),
        cmocka_unit_test(a_signal_of_the_hosts_stays),
    };

    (void)setenv("KILN_CUDA_DRIVER", FAKE_CUDA, 1);
    if (count == 4 && strcmp(arguments[1], "--one") == 0)
        return try_one(arguments + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
