/* main.c - programs and edits: with stores they mean what they mean without. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial.h"

/*
 *     edit_programs [--seed N] [--programs P] [--edits E] [--jobs J] [--print]
 *                   [--tell]
 *
 * makes P programs from seed N on, edits each E times, and runs each version
 * in the processes of trial.c. One that does something else is made small and
 * printed with its seed. With --tell it prints what each version does without
 * stores; with --print nothing is run, and the versions are printed. Without
 * arguments it is the test: 200 programs of 20 edits.
 */

#define EDITS_MAX 250

typedef struct request {
    uint64_t seed;
    int programs, edits, jobs, prints, tells;
} request;

static int print_versions(const request *r)
{
    edit_texts *texts = calloc(1, sizeof *texts);
    trial_history history;

    if (texts == NULL)
        abort();
    trial_generate(&history, r->seed, r->edits);
    for (int i = 0; i < history.count; i++) {
        edit_write(texts, &history.programs[i]);
        printf("---- version %d: %s\n", i, history.what[i]);
        edit_print(stdout, texts);
    }
    trial_dispose(&history);
    free(texts);
    return 0;
}

/* ---- one of several processes that share the programs ---- */

static int run_one(const request *r, uint64_t seed, const char *folder,
                   trial_counts *counts)
{
    trial_history history;
    int version;

    trial_generate(&history, seed, r->edits);
    version = trial_run(&history, folder,
                        r->tells ? TRIAL_TELLS : TRIAL_REPORTS, counts);
    if (version >= 0) {
        fprintf(stderr, "made small:\n");
        trial_minimise(&history, version, folder);
    }
    trial_dispose(&history);
    return version >= 0;
}

static int run_share(const request *r, int share)
{
    const char *temporary = getenv("TMPDIR");
    const char *otherwise = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    trial_counts counts = {0};
    int failures = 0, programs = 0;
    char folder[256];

    (void)snprintf(folder, sizeof folder, "%s/kiln-edits-XXXXXX",
                   temporary != NULL ? temporary : otherwise);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    for (int i = share; i < r->programs && failures < 3; i += r->jobs) {
        failures += run_one(r, r->seed + (uint64_t)i, folder, &counts);
        programs++;
    }
    (void)rmdir(folder);
    printf(
        "%d programs, %lu versions, %lu runs; %lu of %lu kernels are refused; "
        "%d differ\n",
        programs, counts.versions, counts.runs, counts.refused,
        counts.versions * KERNELS, failures);
    return failures > 0;
}

static int run_all(const request *r)
{
    int failed = 0, status;

    fflush(NULL);
    for (int i = 0; i < r->jobs; i++) {
        const pid_t child = fork();

        if (child < 0)
            return 1;
        if (child == 0)
            exit(run_share(r, i));
    }
    while (wait(&status) > 0)
        failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed;
}

/* Children find it loaded: they would load it one by one. */
static void load_code_generator(void)
{
    const char *path = getenv("KILN_CODEGEN_PATH");

    if (path == NULL)
        path = EDIT_CODEGEN;
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL)
        fprintf(stderr, "%s\n", dlerror());
}

static int number_of(char **arguments, int count, const char *name,
                     int otherwise)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(arguments[i], name) == 0)
            return atoi(arguments[i + 1]);
    return otherwise;
}

int main(int count, char **arguments)
{
    request r = {.seed = (uint64_t)number_of(arguments, count, "--seed", 1),
                 .programs = number_of(arguments, count, "--programs", 200),
                 .edits = number_of(arguments, count, "--edits", 20),
                 .jobs = number_of(arguments, count, "--jobs", 2)};

    for (int i = 1; i < count; i++) {
        r.prints |= strcmp(arguments[i], "--print") == 0;
        r.tells |= strcmp(arguments[i], "--tell") == 0;
    }
    if (r.edits > EDITS_MAX || r.jobs < 1)
        return 2;
    if (r.prints)
        return print_versions(&r);
    load_code_generator();
    return run_all(&r);
}
