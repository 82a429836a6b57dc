/* main.c - programs and edits: with stores they mean what they mean without. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trial.h"

/*
 *     edit_programs [--seed N] [--programs P] [--edits E] [--jobs J] [--print]
 *
 * makes P programs from seed N on, edits each E times, and runs each version
 * in the processes of trial.c. One that does something else is made small and
 * printed with its seed. With --print nothing is run, and the versions of the
 * program are printed. Without arguments it ends after a while, on a machine
 * that does other things, too.
 */

#define SECONDS_MAX 85
#define EDITS_MAX 250

typedef struct request {
    uint64_t seed;
    int programs, edits, jobs, prints;
    time_t end; /* 0: none */
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
        for (int p = 0; p < EDIT_PACKAGES; p++)
            printf("## %s.kiln\n%s", edit_package_names[p], texts->text[p]);
    }
    trial_dispose(&history);
    free(texts);
    return 0;
}

/* ---- one of several processes that share the programs ---- */

static int run_one(uint64_t seed, int edits, const char *folder,
                   trial_counts *counts)
{
    trial_history history;
    int version;

    trial_generate(&history, seed, edits);
    version = trial_run(&history, folder, 1, counts);
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
    trial_counts counts = {0};
    int failures = 0, programs = 0;
    char folder[256];

    (void)snprintf(folder, sizeof folder, "%s/kiln-edits-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    for (int i = share; i < r->programs && failures < 3; i += r->jobs) {
        if (r->end != 0 && time(NULL) >= r->end)
            break;
        failures += run_one(r->seed + (uint64_t)i, r->edits, folder, &counts);
        programs++;
    }
    (void)rmdir(folder);
    printf("%d programs, %lu versions, %lu of them with an error, %lu runs; "
           "%d differ\n",
           programs, counts.versions, counts.failing, counts.runs, failures);
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

    if (path != NULL)
        (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
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

    for (int i = 1; i < count; i++)
        r.prints |= strcmp(arguments[i], "--print") == 0;
    if (r.edits > EDITS_MAX || r.jobs < 1)
        return 2;
    if (r.prints)
        return print_versions(&r);
    if (count == 1)
        r.end = time(NULL) + SECONDS_MAX;
    load_code_generator();
    return run_all(&r);
}
