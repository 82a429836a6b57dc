/* bench_warm.c - processes that find what earlier ones have compiled. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/*
 * Each benchmark has its own cache folder beside the program. The processes
 * find it in their environment.
 */
#define CROWD_MAX 8

struct warm {
    char folder[PATH_MAX];
    char variable[PATH_MAX + 32]; /* KILN_CACHE_DIR=FOLDER */
    char program[PATH_MAX + 32];
    char *arguments[8];
    char **environment;
    int crowd; /* number of processes that run at once */
};

/* ---- processes ---- */

static void fail(const char *program)
{
    fprintf(stderr, "kiln-bench: %s failed\n", program);
    exit(1);
}

static pid_t start(const struct warm *warm)
{
    posix_spawn_file_actions_t actions;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, warm->program, &actions, NULL, warm->arguments,
                    warm->environment) != 0)
        fail(warm->program);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static void check_end(const struct warm *warm, int status)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(warm->program);
}

static void run_once(const struct warm *warm)
{
    int status = 0;
    const pid_t child = start(warm);

    while (waitpid(child, &status, 0) != child)
        if (errno != EINTR)
            fail(warm->program);
    check_end(warm, status);
}

/* ---- setting up ---- */

static char **environment_with(char *variable, char *mode)
{
    size_t count = 0, kept = 0;
    char **copy;

    while (environ[count])
        count++;
    copy = calloc(count + 3, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], "KILN_CACHE", strlen("KILN_CACHE")) != 0)
            copy[kept++] = environ[i];
    if (copy) {
        copy[kept++] = variable;
        copy[kept] = mode;
    }
    return copy;
}

static struct warm *prepare(const char *program, const char **reason)
{
    static char mode[] = "KILN_CACHE=rw";
    struct warm *warm = calloc(1, sizeof *warm);

    if (!warm)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(warm->program, sizeof warm->program, "%s/%s", bench_folder(),
             program);
    if (access(warm->program, X_OK) != 0 ||
        !bench_folder_new(warm->folder, sizeof warm->folder)) {
        *reason = "the program is not built, or its folder takes no files";
        free(warm);
        return NULL;
    }
    snprintf(warm->variable, sizeof warm->variable, "KILN_CACHE_DIR=%s",
             warm->folder);
    warm->environment = environment_with(warm->variable, mode);
    warm->arguments[0] = warm->program;
    if (!warm->environment)
        bench_check(KILN_ENOMEM, NULL);
    return warm;
}

static void teardown(void *state)
{
    struct warm *warm = state;

    bench_folder_empty(warm->folder);
    free(warm->environment);
    free(warm);
}

static void *saxpy_setup(const struct bench *bench, const char **reason)
{
    static char size[] = "10";
    struct warm *warm = prepare("saxpy", reason);

    if (!warm)
        return NULL;
    warm->crowd = (int)bench->size;
    warm->arguments[1] = size;
    run_once(warm);
    return warm;
}

static void *tgv_setup(const struct bench *bench, const char **reason)
{
    static char steps[] = "--steps", two[] = "2", log2n[] = "--log2n";
    static char small[] = "3", usual[] = "6";
    struct warm *warm = prepare("tgv", reason);

    (void)bench;
    if (!warm)
        return NULL;
    warm->arguments[1] = steps;
    warm->arguments[2] = two;
    warm->arguments[3] = log2n;
    warm->arguments[4] = bench_is_smoke() ? small : usual;
    run_once(warm);
    return warm;
}

/* ---- running ---- */

static void run_warm(void *state, uint64_t iterations)
{
    (void)iterations;
    run_once(state);
}

static void run_cold(void *state, uint64_t iterations)
{
    const struct warm *warm = state;

    (void)iterations;
    bench_folder_empty(warm->folder);
    run_once(warm);
}

/* Starts all processes at once with an empty folder. The slowest one counts,
   from its own start. */
static void run_crowd(void *state, uint64_t iterations)
{
    const struct warm *warm = state;
    uint64_t begun[CROWD_MAX], slowest = 0;
    pid_t children[CROWD_MAX];

    (void)iterations;
    bench_folder_empty(warm->folder);
    for (int i = 0; i < warm->crowd; i++) {
        begun[i] = bench_now_ns();
        children[i] = start(warm);
    }
    for (int left = warm->crowd; left > 0;) {
        int status;
        const pid_t ended = waitpid(-1, &status, 0);

        for (int i = 0; i < warm->crowd; i++)
            if (children[i] == ended) {
                const uint64_t took = bench_now_ns() - begun[i];

                check_end(warm, status);
                slowest = took > slowest ? took : slowest;
                left--;
            }
    }
    bench_set_time(slowest);
}

#define WARM(title, prepare_it, run_it, number, count) \
    { \
        .name = "warm/" title, .setup = (prepare_it), .run = (run_it), \
        .teardown = teardown, .whole = 1, .size = (number), .samples = (count) \
    }

const struct bench bench_warm[] = {
    WARM("process/saxpy", saxpy_setup, run_warm, 1, 31),
    WARM("process/saxpy/empty-folder", saxpy_setup, run_cold, 1, 15),
    WARM("processes=2/saxpy/empty-folder", saxpy_setup, run_crowd, 2, 15),
    WARM("processes=8/saxpy/empty-folder", saxpy_setup, run_crowd, 8, 15),
    WARM("process/tgv/64/f32", tgv_setup, run_warm, 1, 5),
    {.name = NULL},
};
