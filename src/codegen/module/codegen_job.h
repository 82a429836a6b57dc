/* codegen_job.h - one job inside libkiln-codegen, stage after stage. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_JOB_H
#define KILN_CODEGEN_JOB_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "abi/codegen_abi.h"
#include "base/data/arena.h"
#include "base/toolchain/tool_paths.h"
#include "base/toolchain/tool_run.h"

/*
 * generate.c runs a job through its stages:
 *
 *   lower     typed IR -> internal functions and one *item function*
 *             (or: parse and check a foreign module that defines it)
 *   link      bitcode of runtime functions and of what is taken from libraries
 *   wrap      the backend adds the kernel: it calls the item function for the
 *             items of the grid, its arguments read from the packed block
 *   optimise  LLVM's pipeline for the level
 *   emit      object, assembly or text; the backend makes the payload
 *
 * The item function is `i32 @ENTRY.item(ptr %item, <flattened arguments>)`,
 * internal, alwaysinline unless it recurs. Flattened: a scalar as itself
 * (Bool as i8), a struct, tuple, vector or foreign value as a pointer to its
 * bytes, an array as data pointer, rank sizes and, when strided, rank strides
 * (i64 each); what has no bytes is left out. It returns 0, or 1 after raising.
 *
 * Where `runs_tiles` asks for it and it pays, there are two more functions:
 * `i1 @ENTRY.proof(ptr %item, <flattened arguments>, i64 x 6)`, which gets the
 * least global ids of a tile and the greatest and says that none of its items
 * fails a check of bounds, and @ENTRY.safe.item, the item function for such a
 * tile. Of %item the launch and the group's ids must be set.
 *
 * A proof comes in a module of its own, with all that groups need that are not
 * proved: the item function with its checks. Such groups are few and the proof
 * is short, so code for that module is made quickly, and the linker joins the
 * two. What one module defines for the other is hidden.
 *
 * There may also be `[6 x i64] @ENTRY.clip(...)`, with the same parameters. Of
 * the tile's items all those do nothing that are not in the box that it gives:
 * the least global ids, then those behind the greatest, none negative. Then
 * the item function, or the safe one beside a proof, is only for items of the
 * box, and so is the proof; the box may be empty.
 */

/* Metadata of the backend's variable for the item that runs, which holds no
   number of a foreign module's. */
#define KILN__ITEM_MARK "kiln.item"

/* Section of the slots that a load fills with addresses. */
#define KILN__SITE_TABLE ".kiln.sites"

#define KILN__PARAMETER_EMPTY 0 /* no bytes: not passed */
#define KILN__PARAMETER_SCALAR 1
#define KILN__PARAMETER_BYTES 2 /* struct, tuple, vector, foreign */
#define KILN__PARAMETER_ARRAY 3

typedef struct kiln__parameter {
    int32_t passing; /* KILN__PARAMETER_... */
    int32_t kind;    /* SCALAR: KILN_TYPE_BOOL to KILN_TYPE_F64 */
    uint64_t size;   /* in the packed block, in bytes */
    uint32_t alignment;
    uint32_t rank;
    uint32_t strided;
} kiln__parameter;

struct kiln__codegen_backend;

/* A loop over the items of a group, the backend's own. */
typedef struct kiln__codegen_items {
    LLVMValueRef number;    /* of the item in its group, as i64 */
    LLVMBasicBlockRef next; /* where an item ends */
    struct {
        LLVMBasicBlockRef body;
        LLVMBasicBlockRef exit;
        LLVMValueRef index;
        LLVMValueRef end;
    } loops[3];
    LLVMBasicBlockRef before; /* the last block when it began */
} kiln__codegen_items;

