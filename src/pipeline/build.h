/* build.h - the struct of a build, and its functions, for the build's own
   files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BUILD_H
#define KILN_BUILD_H

#include "base/data/arena.h"
#include "base/data/array.h"
#include "base/digest/digest.h"
#include "codegen_client/codegen_place.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/typed/code_instance.h"

/* An input of a build from tier 2: a runtime function of its closure, or a
   symbol of a library. */
typedef struct kiln__build_input {
    const kiln_code *code; /* a function in Kiln's own typed IR, or NULL */
    const kiln__library_use *use; /* else the symbol of a library */
    size_t place;                 /* index of the code in the closure */
    const char *symbol;           /* the symbol that the bitcode defines */
    const char *name;             /* for messages */
    kiln__encoder key;
    kiln__runtime_entry *entry; /* on loan or being built, or NULL */
    int is_building;
    int is_rejected; /* the store's bitcode was of no use */
} kiln__build_input;

/* A symbol that the code generator asked for. */
typedef struct kiln__build_need {
    int32_t library; /* KILN__LIBRARY_... */
    const char *symbol;
} kiln__build_need;

/*
 * A build collects what the code generator needs on the caller's thread, where
 * a foreign frontend's lower() may run. The code is generated on a worker. A
 * build copies only names: code instances stay until a collection, and none
 * happens while a build is under way.
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
    kiln__codegen_function *functions; /* of the request */
    kiln_digest digest; /* of what is built, including its lines */
    kiln__codegen_import *imports;
    size_t import_count;
    size_t given_imports;      /* the first of them: inference named them */
    kiln__codegen_site *sites; /* of the closure; used by the request */
    size_t site_count;
    const struct kiln__library *libraries[KILN__LIBRARY_COUNT]; /* that it takes
                                                    functions from, or NULL */
    kiln__array_of(kiln__build_need) needs;
    struct kiln__roots *roots;         /* of resolved sites, or NULL */
    kiln_blob module;                  /* from a foreign frontend */
    kiln__array_of(kiln_blob) modules; /* of the functions that it calls */
    kiln__codegen_settings settings;
    kiln__codegen_request request;
    struct kiln__tool_process
        *begun; /* used by the request, and freed with the build */
    kiln__fork_guard begun_guard;
    uint64_t start_ns;

    const kiln_artifact *artifact;
    kiln_blob text;
    kiln_error *error;
    const char *kept; /* path of the input that a tool failed on, or NULL */
    void (*fatal)(void *env, kiln_error *error);
    void *fatal_env;
    int (*is_canceled)(void *env); /* or NULL */
    void *canceled_env;
};

/* ---- build_gather.c: typed IR for the code generator ---- */
/* Returns `prefix`, then letters, digits and single underscores of `name` up to
   its arguments, then `suffix`; NULL: out of memory. */
const char *kiln__build_symbol(kiln__arena *arena, const char *prefix,
                               const char *name, const char *suffix);
/* Returns the name that the code will have. Two functions with one typed digest
   may have two names and share code: then it is the name in their IR. */
const char *kiln__build_name(kiln__arena *arena, const kiln_code *code);
/* Makes the functions of a closure, in its order, in the arena. With
   `with_lines` they get source lines if the config asks for them, for which
   frontends are called. */
kiln_status kiln__build_gather(kiln__codegen_function **out, kiln__build *build,
                               const kiln_code *const *closure, size_t count,
                               int with_lines);

/* ---- build_called.c: the kernel language below a kernel of another frontend
 * ---- */
/* Adds the functions of the kernel language that the module calls: the kernel's
   callees, and those of the runtime library that stand for kiln_allocate() and
   kiln_free(). */
kiln_status kiln__build_gather_called(kiln__build *build, kiln_error **error);
/* ---- build_external.c: code of other frontends ---- */
/* True if anything of the closure is another frontend's. */
int kiln__build_is_mixed(const kiln__build *build);
/* True for a kernel of another frontend that calls functions with modules of
   their own. */
int kiln__build_calls_modules(const kiln__build *build);
/* Makes the request's functions of such a closure, with a module for each that
   is another frontend's. Below a kernel of another frontend the kernel itself
   is none of them, and its callees come first, in their order. */
kiln_status kiln__build_gather_mixed(kiln__build *build, kiln_error **error);
/* Gets the module of a function from its frontend; the caller releases it. */
kiln_status kiln__build_lower(kiln_blob *out, const kiln__build *build,
                              const kiln_code *code, const char *entry,
                              kiln_error **error);
