/* lower.h - what the files of lowering share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_H
#define KILN_LOWER_H

#include "codegen/module/codegen_job.h"
#include "ir/ir_tables.h"

/*
 * Lowering cannot fail once it has begun: what it does not support is found
 * before (lower_plan.c), LLVM makes its own memory, and who runs out of ours
 * sets `no_memory` and goes on. So every function below returns a value, never
 * NULL.
 *
 * Register form: Bool is i1, a vector an LLVM vector, structs and tuples
 * literal structs field by field, an array {ptr, sizes, strides}, and what has
 * no bytes, no value included, {}. Memory form: as in C (kiln/type.h).
 */

typedef struct kiln__lower_type {
    LLVMTypeRef registers;
    uint64_t size; /* of the memory form; 0 for arrays, which have none */
    uint32_t alignment;
} kiln__lower_type;

/* An item of more nodes is called by the loop over the items instead of being
   its body: what a loop costs to optimise grows with the square of the ways
   out of it, and every check is one. */
#define KILN__LOWER_LOOPED_MAX 10000

#define KILN__KNOWN_TRUE 1
#define KILN__KNOWN_FALSE 2

/* Effects: what evaluating does besides giving a value. */
#define KILN__READS 1u  /* memory */
#define KILN__WRITES 2u /* memory */
#define KILN__RAISES 4u /* may */
#define KILN__PRINTS 8u
#define KILN__CONVERGENT 16u /* with other items */
#define KILN__SHARES 32u     /* has a LOCAL_ARRAY */
#define KILN__CALLS 64u      /* another function */
#define KILN__RECURS 128u    /* or what it calls does */
#define KILN__LOOPS 256u
#define KILN__COSTS 512u  /* many times what an addition does */
#define KILN__HEAPS 1024u /* asks for the heap */

/* One function of the request. */
typedef struct kiln__lower_function {
    const kiln__codegen_function *source;
    kiln__ir ir;
    kiln__lower_type *types; /* by type index */
    LLVMTypeRef signature;
    LLVMMetadataRef subprogram; /* NULL: no lines */
    LLVMValueRef value;
    size_t callers;   /* places that call it */
    size_t size;      /* in nodes, with what is inlined */
    uint32_t effects; /* of the body and of what it calls, but KILN__RAISES */
    int decoded;
    int can_fail;
    int recursive;
    int inlined;  /* alwaysinline */
    int has_heap; /* it asks for the heap's words itself */
    /* By node: cannot raise in the body that is being made; NULL: none. */
    unsigned char *proved;
    /* By node, of an entry: which way its guards go, KILN__KNOWN_...; NULL:
       nothing is known of any. */
    unsigned char *known;
    uint8_t collective; /* KILN__COLLECTIVE_..., where groups are split */
    uint8_t *converges; /* by node: see lower_converge.c; NULL: none does */
    uint32_t exited;    /* a local: see lower_group_flatten.c */
    uint32_t *skipped;  /* locals, by node of loops */
    uint64_t *arrays;   /* offsets of LOCAL_ARRAY nodes, plus 1, by node */
} kiln__lower_function;

static inline int kiln__lower_known(const kiln__lower_function *f,
                                    uint32_t node)
{
    return f->known != NULL ? f->known[node] : 0;
}

/* Where BREAK and CONTINUE go; innermost first. */
typedef struct kiln__lower_loop {
    struct kiln__lower_loop *outer;
    LLVMBasicBlockRef leave;
    LLVMBasicBlockRef next;
} kiln__lower_loop;

/* Blocks where items wait for the others of their group: see lower_converge.c.
 */
typedef struct kiln__lower_waiting {
    LLVMBasicBlockRef failing;
    LLVMBasicBlockRef skipping;
} kiln__lower_waiting;

struct kiln__lowering;

/* What is done in another way in a function for a whole group; lower_group.c.
 */
