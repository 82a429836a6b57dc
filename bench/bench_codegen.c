/* bench_codegen.c - code generated on a thread, and in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_program.h"

/*
 * `process` is a whole process that compiles a saxpy and runs it, with empty
 * caches. `context` is the first kernel of a context, in a process that has
 * compiled before; with a worker process, it includes the start of that.
 * `again` is one more kernel in that context, including inference. The size
 * says where code is generated.
 */

/* ---- whole processes ---- */

struct process {
    char path[PATH_MAX];
    const char *mode;
};

static const char *mode_of(const struct bench *bench)
{
    return bench->size == KILN_CODEGEN_WORKER ? "worker" : "thread";
}

static void *process_setup(const struct bench *bench, const char **reason)
{
    struct process *process = calloc(1, sizeof *process);

    if (!process)
        bench_check(KILN_ENOMEM, NULL);
    process->mode = mode_of(bench);
    snprintf(process->path, sizeof process->path, "%s/saxpy", bench_folder());
    if (access(process->path, X_OK) != 0) {
        *reason = "the example is not built";
        free(process);
        return NULL;
    }
    return process;
}

static int run_process(const struct process *process)
{
    char *const words[] = {(char *)(uintptr_t)process->path,
                           (char *)(uintptr_t) "10", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, process->path, &actions, NULL, words, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void process_run(void *state, uint64_t iterations)
{
    const struct process *process = state;
    int done;

    (void)iterations;
    setenv("KILN_CODEGEN", process->mode, 1);
    setenv("KILN_CACHE", "off", 1);
    done = run_process(process);
    unsetenv("KILN_CODEGEN");
    unsetenv("KILN_CACHE");
    if (!done)
        bench_check(KILN_EIO, NULL);
}

/* ---- in this process ---- */

struct many {
    struct program program;
    const char *mode;
    int number; /* number of kernels so far */
};

static void open_program(struct many *many)
{
    setenv("KILN_CODEGEN", many->mode, 1);
    setenv("KILN_CACHE", "off", 1);
    program_open(&many->program, BENCH_SAXPY, 1);
    unsetenv("KILN_CODEGEN");
    unsetenv("KILN_CACHE");
}

static void *many_setup(const struct bench *bench, const char **reason)
{
    struct many *many = calloc(1, sizeof *many);

    (void)reason;
    if (!many)
        bench_check(KILN_ENOMEM, NULL);
    many->mode = mode_of(bench);
    open_program(many);
    BENCH_KEEP(program_compile(&many->program));
    return many;
}

static void many_teardown(void *state)
{
    struct many *many = state;

    program_close(&many->program);
    free(many);
}

static void context_run(void *state, uint64_t iterations)
{
    struct many *many = state;
    uint64_t start;

    (void)iterations;
    program_close(&many->program);
    start = bench_now_ns();
    open_program(many);
    BENCH_KEEP(program_compile(&many->program));
    bench_set_time(bench_now_ns() - start);
}

/* Each iteration compiles another kernel, with a number in it. */
static void again_run(void *state, uint64_t iterations)
{
    struct many *many = state;
    kiln_error *error = NULL;
    char text[512];
    uint64_t start;

    (void)iterations;
    snprintf(text, sizeof text,
             "kernel saxpy(y, a, x)\n"
             "    i = global_id(0)\n"
             "    if i < length(y)\n"
             "        y[i] = a * x[i] + y[i] * %d\n"
             "    end\n"
             "end\n",
             ++many->number + 2);
    bench_check(kiln_package_define(many->program.package, "bench.kiln", text,
                                    strlen(text), NULL, &error),
                &error);
    start = bench_now_ns();
    BENCH_KEEP(program_compile(&many->program));
    bench_set_time(bench_now_ns() - start);
}

#define PROCESS(title, place) \
    { \
        .name = "codegen/process/" title, .setup = process_setup, \
        .run = process_run, .teardown = free, .whole = 1, .size = (place) \
    }
#define INSIDE(title, what, place) \
    { \
        .name = "codegen/" title, .setup = many_setup, .run = what##_run, \
        .teardown = many_teardown, .whole = 1, .size = (place), .samples = 31 \
    }

const struct bench bench_codegen[] = {
    PROCESS("thread", KILN_CODEGEN_THREAD),
    PROCESS("worker", KILN_CODEGEN_WORKER),
    INSIDE("context/thread", context, KILN_CODEGEN_THREAD),
    INSIDE("context/worker", context, KILN_CODEGEN_WORKER),
    INSIDE("again/thread", again, KILN_CODEGEN_THREAD),
    INSIDE("again/worker", again, KILN_CODEGEN_WORKER),
    {.name = NULL},
};
