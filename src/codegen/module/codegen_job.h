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
 * The item function is `i32 @ENTRY.item(ptr %item, <flattened arguments>)`. It
 * is internal, and alwaysinline unless it recurses. Flattened means: a scalar
 * is passed as itself (Bool as i8); a struct, tuple, vector or foreign value as
 * a pointer to its bytes; an array as data pointer, rank sizes and, when
 * strided, rank strides (i64 each). What has no bytes is left out. The function
 * returns 0, or 1 after it raised an exception.
 *
 * Where the backend has `runs_tiles` and a proof of bounds pays off, there are
 * two more functions. `i32 @ENTRY.proof(ptr %item, <flattened arguments>,
 * i64 x 6)` takes the least and the greatest global ids of a tile, and returns
 * 0 if none of the tile's items fails a check of bounds; else the number of one
 * that it cannot prove, which is one more than its place among job->checks.
 * @ENTRY.safe.item is the item function for such a tile. Both need only the
 * launch and the group's ids set in %item.
 *
 * What the groups need for which the proof fails, the item function with its
 * checks, is in a module of its own, the "checked module". Most kernels never
 * need it. So where job->defers is set, the result has its bitcode, and a
 * request of the form DEFERRED makes code of it when a launch asks for it.
 * Otherwise its code is generated at once, quickly rather than well, and the
 * linker joins both modules. What one module defines for the other is hidden.
 *
 * There may also be `[6 x i64] @ENTRY.clip(...)`, with the same parameters. It
 * returns a box: the least global ids, then one more than the greatest ones,
 * none negative. Items of the tile outside the box do nothing. Then the item
 * function, the safe one and the proof are called for items of the box only.
 * The box may be empty.
 */

/* Metadata that marks the backend's variable for the running item. No foreign
   module has metadata of this number. */
#define KILN__ITEM_MARK "kiln.item"

/* Attributes of calls: the mathematical function may be Kiln's own; it must be
   the library's. */
#define KILN__MATH_MARK "kiln-math"
#define KILN__STRICT_MARK "kiln-strict"

/* Section of the slots that a load fills with addresses. */
#define KILN__SITE_TABLE ".kiln.sites"

#define KILN__PARAMETER_EMPTY 0 /* no bytes: not passed */
#define KILN__PARAMETER_SCALAR 1
#define KILN__PARAMETER_BYTES 2 /* struct, tuple, vector, foreign */
#define KILN__PARAMETER_ARRAY 3

typedef struct kiln__parameter {
    int32_t passing; /* KILN__PARAMETER_... */
    int32_t kind;    /* SCALAR: KILN_TYPE_... */
    uint64_t size;   /* in the packed block, in bytes */
    uint32_t alignment;
    uint32_t rank;
    uint32_t strided;
    /* Of an array in code that Kiln lowers: */
    uint64_t element_size;
    uint32_t element_alignment;
    unsigned entry_at; /* number of the entry's parameter; set by wrapping */
} kiln__parameter;

/* An external function of the request, once its module was adapted. It is
   `i32 @SYMBOL(ptr %item, <flattened arguments>, ptr %result)`. */
typedef struct kiln__external {
    LLVMModuleRef module; /* NULL: the function of this number is none */
    LLVMTypeRef type;
    int can_fail;
} kiln__external;

struct kiln__codegen_backend;

/* What a parameter of the function stands for that facts are made of. */
typedef struct kiln__fact_input {
    int is_shape;
    uint32_t at; /* number in the shape, or offset in the packed arguments */
} kiln__fact_input;

/* Ids, and sizes of grids, groups and arrays, are at most this where a launch
   is known to be small. So a sum of two of them fits into 32 bits. */
#define KILN__SMALL_MOST ((UINT64_C(1) << 30) - 1)
/* An array has at most so many elements then, from the first to the last. */
#define KILN__SMALL_EXTENT INT32_MAX

/* A loop over the items of a group, as the backend builds it. */
typedef struct kiln__codegen_items {
    LLVMValueRef number;    /* of the item in its group, as i64 */
    LLVMBasicBlockRef next; /* where an item ends */
    struct {
        LLVMBasicBlockRef body;
        LLVMBasicBlockRef exit;
        LLVMValueRef index;
        LLVMValueRef end;
    } loops[3];
    LLVMBasicBlockRef before; /* the last block before the loop */
} kiln__codegen_items;