typedef struct kiln__lower_as_group {
    /* True when the block has steps; then they are emitted. */
    int (*block)(struct kiln__lowering *l, uint32_t node);
    /* True when the local is read at group level, from a slot; reads it. */
    int (*is_slot)(const struct kiln__lowering *l, uint32_t local);
    LLVMValueRef (*read)(struct kiln__lowering *l, uint32_t local);
    /* Returns from the frame: one item, or all of the scope. */
    void (*leave)(struct kiln__lowering *l, LLVMValueRef value);
    /* Something was raised: leaves the function. */
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
    unsigned prof_kind; /* of metadata */
    unsigned loop_kind;
    LLVMValueRef cold; /* branch weights: the first way is rare */

    /* The function being lowered. */
    kiln__lower_function *f;
    const kiln__ir *ir; /* &f->ir */
    LLVMValueRef item;
    LLVMValueRef *locals; /* allocas; NULL for what has no bytes */
    char *fixed;          /* a parameter that is never set: `locals` is it */
    kiln__lower_loop *loop;
    kiln__lower_waiting waiting;
    struct kiln__uniform *uniform; /* where groups are split */
    struct kiln__group *group; /* lower_group.h; NULL: one item's function */
    const kiln__lower_as_group *as_group; /* where `group` is set */
    int no_memory;                        /* what was made is thrown away */
} kiln__lowering;

/* ---- lower_plan.c: decoding, checks between functions, what can fail ---- */
kiln_status kiln__lower_plan(kiln__lowering *l);
/* True when the node itself, not its operands, can raise. */
int kiln__lower_raises(const kiln__lowering *l, const kiln__lower_function *f,
                       const kiln__ir_node *node);
/* ---- lower_effects.c ---- */
void kiln__lower_find_effects(kiln__lowering *l);
/* Of the operation, without its operands; calls do what the callee does. */
uint32_t kiln__lower_effect(const kiln__lowering *l,
                            const kiln__lower_function *f,
                            const kiln__ir_node *node);
/* Of the operation and its operands. */
uint32_t kiln__lower_effects(const kiln__lowering *l,
                             const kiln__lower_function *f, uint32_t index);

/* ---- lower_plan.c ---- */
/* Finds can_fail of all functions, again once `proved` is known. */
void kiln__lower_find_failures(kiln__lowering *l);
int kiln__lower_is_fast(const kiln__lowering *l, const kiln__ir_node *node);
/* True when the divisor is a constant other than 0; stores it. */
int kiln__lower_divisor(const kiln__ir *ir, const kiln__ir_node *node,
                        int64_t *out);

/* ---- lower_types.c ---- */
kiln_status kiln__lower_types(kiln__lowering *l, kiln__lower_function *f);
LLVMTypeRef kiln__lower_type_of(const kiln__lowering *l, uint32_t type);
/* The type with a size and stride of the memory form, for addressing. */
LLVMTypeRef kiln__lower_cell(const kiln__lowering *l, uint32_t type);
/* Between the memory form at `address`, naturally aligned, and registers. */
LLVMValueRef kiln__lower_read(kiln__lowering *l, uint32_t type,
                              LLVMValueRef address);
void kiln__lower_write(kiln__lowering *l, uint32_t type, LLVMValueRef address,
                       LLVMValueRef value);

/* ---- lower_expr.c ---- */
LLVMValueRef kiln__lower_value(kiln__lowering *l, uint32_t node);
/* What is built from now on is at the node's place in the source; gives the
   place before. */
LLVMMetadataRef kiln__lower_enter(const kiln__lowering *l,
                                  const kiln__ir_node *node);

/* ---- lower_arith.c, lower_convert.c, lower_math.c ---- */
/* The kind of the scalar's or of the vector's elements. */
int32_t kiln__lower_lane(const kiln__lowering *l, const kiln__ir_node *node);
/* `value` in every element when `like` is a vector type. */
LLVMValueRef kiln__lower_spread(kiln__lowering *l, LLVMTypeRef like,
                                LLVMValueRef value);
LLVMValueRef kiln__lower_integer(const kiln__lowering *l, int32_t kind,
                                 uint64_t bits);
LLVMValueRef kiln__lower_arithmetic(kiln__lowering *l,
                                    const kiln__ir_node *node);
LLVMValueRef kiln__lower_compare(kiln__lowering *l, const kiln__ir_node *node);
LLVMValueRef kiln__lower_convert(kiln__lowering *l, const kiln__ir_node *node);
LLVMValueRef kiln__lower_math(kiln__lowering *l, const kiln__ir_node *node);
/* What the target has for KILN__MATH_... or KILN__FAST_DIVIDE where floats are
   fast; NULL: nothing. */
LLVMValueRef kiln__lower_fast(kiln__lowering *l, const kiln__ir_node *node,
                              int64_t operation, LLVMValueRef *arguments,
                              unsigned count);
/* Sets the flags that the node's switches allow; returns `value`. */
LLVMValueRef kiln__lower_flags(const kiln__lowering *l,
                               const kiln__ir_node *node, LLVMValueRef value);
