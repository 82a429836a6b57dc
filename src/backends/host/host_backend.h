/* host_backend.h - the internal interface of the host backend's driver half. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_HOST_HOST_BACKEND_H
#define KILN_BACKENDS_HOST_HOST_BACKEND_H

#include <stdatomic.h>
#include <sys/types.h>

#include "abi/host_abi.h"
#include "backends/report_text.h"
#include "base/digest/processor.h"
#include "base/system/fork.h"
#include "base/system/thread.h"
#include "context/context.h"

/* ---- host_target.c: targets as lists of features ---- */

/* A set of features, one bit each in the order of the table. */
typedef uint64_t kiln__host_features;

/* Returns the features that may be used: the processor has them, and the system
   saves their state. */
kiln__host_features kiln__host_features_of(const kiln__cpuid *cpuid);
/* Writes "+avx,+avx2" in the order of names; false when it does not fit. */
int kiln__host_features_text(char *text, size_t capacity,
                             kiln__host_features features);
/* Resolves "x86-64-v3", "x86-64+avx2+fma" or NULL (this processor). */
kiln_status kiln__host_target(kiln_target *out, const char *name,
                              kiln_error **error);
/* Checks that code for `target`, "host:…", can run on this processor. */
kiln_status kiln__host_target_runs(const char *target, kiln_error **error);
kiln_status kiln__host_target_runs_on(const char *target,
                                      kiln__host_features there,
                                      kiln_error **error);

/* ---- host_import.c: what images may refer to ---- */

/* Returns the function that images call `name`, or NULL. */
void *kiln__host_import(const char *name);
/* For tests: the name of entry `index`, or NULL beyond the last. */
const char *kiln__host_import_name(size_t index);

/* ---- host_space.c: memory for images ---- */

typedef struct kiln__host_space {
    kiln_context *context;
    kiln__mutex lock;
    kiln__fork_guard guard;
    unsigned char *rest; /* mapped, and not taken yet: `left` bytes */
    size_t left;
    size_t taken; /* so far, in bytes */
} kiln__host_space;

kiln_status kiln__host_space_init(kiln__host_space *space,
                                  kiln_context *context);
/* What was taken stays. */
void kiln__host_space_dispose(kiln__host_space *space);
/* Gives whole pages that are zero and can be read and written. Whoever takes
   them unmaps them. NULL with errno: there are none. `space` may be NULL. */
void *kiln__host_space_take(kiln__host_space *space, size_t size);

/* ---- host_image.c: ELF images in memory ---- */

typedef struct kiln__host_image kiln__host_image;

/* Maps an image, in the space if it is not NULL. `bytes` are copied, and may
   come from anywhere: KILN_ECORRUPT for a damaged image, KILN_EUNSUPPORTED for
   one that this loader does not support. */
kiln_status kiln__host_image_load(kiln__host_image **out,
                                  const kiln_alloc *alloc,
                                  kiln__host_space *space, const void *bytes,
                                  size_t size, kiln_error **error);
/* Returns the address of an exported function, or NULL. */
void *kiln__host_image_symbol(const kiln__host_image *image, const char *name);
void kiln__host_image_unload(kiln__host_image *image);

/* ---- host_deferred.c: second bodies ---- */

/* What a backend's modules share for making them. */
typedef struct kiln__host_deferral {
    kiln_context *context;
    kiln__mutex lock;
    kiln__condition changed;
    kiln__fork_guard guard;
} kiln__host_deferral;

kiln_status kiln__host_deferral_init(kiln__host_deferral *deferral,
                                     kiln_context *context);
void kiln__host_deferral_dispose(kiln__host_deferral *deferral);

typedef int32_t (*kiln__host_entry)(struct kiln__host_launch_state *launch,
                                    const void *arguments, uint64_t first_group,
                                    uint64_t last_group, void *memory);

/* A loaded artifact. */
typedef struct kiln__host_module {
    kiln__host_deferral *deferral;
    kiln__host_space *space;
    kiln__host_image *image;
    const kiln_artifact *artifact;      /* a reference; NULL: there is no second
                                           body */
    _Atomic(kiln__host_image *) second; /* NULL: it was not needed yet */
    /* Both are set before `second`. */
    kiln__host_entry second_entry;
    uint32_t second_stack; /* in bytes, as kiln_kernel_info's */
    pid_t maker; /* process in which a thread makes it, under the lock;
                    0: none */
    _Atomic uint32_t unproved; /* the first check that needed it; 0: none */
    atomic_int is_told;
} kiln__host_module;

