/* cl_program.h - OpenCL C's programs, and what is known about their texts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_OPENCL_CL_PROGRAM_H
#define KILN_FRONTEND_OPENCL_CL_PROGRAM_H

#include <stdatomic.h>

#include "base/data/array.h"
#include "base/data/decoder.h"
#include "base/data/map.h"
#include "base/digest/digest.h"
#include "base/system/thread.h"
#include "codegen_client/source_compile.h"
#include "context/context.h"
#include "kiln/opencl.h"
#include "tiers/delta.h"

/*
 * A program has versions: each definition makes one, visible from a world on
 * until the next one. What the translator makes of a version's text is a unit.
 *
 * Whether a unit is known is found out in two steps, neither of which opens
 * clang. The trail (cl_trail.c) leads from the bytes of the text and of the
 * files that it includes to the digest of their tokens. The unit is stored
 * under that digest (cl_unit.c). If the trail is broken, because a file was
 * edited, the preprocessor alone finds the tokens; if they are those of a known
 * unit, nothing else is done.
 *
 * `lock` guards everything that changes. It is not held while files, stores or
 * the translator are used: the thread that does this for a version is marked in
 * it, and others wait.
 */

/* The most bytes of a text, or of a file that it includes. */
#define KILN__CL_FILE_MAX ((size_t)64 << 20)

typedef struct kiln__cl kiln__cl;
typedef struct kiln__cl_unit kiln__cl_unit;
typedef struct kiln__cl_version kiln__cl_version;

/* ---- cl_options.c ---- */

/* A text as it was defined. Everything lives in the version's arena. */
typedef struct kiln__cl_text {
    const char *file;
    const char *text;
    size_t size;
    const char *folder;       /* the current folder of the definition */
    const char *const *words; /* options */
    size_t word_count;
    /* Absolute paths with a slash at the end: the file's own folder, then those
       of -I, in order. In stored entries paths begin with their numbers. */
    const char *const *roots;
    size_t root_count;
    int has_debug;       /* -g: paths and lines matter */
    kiln_digest options; /* of the words, without the folders of -I */
    kiln_digest digest;  /* of all that was defined */
} kiln__cl_text;

/* Fills `out`, whose file, text and folder are set. KILN_EINVAL: a quote is not
   closed. */
kiln_status kiln__cl_text_read(kiln__cl_text *out, kiln__arena *arena,
                               const char *options, kiln_error **error);

/* ---- cl_program.c ---- */

struct kiln__cl_version {
    kiln_opencl_program *program;
    uint64_t min_world;
    int is_unloaded; /* it has no text */
    kiln__arena arena;
    kiln__cl_text text;
    kiln__cl_version *next; /* the one before it */
    /* Under the frontend's lock: */
    int is_busy; /* `owner` finds out what follows */
    kiln__thread owner;
    kiln_digest tokens;        /* zero: not known */
    const kiln__cl_unit *unit; /* or NULL */
    kiln_status failure;       /* KILN_OK: none so far */
    kiln_error *error;         /* of that failure */
};

struct kiln_opencl_program {
    kiln__cl *cl;
    char *name;
    uint64_t subject;           /* of queries about it */
    kiln__cl_version *versions; /* newest first */
    kiln_opencl_program *next;
};

/* The frontend. */
struct kiln__cl {
    kiln_context *context;
    const kiln_alloc *alloc;
    kiln_frontend *frontend;
    _Atomic uint64_t world;
    _Atomic uint64_t reclaimed; /* worlds before it are gone */
    kiln__mutex lock;
    kiln__condition changed; /* something stopped being busy */
    kiln__fork_guard guard;
    kiln_opencl_program *programs;
    kiln__map known;  /* entries for packs, by the digest of their key */
    int has_compiler; /* its build is known; "": there is none */
    char compiler[KILN__BUILD_ID_TEXT_SIZE];
    int is_defining; /* by the thread `definer` */
    kiln__thread definer;
};

/* Stores the frontend of the context. KILN_ENOTFOUND: it was not added. */
kiln_status kiln__cl_of(kiln__cl **out, const kiln_context *context);
/* Finds the program of a function's or query's name, "gemm.kernel1", and where
   the kernel's name begins. NULL: there is none. */
kiln_opencl_program *kiln__cl_program_of(const char **kernel, kiln__cl *cl,
                                         const char *name);
/* Returns the subject of queries about the program of a function's name,
   whether or not there is one. */
uint64_t kiln__cl_subject_of(const char *name);
/* Finds the program of that name, or NULL. */
kiln_opencl_program *kiln__cl_program_named(kiln__cl *cl, const char *name);
/* Returns the version that the world sees, or NULL: it has no text there. */
kiln__cl_version *kiln__cl_version_at(kiln_opencl_program *program,
                                      uint64_t world);
void kiln__cl_version_free(kiln__cl_version *version);
/* Ends the frontend. */
void kiln__cl_free(void *self);
/* Frees versions that no world from `oldest` on sees. */
void kiln__cl_collect(kiln__cl *cl, uint64_t oldest);

/* ---- cl_frontend.c ---- */
extern const kiln_frontend_ops kiln__cl_ops;
/* Stores whether a program of OpenCL C defines the function, "gemm.scaled",
   and lets the inference depend on that. */
kiln_status kiln__cl_ask_defined(int *out, kiln_inference *inference,
                                 kiln__cl *cl, const char *name, uint64_t world,
                                 kiln_error **error);

/* ---- cl_entry.c: the parts of a translation in stores ---- */

/* The caller disposes of the encoder, which the key points into. */
kiln_status kiln__cl_key(kiln_key *out, kiln__encoder *encoder,
                         const kiln__cl *cl, const char *part, kiln_digest of);