typedef struct kiln__codegen_job {
    const kiln__codegen_request *request;
    const kiln__codegen_settings *settings;
    const struct kiln__codegen_backend *backend;
    kiln__arena arena; /* for the job's whole life, over malloc */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine; /* the thread's, or */
    LLVMTargetMachineRef own_machine;
    LLVMTargetDataRef layout;
    kiln__parameter *parameters; /* set by lowering or from the request */
    size_t parameter_count;
    LLVMValueRef item_function;  /* set by lowering */
    int linked;                  /* one module is; reading is counted once */
    int can_fail;                /* set by lowering */
    LLVMValueRef clip_function;  /* set by lowering, or NULL */
    LLVMValueRef proof_function; /* the same */
    LLVMValueRef safe_function;  /* beside it */
    int safe_can_fail;
    LLVMModuleRef checked_module; /* beside a proof: see below */
    struct kiln__debug *debug;    /* of `module`; NULL: none yet */
    struct kiln__debug *checked_debug;
    /* The item function is for a whole group: it is called once for each, with
       the ids of the group's first item. Set by lowering. */
    int for_group;
    uint32_t static_local_bytes;   /* of a group */
    uint32_t private_bytes;        /* of an item */
    uint64_t frame_bytes;          /* of all functions, on the host */
    int recurs;                    /* some function may; set by lowering */
    int grows;                     /* some frame does, by what code asks for */
    uint32_t sub_group_size;       /* 0: it does not matter */
    LLVMValueRef access_group;     /* the backend's, of loops over items */
    struct kiln__reports *reports; /* of a device's code; device_codegen.h */
    uint32_t hidden_arguments;
    int uses_heap;         /* set by lowering */
    uint32_t registers;    /* of an item; 0: unknown */
    uint32_t spill_bytes;  /* the same */
    const char *format;    /* of the payload, if not the backend's */
    kiln_site_info *sites; /* that the code depends on, in the arena */
    size_t site_count;
    const char *session_reason; /* of the class SESSION, or NULL */
    kiln__codegen_tool tools[KILN__TOOL_COUNT]; /* that took part */
    size_t tool_count;
    uint64_t make_ns;    /* of bitcode: what kiln__codegen_result says */
    int too_deep;        /* what lacked was not memory, but the stack */
    kiln_status status;  /* the first failure */
    const char *message; /* in the arena */
} kiln__codegen_job;

/**
 * How a backend without barriers runs the items of a group in loops. Items are
 * numbered with dimension 0 fastest, as in a full group: where the grid ends
 * inside the group, some numbers have no item.
 */
typedef struct kiln__codegen_groups {
    uint32_t sub_group_size;
    /* Address of the group's memory, aligned to 64 bytes: static_local_bytes,
       then private_bytes for each item of a full group, their number made a
       multiple of 64. */
    LLVMValueRef (*memory)(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item);
    /* Number of items of a full group. */
    LLVMValueRef (*count)(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item);
    /* i1: the group has an item of that number. */
    LLVMValueRef (*exists)(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item, LLVMValueRef number);
    /* Sets the ids of `item`. */
    void (*set_item)(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item, LLVMValueRef number);
    /* Begins a loop over the items; the builder stands in its body. Behind the
       loop `item` is the group's first one again. Parallel: the items' memory
       accesses are independent. */
    void (*open)(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef item, kiln__codegen_items *loop);
    void (*close)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, kiln__codegen_items *loop,
                  int is_parallel);
} kiln__codegen_groups;

/**
 * What lowering asks of a backend whose items run side by side. Address spaces
 * are LLVM's: pointers to the elements of any array, and to the bytes of an
 * aggregate that is passed by value. Of memory that a group shares it is 3.
 */
typedef struct kiln__codegen_device {
    unsigned array_space;
    unsigned bytes_space;
    unsigned item_space; /* of variables of an item, of which the item is one */
    const char *scope;   /* syncscope of atomics between items of a launch */
    void (*barrier)(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item);
    /* An operation KILN__GROUP_...; `operand` is its second one, or NULL. */
    LLVMValueRef (*collective)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item, uint32_t operation,
                               int32_t kind, LLVMValueRef value,
                               LLVMValueRef operand);
    /* True when the target has the atomic operation KILN__ATOMIC_... on
       elements of the kind; else lowering compares and swaps. NULL: LLVM makes
       a loop itself of what a processor lacks. */
    int (*has_atomic)(const kiln__codegen_job *job, uint32_t operation,
                      int32_t kind);
    /* NULL: items that raised may leave, and barriers wait for the others.
       Else the item has raised and comes to a barrier, */
    void (*fail)(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef item);
    /* which is over for all when any has. */
    void (*converge)(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item);
    /* For all it is over without a failure. */
    void (*end)(kiln__codegen_job *job, LLVMBuilderRef builder,
                LLVMValueRef item);
    /* An i1: it is over. */
    LLVMValueRef (*group_failed)(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 LLVMValueRef item);
} kiln__codegen_device;

#define KILN__SHARED_SPACE 3u

/** Of an intrinsic that a target has on some types only: KILN__HAS_... */
typedef struct kiln__foreign_limit {
    const char *name; /* without "llvm." and types; NULL ends a list */
    unsigned has;     /* 0: it has none */
} kiln__foreign_limit;

