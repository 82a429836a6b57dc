/* core.h - the context's members, and who owns each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CORE_H
#define KILN_CORE_H

#include <limits.h>
#include <stdatomic.h>

#include "codegen.h"
#include "fork.h"
#include "kiln/cache.h"
#include "kiln/context.h"
#include "kiln/sys/backend.h"
#include "kiln/sys/frontend.h"
#include "memory.h"

#define KILN__QUIET_RANKS 64

/* Set up in this order and torn down in the reverse; each module knows the
   inside of its own state only. */
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
    int offline_only;                 /* of kiln_context_options */
    uint64_t codegen_timeout_ns;      /* UINT64_MAX: none */
    atomic_int codegen_worker_state;  /* codegen_place.c */
    atomic_int codegen_worker_starts; /* that failed, in a row */
    char *import_path;  /* KILN_PATH: folders separated by ':', or NULL */
    char *spirv_driver; /* the only one of backend spirv, or NULL */
    struct kiln__cache_settings *cache; /* cache_settings.h */
    kiln__fork_list fork;               /* locks to hold across fork() */
    /* ranks.c: until when those that did not answer are left alone. */
    _Atomic uint64_t quiet_ranks[KILN__QUIET_RANKS];

    _Atomic(struct kiln__roots *) roots; /* sites.c */
    struct kiln__counters *counters;     /* counters.c */
    struct kiln__types *types;           /* type.c */
    struct kiln__registry *frontends;    /* frontends.c */
    struct kiln__backends *backends;     /* backends/registry.c */
    struct kiln__configs *configs;       /* config.c */
    struct kiln__libraries *libraries;   /* libraries.c */
    struct kiln__codegen_door *door;     /* codegen_door.c */
    struct kiln__helpers *helpers;       /* codegen_helper.c */
    struct kiln__stores *stores;         /* stores/ */
    struct kiln__tools *tools;           /* toolchain_tools.c */
    struct kiln__toolchain *toolchain;   /* toolchain.c */
    struct kiln__tiers *tiers;           /* tiers/ */
    kiln_frontend *language;             /* frontend/language.c */
    const struct kiln__names *names;     /* the same; types.h */
    struct kiln__trace *trace;           /* trace.c; NULL: off */
    struct kiln__workers *workers;       /* workers.c; last: running work uses
                                            everything above */
    struct kiln__workers *fetchers;      /* the same; may give work to those */
};

/* A frontend as registered; frontends.c. */
struct kiln_frontend {
    kiln_context *context;
    kiln_frontend_ops ops; /* missing members are NULL */
    char *name;
    void *self;
    struct kiln__held_world *held; /* under the registry's lock */
    unsigned changes;              /* the same: under way; worlds.c */
    _Atomic uint64_t newest_shown; /* written under the same: the world before
                                      the first of them, or UINT64_MAX */
    _Atomic uint64_t seen_world;   /* the latest that it told */
    _Atomic uint64_t oldest_world; /* in use, when a collection began */
    uint64_t unnoted; /* under the tiers' lock: a world whose changes no
                         memory was left to note */
    kiln_frontend *next;
};

/* A generic function; one per frontend and name; lives with the context. */
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
/* Adds one request and its outcome in the calling thread's own block: no
   lock, no shared line. A thread's first call may allocate; out of memory
   falls back to a shared atomic block. */
void kiln__count_request(kiln_context *context, int32_t tier,
                         kiln__count outcome);
void kiln__count_stage(kiln_context *context, int32_t stage,
                       uint64_t nanoseconds);
void kiln__count_invalidated(kiln_context *context, uint64_t count);
/* Entries and bytes held; deltas may be negative. */
void kiln__count_held(kiln_context *context, int32_t tier, int64_t entries,
                      int64_t bytes);
/* Whether an entry that was read several times turned out to be worth keeping,
   and what one reading saved. */
void kiln__count_judged(kiln_context *context, int32_t tier, int is_kept);
void kiln__count_saved(kiln_context *context, int32_t tier,
                       uint64_t nanoseconds);