typedef struct kiln__codegen_job {
    const kiln__codegen_request *request;
    const kiln__codegen_settings *settings;
    const struct kiln__codegen_backend *backend;
    kiln__arena arena; /* lives as long as the job; allocates by malloc */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine; /* the thread's, or own_machine */
    LLVMTargetMachineRef own_machine;
    LLVMTargetDataRef layout;
    kiln__parameter *parameters; /* set by lowering or from the request */
    size_t parameter_count;
    kiln__external *externals; /* by number of a function, or NULL */
    int is_external; /* the module of one is being adapted: see there */
    LLVMValueRef item_function; /* set by lowering */
    int linked;     /* one of two modules is: reading bitcode is counted once */
    int can_fail;   /* set by lowering */
    int items_end;  /* exceptions end items where they are raised; set, too */
    int is_wrapped; /* the entry is Kiln's own, around a foreign module's */
    int is_small;   /* a foreign module that is one function when all is inlined
                     */
    LLVMValueRef clip_function;  /* set by lowering, or NULL */
    LLVMValueRef proof_function; /* the same; the proof of bounds */
    LLVMValueRef safe_function;  /* set beside proof_function */
    int safe_can_fail;
    kiln__codegen_check *checks; /* what the proof proves, in the arena */
    uint32_t check_count;
    int defers; /* the code of checked_module is made when it is needed */
    kiln_blob deferred; /* then its bitcode */
    int has_unchecked;  /* some access is neither checked nor proved */
    /* What the code of the second entry assumes of a launch: abi/facts_abi.h.
       NULL: there is one entry. */
    uint8_t *facts;
    size_t fact_size;
    int is_known;             /* that code is being made, and is in `module` */
    LLVMValueRef known_entry; /* set by wrapping where is_known is */
    LLVMModuleRef checked_module; /* set beside proof_function: see above */
    struct kiln__debug *debug;    /* line tables of `module`; NULL: none yet */
    struct kiln__debug *checked_debug;
    /* The item function is for a whole group: it is called once for each group,
       with the ids of the group's first item. Set by lowering. */
    int for_group;
    /* 1: the module of another frontend had loops before those over items were
       made */
    int has_loops;
    uint32_t static_local_bytes; /* of a group */
    uint32_t private_bytes;      /* of an item */
    uint32_t inner_dimension;    /* of the loops over items in a group */
    uint64_t frame_bytes;        /* sum over all functions, on the host */
    int recurs;      /* some function may recurse; set by lowering */
    int grows;       /* the size of some frame is known at run time only */
    int has_vecmath; /* calls of mathematics are marked; -1: none may be */
    uint32_t sub_group_size;   /* 0: it does not matter */
    LLVMValueRef access_group; /* the backend's, for loops over items */
    /* of code for a device; see device_codegen.h */
    struct kiln__reports *reports;
    uint32_t hidden_arguments;
    int uses_heap;        /* set by lowering */
    int dynamic_local;    /* it uses dynamic group memory; set by lowering */
    int any_block;        /* the grid may cut its groups; set by lowering */
    int asks_no_grid;     /* no code asks for the grid's sizes; set, too */
    int asks_no_group;    /* no code asks for anything of a group; set, too */
    uint32_t registers;   /* of an item; 0: unknown */
    uint32_t spill_bytes; /* of an item */
    const char *format;   /* of the payload, if it is not the backend's */
    /* the sites that the code depends on, in the arena */
    kiln_site_info *sites;
    size_t site_count;
    const char *session_reason; /* why the class is SESSION, or NULL */
    kiln__codegen_tool tools[KILN__TOOL_COUNT]; /* that took part in the job */
    size_t tool_count;
    uint64_t make_ns;    /* of bitcode: see kiln__codegen_result */
    int too_deep;        /* the stack ran out, not memory */
    kiln_status status;  /* the first failure */
    const char *message; /* in the arena */
} kiln__codegen_job;

