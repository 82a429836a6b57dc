/* lower.h - what the files of lowering share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_H
#define KILN_LOWER_H

#include "codegen/module/codegen_floats.h"
#include "codegen/module/codegen_job.h"
#include "ir/ir_tables.h"

/*
 * Lowering cannot fail once it has begun. What it does not support is found
 * before (lower_plan.c), LLVM allocates for itself, and code that runs out of
 * our memory sets `no_memory` and goes on. So every function below that returns
 * a value or a type returns one, and never NULL, unless its comment says so.
 *
 * Values have two forms. In register form, Bool is i1, a vector an LLVM vector,
 * structs and tuples are literal structs field by field, and an array is {ptr,
 * sizes, strides}. What has no bytes, such as the value "nothing", is {}. The
 * memory form is that of C (kiln/type.h).
 */

typedef struct kiln__lower_type {
    LLVMTypeRef registers;
    uint64_t size; /* of the memory form; 0 for arrays, which have none */
    uint32_t alignment;
} kiln__lower_type;

/* The loop over the items calls an item function of more nodes than this, and
   does not inline it: the cost of optimising a loop grows with the square of
   the ways out of it, and every check is one. */
#define KILN__LOWER_LOOPED_MAX 10000

#define KILN__KNOWN_TRUE 1
#define KILN__KNOWN_FALSE 2

/* Effects: what evaluation does besides returning a value. */
#define KILN__READS 1u  /* reads memory */
#define KILN__WRITES 2u /* writes memory */
#define KILN__RAISES 4u /* may raise */
#define KILN__PRINTS 8u
#define KILN__CONVERGENT 16u /* acts together with other items */
#define KILN__SHARES 32u     /* has a LOCAL_ARRAY */
#define KILN__CALLS 64u      /* calls another function */
#define KILN__RECURS 128u    /* recurses, or calls what does */
#define KILN__LOOPS 256u
#define KILN__COSTS 512u  /* costs many times as much as an addition */
#define KILN__HEAPS 1024u /* asks for the heap */

/* One function of the request. */
typedef struct kiln__lower_function {
    const kiln__codegen_function *source;
    kiln__ir ir;
    kiln__lower_type *types; /* by type index */
    LLVMTypeRef signature;
    LLVMMetadataRef subprogram; /* NULL: the function has no lines */
    LLVMValueRef value;
    size_t callers;   /* number of places that call it */
    size_t size;      /* in nodes, with all that is inlined */
    uint32_t effects; /* of the body and its callees, except KILN__RAISES */
    int decoded;
    int can_fail;
    int has_flag; /* returns whether it failed */
    int recursive;
    int inlined;  /* with the attribute alwaysinline */
    int has_heap; /* asks for the heap's words itself */
    /* By node: the node cannot raise in the body that is being made. NULL: this
       is known of none. */
    unsigned char *proved;
    /* By node of an entry: which way its guards go, KILN__KNOWN_... NULL:
       nothing is known of any. */
    unsigned char *known;
    uint8_t collective; /* KILN__COLLECTIVE_..., where groups are split */
    uint8_t *converges; /* by node: see lower_converge.c; NULL: none does */
    uint32_t exited;    /* a local: see lower_group_flatten.c */
    uint32_t *skipped;  /* by node of a loop: a local */
    uint64_t *arrays;   /* by node of a LOCAL_ARRAY: its offset plus 1 */
} kiln__lower_function;

static inline int kiln__lower_known(const kiln__lower_function *f,
                                    uint32_t node)
{
    return f->known != NULL ? f->known[node] : 0;
}

/* Where BREAK and CONTINUE of a loop go. The innermost loop is the first. */
typedef struct kiln__lower_loop {
    struct kiln__lower_loop *outer;
    LLVMBasicBlockRef leave;
    LLVMBasicBlockRef next;
} kiln__lower_loop;

/* Blocks where items wait for the others of their group: see lower_converge.c.
   NULL: no item waits. */
typedef struct kiln__lower_waiting {
    LLVMBasicBlockRef failing;
    LLVMBasicBlockRef skipping;
} kiln__lower_waiting;

