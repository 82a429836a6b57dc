/* trial.c - a program's history, run in several kinds of processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trial.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

/*
 * This process never uses Kiln: it forks those that do, so that each begins as
 * a process does, but need not be loaded. For each version there are
 *
 *   alone     without stores: what the others are measured by
 *   disk      with the folder that all versions share
 *   pack      with a pack that some earlier version left, and no folder
 *   lasting   one process for all versions, with the folder. It goes from one
 *             version to the next in a way that the seed chooses
 *   replay    a new one without stores that defines all versions up to this
 *             one in that way, and compiles at the end: by it `lasting` is
 *             measured where the way makes a difference, since nothing that
 *             was compiled before can be left over in it
 */

enum { ALONE, DISK, PACK, LASTING, REPLAY, KINDS };

static const char *const kind_names[KINDS] = {"alone", "disk", "pack",
                                              "lasting", "replay"};

#define SECONDS_MAX 60

typedef struct server {
    pid_t child;
    int to, from;
} server;

typedef struct trial {
    const trial_history *history;
    const char *folder;
    char (*outcomes)[RUN_OUTCOME_MAX]; /* by kind; shared with children */
    edit_texts *texts;                 /* by version */
    int way;
    int pack; /* version that left the newest pack but one; -1: none */
    server lasting;
    trial_counts *counts;
} trial;

/* ---- histories ---- */

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        abort();
    return memory;
}

void trial_generate(trial_history *out, uint64_t seed, int edits)
{
    edit_random random = {seed * 0x9e3779b97f4a7c15u + 1};

    *out = (trial_history){.seed = seed, .count = edits + 1};
    out->programs = allocate((size_t)out->count, sizeof *out->programs);
    out->what = allocate((size_t)out->count, sizeof *out->what);
    edit_generate(&out->programs[0], &random);
    for (int i = 1; i < out->count; i++) {
        const int back = edit_chance(&random, 10) ? edit_below(&random, i) : -1;

        out->programs[i] = out->programs[back < 0 ? i - 1 : back];
        (void)snprintf(out->what[i], sizeof *out->what, "back to %d", back);
        if (back < 0)
            edit_change(&out->programs[i], &random, out->what[i],
                        sizeof *out->what);
    }
}

void trial_dispose(trial_history *history)
{
    free(history->programs);
    free(history->what);
}

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *walk)
{
    (void)status;
    (void)kind;
    return walk->level == 0 ? 0 : remove(path);
}

