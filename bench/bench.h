/* bench.h - the timer, and how a benchmark is described. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#include <kiln.h>

/*
 * A benchmark runs its payload `iterations` times in a sample. The timer
 * chooses that number so that a sample lasts at least 50 ms, and takes 15
 * samples. A benchmark that is `whole` runs once in a sample, and may itself
 * say how long it took, by bench_set_time().
 */
struct bench {
    const char *name; /* "hit/signature/threads=2" */
    /* Prepares the benchmark. Returns NULL when it cannot run here; then
       `*reason` says why. */
    void *(*setup)(const struct bench *bench, const char **reason);
    void (*run)(void *state, uint64_t iterations);
    void (*teardown)(void *state);
    int threads; /* 0 and 1: only the calling thread */
    int whole;
    int64_t size; /* a number of things, for setup() */
    int samples;  /* 0: 15 */
    /* Optional: writes further JSON members, each after ", ". */
    void (*extra)(void *state, char *json, size_t capacity);
};

/* Tables of benchmarks; a NULL name ends each. */
extern const struct bench bench_hits[];
extern const struct bench bench_stages[];
extern const struct bench bench_launches[];
extern const struct bench bench_fakes[];
extern const struct bench bench_processes[];
extern const struct bench bench_warm[];
extern const struct bench bench_reductions[];
extern const struct bench bench_codegen[];
extern const struct bench bench_cubins[];
extern const struct bench bench_foreign[];

/* Tables of kiln-bench-runtime. */
extern const struct bench bench_runtime[];
extern const struct bench bench_targets[];
extern const struct bench bench_stored[];
extern const struct bench bench_packs[];
extern const struct bench bench_loose[];
extern const struct bench bench_facts[];

/* Tables of kiln-bench-scale. */
extern const struct bench bench_lookups[];

/* The tables of this program. */
#ifndef BENCH_TABLES
#define BENCH_TABLES \
    bench_hits, bench_stages, bench_launches, bench_fakes, bench_reductions, \
        bench_processes, bench_warm, bench_codegen, bench_foreign, \
        bench_cubins
#endif

uint64_t bench_now_ns(void);
/* True when everything runs only once, as a test: sizes may be small. */
int bench_is_smoke(void);
/* Called in run() of a `whole` benchmark: this time counts instead of the
   clock's. */
void bench_set_time(uint64_t nanoseconds);
/* Keeps a value alive. */
#define BENCH_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

/* Ends the program if `status` is a failure, since a failed benchmark has no
   result. Prints the error behind `error`, if there is one: the call that
   returned the status may have set it. */
void bench_check(kiln_status status, kiln_error *const *error);

/* Splits the range from `begin` to `end` into parts, calls `work` for each, one
   on each core, and waits for all. */
void bench_divide(uint64_t begin, uint64_t end,
                  void (*work)(void *env, uint64_t begin, uint64_t end),
                  void *env);

/* Returns the folder of this program, where its siblings are. */
const char *bench_folder(void);
/* Makes a new folder beside the program; false if that fails. */
int bench_folder_new(char *path, size_t capacity);
/* Removes the folder with everything in it; it may be made again. */
void bench_folder_empty(const char *path);

#endif /* BENCH_H */