/**
 * How a backend without barriers runs the items of a group in loops. Items are
 * numbered with dimension 0 fastest, as in a full group. Where the grid ends
 * inside the group, some numbers have no item.
 */
typedef struct kiln__codegen_groups {
    uint32_t sub_group_size;
    /* Returns the address of the group's memory, aligned to 64 bytes. It has
       static_local_bytes, then private_bytes for each item of a full group,
       whose count is rounded up to a multiple of 64. */
    LLVMValueRef (*memory)(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item);
    /* Returns the number of items of a full group. */
    LLVMValueRef (*count)(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item);
    /* Returns an i1: the group has an item of that number. */
    LLVMValueRef (*exists)(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item, LLVMValueRef number);
    /* Sets the ids of `item` to those of the item of that number. */
    void (*set_item)(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item, LLVMValueRef number);
    /* Begins a loop over the items and leaves the builder in its body. After
       the loop, `item` is the group's first one again. In a parallel loop the
       memory accesses of the items are independent. */
    void (*open)(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef item, kiln__codegen_items *loop);
    void (*close)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, kiln__codegen_items *loop,
                  int is_parallel);
} kiln__codegen_groups;

/** An operation of a sub-group, KILN__GROUP_... */
typedef struct kiln__codegen_collective {
    uint32_t operation;
    int32_t kind; /* of the value, or of its lanes */
    LLVMValueRef value;
    LLVMValueRef operand; /* the second one, or NULL */
} kiln__codegen_collective;

/** An exception that generated code raises. */
typedef struct kiln__codegen_exception {
    uint32_t kind;          /* KILN_EXCEPTION_... */
    uint32_t ordinal;       /* of the expression in the method; 0: none */
    const char *method;     /* its name, or NULL */
    const char *message;    /* or NULL */
    LLVMValueRef values[2]; /* i64 */
} kiln__codegen_exception;

/** Parts that are printed in order; a part with text has no value. */
typedef struct kiln__codegen_print {
    size_t count;
    const char *const *texts;
    const LLVMValueRef *values;
    const int32_t *kinds; /* KILN_TYPE_... of a value, KILN_TYPE_NONE of text */
    const uint32_t *parts; /* KILN__PRINT_...; NULL: as the kinds say */
} kiln__codegen_print;

/**
 * What lowering asks of a backend whose items run side by side. Address spaces
 * are LLVM's numbers. Pointers to the elements of any array have one, and so
 * have pointers to the bytes of an aggregate that is passed by value. Memory
 * that a group shares has KILN__SHARED_SPACE.
 */
typedef struct kiln__codegen_device {
    unsigned array_space;
    unsigned bytes_space;
    unsigned item_space; /* of an item's variables; the item is one itself */
    int has_32_bits;     /* operations on 64 are several instructions */
    int has_facts;       /* its driver chooses between two entries */
    int walks;           /* a pointer that moves on is its cheapest address */
    int has_read_only_loads; /* of arrays that nobody writes */
    int aligns_vectors; /* an access to a vector needs the vector's alignment */
    const char *scope;  /* syncscope of atomics between items of a launch */
    void (*barrier)(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item);
    /* Builds a barrier for the items of a sub-group. */
    void (*sub_group_barrier)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* Returns an i64 with a bit for each lane whose `condition`, an i1, is
       true. NULL: it is made of exchanges between lanes. */
    LLVMValueRef (*ballot)(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef condition);
    /* Returns how many lanes of the item's sub-group exist, as i64. */
    LLVMValueRef (*members)(kiln__codegen_job *job, LLVMBuilderRef builder);
    /* Returns how many items a group has at most. */
    uint32_t (*group_most)(const kiln__codegen_job *job);
    LLVMValueRef (*collective)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item,
                               const kiln__codegen_collective *collective);
    /* True when the target has the atomic operation KILN__ATOMIC_... on
       elements of the kind; otherwise lowering builds a loop of compare and
       swap. NULL: LLVM itself builds such a loop where the processor lacks an
       operation. */
    int (*has_atomic)(const kiln__codegen_job *job, uint32_t operation,
                      int32_t kind);
    /* True when the target has an instruction that rounds an f32 to a bf16 as
       IEEE 754 says, subnormal numbers included. NULL: no target has. */
    int (*rounds_bf16)(const kiln__codegen_job *job);
    /* Builds what an item that raised does on its way to the next barrier: it
       records the failure for the group. NULL: items that raised may leave, and
       barriers wait only for the others; then the three functions below are
       unused. */
    void (*fail)(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef item);
    /* Builds a barrier after which the group is over if any item has failed. */
    void (*converge)(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item);
    /* Builds the end of the group's work where no item has failed: a return. */
    void (*end)(kiln__codegen_job *job, LLVMBuilderRef builder,
                LLVMValueRef item);
    /* Returns an i1: the group is over. */
    LLVMValueRef (*group_failed)(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 LLVMValueRef item);
} kiln__codegen_device;

