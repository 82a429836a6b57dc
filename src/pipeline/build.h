/* build.h - the inside of a build, for its own files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BUILD_H
#define KILN_BUILD_H

#include "base/data/arena.h"
#include "base/digest/digest.h"
#include "codegen_client/codegen_place.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/typed/code_instance.h"

/* What tier 2 gives to a build: a runtime function of its closure, or what it
   takes from a library. */
typedef struct kiln__build_input {
    const kiln_code *code; /* a function of Kiln's own typed IR, or NULL */
    const kiln__library_use *use; /* else what is taken */
    size_t place;                 /* of the code in the closure */
    const char *symbol;           /* under which the bitcode defines it */
    const char *name;             /* for people */
    kiln__encoder key;
    kiln__runtime_entry *entry; /* on loan or being built, or NULL */
    int is_building;
    int is_rejected; /* what a store had of it was of no use */
} kiln__build_input;

/*
 * A build gathers what the code generator needs while it is on the thread of
 * the caller, where a foreign frontend's lower() may run; it is generated on
 * a worker. It owns copies of nothing but names: code instances stay until a
 * collection, and none happens while a build is under way.
 */
typedef struct kiln__build kiln__build;
struct kiln__build {
    kiln_context *context;
    const kiln_code *code;
    const kiln_config *config;
    kiln__arena arena;
    const kiln_code **closure;
    size_t closure_count;
    kiln__build_input *supplies;
    size_t supply_count;
    kiln__codegen_function *functions; /* the request's */
    kiln_digest digest; /* of what is built, with the lines that it has */
    kiln__codegen_import *imports;
    size_t import_count;
    kiln__codegen_site *sites; /* of the closure; the request's */
    size_t site_count;
    const struct kiln__library *math; /* of the vendors', or NULL */
    struct kiln__roots *roots;        /* of sites that are resolved, or NULL */
    kiln_blob module;                 /* of a foreign frontend */
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    struct kiln__tool_process
        *begun; /* the request's, and freed with the build */
    kiln__fork_guard begun_guard;
    uint64_t start_ns;

    const kiln_artifact *artifact;
    kiln_blob text;
    kiln_error *error;
    const char *kept; /* path of what a tool failed on, or NULL */
    void (*fatal)(void *env, kiln_error *error);
    void *fatal_env;
    int (*is_canceled)(void *env); /* or NULL */
    void *canceled_env;
};

/* ---- build_gather.c: typed IR as the code generator takes it ---- */
/* PREFIX, the letters, digits and single underscores of `name` up to its
   arguments, SUFFIX; NULL: out of memory. */
const char *kiln__build_symbol(kiln__arena *arena, const char *prefix,
                               const char *name, const char *suffix);
/* The name that stands in what is built. Two functions of one typed digest may
   have two names, and share what is built: then it is the one in their IR. */
const char *kiln__build_name(kiln__arena *arena, const kiln_code *code);
/* Makes functions of a closure, in its order, in the arena; with lines where
   the config asks for them, if `with_lines`, which a frontend is asked for. */
kiln_status kiln__build_gather(kiln__codegen_function **out, kiln__build *build,
                               const kiln_code *const *closure, size_t count,
                               int with_lines);

/* ---- build_supply.c: what tier 2 has for the build ---- */
/* Finds what the closure can be given, with keys and symbols. */
kiln_status kiln__build_plan_supplies(kiln__build *build, kiln_error **error);
/* The supply of a function, or NULL. */
const kiln__build_input *kiln__build_supply_of(const kiln__build *build,
                                               const kiln_code *code);
/* On the worker: gets each from tier 2, building what is not there. What
   cannot be built is lowered with the kernel; what cannot be taken from its
   library is an error. */
kiln_status kiln__build_get_supplies(kiln__build *build,
                                     const kiln__generator *generator,
                                     kiln_error **error);
/* The build failed: what stores gave for it may be why, and is dropped. False:
   they gave nothing. */
int kiln__build_reject_supplies(kiln__build *build);
/* The code generator read one: `index` of the request's functions or
   imports. */
void kiln__build_was_read(void *env, size_t index, uint64_t nanoseconds);
/* Gives everything back; gives up what is being built. */
void kiln__build_free_supplies(kiln__build *build);

/* ---- build_math.c ---- */
/* What the kernel's closure takes of the config's library of mathematics; each
   once, in the build's arena. */
kiln_status kiln__build_plan_math(const kiln__library_use **out, size_t *count,
                                  kiln__build *build, kiln_error **error);

/* ---- build_sites.c: host objects that the code refers to ---- */
/* Lists the closure's sites, each once; resolves and roots them if the config
   says so. KILN_ENOTFOUND names one that the host does not have. */
kiln_status kiln__build_plan_sites(kiln__build *build, kiln_error **error);

/* ---- build.c ---- */
/* Prepares the request for the code generator; runs a foreign frontend's
   lower(). `form` is KILN_EMIT_... */
kiln_status kiln__build_new(kiln__build **out, const kiln_code *code,
                            const kiln_config *config, int32_t form,
                            kiln_error **error);
void kiln__build_free(kiln__build *build);
/* Generates on the calling worker. On success the artifact or, for text
   forms, the bytes are in the build. `fatal` runs if LLVM cannot go on: it
   must not return, and the build is then lost. */
kiln_status kiln__build_run(kiln__build *build,
                            void (*fatal)(void *env, kiln_error *error),
                            void *env, kiln_error **error);
/* Before it is run: what says that nobody waits for it any more. */
void kiln__build_watch(kiln__build *build, int (*canceled)(void *env),
                       void *env);
const kiln_config *kiln__build_config(const kiln__build *build);
/* What stands for it in its binary key, kiln__job_digest(). */
kiln_digest kiln__build_digest(const kiln__build *build);
/* True when addresses of host objects become constants in it. */
int kiln__build_is_bound(const kiln__build *build);
const kiln_artifact *kiln__build_artifact(const kiln__build *build);
kiln_status kiln__build_text(const kiln__build *build, kiln_blob *out);
/* Makes a kernel of an artifact and loads it. */
kiln_status kiln__build_load(kiln_kernel **out, const kiln_artifact *artifact,
                             const kiln_code *code, const kiln_config *config,
                             kiln_error **error);
/* The same for what another process built: KILN_OK and no kernel when it is of
   no use, and dropped where it came from. `*out` is NULL before. */
kiln_status kiln__build_load_found(kiln_kernel **out,
                                   const kiln_artifact *artifact,
                                   const kiln_code *code,
                                   const kiln_config *config,
                                   kiln_error **error);

#endif /* KILN_BUILD_H */
