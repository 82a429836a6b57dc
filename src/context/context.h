/* context.h - the context's members, and which file owns each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_CONTEXT_H
#define KILN_CONTEXT_CONTEXT_H

#include <limits.h>
#include <stdatomic.h>

#include "abi/codegen_abi.h"
#include "base/data/memory.h"
#include "base/system/fork.h"
#include "kiln/cache.h"
#include "kiln/context.h"
#include "kiln/sys/backend.h"
#include "kiln/sys/frontend.h"

#define KILN__QUIET_RANKS 64

/* Members are set up in this order and torn down in reverse order. Each file
   knows only the inside of its own state. */
struct kiln_context {
    kiln_alloc alloc;
    kiln_host_ops host; /* missing members are NULL */
    void *host_env;
    void (*host_finalize)(void *env);
    uint32_t worker_limit;
    uint32_t thread_limit;
    char *codegen_path; /* or NULL */
    kiln_codegen_exchange_fn codegen_exchange;
    uint32_t codegen_mode;            /* KILN_CODEGEN_..., never DEFAULT */
    char *codegen_worker;             /* path of the program, or NULL */
    uint64_t codegen_memory;          /* 0: no bound */
    int offline_only;                 /* as in kiln_context_options */
    uint64_t codegen_timeout_ns;      /* UINT64_MAX: none */
    atomic_int codegen_worker_state;  /* codegen_place.c */
    atomic_int codegen_worker_starts; /* starts that failed in a row */
    char *import_path;  /* KILN_PATH: folders separated by ':', or NULL */
    char *spirv_driver; /* the only driver of backend spirv, or NULL */
    struct kiln__cache_settings *cache; /* cache_settings.h */
    kiln__fork_list fork;               /* locks to hold across fork() */
    /* ranks.c: until when ranks that did not answer are not asked. */
    _Atomic uint64_t quiet_ranks[KILN__QUIET_RANKS];

    _Atomic(struct kiln__roots *) roots; /* host_objects.c */
    struct kiln__counters *counters;     /* counters.c */
    struct kiln__types *types;           /* type.c */
    struct kiln__registry *frontends;    /* frontends.c */
    struct kiln__backends *backends;     /* backends/backend_registry.c */
    struct kiln__configs *configs;       /* config.c */
    struct kiln__libraries *libraries;   /* bitcode_library.c */
    struct kiln__codegen_library *codegen_library;   /* codegen_library.c */
    struct kiln__worker_processes *worker_processes; /* codegen_worker.c */
    struct kiln__stores *stores;                     /* stores/ */
    struct kiln__tools *tools;                       /* tool_identity.c */
    struct kiln__toolchain *toolchain;               /* provenance.c */
    struct kiln__tiers *tiers;                       /* tiers/ */
    kiln_frontend *language;                         /* frontend/language.c */
    const struct kiln__names *names;                 /* the same; types.h */
    struct kiln__trace *trace;                       /* trace.c; NULL: off */
    struct kiln__workers *workers;  /* workers.c; set up last, because running
                                       tasks use everything above */
    struct kiln__workers *fetchers; /* workers.c; its tasks may submit work to
                                       `workers` */
};

/* A registered frontend; frontends.c. */
struct kiln_frontend {
    kiln_context *context;
    kiln_frontend_ops ops; /* missing members are NULL */
    char *name;
    void *self;
    struct kiln__held_world *held; /* under the registry's lock */
    unsigned changes;              /* how many changes are under way (worlds.c);
                                      under the registry's lock */
    _Atomic uint64_t newest_shown; /* the world before the first of those
                                      changes, or UINT64_MAX; written under the
                                      registry's lock */
    _Atomic uint64_t seen_world;   /* the latest world that the frontend
                                      returned */
    _Atomic uint64_t oldest_world; /* the oldest world in use when a collection
                                      began */
    uint64_t unnoted; /* a world whose changes could not be noted for want of
                         memory; under the tiers' lock */
    kiln_frontend *next;
};

/* A generic function. There is one per frontend and name; it lives with the
   context. */
struct kiln_function {
    kiln_frontend *frontend;
    char *name; /* "main.saxpy" */
    void *data;
    uint64_t hash; /* of the name, for tables in memory */
};

/* ---- host_ops.c ---- */
/* Fills the context's `host` and `host_env`. */
kiln_status kiln__host_ops_read(kiln_context *context,
                                const kiln_context_options *options,
                                kiln_error **error);

/* ---- counters.c ---- */
typedef enum kiln__count {
    KILN__COUNT_REQUEST,
    KILN__COUNT_HIT,
    KILN__COUNT_STORE_HIT,
    KILN__COUNT_WAITED,
    KILN__COUNT_BUILT,
    KILN__COUNT_FAILED,
    KILN__COUNT_END
} kiln__count;

kiln_status kiln__counters_new(kiln_context *context);
void kiln__counters_free(kiln_context *context);
/* Adds one request and its outcome in the calling thread's own block, without a
   lock or a shared cache line. A thread's first call may allocate; if that
   fails, a shared atomic block is used. */
void kiln__count_request(kiln_context *context, int32_t tier,
                         kiln__count outcome);
void kiln__count_stage(kiln_context *context, int32_t stage,
                       uint64_t nanoseconds);
void kiln__count_invalidated(kiln_context *context, uint64_t count);
/* Adds to the entries and bytes held; deltas may be negative. */
void kiln__count_held(kiln_context *context, int32_t tier, int64_t entries,
                      int64_t bytes);
/* Counts whether an entry that was read several times was found worth keeping,
   and the time that one reading saved. */
void kiln__count_judged(kiln_context *context, int32_t tier, int is_kept);
void kiln__count_saved(kiln_context *context, int32_t tier,
                       uint64_t nanoseconds);
/* Counters of a tier's use of stores. */
enum {
    KILN__STORE_HITS,
    KILN__STORE_PUTS,
    KILN__STORE_PUT_FAILURES,
    KILN__STORE_REFUSED,
    KILN__STORE_BYTES_READ,
    KILN__STORE_BYTES_WRITTEN,
    KILN__STORE_GET_NS,
    KILN__STORE_PUT_NS,
    KILN__STORE_MISSES, /* + KILN_MISS_... */
    KILN__STORE_COUNT_END = KILN__STORE_MISSES + KILN_MISS_COUNT
};
/* Adds to two of these counters; values may be negative. */
void kiln__count_store(kiln_context *context, int32_t tier, int first,
                       int64_t first_value, int second, int64_t second_value);
/* Counts the stage and tells the host's event callback. */
void kiln__stage_ended(kiln_context *context, int32_t stage, const char *name,
                       uint64_t nanoseconds);

/* ---- workers.c: Kiln's own compiling threads ---- */
kiln_status kiln__workers_new(kiln_context *context);
void kiln__workers_free(kiln_context *context); /* waits for running work */
/* Queues run(env) for a worker; starts a worker while fewer than the limit
   exist. */
kiln_status kiln__workers_submit(kiln_context *context, void (*run)(void *env),
                                 void *env, kiln_error **error);
/* The same for threads that wait for other processes of the job. */
kiln_status kiln__fetchers_submit(kiln_context *context, void (*run)(void *env),
                                  void *env, kiln_error **error);
/* True when other work is queued. */
int kiln__workers_have_more(kiln_context *context);
/* Called on a worker that will never return (after a fatal error in LLVM):
   gives its place to a new worker and lets the thread sleep for ever. */
_Noreturn void kiln__workers_park(kiln_context *context);

#endif /* KILN_CONTEXT_CONTEXT_H */