/* Begins the meta of an entry that is made now. */
void kiln__cl_meta_begin(kiln__encoder *out, kiln__cl *cl);
/* Reads that beginning. False: the entry is of another version, or of another
   compiler than the one that is here. */
int kiln__cl_meta_read(kiln__reader *reader, kiln__cl *cl);
/* Stores and remembers an entry; kind and key are filled in here. */
void kiln__cl_put(kiln__cl *cl, const char *part, kiln_digest of,
                  kiln__entry *entry);
/* KILN_ENOTFOUND: there is no entry that `read` accepts. KILN_ENOMEM. */
kiln_status kiln__cl_get(kiln__cl *cl, const char *part, kiln_digest of,
                         kiln_status (*read)(const kiln__entry *entry,
                                             void *env),
                         void *env);

/* ---- cl_trail.c ---- */

/* Follows the trail of what is known. KILN_ENOTFOUND: it is broken. */
kiln_status kiln__cl_trail_follow(kiln_digest *tokens,
                                  const kiln__cl_version *version);
/* True if a text of this file was translated before: this one is likely to
   differ in little. */
int kiln__cl_trail_was_seen(const kiln__cl_version *version);
/* Stores the trail of what was translated. */
void kiln__cl_trail_keep(const kiln__cl_version *version,
                         const kiln__source_result *result);

/* ---- cl_unit.c ---- */

/* What a text was translated to. */
struct kiln__cl_unit {
    kiln__arena arena;                      /* owns everything */
    const kiln__source_function *functions; /* that the text defines */
    kiln_digest *digests;                   /* one for each function */
    size_t count;
    const kiln__source_function *declared; /* that it only declares: what the
                                              functions' `needs` count */
    size_t declared_count;
};

kiln_status kiln__cl_unit_make(kiln__cl_unit **out, const kiln_alloc *alloc,
                               const kiln__source_result *result);
void kiln__cl_unit_free(const kiln__cl_unit *unit);
/* KILN_ENOTFOUND: no store has it. */
kiln_status kiln__cl_unit_find(kiln__cl_unit **out, kiln__cl *cl,
                               kiln_digest tokens);
void kiln__cl_unit_keep(kiln__cl *cl, const kiln__cl_unit *unit,
                        kiln_digest tokens, uint64_t make_ns);
/* Returns the number of the function, or `count`. */
size_t kiln__cl_unit_function(const kiln__cl_unit *unit, const char *name);

/* ---- cl_known.c: for packs ---- */

/* Remembers an entry, which is copied. Without memory it is left out. */
void kiln__cl_known_add(kiln__cl *cl, const kiln__entry *entry);
void kiln__cl_known_free(kiln__cl *cl);
/* Gives what was added since then. */
kiln_status kiln__cl_delta(void *self, uint64_t since,
                           const kiln__delta_taker *taker);

/* ---- cl_translate.c ---- */

/* Finds the tokens' digest without the translator. KILN_ENOTFOUND. */
kiln_status kiln__cl_known_tokens(kiln_digest *out, kiln__cl_version *version);
/* Finds or makes the unit of the version. It lives as long as the version. */
kiln_status kiln__cl_unit_of(const kiln__cl_unit **out,
                             kiln__cl_version *version, kiln_error **error);

/* ---- cl_call.c ---- */

/* True when it is known that the function calls functions of other programs,
   which the tokens of its own do not tell. It is known before anything is
   stored about the function. */
int kiln__cl_calls_others(kiln__cl_version *version, const char *function);

/* Infers the functions of the kernel language that a function of the text
   calls, and writes which they are, as codegen/foreign/foreign_call.c reads
   it. */
kiln_status kiln__cl_call(kiln__text *out, kiln_inference *inference,
                          const kiln__cl_unit *unit,
                          const kiln__source_function *caller,
                          kiln_error **error);

/* ---- cl_function.c ---- */

/* Stores the type of a scalar, a vector or nothing; NULL for anything else. */
kiln_status kiln__cl_value_type(const kiln_type **out, kiln_context *context,
                                const kiln__source_value *value,
                                kiln_error **error);
/* Stores the type of the function's result. KILN_ECOMPILE: other code cannot
   take it. */
kiln_status kiln__cl_result(const kiln_type **out, kiln_context *context,
                            const kiln__source_function *function,
                            kiln_error **error);
/* Stores the types of scalar parameters, and NULL for others. */
void kiln__cl_parameters(const kiln_type **types, size_t *count,
                         kiln_context *context,
                         const kiln__source_function *function);

/* ---- cl_place.c ---- */

/* Fills in where the text defines the function, with the line's text in the
   arena. If that is not found, the place is the file. */
void kiln__cl_place(kiln_diagnostic *out, const kiln__cl_text *text,
                    const char *name, kiln__arena *arena);

/* KILN_ECOMPILE, with the reason, if the function cannot be compiled. */
kiln_status kiln__cl_check_refusal(const kiln__cl_text *text,
                                   const kiln__source_function *function,
                                   const kiln_alloc *alloc, kiln_error **error);

/* ---- cl_match.c ---- */

/* How typed IR begins: codegen/foreign/foreign_wrap.c. */
#define KILN__CL_KERNEL "kiln entry 1"
#define KILN__CL_FUNCTION "kiln function 1"

/* Writes how the entry of a kernel passes arguments of these types on, as
   codegen/foreign/foreign_wrap.c reads it. KILN_ECOMPILE: they do not fit, with
   a diagnostic for each. */
kiln_status kiln__cl_match(kiln__text *out, const kiln_signature *signature,
                           const kiln__source_function *kernel,
                           const kiln__cl_text *text, kiln_error **error);

#endif /* KILN_FRONTEND_OPENCL_CL_PROGRAM_H */