/* Makes and loads the second body, unless that has been done, because of a
   check with that number. */
kiln_status kiln__host_second_get(kiln__host_module *module, uint32_t unproved,
                                  kiln_error **error);
/* Tells the host, once, that and why a launch needed it. */
void kiln__host_second_tell(kiln__host_module *module,
                            const kiln_kernel *kernel);

/* ---- host_spin.c: waiting without sleeping ---- */

/* Waits until is_ready(env), but no longer than `limit_ns`, and no longer than
   until is_vain(env), which is asked now and then. Returns is_ready(env). */
int kiln__host_spin(uint64_t limit_ns, const void *env,
                    int (*is_ready)(const void *env),
                    int (*is_vain)(const void *env));

/* ---- host_lent.c: the host's own threads ---- */

/* How many indices of a job a thread takes at a time. */
uint64_t kiln__host_step(uint64_t count, uint64_t threads);
/* Runs a job by the host's parallel_for. */
void kiln__host_run_lent(const kiln_context *context, uint32_t threads,
                         uint64_t count,
                         void (*work)(void *env, uint64_t first, uint64_t last),
                         void *env);

/* ---- host_pool.c: fork and join ---- */

typedef struct kiln__host_pool kiln__host_pool;

/* Starts no threads; the first run that needs them does. */
kiln_status kiln__host_pool_new(kiln__host_pool **out, kiln_context *context);
void kiln__host_pool_free(kiln__host_pool *pool);
/* Splits [0, count) into ranges, calls work(env, first, last) for each, on
   several threads, the caller's among them, and returns when all are done. May
   be called from any thread; if the pool is in use, the caller works alone. */
void kiln__host_pool_run(kiln__host_pool *pool, uint64_t count,
                         void (*work)(void *env, uint64_t first, uint64_t last),
                         void *env);
/* Returns the memory for the groups that the pool's threads run. */
struct kiln__host_memory *kiln__host_pool_memory(kiln__host_pool *pool);

/* ---- host_few.c: launches of few items ---- */

/* What the last small launches were like; empty if all bytes are 0. */
#define KILN__HOST_KNOWN_MAX 256
typedef struct kiln__host_known {
    atomic_uint_least64_t kernels[KILN__HOST_KNOWN_MAX]; /* host_few.c */
    atomic_uint_least64_t heavy[KILN__HOST_KNOWN_MAX];   /* host_heavy.c */
} kiln__host_known;

/* Called before mappings change: no thread watches until the next job. */
void kiln__host_pool_rest(kiln__host_pool *pool);
/* How many threads work at the same time; host_pool.c. */
uint32_t kiln__host_pool_threads(kiln__host_pool *pool);
/* Tells the pool that a caller worked so long on what threads could share. */
void kiln__host_pool_alone(kiln__host_pool *pool, uint64_t nanoseconds);
/* Returns what the pool knows; host_pool.c. */
kiln__host_known *kiln__host_pool_known(kiln__host_pool *pool);
/* As kiln__host_pool_run(), for work that may be done before another thread has
   begun. It is on several threads only if that is worth it, judged by its first
   indices and by the last work of the same function. */
void kiln__host_run_few(kiln__host_pool *pool, uint64_t count,
                        void (*work)(void *env, uint64_t first, uint64_t last),
                        void *env, const void *function);

/* ---- host_heavy.c: launches of few items that take long ---- */

/* How a launch is run; zeroed before kiln__host_plan_begin(). */
typedef struct kiln__host_plan {
    atomic_uint_least64_t *slot;
    uint64_t hash;
    uint64_t start_ns;
    int is_timed;
    int is_smaller; /* it takes long: it has smaller groups, for all threads */
} kiln__host_plan;

/* Called at the beginning of a launch in a few groups that may be of any size.
   `launch` is its number in its queue. Returns the size of smaller groups, or
   0. */
uint64_t kiln__host_plan_begin(kiln__host_plan *plan, kiln__host_pool *pool,
                               const void *function, uint64_t items,
                               uint32_t launch);
/* Called at the end of the launch, if it is timed and was not stopped. */
void kiln__host_plan_end(const kiln__host_plan *plan, kiln__host_pool *pool);

/* ---- host_memory.c: memory for groups ---- */

typedef struct kiln__host_block kiln__host_block;

typedef struct kiln__host_memory {
    kiln_context *context;
    kiln__mutex lock;
    kiln__host_block *blocks; /* not in use */
    kiln__fork_guard guard;
} kiln__host_memory;

kiln_status kiln__host_memory_init(kiln__host_memory *memory,
                                   kiln_context *context);
