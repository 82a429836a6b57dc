/* codegen_abi.h - the border between libkiln and libkiln-codegen. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ABI_CODEGEN_ABI_H
#define KILN_ABI_CODEGEN_ABI_H

#include "base/system/file_stamp.h"
#include "kiln/config.h"
#include "kiln/host.h"
#include "kiln/kernel.h"

/*
 * One exported function, kiln_codegen_exchange, swaps two tables of functions
 * and compares build ids. Nothing else crosses the border: typed IR goes over
 * in its binary form, and artifacts come back as bytes in callbacks of the
 * caller. So neither side frees what the other one made.
 *
 * generate() runs only on Kiln's worker threads. A fatal error inside LLVM
 * calls `fatal` of the request on that thread and never returns: the callback
 * passes the failure to the waiting threads, and the thread sleeps for ever.
 */

#define KILN__CODEGEN_ABI 18

/* Forms beside KILN_EMIT_...: bitcode of functions[0] alone, which calls the
   others by their names; and bitcode of what a module defines under a name,
   with all that this needs. Both define the symbol `entry`; all other
   definitions are private. */
#define KILN__EMIT_FUNCTION 100
#define KILN__EMIT_CLOSURE 101
/* Code for a module that a result deferred. */
#define KILN__EMIT_DEFERRED 102

#define KILN__GROUP_FORM_BEST 0
#define KILN__GROUP_FORM_GENERAL 1 /* nothing is taken to be uniform */

/** A place in a source text; 0 is unknown. */
typedef struct kiln__codegen_place {
    uint32_t line;
    uint32_t column;
} kiln__codegen_place;

/** Types of arguments, in the text form of kiln_type_text(). Size and alignment
 *  are those in the packed block; they are read where the type is neither a
 *  scalar nor an array. */
typedef struct kiln__codegen_arguments {
    const char *const *types;
    const uint64_t *sizes;
    const uint64_t *alignments;
    size_t count;
} kiln__codegen_arguments;

/** A function whose code is a module of another frontend, in the neutral form.
 *  Its entry has the function's symbol; behind the arguments it takes where the
 *  value is to be stored, unless that has no bytes. The function's typed IR is
 *  EXTERNAL (ir_ops.h). */
typedef struct kiln__codegen_external {
    const void *module;
    size_t module_size;
    kiln__codegen_arguments arguments; /* with that of the value */
    const char *name;                  /* for messages */
} kiln__codegen_external;

/** One function of the closure: typed IR in binary form, and its callees. */
typedef struct kiln__codegen_function {
    const void *ir;
    size_t ir_size;
    const char *symbol;      /* unique in the request, [A-Za-z0-9_] */
    const uint32_t *callees; /* indices into the request's functions, in the
                                order of the IR's callee table */
    size_t callee_count;
    /* For a runtime function that may be linked: its name in bitcode, and the
       bitcode; without bitcode it is lowered with the others. */
    const char *runtime;
    const void *bitcode;
    size_t bitcode_size;
    /* The name by which a foreign module calls it, or NULL. */
    const char *called;
    const kiln__codegen_external *external; /* or NULL */
    /* Source places, if debug_level asks for lines and they are known: of the
       definition, then of expressions 1, 2 and so on. */
    const char *file; /* or NULL */
    const kiln__codegen_place *places;
    size_t place_count;
} kiln__codegen_function;

/** A foreign module calls the request's functions by this and a number. */
#define KILN__CALL_PREFIX "kiln_call."

/** Functions of the runtime library that stand for kiln_allocate() and
 *  kiln_free(), as foreign modules call them. */
#define KILN__CALLED_ALLOCATE "kiln_heap_allocate"
#define KILN__CALLED_FREE "kiln_heap_free"

/** A symbol that a foreign module takes from a library. */
typedef struct kiln__codegen_import {
    const char *name;   /* as the module declares it */
    const char *symbol; /* as the bitcode defines it */
    const void *bitcode;
    size_t bitcode_size;
    int64_t
        is_needed; /* 1: the code generator asked for it; 0: inference did */
} kiln__codegen_import;

/** Libraries that a foreign module may turn out to need. */
#define KILN__LIBRARY_MATH \
    0 /* of the target's mathematics, by the names of \
         the setting math_names */