struct kiln__lowering;

#define KILN__SUMS_MAX 32
#define KILN__APART_MAX 64

/* An element that a loop of the entry keeps in a register. */
typedef struct kiln__lower_sum {
    uint32_t loop;
    uint32_t element;   /* a STORE of it */
    uint32_t start;     /* a STORE before the loop that begins the sum, or 0 */
    LLVMValueRef place; /* an alloca, while the loop is lowered */
    LLVMValueRef address;
} kiln__lower_sum;

/* Two parameters, arrays that must not overlap. */
typedef struct kiln__lower_apart {
    uint32_t a;
    uint32_t b;
    uint32_t node; /* for whose sake */
} kiln__lower_apart;

/* Made by lower_sums.c, for lower_sums_body.c and the proof. */
typedef struct kiln__lower_sums {
    kiln__lower_sum all[KILN__SUMS_MAX];
    size_t count;
    kiln__lower_apart apart[KILN__APART_MAX];
    size_t apart_count;
    uint8_t *of; /* by node of the entry: the number of its sum plus 1, or 0 */
    uint32_t *sets; /* by local: its only SET plus 1, where it has one */
    int are_in_use; /* in the body that is being made */
} kiln__lower_sums;

/* What a function for a whole group does in another way: see lower_group.c. */
typedef struct kiln__lower_as_group {
    /* Emits the block's steps and returns true, or returns false when it has
       none. */
    int (*block)(struct kiln__lowering *l, uint32_t node);
    /* True when the local is read at group level, from a slot. */
    int (*is_slot)(const struct kiln__lowering *l, uint32_t local);
    LLVMValueRef (*read)(struct kiln__lowering *l, uint32_t local);
    /* Returns from the frame: one item, or all of the scope. */
    void (*leave)(struct kiln__lowering *l, LLVMValueRef value);
    /* Leaves the function because something was raised. */
    void (*fail)(struct kiln__lowering *l);
} kiln__lower_as_group;

typedef struct kiln__lowering {
    kiln__codegen_job *job;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    kiln__lower_function *functions;
    size_t count;
    LLVMTypeRef empty; /* {} */
    LLVMTypeRef i64;
    unsigned prof_kind; /* number of a kind of metadata */
    unsigned loop_kind;
    LLVMValueRef cold; /* branch weights: the first successor is rare */

    /* The function being lowered. */
    kiln__lower_function *f;
    const kiln__ir *ir; /* &f->ir */
    LLVMValueRef item;
    LLVMValueRef *locals; /* allocas; NULL for what has no bytes */
    char *fixed; /* by parameter: nothing sets it, and `locals` has its value */
    kiln__lower_loop *loop;
    kiln__lower_waiting waiting;
    struct kiln__uniform *uniform; /* set where groups are split */
    /* See lower_group.h; NULL: one item's function. */
    struct kiln__group *group;
    const kiln__lower_as_group *as_group; /* set where `group` is */
    kiln__lower_sums sums;
    int no_memory; /* what is made will be thrown away */
} kiln__lowering;

/* ---- lower_plan.c: decoding, checks between functions, what can fail ---- */
kiln_status kiln__lower_plan(kiln__lowering *l);
/* True when the node itself, apart from its operands, can raise. */
int kiln__lower_raises(const kiln__lowering *l, const kiln__lower_function *f,
                       const kiln__ir_node *node);
/* ---- lower_effects.c ---- */
void kiln__lower_find_effects(kiln__lowering *l);
/* Returns the effects of the operation, without those of its operands. A call
   has the effects of its callee. */
uint32_t kiln__lower_effect(const kiln__lowering *l,
                            const kiln__lower_function *f,
                            const kiln__ir_node *node);
/* Returns the effects of the operation and its operands. */
uint32_t kiln__lower_effects(const kiln__lowering *l,
                             const kiln__lower_function *f, uint32_t index);

/* ---- lower_plan.c ---- */
/* Finds can_fail and has_flag of all functions. Called again once `proved` is
   known. */