void kiln__host_memory_dispose(kiln__host_memory *memory);
/* Takes a block of at least `size` bytes, with any content; NULL: out of
   memory. */
kiln__host_block *kiln__host_memory_take(kiln__host_memory *memory,
                                         size_t size);
void kiln__host_memory_give(kiln__host_memory *memory, kiln__host_block *block);
/* Returns the block's bytes, aligned to KILN__HOST_MEMORY_ALIGNMENT. */
void *kiln__host_block_bytes(kiln__host_block *block);

/* ---- host_stop.c: stopping a launch ---- */

/* Reasons for stopping; KILN__HOST_GOES_ON must be 0 for generated code. */
#define KILN__HOST_GOES_ON 0
#define KILN__HOST_RAISED 1
#define KILN__HOST_CANCELED 2
#define KILN__HOST_TIMED_OUT 3

/* Member of a queue; all zero at first. */
typedef struct kiln__host_stop {
    kiln__host_word reason; /* read by generated code */
    _Atomic uint32_t is_running;
} kiln__host_stop;

/* Called at the beginning and the end of a launch. */
void kiln__host_stop_begin(kiln__host_stop *stop);
void kiln__host_stop_end(kiln__host_stop *stop);
/* Stops the running launch; the first reason is kept. May be called from any
   thread and from signal handlers. */
void kiln__host_stop_now(kiln__host_stop *stop, uint32_t reason);
/* Returns what images call `name`, KILN__HOST_...; or NULL. */
void *kiln__host_stop_import(const char *name);

/* ---- host_alone.c: atomic operations that need no lock ---- */

/* Returns what images call `name`, KILN__HOST_ALONE; or NULL. */
void *kiln__host_alone_import(const char *name);

/* ---- host_timer.c: a launch's time limit ---- */

typedef struct kiln__host_limit {
    kiln__host_stop *stop;
    uint64_t deadline_ns;
    struct kiln__host_limit *next;
    int is_listed;
} kiln__host_limit;

typedef struct kiln__host_timer {
    kiln_context *context;
    kiln__mutex lock;
    kiln__condition changed;
    kiln__host_limit *first; /* limits of running launches */
    kiln__thread thread;
    int is_started;
    int ending;
    kiln__fork_guard guard;
} kiln__host_timer;

kiln_status kiln__host_timer_init(kiln__host_timer *timer,
                                  kiln_context *context);
void kiln__host_timer_dispose(kiln__host_timer *timer);
/* Called at the beginning and the end of a launch with a limit; in between,
   `limit` stays in the caller's memory. KILN_ENOMEM: the thread could not be
   started. */
kiln_status kiln__host_timer_begin(kiln__host_timer *timer,
                                   kiln__host_limit *limit,
                                   kiln__host_stop *stop, uint64_t nanoseconds);
void kiln__host_timer_end(kiln__host_timer *timer, kiln__host_limit *limit);

/* ---- host_launch.c ---- */

#define KILN__HOST_METHOD_SIZE 256
#define KILN__HOST_MESSAGE_SIZE 512

/* What a queue keeps: the record that it lends until its next launch. */
typedef struct kiln__host_record {
    kiln__host_stop stop;
    kiln__host_timer *timer; /* for launches with a limit */
    uint32_t launch_count;   /* of those without a block */
    kiln_exception exception;
    char method[KILN__HOST_METHOD_SIZE];
    char message[KILN__HOST_MESSAGE_SIZE];
    kiln__frame_record frames;
} kiln__host_record;

/* Chooses a group for a grid: as many items along x as the grid has, at most
   KILN__HOST_GROUP_ITEMS or, if that is less, the greater of 1024 and a quarter
   of the grid; then along y and z as long as the group has at most that many.
   The result depends on the grid only. */
#define KILN__HOST_GROUP_ITEMS 4096
void kiln__host_choose_block(uint64_t block[3], const uint64_t grid[3]);
/* The most items in a group of a kernel that needs memory for each group. */
#define KILN__HOST_MEMORY_ITEMS 256

/* Runs every group. KILN_EEXCEPTION: `record` has the first exception.
   KILN_ECANCELED, KILN_ETIMEDOUT: it was stopped before all groups had run. */
kiln_status kiln__host_launch(kiln_context *context, kiln__host_pool *pool,
                              const kiln_launch_request *request,
                              kiln__host_record *record, kiln_error **error);

/* ---- host_driver.c ---- */

/* Makes the backend and its table. */
kiln_status kiln__host_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error);

#endif /* KILN_BACKENDS_HOST_HOST_BACKEND_H */
