/* trial.c - a program's history, run in several kinds of processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trial.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

/*
 * This process never uses Kiln: it forks those that do, so that each begins as
 * a process does, but need not be loaded. For each version there are
 *
 *   disk      a new process with the folder that all versions share
 *   pack      a context with a pack that some earlier version left, no folder
 *   alone     a context without stores: what the others are measured by. These
 *             two follow in the first one's process, once that is closed
 *   lasting   one process for all versions, with the folder. It goes from one
 *             version to the next in a way that the seed chooses
 *   replay    a process without stores that defines all versions in the same
 *             way, and has its child compile. So nothing that was compiled
 *             before can be left over in it. `lasting` is measured by this
 *             where it does something else than `alone`, and each fourth time
 *
 * In some histories the first three load files instead of defining texts.
 */

enum { DISK, PACK, ALONE, LASTING, REPLAY, KINDS };

static const char *const kind_names[KINDS] = {"disk", "pack", "alone",
                                              "lasting", "replay"};

#define SECONDS_MAX 60
#define PACK_EACH 4 /* versions */

typedef struct server {
    pid_t child;
    int to, from;
} server;

typedef struct trial {
    const trial_history *history;
    const char *folder;
    char (*outcomes)[RUN_OUTCOME_MAX]; /* by kind; shared with children */
    edit_program *programs;            /* by version */
    edit_texts *texts;
    int way;
    int is_loaded; /* from files */
    int pack;      /* version that left the newest pack; -1: none */
    server lasting, replay;
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

/* The version to go back to; -1: none. What is no program any more mostly
   becomes one again soon. */
static int choose_back(int version, int whole, edit_random *random)
{
    if (whole < version - 1 && edit_chance(random, 50))
        return whole;
    return edit_chance(random, 10) ? edit_below(random, version) : -1;
}

void trial_generate(trial_history *out, uint64_t seed, int edits)
{
    edit_random random = edit_random_of(seed);
    int whole = 0;

    *out = (trial_history){.seed = seed, .count = edits + 1};
    out->programs = allocate((size_t)out->count, sizeof *out->programs);
    out->what = allocate((size_t)out->count, sizeof *out->what);
    edit_generate(&out->programs[0], &random);
    for (int i = 1; i < out->count; i++) {
        const int back = choose_back(i, whole, &random);

        out->programs[i] = out->programs[back < 0 ? i - 1 : back];
        (void)snprintf(out->what[i], sizeof *out->what, "back to %d", back);
        if (back < 0)
            edit_change(&out->programs[i], &random, out->what[i],
                        sizeof *out->what);
        if (edit_is_sound(&out->programs[i]))
            whole = i;
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

/* ---- a new process for one version ---- */

static void define_new(trial *t, int kind, run_process *p, int version)
{
    char sources[512];

    (void)snprintf(sources, sizeof sources, "%s/src", t->folder);
    if (t->is_loaded)
        run_load(t->outcomes[kind], p, &t->texts[version], sources);
    else
        run_define(t->outcomes[kind], p, &t->texts[version], RUN_ALL);
}

static void run_new(trial *t, int kind, int version)
{
    char cache[512], pack[512];
    run_options options = {NULL, kind == PACK};
    run_process p;

    (void)snprintf(cache, sizeof cache, "%s/cache", t->folder);
    if (kind == DISK)
        options.folder = cache;
    pack_path(pack, sizeof pack, t, kind == PACK ? t->pack : version);
    run_open(&p, &options);
    if (kind == PACK && version % 2 == 0)
        run_insert(&p, pack);
    define_new(t, kind, &p, version);
    if (kind == PACK && version % 2 == 1)
        run_insert(&p, pack);
    run_kernels(t->outcomes[kind], &p);
    if (kind == ALONE && version % PACK_EACH == 0)
        run_save(&p, pack);
    run_close(&p);
}

/* What comes behind a death is no outcome. */
static void note_death(trial *t, int first, int last, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    for (int kind = first; kind <= last; kind++)
        (void)snprintf(t->outcomes[kind], RUN_OUTCOME_MAX, "%s %d\n",
                       WIFSIGNALED(status) ? "killed by signal" : "ended with",
                       WIFSIGNALED(status) ? WTERMSIG(status)
                                           : WEXITSTATUS(status));
}

static void run_fresh(trial *t, int version)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        for (int kind = DISK; kind <= ALONE; kind++) {
            (void)alarm(SECONDS_MAX);
            if (kind != PACK || t->pack >= 0)
                run_new(t, kind, version);
        }
        _Exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    t->counts->runs += t->pack >= 0 ? 3 : 2;
    note_death(t, DISK, ALONE, status);
}

/* ---- one process for all versions ---- */

/* What it does for a version. */
typedef void (*serve_fn)(trial *t, run_process *p, int version);

static void serve_lasting(trial *t, run_process *p, int version)
{
    char *outcome = t->outcomes[LASTING];

    run_define(outcome, p, &t->texts[version], t->way);
    run_kernels(outcome, p);
    if (version % 5 == 4)
        kiln_context_collect(p->context);
}

#define COMPILE 255 /* in place of a version */

static void serve_replay(trial *t, run_process *p, int version)
{
    char *outcome = t->outcomes[REPLAY];
    int status = 0;
    pid_t child;

    if (version != COMPILE) {
        run_define(outcome, p, &t->texts[version], t->way);
        return;
    }
    child = fork();
    if (child == 0) {
        (void)alarm(SECONDS_MAX);
        run_kernels(outcome, p);
        _Exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    note_death(t, REPLAY, REPLAY, status);
}

static void serve(trial *t, int has_folder, serve_fn one, int in, int out)
{
    char cache[512];
    const run_options options = {has_folder ? cache : NULL, 0};
    unsigned char version;
    run_process p;

    (void)snprintf(cache, sizeof cache, "%s/cache", t->folder);
    run_open(&p, &options);
    while (read(in, &version, 1) == 1) {
        (void)alarm(SECONDS_MAX);
        one(t, &p, version);
        (void)alarm(0);
        if (write(out, &version, 1) != 1)
            break;
    }
    run_close(&p);
}

static void start(trial *t, server *s, int has_folder, serve_fn one)
{
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
        serve(t, has_folder, one, to[0], from[1]);
        _Exit(0);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    s->to = to[1];
    s->from = from[0];
}

static void stop(trial *t, server *s, int kind)
{
    int status = 0;

    if (s->child == 0)
        return;
    (void)close(s->to);
    (void)close(s->from);
    if (waitpid(s->child, &status, 0) != s->child)
        abort();
    s->child = 0;
    note_death(t, kind, kind, status);
}

/* One that died is not started again: it has said so. */
static void ask(trial *t, server *s, int kind, int version)
{
    const unsigned char number = (unsigned char)version;
    unsigned char answer;

    if (s->child == 0)
        return;
    t->counts->runs++;
    if (write(s->to, &number, 1) != 1 || read(s->from, &answer, 1) != 1)
        stop(t, s, kind);
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
    int wrong;

    run_fresh(t, version);
    wrong = differs(t, DISK, ALONE, version, report);
    if (t->pack >= 0)
        wrong |= differs(t, PACK, ALONE, version, report);
    ask(t, &t->lasting, LASTING, version);
    ask(t, &t->replay, REPLAY, version);
    if (strcmp(t->outcomes[LASTING], t->outcomes[ALONE]) != 0 ||
        version % 4 == 1) {
        ask(t, &t->replay, REPLAY, COMPILE);
        wrong |= differs(t, LASTING, REPLAY, version, report);
    }
    if (version % PACK_EACH == 0)
        t->pack = version;
    if (report == TRIAL_TELLS)
        printf("---- seed %llu, version %d: %s\n%s",
               (unsigned long long)t->history->seed, version,
               t->history->what[version], t->outcomes[ALONE]);
    t->counts->versions++;
    for (const char *at = t->outcomes[ALONE]; (at = strstr(at, ": ! ")) != NULL;
         at++)
        t->counts->refused++;
    return wrong;
}

/* ---- a history ---- */

static void write_texts(trial *t)
{
    const size_t count = (size_t)t->history->count;

    t->programs = allocate(count, sizeof *t->programs);
    t->texts = allocate(count, sizeof *t->texts);
    for (size_t i = 0; i < count; i++) {
        t->programs[i] = t->history->programs[i];
        if (t->is_loaded)
            memset(t->programs[i].split, 0, sizeof t->programs[i].split);
        edit_write(&t->texts[i], &t->programs[i]);
    }
}

static void begin(trial *t)
{
    const size_t size = KINDS * sizeof *t->outcomes;
    char sources[512];

    write_texts(t);
    (void)snprintf(sources, sizeof sources, "%s/src", t->folder);
    (void)mkdir(sources, 0700);
    t->outcomes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->outcomes == MAP_FAILED)
        abort();
    (void)signal(SIGPIPE, SIG_IGN);
    start(t, &t->lasting, 1, serve_lasting);
    start(t, &t->replay, 0, serve_replay);
}

int trial_run(const trial_history *history, const char *folder, int report,
              trial_counts *counts)
{
    trial t = {.history = history,
               .folder = folder,
               .way = (int)(history->seed % RUN_WAYS),
               .is_loaded = history->seed % 5 == 1,
               .pack = -1,
               .counts = counts};
    int found = -1;

    begin(&t);
    for (int i = 0; found < 0 && i < history->count; i++)
        if (run_version(&t, i, report))
            found = i;
    /* The second one has the first one's pipes. */
    stop(&t, &t.replay, REPLAY);
    stop(&t, &t.lasting, LASTING);
    (void)munmap(t.outcomes, KINDS * sizeof *t.outcomes);
    free(t.texts);
    free(t.programs);
    empty(folder);
    return found;
}