static void empty(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void pack_path(char *out, size_t size, const trial *t, int version)
{
    (void)snprintf(out, size, "%s/%d.kilnpack", t->folder, version);
}

/* ---- one process for one version ---- */

static void run_child(trial *t, int kind, int version)
{
    char cache[512], pack[512], saved[512];
    run_options options = {NULL, NULL, version % 2};
    run_process p;

    (void)snprintf(cache, sizeof cache, "%s/cache", t->folder);
    if (kind == DISK)
        options.folder = cache;
    if (kind == PACK) {
        pack_path(pack, sizeof pack, t, t->pack);
        options.pack = pack;
    }
    run_open(&p, &options);
    for (int i = 0; kind == REPLAY && i < version; i++)
        run_define(&p, &t->texts[i], t->way);
    run_program(t->outcomes[kind], &p, &options, &t->texts[version],
                kind == REPLAY ? t->way : RUN_ALL);
    if (kind == ALONE && version % 4 == 0) {
        pack_path(saved, sizeof saved, t, version);
        run_save(&p, saved);
    }
    run_close(&p);
}

static void note_death(trial *t, int kind, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    (void)snprintf(t->outcomes[kind], RUN_OUTCOME_MAX, "%s %d\n",
                   WIFSIGNALED(status) ? "killed by signal" : "ended with",
                   WIFSIGNALED(status) ? WTERMSIG(status)
                                       : WEXITSTATUS(status));
}

static void run_alone(trial *t, int kind, int version)
{
    int status = 0;
    pid_t child;

    t->counts->runs++;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        (void)alarm(SECONDS_MAX);
        run_child(t, kind, version);
        _Exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    note_death(t, kind, status);
}

/* ---- one process for all versions ---- */

static void serve(trial *t, int in, int out)
{
    char cache[512];
    const run_options options = {cache, NULL, 0};
    unsigned char version;
    run_process p;

    (void)snprintf(cache, sizeof cache, "%s/cache", t->folder);
    run_open(&p, &options);
    while (read(in, &version, 1) == 1) {
        (void)alarm(SECONDS_MAX);
        run_program(t->outcomes[LASTING], &p, &options, &t->texts[version],
                    t->way);
        if (version % 5 == 4)
            kiln_context_collect(p.context);
        (void)alarm(0);
        if (write(out, &version, 1) != 1)
            break;
    }
    run_close(&p);
}

static void start_server(trial *t)
{
    server *s = &t->lasting;
    int to[2], from[2];

    fflush(NULL);
    if (pipe(to) != 0 || pipe(from) != 0)
        abort();
    s->child = fork();
    if (s->child < 0)
        abort();
    if (s->child == 0) {
        (void)close(to[1]);
        (void)close(from[0]);
        serve(t, to[0], from[1]);
        _Exit(0);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    s->to = to[1];
    s->from = from[0];
}

static void stop_server(trial *t)
{
    server *s = &t->lasting;
    int status = 0;

    if (s->child == 0)
        return;
    (void)close(s->to);
    (void)close(s->from);
    if (waitpid(s->child, &status, 0) != s->child)
        abort();
    s->child = 0;
    note_death(t, LASTING, status);
}

/* One that died is not started again: it has said so. */
static void ask_server(trial *t, int version)
{
    const unsigned char number = (unsigned char)version;
    server *s = &t->lasting;
    unsigned char answer;

    if (s->child == 0)
        return;
    t->counts->runs++;
    if (write(s->to, &number, 1) != 1 || read(s->from, &answer, 1) != 1)
        stop_server(t);
}

/* ---- a version ---- */

static int differs(const trial *t, int kind, int from, int version, int report)
{
    if (strcmp(t->outcomes[kind], t->outcomes[from]) == 0)
        return 0;
    if (report)
        fprintf(stderr,
                "seed %llu, version %d, `%s` (way %d):\n%s  in place of\n%s",
                (unsigned long long)t->history->seed, version, kind_names[kind],
                t->way, t->outcomes[kind], t->outcomes[from]);
    return 1;
}

static int run_version(trial *t, int version, int report)
{
    const int measure = t->way == RUN_ALL ? ALONE : REPLAY;
    int wrong;

    run_alone(t, ALONE, version);
    run_alone(t, DISK, version);
    wrong = differs(t, DISK, ALONE, version, report);
    if (t->pack >= 0) {
        run_alone(t, PACK, version);
        wrong |= differs(t, PACK, ALONE, version, report);
    }
    ask_server(t, version);
    if (measure == REPLAY)
        run_alone(t, REPLAY, version);
    wrong |= differs(t, LASTING, measure, version, report);
    if (version % 4 == 0)
        t->pack = version;
    t->counts->versions++;
    t->counts->failing += strstr(t->outcomes[ALONE], " ! ") != NULL;
    return wrong;
}

/* ---- a history ---- */

static void begin(trial *t)
{
    const size_t size = KINDS * sizeof *t->outcomes;

    t->texts = allocate((size_t)t->history->count, sizeof *t->texts);
    for (int i = 0; i < t->history->count; i++)
        edit_write(&t->texts[i], &t->history->programs[i]);
    t->outcomes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->outcomes == MAP_FAILED)
        abort();
    (void)signal(SIGPIPE, SIG_IGN);
    start_server(t);
}

int trial_run(const trial_history *history, const char *folder, int report,
              trial_counts *counts)
{
    trial t = {.history = history,
               .folder = folder,
               .way = (int)(history->seed % RUN_WAYS),
               .pack = -1,
               .counts = counts};
    int found = -1;

    begin(&t);
    for (int i = 0; found < 0 && i < history->count; i++)
        if (run_version(&t, i, report))
            found = i;
    stop_server(&t);
    (void)munmap(t.outcomes, KINDS * sizeof *t.outcomes);
    free(t.texts);
    empty(folder);
    return found;
}