/**
 * Instructions of a device that are right to a unit or two in the last place,
 * for f32 unless said, as names of LLVM's intrinsics. Kiln's own mathematics is
 * made of them (codegen/devmath). What is said of subnormal numbers is where
 * they may be taken for 0.
 */
typedef struct kiln__codegen_approximate {
    const char *power;      /* 2^x; subnormal x and results */
    const char *full_power; /* the same, none */
    const char *reciprocal; /* subnormal x and results */
    const char *rsqrt;      /* 1 / sqrt(x); subnormal x, unless full_rsqrt */
    int full_rsqrt;
    const char *clamped_fma; /* within 0 and 1, and 0 for NaN; or NULL */
    const char *median;      /* of three; NULL where clamped_fma is set */
    const char *log;         /* NULL: a polynomial is better */
    const char *log2;
    const char *log10;
    /* Of f64, to 2^-20; all subnormal numbers may be 0. */
    const char *reciprocal_f64;
    const char *rsqrt_f64;
    int has_ldexp; /* an instruction scales f64 by powers of two */
} kiln__codegen_approximate;

#define KILN__SHARED_SPACE 3u
/* Bytes that an item moves by one access at most. */
#define KILN__ACCESS_MOST 16u
#define KILN__DYNAMIC_ALIGNMENT 16u

/** On which types a target has an intrinsic: KILN__HAS_... */
typedef struct kiln__foreign_limit {
    const char *name; /* without "llvm." and types; NULL ends a list */
    unsigned has;     /* 0: the target does not have it */
} kiln__foreign_limit;

#define KILN__HAS_F16 1u
#define KILN__HAS_BF16 2u
#define KILN__HAS_F32 4u
#define KILN__HAS_F64 8u
#define KILN__HAS_F80 16u
#define KILN__HAS_WIDE 32u        /* integers of more than 64 bits */
#define KILN__HAS_APPROXIMATE 64u /* only for calls with the flag afn */
/* Sets of several. The last one has no double and counts for calls with the
   flag afn only. */
#define KILN__HAS_FLOATS \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_F64)
#define KILN__HAS_SINGLE_AND_DOUBLE (KILN__HAS_F32 | KILN__HAS_F64)
#define KILN__HAS_QUICK_FLOATS \
    (KILN__HAS_F16 | KILN__HAS_BF16 | KILN__HAS_F32 | KILN__HAS_APPROXIMATE)

/** A target's names of the scopes of atomics. */
typedef struct kiln__neutral_scopes {
    const char *sub_group;
    const char *group;
    const char *device;
} kiln__neutral_scopes;

/* Neutral modules number generic, global, group, constant and private memory 0,
   1, 3, 4 and 5. */
#define KILN__NEUTRAL_SPACE_COUNT 6
#define KILN__NEUTRAL_SPACES \
    { \
        0, 1, 2, 3, 4, 5 \
    } /* of a target that does so */

/**
 * What modules of other frontends may use on a target, beyond what every target
 * has. Sets of address spaces have one bit for each, beginning with 0.
 */