/* f16 and f32 values to each other, and f64 to f16, rounded once. */
LLVMValueRef kiln__lower_float(kiln__lowering *l, LLVMValueRef value,
                               int32_t from, int32_t to);
/* A call of an LLVM intrinsic overloaded on `type` alone. */
LLVMValueRef kiln__lower_intrinsic(kiln__lowering *l, const char *name,
                                   LLVMTypeRef type, LLVMValueRef *arguments,
                                   unsigned count);
/* Gives a function an attribute without a value. */
void kiln__lower_attribute(const kiln__lowering *l, LLVMValueRef function,
                           const char *name);
/* True when CHECKED between these kinds can raise. */
int kiln__lower_conversion_raises(int32_t from, int32_t to);

/* ---- lower_memory.c: arrays, and elements of vectors ---- */
/* An array of a group, where the backend has no barriers. */
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
/* The old value of the element at `at`, which becomes op(old, value). */
LLVMValueRef kiln__lower_atomic_loop(kiln__lowering *l, int64_t operation,
                                     int32_t kind, LLVMValueRef at,
                                     LLVMValueRef value);
/* Makes an atomic instruction one between items of a launch. */
LLVMValueRef kiln__lower_scope(const kiln__lowering *l, LLVMValueRef atomic);

/* ---- lower_raise.c ---- */
/* Notes a call of the method that failed, where frames are wanted. */
void kiln__lower_frame(kiln__lowering *l, uint32_t ordinal, const char *method);
/* Raises and leaves the function when `bad` is true; goes on behind. */
void kiln__lower_check(kiln__lowering *l, const kiln__ir_node *node,
                       LLVMValueRef bad, uint32_t kind, const char *message,
                       LLVMValueRef value0, LLVMValueRef value1);
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
/* Finds what converges in all functions. */
kiln_status kiln__lower_plan_convergence(kiln__lowering *l);
/* True when others may wait in the node, or behind a jump for who does not
   take it. */
int kiln__lower_converges(const kiln__lowering *l, const kiln__ir_node *node);
/* The item has failed and waits for the next meeting. */
void kiln__lower_fail(kiln__lowering *l);
/* Another way has come here, with its items that wait. */
void kiln__lower_join(kiln__lowering *l, kiln__lower_waiting other);
/* All items come here, and go on together; */
void kiln__lower_assemble(kiln__lowering *l);
/* then who has nothing more to do parts from the others. */
void kiln__lower_part(kiln__lowering *l);
/* No item that failed waits any more. */
void kiln__lower_settle(kiln__lowering *l);
void kiln__lower_barrier(kiln__lowering *l);
/* A return past what converges. */
void kiln__lower_end(kiln__lowering *l, LLVMValueRef value);
/* All items come here with the condition, or with `otherwise` who skips. */
LLVMValueRef kiln__lower_decide(kiln__lowering *l, LLVMValueRef condition,
                                int otherwise);
/* At the function's end, who waits leaves it. */
void kiln__lower_end_waiting(kiln__lowering *l);

/* ---- lower_stack.c ---- */
/* True when the function looks for stack before it begins, and so can fail. */
int kiln__lower_guards(const kiln__lowering *l, const kiln__lower_function *f);
/* Makes it look. */
void kiln__lower_guard(kiln__lowering *l);
/* True when nothing of this process may recur from here: the job fails. */
int kiln__lower_is_too_deep(kiln__lowering *l);

/* ---- lower_control.c ---- */
/* What is built first is at the place of the function. */
void kiln__lower_begin(kiln__lowering *l);
void kiln__lower_statement(kiln__lowering *l, uint32_t node);
LLVMBasicBlockRef kiln__lower_block(kiln__lowering *l);
/* True when the current block already ends. */
int kiln__lower_is_done(const kiln__lowering *l);

/* ---- lower_item.c: the item function, and the job's parameters ---- */
/* Describes the parameters of the entry. */
kiln_status kiln__lower_parameters(kiln__lowering *l);
/* The item function's type; NULL: out of memory. */
LLVMTypeRef kiln__lower_signature(kiln__lowering *l);
/* Makes ENTRY.suffix around the entry's body. */
kiln_status kiln__lower_item(kiln__lowering *l, const char *suffix,
                             LLVMValueRef *out);
/* The register forms of the entry's parameters, behind the item, from the
   flat parameters of `function`; NULL: out of memory. */
LLVMValueRef *kiln__lower_gather(kiln__lowering *l, LLVMValueRef function);

#endif /* KILN_LOWER_H */
