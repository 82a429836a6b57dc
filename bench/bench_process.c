/* bench_process.c - whole processes, from exec to exit. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* `line` holds the program's name and its arguments, split at spaces. */
struct process {
    char path[PATH_MAX];
    char line[256];
    char *arguments[16];
};

static void *process_setup(const char *line, const char **reason)
{
    struct process *process = calloc(1, sizeof *process);
    int count = 0;

    if (!process)
        bench_check(KILN_ENOMEM, NULL);
    snprintf(process->line, sizeof process->line, "%s", line);
    for (char *word = strtok(process->line, " "); word && count < 15;
         word = strtok(NULL, " "))
        process->arguments[count++] = word;
    if (process->arguments[0][0] == '/')
        snprintf(process->path, sizeof process->path, "%s",
                 process->arguments[0]);
    else
        snprintf(process->path, sizeof process->path, "%s/%s", bench_folder(),
                 process->arguments[0]);
    if (access(process->path, X_OK) != 0) {
        *reason = "the program is not built";
        free(process);
        return NULL;
    }
    return process;
}

static void *true_setup(const struct bench *bench, const char **reason)
{
    (void)bench;
    return process_setup("/bin/true", reason);
}

static void *saxpy_setup(const struct bench *bench, const char **reason)
{
    (void)bench;
    return process_setup("saxpy 10", reason);
}

static void *tgv_setup(const struct bench *bench, const char **reason)
{
    char line[128];

    snprintf(line, sizeof line, "tgv --log2n %d --steps 4 --type %s",
             (int)(bench->size & 15), bench->size & 16 ? "f64" : "f32");
    return process_setup(line, reason);
}

static void process_run(void *state, uint64_t iterations)
{
    struct process *process = state;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;

    (void)iterations;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, process->path, &actions, NULL, process->arguments,
                    environ) != 0 ||
        waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        fprintf(stderr, "kiln-bench: %s failed\n", process->path);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
}

#define PROCESS(title, prepare, number, count) \
    { \
        .name = "process/" title, .setup = (prepare), .run = process_run, \
        .teardown = free, .whole = 1, .size = (number), .samples = (count) \
    }

const struct bench bench_processes[] = {
    PROCESS("true", true_setup, 0, 15),
    PROCESS("saxpy", saxpy_setup, 0, 15),
    PROCESS("tgv/16/f32", tgv_setup, 4, 5),
    PROCESS("tgv/64/f32", tgv_setup, 6, 5),
    PROCESS("tgv/64/f64", tgv_setup, 6 | 16, 5),
    {.name = NULL},
};