typedef struct kiln__foreign_rules {
    const char *intrinsics;   /* prefix of the target's own: "nvvm." */
    uint32_t spaces;          /* that pointers may have */
    uint32_t constant_spaces; /* that constants of the module may be in */
    /* The target's numbers of a neutral module's address spaces, and
       where it has constants that the module has in generic memory. */
    unsigned neutral_spaces[KILN__NEUTRAL_SPACE_COUNT];
    unsigned neutral_constants;
    const kiln__neutral_scopes *neutral_scopes; /* NULL: only the system's */
    /* that atomics may have; NULL ends the list; NULL: any */
    const char *const *scopes;
    int has_long_floats; /* type x86_fp80 */
    int has_bfloats;
    int has_label_addresses; /* blockaddress, indirectbr */
    int has_address_numbers; /* initialisers may compute with addresses */
    /* between floats and integers of more than 64 bits */
    int has_wide_conversions;
    int has_bit_conversions;  /* floats to i1 */
    int has_exact_remainders; /* frem */
    int has_weak_updates;     /* atomicrmw of small floats has no ordering */
    int has_fixed_frames;     /* the sizes of allocas must be constants */
    int has_libraries; /* functions come from libraries that libkiln links */
    /* Address spaces in the mangled names of OpenCL's functions: of private,
       global, constant, group and generic memory. */
    unsigned char named_spaces[5];
    const kiln__foreign_limit *limits;
    const char *clock; /* a function that reads one, of LLVM or of the driver */
    /* NULL, or returns why a call of one of the target's own intrinsics is not
       allowed, or NULL. `name` is what follows the prefix `intrinsics`. */
    const char *(*refuse_own)(const kiln__codegen_job *job, LLVMValueRef call,
                              const char *name);
} kiln__foreign_rules;

#define KILN__SPACE_BIT(space) (UINT32_C(1) << (space))
/* Generic, global and constant memory have the same numbers on every target. */
#define KILN__CONSTANT_SPACES \
    (KILN__SPACE_BIT(0) | KILN__SPACE_BIT(1) | KILN__SPACE_BIT(4))

#define KILN__FAST_DIVIDE (-1) /* an operation beside KILN__MATH_... */

#define KILN__RAISE "kiln.raise"

/**
 * What lowering asks for inside the code of an item, whose state `item` points
 * to: it is the function's first parameter.
 */
typedef struct kiln__codegen_item {
    /* Returns the answer to a query as i64. */
    LLVMValueRef (*query)(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item, uint32_t query,
                          uint32_t dimension);
    /* Builds cold code that records an exception; the caller itself returns the
       flag. */
    void (*raise)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, const kiln__codegen_exception *exception);
    /* Builds cold code that raises the exception and ends the item, as a block
       that nothing follows. NULL for `exception` stands for one that is in the
       item. Used in functions that are inlined into the kernel, where items do
       not wait for those that failed. Until place_ends() completes such code,
       after the passes, it is a call of KILN__RAISE, which never returns. NULL:
       items cannot end so. */
    void (*end)(kiln__codegen_job *job, LLVMBuilderRef builder,
                LLVMValueRef item, const kiln__codegen_exception *exception);
    kiln_status (*place_ends)(kiln__codegen_job *job);
    /* Gives ids of small grids their code: see job->is_known. */
    void (*place_ids)(kiln__codegen_job *job);
    /* Builds code that runs after an exception was raised. It notes that the
       expression of the method is a call on the way to the exception. */
    void (*frame)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, uint32_t ordinal, const char *method);
    /* Returns where the launch's heap begins, as a pointer to an array's
       elements. */
    LLVMValueRef (*heap)(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef item);
    /* Return the address of the group's dynamic memory, in address space
       KILN__SHARED_SPACE and aligned to KILN__DYNAMIC_ALIGNMENT, and its size
       as i64, where job->dynamic_local is set. */
    LLVMValueRef (*local_memory)(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 LLVMValueRef item);
    LLVMValueRef (*local_size)(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item);
    void (*print)(kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef item, const kiln__codegen_print *print);
    /* Returns an i1: hardly any stack is left. NULL: the target does not
       check. */
    LLVMValueRef (*exhausted)(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item);
} kiln__codegen_item;