/* What a tier had to do with stores. */
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
/* Adds to two of the counters; values may be negative. */
void kiln__count_store(kiln_context *context, int32_t tier, int first,
                       int64_t first_value, int second, int64_t second_value);
/* Counts the stage and tells the host's event callback. */
void kiln__stage_ended(kiln_context *context, int32_t stage, const char *name,
                       uint64_t nanoseconds);

/* ---- type.c ---- */
kiln_status kiln__types_new(kiln_context *context);
void kiln__types_free(kiln_context *context);

/* ---- frontends.c ---- */
/* Finds the frontend of the name, or NULL. */
kiln_frontend *kiln__frontend_find(const kiln_context *context,
                                   const char *name);
/* What a callback returned, or an error that says that this is no status. */
kiln_status kiln__callback_status(kiln_status status,
                                  const kiln_frontend *frontend,
                                  const char *callback, kiln_error **error);
kiln_status kiln__registry_new(kiln_context *context);
void kiln__registry_free(kiln_context *context); /* ends the frontends */
void kiln__registry_lock(const kiln_context *context);
void kiln__registry_unlock(const kiln_context *context);
/* The two ends of a collection: stores in each frontend the oldest world that
   somebody holds, else the current one; and lets each free what is older. */
void kiln__frontends_note_oldest(kiln_context *context);
void kiln__frontends_collect(kiln_context *context);
/* Finds the function of the qualified name, the kernel language's before
   another frontend's, or NULL; makes none. */
const kiln_function *kiln__function_find(const kiln_context *context,
                                         const char *name);

/* Checks signature and config of a public call. */
kiln_status kiln__request_check(const kiln_context *context,
                                const kiln_signature *signature,
                                const kiln_config *config, kiln_error **error);

/* ---- config.c ---- */
kiln_status kiln__configs_new(kiln_context *context);
void kiln__configs_free(kiln_context *context);

/* ---- libraries.c; the rest is in libraries.h ---- */
kiln_status kiln__libraries_new(kiln_context *context);
void kiln__libraries_free(kiln_context *context);

/* ---- codegen_door.c: opens libkiln-codegen at the first miss ---- */
kiln_status kiln__door_new(kiln_context *context);
void kiln__door_free(kiln_context *context);
/* Opens the library once (process-wide), checks both build ids. A failure is
   remembered and returned each time. */
kiln_status kiln__door_open(kiln_context *context, const kiln__codegen **out,
                            kiln_error **error);
/* The table if this context opened the library before, else NULL. */
const kiln__codegen *kiln__door_peek(kiln_context *context);
/* Where the library would be opened; KILN_ENOTFOUND when that is not known
   without opening it. */
kiln_status kiln__door_path(const kiln_context *context, char out[PATH_MAX]);

/* The same of a library that is to be opened by another process. */
kiln_status kiln__door_library(const kiln_context *context, char out[PATH_MAX]);

/* ---- codegen_helper.c; the rest is in codegen_helper.h ---- */
kiln_status kiln__helpers_new(kiln_context *context);
void kiln__helpers_free(kiln_context *context);

/* ---- workers.c: Kiln's own compiling threads ---- */
kiln_status kiln__workers_new(kiln_context *context);
void kiln__workers_free(kiln_context *context); /* waits for running work */
/* Queues run(env) for a worker; starts one while fewer than the limit run. */
kiln_status kiln__workers_submit(kiln_context *context, void (*run)(void *env),
                                 void *env, kiln_error **error);
/* The same for threads that wait for other processes of the job. */
kiln_status kiln__fetchers_submit(kiln_context *context, void (*run)(void *env),
                                  void *env, kiln_error **error);
/* True when somebody else's work is queued. */
int kiln__workers_have_more(kiln_context *context);
/* Called on a worker that will never come back (a fatal error in LLVM):
   gives its place to a new worker and parks the thread for ever. */
_Noreturn void kiln__workers_park(kiln_context *context);

/* ---- builtin_backends.c ---- */
kiln_status kiln__builtin_backends_new(kiln_context *context,
                                       kiln_error **error);

#endif /* KILN_CORE_H */
