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
    /* pipeline/complete.c, for launches, which are further down. */
    kiln_status (*complete)(const kiln_artifact **out, kiln_context *context,
                            const kiln_artifact *artifact, uint32_t unproved,
                            kiln_error **error);
    const struct kiln__names *names; /* the same; types.h */
    struct kiln__trace *trace;       /* trace.c; NULL: off */
    struct kiln__workers *workers;   /* workers.c; set up last, because running
                                        tasks use everything above */
    struct kiln__workers *fetchers;  /* workers.c; its tasks may submit work to
                                        `workers` */
};

struct kiln__delta_taker;

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
    /* Gives entries of the frontend's own that came since then; delta.h. NULL:
       it has none. Set when the frontend is made. */
    kiln_status (*delta)(void *self, uint64_t since,
                         const struct kiln__delta_taker *taker);
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

#endif /* KILN_CONTEXT_CONTEXT_H */