/** What makes a payload of the module of an item's function. */
typedef struct kiln__codegen_payload {
    /* Adds the kernel around job->item_function. */
    kiln_status (*wrap)(kiln__codegen_job *job);
    /* Checks and links the emitted objects and makes the payload of them. A
       second object is that of the checked module. */
    kiln_status (*finish)(kiln__codegen_job *job, const kiln__object *objects,
                          size_t count, kiln_blob *out);
    /* Finds where in the payload the table of slots for sites is: the section
       KILN__SITE_TABLE of `size` bytes. NULL: a payload cannot have one. */
    kiln_status (*find_sites)(kiln__codegen_job *job, const kiln_blob *payload,
                              size_t size, uint64_t *offset);
    /* NULL, or returns the table of what the job's code may report, in the
       arena. Returns NULL when there is nothing to report, or when the job has
       failed. */
    const void *(*reports)(kiln__codegen_job *job, size_t *size);
} kiln__codegen_payload;

/** Names that mean something to the target. */
typedef struct kiln__codegen_symbols {
    /* True when a function of that name may stay undefined. */
    int (*may_import)(const char *name);
    /* NULL, or returns the types of such a function, which are the letters of
       abi/host_imports.h. */
    const char *(*types)(const char *name);
    /* NULL, or true when emitted code itself calls a function of that name. A
       kernel of that name would be called in its place. */
    int (*is_taken)(const char *name);
    /* NULL, or stores the value of a constant that a vendor's library
       expects its linker to define, and returns true. Returns false for any
       other name. */
    int (*constant)(const kiln__codegen_job *job, const char *name,
                    uint64_t *value);
} kiln__codegen_symbols;

/** Code generation of the backend's own, in place of LLVM's. */
typedef struct kiln__codegen_machine {
    /* Called before and after the job's own machine is made. */
    kiln_status (*begin)(kiln__codegen_job *job);
    void (*end)(void);
    /* Generates code in place of kiln__llvm_emit(). Returns NULL when the job
       has failed. */
    LLVMMemoryBufferRef (*emit)(kiln__codegen_job *job, LLVMModuleRef module,
                                int as_text);
} kiln__codegen_machine;

/** State of the process that a backend has, a lock for example. */
typedef struct kiln__codegen_process {
    /* NULL, or releases what the calling thread's job holds of it. LLVM cannot
       go on, and the thread never comes back. */
    void (*abandon)(void);
    /* Makes it usable in children of fork(). Called once. */
    void (*guard_forks)(void);
} kiln__codegen_process;

/**
 * What a backend's codegen half does. backends/host/codegen/host_codegen.c is
 * the example to read. What all GPUs do in one way is in
 * backends/device/codegen.
 */
typedef struct kiln__codegen_backend {
    const char *name;
    const char *format;
    const kiln__codegen_item *item;
    const kiln__codegen_groups *groups; /* NULL: the target has barriers */
    const kiln__codegen_device *device; /* set where `groups` is NULL */
    const kiln__codegen_approximate *approximate; /* NULL: none */
    const kiln__foreign_rules *foreign;
    const kiln__codegen_machine *machine; /* NULL: LLVM generates the code */
    const kiln__codegen_process *process; /* NULL: it has no such state */
    kiln__codegen_symbols symbols;
    kiln__codegen_payload payload;
    /* NULL, or prepares the context of a job before anything else is done. */
    void (*open)(const kiln__codegen_job *job);
    /* NULL, or builds a fast form of KILN__MATH_... on f32 or of
       KILN__FAST_DIVIDE, where floats are fast. Returns NULL when the target
       has nothing that is faster than the exact form. */
    LLVMValueRef (*fast)(kiln__codegen_job *job, LLVMBuilderRef builder,
                         int64_t operation, LLVMValueRef *arguments);
    /* NULL, or rewrites the modules after the passes into what the target's
       code generation takes, and refuses what it cannot take. */
    kiln_status (*adapt)(kiln__codegen_job *job);
    /* NULL, or four pipelines in LLVM's text form: for level 0 and for large
       functions; for all others; for large functions whose variables stay in
       memory; for a device's entry for any launch. */
    const char *const *passes;
    /* Above this value of kiln__llvm_crowding(), register allocation takes too
       long for a module. 0: there is no limit. */
    uint64_t crowding_max;
    /* NULL, or the name of the process's variable that adapt() refers to. */
    const char *own_variable;
    /* Each job has its own machine, because LLVM's machine keeps state of one
       job that would show in the code of the next. */
    int owns_machine;
    int runs_tiles;   /* wrap() can use a proof */
    int may_defer;    /* launches can ask for code: job->defers */
    int emits_text;   /* finish() takes assembly */
    int has_vecmath;  /* Kiln's own mathematics replaces that of C */
    int is_scheduled; /* no pass of LLVM's code generation is left out */
} kiln__codegen_backend;