void kiln__lower_find_failures(kiln__lowering *l);
/* Finds whether items end where they raise, and with that has_flag of all
   functions. Called again once `converges` is known. */
void kiln__lower_find_flags(kiln__lowering *l);

/* ---- lower_cut.c ---- */
/* Sets any_block, asks_no_grid and asks_no_group of the job, from the functions
   as they are before groups are planned. */
void kiln__lower_find_cuts(kiln__lowering *l);
/* ---- lower_inner.c ---- */
/* Guesses the job's inner_dimension; for kernels that ask_no_group. */
void kiln__lower_find_inner(kiln__lowering *l);
/* ---- lower_plan.c ---- */
int kiln__lower_is_fast(const kiln__lowering *l, const kiln__ir_node *node);
/* True when the divisor is a constant other than 0, which is stored. */
int kiln__lower_divisor(const kiln__ir *ir, const kiln__ir_node *node,
                        int64_t *out);

/* ---- lower_types.c ---- */
kiln_status kiln__lower_types(kiln__lowering *l, kiln__lower_function *f);
LLVMTypeRef kiln__lower_type_of(const kiln__lowering *l, uint32_t type);
/* Returns a type with the size and stride of the memory form, for
   addressing. */
LLVMTypeRef kiln__lower_cell(const kiln__lowering *l, uint32_t type);
/* Reads the memory form at `address`, which is naturally aligned, into
   registers. The next function writes it. */
LLVMValueRef kiln__lower_read(kiln__lowering *l, uint32_t type,
                              LLVMValueRef address);
void kiln__lower_write(kiln__lowering *l, uint32_t type, LLVMValueRef address,
                       LLVMValueRef value);

/* ---- lower_expr.c ---- */
LLVMValueRef kiln__lower_value(kiln__lowering *l, uint32_t node);
/* Lets the job fail, since lowering has no code for this. Returns some value of
   the node's type, so that the caller can go on. */
LLVMValueRef kiln__lower_unknown(kiln__lowering *l, const kiln__ir_node *node,
                                 const char *name);
/* Gives what is built from now on the node's place in the source, and returns
   the place before. */
LLVMMetadataRef kiln__lower_enter(const kiln__lowering *l,
                                  const kiln__ir_node *node);

/* ---- lower_arith.c, lower_convert.c, lower_math.c ---- */
/* Returns the kind of a scalar, or of a vector's elements. */
int32_t kiln__lower_lane(const kiln__lowering *l, const kiln__ir_node *node);
/* Returns `value` in every element when `like` is a vector type. */
LLVMValueRef kiln__lower_spread(kiln__lowering *l, LLVMTypeRef like,
                                LLVMValueRef value);
LLVMValueRef kiln__lower_integer(const kiln__lowering *l, int32_t kind,
                                 uint64_t bits);
LLVMValueRef kiln__lower_arithmetic(kiln__lowering *l,
                                    const kiln__ir_node *node);
LLVMValueRef kiln__lower_compare(kiln__lowering *l, const kiln__ir_node *node);
LLVMValueRef kiln__lower_convert(kiln__lowering *l, const kiln__ir_node *node);
LLVMValueRef kiln__lower_math(kiln__lowering *l, const kiln__ir_node *node);
/* Builds the target's fast form of KILN__MATH_... or KILN__FAST_DIVIDE, where
   floats are fast. Returns NULL when there is none. */
LLVMValueRef kiln__lower_fast(kiln__lowering *l, const kiln__ir_node *node,
                              int64_t operation, LLVMValueRef *arguments,
                              unsigned count);
/* True where products and sums may be fused: not in strict code. */
int kiln__lower_contracts(const kiln__lowering *l, const kiln__ir_node *node);
/* Sets the flags that the node's switches allow; returns `value`. */
LLVMValueRef kiln__lower_flags(const kiln__lowering *l,
                               const kiln__ir_node *node, LLVMValueRef value);
/* Converts from one kind of float to another, with one rounding. */
LLVMValueRef kiln__lower_float(kiln__lowering *l, LLVMValueRef value,
                               int32_t from, int32_t to);