#define KILN__HAS_F16 1u
#define KILN__HAS_BF16 2u
#define KILN__HAS_F32 4u
#define KILN__HAS_F64 8u
#define KILN__HAS_F80 16u
#define KILN__HAS_WIDE 32u        /* integers of more than 64 bits */
#define KILN__HAS_APPROXIMATE 64u /* for calls with the flag afn only */
/* Several of them; the last for calls with that flag, and no double. */
#define KILN__HAS_FLOATS \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_F64)
#define KILN__HAS_SINGLE_AND_DOUBLE (KILN__HAS_F32 | KILN__HAS_F64)
#define KILN__HAS_QUICK_FLOATS \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_APPROXIMATE)

/** What modules of other frontends may have on a target, beyond what all have.
 *  Of address spaces a bit for each, from 0. */
typedef struct kiln__foreign_rules {
    const char *intrinsics;    /* "nvvm.": the target's own */
    uint32_t spaces;           /* of pointers */
    uint32_t constant_spaces;  /* of constants of the module */
    const char *const *scopes; /* of atomics, to NULL; NULL: any */
    int has_long_floats;       /* x86_fp80 */
    int has_bfloats;
    int has_label_addresses;  /* blockaddress, indirectbr */
    int has_address_numbers;  /* initialisers may compute with addresses */
    int has_wide_conversions; /* floats to and from more than 64 bits */
    int has_bit_conversions;  /* floats to i1 */
    int has_exact_remainders; /* frem */
    int has_weak_updates;     /* atomicrmw of small floats has no order */
    int has_fixed_frames;     /* allocas have a size when code is made */
    const kiln__foreign_limit *limits;
    /* NULL, or why one of the target's own may not be called (or NULL), by what
       follows after `intrinsics`. */
    const char *(*refuse_own)(const kiln__codegen_job *job, LLVMValueRef call,
                              const char *name);
} kiln__foreign_rules;

#define KILN__SPACE_BIT(space) (UINT32_C(1) << (space))
/* Generic, global and constant memory, which have one number everywhere. */
#define KILN__CONSTANT_SPACES \
    (KILN__SPACE_BIT(0) | KILN__SPACE_BIT(1) | KILN__SPACE_BIT(4))

#define KILN__FAST_DIVIDE (-1) /* beside KILN__MATH_... */

/** What a backend's codegen half does; see
 * backends/host/codegen/host_codegen.c. */
typedef struct kiln__codegen_backend {
    const char *name;
    const char *format;
    const kiln__codegen_groups *groups; /* NULL: it has barriers, */
    const kiln__codegen_device *device; /* and this */
    const kiln__foreign_rules *foreign;
    /* A query as i64; `item` is the function's first parameter. */
    LLVMValueRef (*query)(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item, uint32_t query,
                          uint32_t dimension);
    /* Records an exception (cold); the caller returns the flag by itself.
       `method` and `message` are the texts. Values are i64. */
    void (*raise)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, uint32_t kind, uint32_t ordinal,
                  const char *method, const char *message, LLVMValueRef value0,
                  LLVMValueRef value1);
    /* Notes, behind an exception that was raised, that the expression of the
       method is a call on the way to it. */
    void (*frame)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, uint32_t ordinal, const char *method);
    /* Where the launch's heap begins, as a pointer to an array's elements. */
    LLVMValueRef (*heap)(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef item);
    /* Prints the parts in order; a part with text has no value. `kinds` are
       KILN_TYPE_... of the values, KILN_TYPE_NONE for text. */
    void (*print)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, size_t count, const char *const *texts,
                  const LLVMValueRef *values, const int32_t *kinds);
    /* Adds the kernel around job->item_function. */
    kiln_status (*wrap)(kiln__codegen_job *job);
    /* Makes the payload of the emitted objects, of which a second is that of
       the checked module: check, link. */
    kiln_status (*finish)(kiln__codegen_job *job, const kiln__object *objects,
                          size_t count, kiln_blob *out);
    /* Finds the offset in the payload of the table of slots for sites, the
       section KILN__SITE_TABLE of `size` bytes. NULL: it cannot have one. */
    kiln_status (*find_sites)(kiln__codegen_job *job, const kiln_blob *payload,
                              size_t size, uint64_t *offset);
    /* NULL, or stores the value of a constant that a vendor's library leaves to
       who links it; false: it is none. */
    int (*constant)(const kiln__codegen_job *job, const char *name,
                    uint64_t *value);
    /* True when a function of that name may stay undefined. */
    int (*may_import)(const char *name);
    /* NULL, or true of a name that emitted code calls by: a kernel of that
       name would be called in its place. */
    int (*is_taken)(const char *name);
    /* May be NULL: nobody looks. An i1: hardly any stack is left. */
    LLVMValueRef (*exhausted)(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item);
    /* NULL, or makes of KILN__MATH_... on f32, or of KILN__FAST_DIVIDE, where
       floats are fast, what is quicker than exact. NULL: nothing is. */
    LLVMValueRef (*fast)(kiln__codegen_job *job, LLVMBuilderRef builder,
                         int64_t operation, LLVMValueRef *arguments);
    /* NULL, or LLVM's text of the passes for level 0 and for large functions,
       for the others, and for large ones whose variables stay in memory. */
    const char *const *passes;
    /* Of a module (kiln__llvm_crowding): beyond it choosing registers takes
       too long. 0: it does not. */
    uint64_t crowding_max;
    /* NULL, or makes of the modules, behind the passes, what the target's code
       generation takes; refuses what it does not. */
    kiln_status (*adapt)(kiln__codegen_job *job);
    /* NULL, or the variable of the process that adapt() refers to. */
    const char *own_variable;
    /* NULL, or generates code in place of kiln__llvm_emit(). NULL: the job has
       failed. */
    LLVMMemoryBufferRef (*emit)(kiln__codegen_job *job, LLVMModuleRef module,
                                int as_text);
    /* NULL, or what the context of a job must know before all else. */
    void (*open)(const kiln__codegen_job *job);
    /* NULL, or LLVM cannot go on: the calling thread, which never comes back,
       lets go of what its job holds of the backend's. */
    void (*abandon)(void);
    /* NULL, or makes the backend's state of the process usable in children of
       fork(). Called once. */
    void (*guard_forks)(void);
    /* NULL, or the table of what the job's code may report, in the arena; it is
       NULL: there is nothing, or the job has failed. */
    const void *(*reports)(kiln__codegen_job *job, size_t *size);
    /* NULL, or around the making of a job's own machine. */
    kiln_status (*begin_machine)(kiln__codegen_job *job);
    void (*end_machine)(void);
    /* What LLVM's machine keeps of one job is seen in the code of the next:
       each job has its own. */
    int owns_machine;
    int runs_tiles;   /* wrap() knows what to do with a proof */
    int emits_text;   /* what finish() takes is assembly */
    int is_scheduled; /* no pass of LLVM's code generation is left out */
} kiln__codegen_backend;