/* Makes the job's other module the current one: what is built from now on goes
   there, until the next call. */
void kiln__job_switch(kiln__codegen_job *job);

/* Records the job's first failure, formatted, and returns `status`. */
kiln_status kiln__job_fail(kiln__codegen_job *job, kiln_status status,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails a stage that returned KILN_OK although LLVM reported an error, or
   although there was not enough memory for all that it made. */
kiln_status kiln__job_outcome(kiln__codegen_job *job, kiln_status status);

/* Notes that the tool, with this file, took part in the job. The path is
   copied. */
kiln_status kiln__job_used(kiln__codegen_job *job, int tool, const char *path,
                           const kiln__file_stamp *file);
/* Hands over the input that a tool failed on, so that people can look at it. */
void kiln__job_keep(const kiln__codegen_job *job, const char *suffix,
                    const kiln__object *input);
/* Writes a line to the host's log. */
void kiln__job_log(const kiln__codegen_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True when there is code of other frontends. The job knows once the externals
   are set. */
int kiln__request_has_foreign(const kiln__codegen_request *request);
int kiln__job_has_foreign(const kiln__codegen_job *job);

/* Types of pointers to elements of arrays, to the bytes of an aggregate that is
   passed by value, and to the item. */
LLVMTypeRef kiln__job_array_pointer(const kiln__codegen_job *job);
LLVMTypeRef kiln__job_bytes_pointer(const kiln__codegen_job *job);
LLVMTypeRef kiln__job_item_pointer(const kiln__codegen_job *job);

static inline LLVMTypeRef kiln__job_i32(const kiln__codegen_job *job)
{
    return LLVMInt32TypeInContext(job->context);
}

static inline LLVMTypeRef kiln__job_i64(const kiln__codegen_job *job)
{
    return LLVMInt64TypeInContext(job->context);
}

/* Constants of these types. */
static inline LLVMValueRef kiln__job_number32(const kiln__codegen_job *job,
                                              uint32_t value)
{
    return LLVMConstInt(kiln__job_i32(job), value, 0);
}

static inline LLVMValueRef kiln__job_number64(const kiln__codegen_job *job,
                                              uint64_t value)
{
    return LLVMConstInt(kiln__job_i64(job), value, 0);
}

/* Returns the LLVM type of a scalar kind in registers (Bool: i1). */
LLVMTypeRef kiln__job_scalar(const kiln__codegen_job *job, int32_t kind);

/* ---- codegen/module/codegen_debug.c: lines, where the debug level asks for
 * them ----
 *
 * Where it does not, or a function has none, subprograms and places are NULL
 * and these functions do nothing.
 */

/* Describes a function that is made of `source`. */
LLVMMetadataRef kiln__debug_function(kiln__codegen_job *job,
                                     LLVMValueRef function,
                                     const kiln__codegen_function *source);
/* Returns the place of an expression in that function. */
LLVMMetadataRef kiln__debug_place(const kiln__codegen_job *job,
                                  LLVMMetadataRef subprogram,
                                  const kiln__codegen_function *source,
                                  uint32_t ordinal);
/* Describes a function around the entry, and gives `builder` its place. */
void kiln__debug_wrapper(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef function);

typedef struct kiln__debug_local {
    const char *name;
    int32_t kind; /* KILN_TYPE_... of a scalar; other kinds are not described */
    LLVMValueRef address;
} kiln__debug_local;

void kiln__debug_variable(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMMetadataRef subprogram,
                          const kiln__codegen_function *source,
                          const kiln__debug_local *local);
/* Completes the line tables: no more functions follow. */
void kiln__debug_end(kiln__codegen_job *job);
/* After that: what other compilers described becomes a part of it. */
void kiln__debug_take(kiln__codegen_job *job);

#endif /* KILN_CODEGEN_JOB_H */