/* Converts a float to the kind in which its mathematics is computed, and
   stores that kind. */
LLVMValueRef kiln__lower_wide(kiln__lowering *l, LLVMValueRef value,
                              int32_t *kind);
/* Calls an LLVM intrinsic that is overloaded on `type` alone. */
LLVMValueRef kiln__lower_intrinsic(kiln__lowering *l, const char *name,
                                   LLVMTypeRef type, LLVMValueRef *arguments,
                                   unsigned count);
/* True when CHECKED between these kinds can raise. */
int kiln__lower_conversion_raises(int32_t from, int32_t to);

/* ---- lower_memory.c: arrays, and elements of vectors ---- */
/* Checks an access and returns the element's address; stores its type. */
LLVMValueRef kiln__lower_address(kiln__lowering *l, const kiln__ir_node *access,
                                 uint32_t *type);
/* Returns an array of a group, where the backend has no barriers. */
LLVMValueRef kiln__lower_local_array(kiln__lowering *l,
                                     const kiln__ir_node *node);
LLVMValueRef kiln__lower_memory(kiln__lowering *l, const kiln__ir_node *node);
LLVMValueRef kiln__lower_element(kiln__lowering *l, const kiln__ir_node *node);

/* ---- lower_heap.c ---- */
LLVMValueRef kiln__lower_heap(kiln__lowering *l, const kiln__ir_node *node);
void kiln__lower_fence(const kiln__lowering *l);

/* ---- lower_device.c: where items of a group run side by side ---- */
LLVMValueRef kiln__lower_shared_array(kiln__lowering *l,
                                      const kiln__ir_node *node);
LLVMValueRef kiln__lower_collective(kiln__lowering *l,
                                    const kiln__ir_node *node);
/* Builds a loop that replaces the element at `at` by op(old, value), and
   returns the old value. */
LLVMValueRef kiln__lower_atomic_loop(kiln__lowering *l, int64_t operation,
                                     int32_t kind, LLVMValueRef at,
                                     LLVMValueRef value);
/* Gives an atomic instruction the scope of all items of a launch. */
LLVMValueRef kiln__lower_scope(const kiln__lowering *l, LLVMValueRef atomic);

/* ---- lower_sums.c ---- */
/* Finds elements that loops of the entry can keep in registers. */
kiln_status kiln__lower_find_sums(kiln__lowering *l);
/* ---- lower_sums_body.c ---- */
/* Returns the sum that the access is a part of in this body, or NULL. */
kiln__lower_sum *kiln__lower_sum_of(kiln__lowering *l,
                                    const kiln__ir_node *access);
/* Begins a sum with a value, where the STORE is its start. */
void kiln__lower_start_sum(kiln__lowering *l, kiln__lower_sum *sum,
                           LLVMValueRef value);
/* Loads the elements of a loop that have no start; called where it has an
   iteration, before the first one. Returns how many there are. */
size_t kiln__lower_begin_sums(kiln__lowering *l, const kiln__ir_node *loop);
/* Stores the elements of a loop: those without a start behind its last
   iteration, the others behind it. */
void kiln__lower_end_sums(kiln__lowering *l, const kiln__ir_node *loop,
                          int have_start);

/* ---- lower_raise.c ---- */
/* Notes a call on the way to an exception, where call frames are wanted. */
void kiln__lower_frame(kiln__lowering *l, uint32_t ordinal, const char *method);
/* Raises and leaves the function when `bad` is true. Code that follows runs
   otherwise. Sets the exception's method and ordinal. */
void kiln__lower_check(kiln__lowering *l, const kiln__ir_node *node,
                       LLVMValueRef bad, kiln__codegen_exception exception);
/* Leaves the function when `failed` is true: the callee of `node` raised. */
void kiln__lower_pass_on(kiln__lowering *l, const kiln__ir_node *node,
                         LLVMValueRef failed);
/* Leaves the function without a value. */
void kiln__lower_leave(kiln__lowering *l, int failed);
/* Returns `value` ({} for nothing) without failure. */
void kiln__lower_return(kiln__lowering *l, LLVMValueRef value);
LLVMTypeRef kiln__lower_result(const kiln__lowering *l,
                               const kiln__lower_function *f);