#define KILN__LIBRARY_BUILTINS \
    1 /* of OpenCL's built-in functions, by the \
         mangled names that modules use */
#define KILN__LIBRARY_COUNT 2

/** A host object or function that a foreign module may refer to, declared as
 *  KILN__SITE_PREFIX and its name. */
#define KILN__SITE_PREFIX "kiln_site_"

typedef struct kiln__codegen_site {
    const char *name;
    int32_t kind;     /* KILN_SITE_... */
    uint64_t address; /* where sites are resolved; else 0 */
} kiln__codegen_site;

/** A tool of another project that took part in making the result. */
typedef struct kiln__codegen_tool {
    const char *name; /* as in tool_paths.h */
    const char *path;
    kiln__file_stamp file; /* the file's stamp when it was opened or started */
} kiln__codegen_tool;

/**
 * X(type, member, most): the numbers among the settings. This map also sends
 * them to worker processes, so a new one needs no other line there. `most` is
 * the largest value that a worker accepts.
 */
#define KILN__CODEGEN_NUMBER_MAP(X) \
    X(uint8_t, opt_level, 3) \
    X(uint8_t, debug_level, KILN_DEBUG_FULL) \
    X(uint8_t, bounds_checks, 1) \
    X(uint8_t, fast_math, 1) \
    X(uint8_t, contract, 1) \
    X(uint8_t, entry_abi, UINT8_MAX)            /* KILN_ABI_... */ \
    X(uint8_t, sites, UINT8_MAX)                /* KILN_SITES_... */ \
    X(uint8_t, math_names, UINT8_MAX)           /* KILN__NAMES_... */ \
    X(uint32_t, maximum_group_size, UINT32_MAX) /* 0: any */ \
    X(uint32_t, minimum_groups, UINT32_MAX)     /* 0: any */ \
    X(uint32_t, maximum_registers, UINT32_MAX)  /* 0: any */ \
    X(uint32_t, unroll, UINT32_MAX)             /* 0: LLVM decides */

#define KILN__CODEGEN_NUMBER(type, member, most) type member;

/** Every setting that code generation reads, resolved. */
typedef struct kiln__codegen_settings {
    const char *backend; /* "host" */
    const char *triple;
    const char *processor;
    const char *features;
    const char *options; /* the backend's own options */
    uint32_t required_group_size[3];
    KILN__CODEGEN_NUMBER_MAP(KILN__CODEGEN_NUMBER)
} kiln__codegen_settings;

#undef KILN__CODEGEN_NUMBER

/** A check that the code of a kernel proves for a group before it runs it. */
typedef struct kiln__codegen_check {
    const char *method; /* "" and 0: that ids and sizes are below 2^40 */
    uint64_t ordinal;   /* of the expression in the method */
    int is_apart;       /* that what is written there overlaps no other array */
} kiln__codegen_check;

/** What was made from one kernel; borrowed during finish(). */
typedef struct kiln__codegen_result {
    const void *bytes; /* payload, or text for the text forms */
    size_t size;
    const char *format;          /* "elf" */
    int32_t relocation;          /* KILN_RELOCATION_... */
    const char *session_reason;  /* for SESSION: the reason, for people; else
                                    NULL */
    const kiln_site_info *sites; /* sites that the code depends on */
    size_t site_count;
    const void *reports; /* device_abi.h */
    size_t report_size;
    const void *facts; /* facts_abi.h; NULL: there is one entry */
    size_t fact_size;
    /* The module of the body for groups for which the code cannot prove these
       checks: bitcode for a request DEFERRED. NULL: nothing is deferred. */
    const void *deferred;
    size_t deferred_size;
    const kiln__codegen_check *checks;
    size_t check_count;
    const kiln__codegen_tool *tools;
    size_t tool_count;
    int32_t can_fail;
    uint32_t hidden_arguments;
    uint32_t static_local_bytes;
    uint32_t private_bytes;
    uint32_t registers;
    uint32_t spill_bytes;
    uint32_t sub_group_size;
    int32_t allocates;
    uint32_t stack_bytes;  /* stack of a thread that the kernel needs, on the
                              host */
    int32_t dynamic_local; /* it uses dynamic group memory */
    int32_t any_block;     /* KILN_ANY_BLOCK_... */
    uint32_t inner_dimension;
    uint64_t make_ns; /* FUNCTION: time of lowering; CLOSURE: time of
                         everything */
} kiln__codegen_result;

