/* bench.h - the timer, and what a benchmark gives it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#include <kiln.h>

/*
 * A benchmark runs its payload `iterations` times per sample; the timer
 * chooses how often, so that a sample lasts at least 50 ms, and takes 15
 * samples. One that is `whole` runs once per sample, and may say by itself how
 * long it took, through bench_set_time().
 */
struct bench {
    const char *name; /* "hit/signature/threads=2" */
    /* Prepares; returns NULL when it cannot run here, `*reason` says why. */
    void *(*setup)(const struct bench *bench, const char **reason);
    void (*run)(void *state, uint64_t iterations);
    void (*teardown)(void *state);
    int threads; /* 0 and 1: the caller's */
    int whole;
    int64_t size; /* for setup: a number of things */
    int samples;  /* 0: 15 */
    /* Optional: further JSON members, each behind ", ". */
    void (*extra)(void *state, char *json, size_t capacity);
};

/* Tables of benchmarks, ended by a NULL name. */
extern const struct bench bench_hits[];
extern const struct bench bench_stages[];
extern const struct bench bench_launches[];
extern const struct bench bench_fakes[];
extern const struct bench bench_processes[];
extern const struct bench bench_warm[];
extern const struct bench bench_reductions[];
extern const struct bench bench_codegen[];
extern const struct bench bench_cubins[];

/* Of kiln-bench-runtime. */
extern const struct bench bench_runtime[];
extern const struct bench bench_targets[];
extern const struct bench bench_stored[];
extern const struct bench bench_packs[];
extern const struct bench bench_loose[];

/* Of kiln-bench-scale. */
extern const struct bench bench_lookups[];

/* Those of this program. */
#ifndef BENCH_TABLES
#define BENCH_TABLES \
    bench_hits, bench_stages, bench_launches, bench_fakes, bench_reductions, \
        bench_processes, bench_warm, bench_codegen, bench_cubins
#endif

uint64_t bench_now_ns(void);
/* Everything runs once, for its own sake: large things may be small. */
int bench_is_smoke(void);
/* In run() of a `whole` benchmark: counts this instead of the clock. */
void bench_set_time(uint64_t nanoseconds);
/* Keeps a value alive. */
#define BENCH_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

/* Ends the program unless all is well, since a benchmark that fails is no
   result, and prints the error that is behind `error`, if any: the call that
   gave the status may have put it there. */
void bench_check(kiln_status status, kiln_error *const *error);

/* Calls `work` for parts of what is from `begin` to `end`, one on each core,
   and waits for all. */
void bench_divide(uint64_t begin, uint64_t end,
                  void (*work)(void *env, uint64_t begin, uint64_t end),
                  void *env);

/* Folder of this program, for its siblings. */
const char *bench_folder(void);
/* Makes a folder of its own beside the program; false when that cannot be. */
int bench_folder_new(char *path, size_t capacity);
/* Removes it with all that is in it: it may be made again. */
void bench_folder_empty(const char *path);

#endif /* BENCH_H */