/* ---- lower_converge.c: where items wait for those that failed ---- */
/* Finds out which nodes converge, in all functions. */
kiln_status kiln__lower_plan_convergence(kiln__lowering *l);
/* True when other items may wait in the node, or, for a jump, after the place
   that it jumps from. */
int kiln__lower_converges(const kiln__lowering *l, const kiln__ir_node *node);
/* Sends the item, which has failed, to wait at the next convergence point. */
void kiln__lower_fail(kiln__lowering *l);
/* Adds the waiting items of another path that has joined this one. */
void kiln__lower_join(kiln__lowering *l, kiln__lower_waiting other);
/* Brings all items here, to go on together. */
void kiln__lower_assemble(kiln__lowering *l);
/* Separates the items for which the group is over. Called after
   kiln__lower_assemble(). */
void kiln__lower_part(kiln__lowering *l);
/* Makes sure that no failed item waits any more. */
void kiln__lower_settle(kiln__lowering *l);
void kiln__lower_barrier(kiln__lowering *l);
/* Builds a return that leads past what converges. */
void kiln__lower_end(kiln__lowering *l, LLVMValueRef value);
/* Brings all items here with the condition. Items for which the group is over
   have `otherwise` instead. */
LLVMValueRef kiln__lower_decide(kiln__lowering *l, LLVMValueRef condition,
                                int otherwise);
/* At the function's end, lets all waiting items leave it. */
void kiln__lower_end_waiting(kiln__lowering *l);

/* ---- lower_stack.c ---- */
/* True when the function checks for stack before it begins, and so can fail. */
int kiln__lower_guards(const kiln__lowering *l, const kiln__lower_function *f);
/* Builds that check. */
void kiln__lower_guard(kiln__lowering *l);
/* True when this process must not recurse deeper; then the job fails. */
int kiln__lower_is_too_deep(kiln__lowering *l);

/* ---- lower_control.c ---- */
/* Gives what is built first the place of the function. */
void kiln__lower_begin(kiln__lowering *l);
void kiln__lower_statement(kiln__lowering *l, uint32_t node);
LLVMBasicBlockRef kiln__lower_block(kiln__lowering *l);
/* True when the current block already has a terminator. */
int kiln__lower_is_done(const kiln__lowering *l);

/* ---- lower_external.c: functions of other frontends ---- */
/* True when the external function may raise. */
int kiln__lower_external_raises(const kiln__lowering *l,
                                const kiln__lower_function *f);
LLVMValueRef kiln__lower_external(kiln__lowering *l, const kiln__ir_node *node);

/* ---- lower_called.c: what modules of other frontends call ---- */
/* True if the module calls any of the request's functions. */
int kiln__called_any(const kiln__codegen_job *job);
/* Refuses functions that only kernels of the language can call. */
kiln_status kiln__called_check(const kiln__lowering *l);
/* Defines kiln_call.N() for each that is called. */
kiln_status kiln__called_define(kiln__lowering *l);

/* ---- lower_item.c: the item function, and the job's parameters ---- */
/* Returns how a value of the type is passed to an entry, and as how many
   values. */
kiln__parameter kiln__lower_describe(const kiln__lowering *l, uint32_t type);
size_t kiln__lower_flat_count(const kiln__parameter *parameter);
/* Describes the parameters of the entry. */
kiln_status kiln__lower_parameters(kiln__lowering *l);
/* Returns the item function's type; NULL: out of memory. */
LLVMTypeRef kiln__lower_signature(kiln__lowering *l);
/* Makes ENTRY.suffix, which calls the entry's body. */
kiln_status kiln__lower_item(kiln__lowering *l, const char *suffix,
                             LLVMValueRef *out);
/* Returns the register forms of the entry's parameters, made of the flat
   parameters of `function` that follow the item. NULL: out of memory. */
LLVMValueRef *kiln__lower_gather(kiln__lowering *l, LLVMValueRef function);

#endif /* KILN_LOWER_H */