/* Until it is called again, what is added goes to the job's other module. */
void kiln__job_switch(kiln__codegen_job *job);

/* Records the job's first failure, formatted, and returns `status`. */
kiln_status kiln__job_fail(kiln__codegen_job *job, kiln_status status,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tool, of this file, made something of the job; the path is copied. */
kiln_status kiln__job_used(kiln__codegen_job *job, int tool, const char *path,
                           const kiln__file_stamp *file);
/* Hands over what a tool failed on, for people. */
void kiln__job_keep(const kiln__codegen_job *job, const char *suffix,
                    const kiln__object *input);
/* A line for the host's log. */
void kiln__job_log(const kiln__codegen_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Pointers to elements of arrays, to bytes of an aggregate that is passed by
   value, and to the item. */
LLVMTypeRef kiln__job_array_pointer(const kiln__codegen_job *job);
LLVMTypeRef kiln__job_bytes_pointer(const kiln__codegen_job *job);
LLVMTypeRef kiln__job_item_pointer(const kiln__codegen_job *job);

static inline LLVMTypeRef kiln__job_i32(const kiln__codegen_job *job)
{
    return LLVMInt32TypeInContext(job->context);
}

/* Returns the LLVM type of a scalar kind in registers (Bool: i1). */
LLVMTypeRef kiln__job_scalar(const kiln__codegen_job *job, int32_t kind);

/* ---- codegen/module/codegen_debug.c: lines, where the debug level asks for
 * them ----
 *
 * Where it does not, or a function has none, subprograms and places are NULL
 * and nothing is done.
 */

/* Describes a function that is made of `source`. */
LLVMMetadataRef kiln__debug_function(kiln__codegen_job *job,
                                     LLVMValueRef function,
                                     const kiln__codegen_function *source);
/* The place of an expression, in that function. */
LLVMMetadataRef kiln__debug_place(const kiln__codegen_job *job,
                                  LLVMMetadataRef subprogram,
                                  const kiln__codegen_function *source,
                                  uint32_t ordinal);
/* Describes a function around the entry, and where `builder` builds it. */
void kiln__debug_wrapper(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef function);

typedef struct kiln__debug_local {
    const char *name;
    int32_t kind; /* a scalar, or nothing is said */
    LLVMValueRef address;
} kiln__debug_local;

void kiln__debug_variable(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMMetadataRef subprogram,
                          const kiln__codegen_function *source,
                          const kiln__debug_local *local);
/* No more functions come. */
void kiln__debug_end(kiln__codegen_job *job);

#endif /* KILN_CODEGEN_JOB_H */