typedef struct kiln__codegen_request {
    const kiln__codegen_settings *settings;
    const char *entry; /* symbol of the kernel, [A-Za-z0-9_] */
    int32_t form;      /* KILN_EMIT_LLVM ... KILN_EMIT_BINARY */

    /* Typed IR of Kiln's own; functions[0] is the kernel. */
    const kiln__codegen_function *functions;
    size_t function_count;
    /* Or a foreign frontend's module (bitcode or text), when it is not NULL.
       Then the kernel's argument types are given, in the text form of
       kiln_type_text. */
    const void *module;
    size_t module_size;
    const char *const *argument_types;
    /* Size and alignment of each argument in the packed block. They are read
       where the type is neither a scalar nor an array. */
    const uint64_t *argument_sizes;
    const uint64_t *argument_alignments;
    size_t argument_count;
    const kiln__codegen_import *imports;
    size_t import_count;
    const kiln__codegen_site *sites;
    size_t site_count;
    /* CLOSURE: `module` is the library, called `library`, and `wanted` is the
       symbol to take from it. DEFERRED: `module` is what the result of the
       kernel's request deferred. */
    const char *library;
    const char *wanted;

    void *env;
    /** Takes the result; called at most once, before generate() returns. */
    kiln_status (*finish)(void *env, const kiln__codegen_result *result);
    /** Optional. Takes an input that made a tool fail, for people to look at;
        called before the failure, at most once. `suffix` says what it is,
        ".ptx". */
    void (*keep)(void *env, const char *suffix, const void *bytes, size_t size);
    /** Optional. Takes a symbol that a foreign module needs of a library,
        KILN__LIBRARY_..., and that is not among the imports. Then fail() gets
        KILN_EAGAIN: with those imports the request can be repeated. */
    void (*need)(void *env, int32_t library, const char *symbol);
    /** Takes a failure, message without newline. Called at most once. */
    void (*fail)(void *env, kiln_status status, const char *message);
    /** LLVM cannot go on. As fail(), but afterwards this thread never
        returns. */
    void (*fatal)(void *env, const char *message);
    /** Takes how long a stage took. */
    void (*stage)(void *env, int32_t stage, uint64_t nanoseconds);
    /** Optional. Takes how long reading and linking of bitcode took. `index`
        counts the functions, then the imports. */
    void (*was_read)(void *env, size_t index, uint64_t nanoseconds);
    /** Optional. Takes a line for the host's log. */
    void (*log)(void *env, int32_t level, const char *line);
    /** Optional. A tool that was started early and waits for its input. Its
        maker frees it. It is not sent to a worker process. */
    struct kiln__tool_process *begun;
    /** How barriers of a foreign module are compiled for a processor:
        KILN__GROUP_FORM_... Tests compare the forms; nobody else sets it, and
       it is not sent to a worker process. */
    int32_t group_form;
    /** Optional. Returns whether nobody waits for the result any more. libkiln
        itself calls it, when code is generated in another process. */
    int (*is_canceled)(void *env);
} kiln__codegen_request;

/** What libkiln offers to libkiln-codegen. */
struct kiln_codegen_host {
    size_t size;
    uint32_t abi;         /* KILN__CODEGEN_ABI */
    const char *build_id; /* must be equal on both sides */
};

/** What libkiln-codegen offers to libkiln. */
struct kiln_codegen {
    size_t size;
    uint32_t abi;
    const char *build_id;
    const char *llvm_version; /* "22.1.8", of the library found at run time */
    /** True when it can generate code for the backend. */
    int32_t (*supports)(const char *backend);
    /** Runs one request. Exactly one of finish(), fail() and fatal() is
        called. KILN_OK after finish() returned KILN_OK. */
    kiln_status (*generate)(const kiln__codegen_request *request);
    /** An address inside the code generator, and one inside LLVM. The build ids
        of the objects that hold them are read from there. */
    const void *code;
    const void *llvm_code;
};

typedef struct kiln_codegen_host kiln__codegen_host;
typedef struct kiln_codegen kiln__codegen;

#endif /* KILN_ABI_CODEGEN_ABI_H */
