/* source_compile.h - compiles OpenCL C to LLVM IR in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H
#define KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H

#include "base/build_id.h"
#include "base/data/arena.h"
#include "context/context.h"
#include "kiln/type.h"

/*
 * Clang is in a library of its own, libkiln-clang, which only worker processes
 * open. A build without clang's headers has no such library.
 *
 * What comes back is one module for each function that the source defines, as
 * bitcode in the neutral form of docs/llvm-ir.md, not optimised. It holds the
 * function and what it needs. Without debug information, equal modules are
 * equal bytes, and contain no path.
 *
 * Parameters of the LLVM function follow from those of the source, in order:
 *   scalar     itself, i8 to i64, half, float or double
 *   vector     <n x T>; three elements are <3 x T>
 *   aggregate  ptr byval(T)
 *   pointer    ptr addrspace(1), then an i64 that is not read: together an
 *              array of one dimension. `__constant` is in space 1, too, because
 *              a buffer is not in a GPU's constant bank
 *   local      i64: where it starts in the group's dynamic memory, in bytes
 * Functions that are not kernels keep what clang makes of them: a pointer is
 * one parameter (local: ptr addrspace(3), private and generic: ptr), and
 * aggregates are ptr byval(T), results of that kind ptr sret(T).
 *
 * Calls that a module contains, beside LLVM's intrinsics and the neutral form's
 * kiln_*: built-in functions under their mangled names, in which address spaces
 * have the neutral numbers (none for private and generic, U3AS1 for global and
 * constant, U3AS3), such as _Z3sinf and _Z6vload4mPU3AS1Kf; and functions that
 * the source declares and does not define, under their own names.
 */

/* ---- what is asked for ---- */

enum {
    KILN__SOURCE_TOKENS, /* the preprocessor alone: files and `tokens` */
    KILN__SOURCE_MODULES /* everything */
};

typedef struct kiln__source_request {
    int32_t form;     /* KILN__SOURCE_... */
    const char *name; /* path of the main file, or what to call its text. Its
                         folder is searched for #include "..." */
    const char *text;
    size_t size;
    const char *folder; /* absolute: relative paths start there */
    /* -D -U -I (in one word or two) -cl-std=CL1.2|CL2.0|CL3.0
       -cl-fast-relaxed-math -cl-mad-enable -cl-denorms-are-zero
       -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only
       -cl-single-precision-constant -cl-opt-disable -cl-kernel-arg-info -w
       -Werror -g; any other is KILN_EINVAL with its name. */
    const char *const *options;
    size_t option_count;
    /* Searched after the folders of -I. */
    const char *const *include_folders;
    size_t include_folder_count;
    /* Types of the target. The source sees cl_khr_fp64 and cl_khr_fp16
       accordingly. */
    int32_t has_f64;
    int32_t has_f16;
    /* Optional: returns whether nobody waits for the result any more. */
    int (*is_canceled)(void *env);
    void *env;
} kiln__source_request;

/* ---- what comes back ---- */

enum {
    KILN__SOURCE_VOID, /* a result only */
    KILN__SOURCE_SCALAR,
    KILN__SOURCE_VECTOR,
    KILN__SOURCE_AGGREGATE, /* struct, union or array */
    KILN__SOURCE_POINTER,
    KILN__SOURCE_LOCAL /* a pointer to group memory */
};

/* A parameter, or a result. */
typedef struct kiln__source_value {
    const char *name; /* "" where it has none */
    const char *type; /* as OpenCL C, "__global const float4 *" */
    int32_t kind;     /* KILN__SOURCE_... */
    /* KILN_TYPE_... of a scalar or of a vector's element; of a pointer, of what
       it points to. KILN_TYPE_NONE: an aggregate, or a pointer to anything
       else. */
    int32_t element;
    uint32_t lanes; /* of that vector, 1 of a scalar: 1, 2, 3, 4, 8, 16 */
    /* Of a pointer: 0 private or generic, 1 global, 3 group, 4 constant. */
    uint32_t space;
    int32_t is_read_only; /* a pointer to const, or to constant memory */
    int32_t is_restrict;
    /* In bytes, in memory; of a pointer, of what it points to, or 0 where that
       has no size. */
    uint64_t size;
    uint64_t alignment;
} kiln__source_value;

typedef struct kiln__source_function {
    const char *name;
    int32_t is_kernel;
    uint32_t required_group_size[3]; /* reqd_work_group_size, or zeros */
    uint32_t group_size_hint[3];     /* work_group_size_hint, or zeros */
    kiln__source_value result;
    const kiln__source_value *parameters;
    size_t parameter_count;
    /* Of a definition; a declaration has none. */
    const void *bitcode;
    size_t bitcode_size;
    /* What the module calls that the source only declares: indices into
       `declarations`. */
    const uint32_t *needs;
    size_t need_count;
} kiln__source_function;

/* A file that the compiler looked for, in the order of the first look. */
typedef struct kiln__source_file {
    const char *path;   /* absolute, as it was asked for */
    int32_t exists;     /* 0: a file that appears there changes the result */
    int32_t was_read;   /* 0: only its existence matters (__has_include) */
    kiln_digest digest; /* kiln_digest_bytes() of its content, if it was read */
} kiln__source_file;

typedef struct kiln__source_note {
    int32_t severity;  /* KILN_SEVERITY_... */
    const char *file;  /* as the compiler names it, or NULL */
    uint32_t line;     /* 0: unknown */
    uint32_t column;   /* in bytes */
    const char *text;  /* one line */
    const char *quote; /* the line of the source, or NULL */
} kiln__source_note;

typedef struct kiln__source_result {
    const kiln__source_function *functions; /* definitions that are not static,
                                               in the order of the source */
    size_t function_count;
    const kiln__source_function *declarations;
    size_t declaration_count;
    const kiln__source_file *files; /* without the main file, with the
                                       compiler's own headers */
    size_t file_count;
    const kiln__source_note *notes; /* errors, warnings, notes */
    size_t note_count;
    /* Of the tokens after preprocessing, the options that the compiler reads,
       and the compiler's version. Comments, space and names of files do not
       count; lines count with -g. Equal digests mean equal modules. */
    kiln_digest tokens;
    uint64_t make_ns;  /* time in the compiler */
    kiln__arena arena; /* owns all of the above */
} kiln__source_result;

/*
 * Compiles in a worker process; the calling thread waits. Fills `*out`, which
 * the caller disposes of in every case, also after a failure: files and notes
 * are there as far as the compiler came. Thread-safe.
 *
 * KILN_ECOMPILE: the source has errors. `*error` names the first, and has all
 * notes as diagnostics. KILN_EINVAL: an option. KILN_EUNSUPPORTED: this build
 * has no clang, or clang's headers are not installed. KILN_ECODEGEN,
 * KILN_ETIMEDOUT, KILN_ENOMEM, KILN_EIO: the worker crashed, was too slow, used
 * too much memory, was ended. KILN_ECANCELED.
 */
kiln_status kiln__source_compile(kiln__source_result *out,
                                 kiln_context *context,
                                 const kiln__source_request *request,
                                 kiln_error **error);
void kiln__source_result_dispose(kiln__source_result *result);

/* The build of the compiler that would be used, for keys; "" if there is none.
   Opens and starts nothing. */
void kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                           kiln_context *context);

#endif /* KILN_CODEGEN_CLIENT_SOURCE_COMPILE_H */
