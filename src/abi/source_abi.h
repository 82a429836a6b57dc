/* source_abi.h - sources of OpenCL C, and what libkiln-clang makes of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_SOURCE_ABI_H
#define KILN_ABI_SOURCE_ABI_H

#include "base/data/arena.h"
#include "kiln/error.h"
#include "kiln/type.h"

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
    /* Those of docs/opencl.md; any other is KILN_EINVAL with its name. */
    const char *const *options;
    size_t option_count;
    /* Types of the target. The source sees cl_khr_fp64 and cl_khr_fp16
       accordingly. */
    int32_t has_f64;
    int32_t has_f16;
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
    /* With a label, __asm__("filters.blur"), that of the label. */
    const char *name;
    /* What the module calls it. Declarations of one label have different
       symbols. */
    const char *symbol;
    /* "", or why it cannot be compiled: then there is no bitcode. */
    const char *refusal;
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

/* What the compiler found under a path. If anything else is there later, the
   result may be another one. */
enum {
    KILN__SOURCE_MISSING, /* or a file that cannot be opened */
    KILN__SOURCE_FOLDER,
    KILN__SOURCE_FILE, /* only that there is one matters (__has_include) */
    KILN__SOURCE_READ  /* its content matters */
};

/* A file that the compiler looked for, in the order of the first look. */
typedef struct kiln__source_file {
    const char *path; /* absolute, as it was asked for */
    int32_t found;    /* KILN__SOURCE_... */
    /* 0, or 1 + the index of the first file in the list that is this one under
       another name: the compiler knows files and folders by device and inode,
       and reads one of two names. Both have the content's digest. */
    uint32_t same;
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
    const kiln__source_file *files; /* without the main file and the compiler's
                                       own header, which is part of it */
    size_t file_count;
    const kiln__source_note *notes; /* errors, warnings, notes */
    size_t note_count;
    /* Of the tokens after preprocessing, the options that the compiler reads,
       and the compiler's version. Comments, space and names of files do not
       count; lines count with -g, and each byte with -Werror. Equal digests
       mean equal modules. */
    kiln_digest tokens;
    int32_t names_files; /* the source asks for a file's name (__FILE__): then
                            names of files count, too */
    uint64_t make_ns;    /* time in the compiler */
    kiln__arena arena;   /* owns all of the above */
} kiln__source_result;

/* ---- the library ---- */

/* The one exported function of libkiln-clang, kiln_clang_exchange, gives this
   table. */
typedef struct kiln__clang {
    size_t size;
    uint32_t abi;         /* KILN__CLANG_ABI */
    const char *build_id; /* must be that of the worker */
    /* Fills `*out`, whose arena the caller has made and disposes of. A failure
       has a message in `*message`, in that arena. Not thread-safe. */
    kiln_status (*compile)(kiln__source_result *out,
                           const kiln__source_request *request,
                           const char **message);
} kiln__clang;

#define KILN__CLANG_ABI 6
/* It lies beside libkiln-codegen. */
#define KILN__CLANG_LIBRARY "libkiln-clang.so"
#define KILN__CLANG_EXCHANGE "kiln_clang_exchange"

typedef const kiln__clang *(*kiln__clang_exchange_fn)(void);

#endif /* KILN_ABI_SOURCE_ABI_H */