/* Describes the arguments of a function, and its value behind them if
   `with_result`. */
kiln_status kiln__build_describe(kiln__codegen_arguments *out,
                                 kiln__build *build, const kiln_code *code,
                                 int with_result);

/* ---- build_supply.c: inputs from tier 2 ---- */
/* Plans the inputs of the closure, with keys and symbols. */
kiln_status kiln__build_plan_supplies(kiln__build *build, kiln_error **error);
/* Returns the input for a function, or NULL. */
const kiln__build_input *kiln__build_supply_of(const kiln__build *build,
                                               const kiln_code *code);
/* On the worker: gets each input from tier 2, and builds missing ones. A
   function that cannot be built is lowered with the kernel; a symbol that
   cannot be taken from its library is an error. */
kiln_status kiln__build_get_supplies(kiln__build *build,
                                     const kiln__generator *generator,
                                     kiln_error **error);
/* Adds symbols of libraries to the imports of a build whose request has failed
   for want of them. */
kiln_status kiln__build_add_uses(kiln__build *build,
                                 const kiln__library_use *uses, size_t count);
/* The build failed, perhaps because of inputs from stores: these are dropped.
   False: there were none. */
int kiln__build_reject_supplies(kiln__build *build);
/* The code generator has read one: `index` counts the request's functions, then
   its imports. */
void kiln__build_was_read(void *env, size_t index, uint64_t nanoseconds);
/* Releases all inputs, and gives up those that are being built. */
void kiln__build_free_supplies(kiln__build *build);

/* ---- build_math.c ---- */
/* Lists what the kernel's closure needs from the config's library of
   mathematics, each symbol once, in the build's arena. */
kiln_status kiln__build_plan_math(const kiln__library_use **out, size_t *count,
                                  kiln__build *build, kiln_error **error);

/* ---- build_need.c: libraries' functions that only the code generator finds
 * ---- */
/* The request's need(). */
void kiln__build_note_need(void *env, int32_t library, const char *symbol);
/* The request has failed with KILN_EAGAIN: finds what it needs, so that it can
   be repeated. */
kiln_status kiln__build_meet_needs(kiln__build *build, kiln_error **error);

/* ---- build_sites.c: host objects that the code refers to ---- */
/* Lists the closure's sites, each once; resolves and roots them if the config
   asks for it. KILN_ENOTFOUND, with an error that names a site that the host
   does not have. */
kiln_status kiln__build_plan_sites(kiln__build *build, kiln_error **error);

/* ---- build.c ---- */
/* Prepares the request for the code generator, and runs a foreign frontend's
   lower(). `form` is KILN_EMIT_... */
kiln_status kiln__build_new(kiln__build **out, const kiln_code *code,
                            const kiln_config *config, int32_t form,
                            kiln_error **error);
void kiln__build_free(kiln__build *build);
/* Generates code on the calling worker. On success the artifact or, for text
   forms, the bytes are in the build. `fatal` is called if LLVM cannot go on: it
   must not return, and the build is lost then. */
kiln_status kiln__build_run(kiln__build *build,
                            void (*fatal)(void *env, kiln_error *error),
                            void *env, kiln_error **error);
/* Sets, before the build runs, the function that says that nobody waits for it
   any more. */
void kiln__build_watch(kiln__build *build, int (*canceled)(void *env),
                       void *env);
const kiln_config *kiln__build_config(const kiln__build *build);
/* The digest for its binary key, kiln__job_digest(). */
kiln_digest kiln__build_digest(const kiln__build *build);
/* True when addresses of host objects become constants in its code. */
int kiln__build_is_bound(const kiln__build *build);
const kiln_artifact *kiln__build_artifact(const kiln__build *build);
kiln_status kiln__build_text(const kiln__build *build, kiln_blob *out);
/* Makes a kernel from an artifact and loads it. */
kiln_status kiln__build_load(kiln_kernel **out, const kiln_artifact *artifact,
                             const kiln_code *code, const kiln_config *config,
                             kiln_error **error);
/* The same for an artifact of another process. KILN_OK without a kernel: it was
   of no use, and was dropped where it came from. `*out` must be NULL before. */
kiln_status kiln__build_load_found(kiln_kernel **out,
                                   const kiln_artifact *artifact,
                                   const kiln_code *code,
                                   const kiln_config *config,
                                   kiln_error **error);

#endif /* KILN_BUILD_H */
