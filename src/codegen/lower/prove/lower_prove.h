/* lower_prove.h - what the files that prove a tile's checks share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_PROVE_H
#define KILN_LOWER_PROVE_H

#include "base/system/stack.h"
#include "codegen/lower/lower.h"

/*
 * A kernel is interpreted once over ranges instead of values, for all items of
 * a tile together, and what the interpretation computes is LLVM IR: straight
 * code, without memory and without branches, that ends in "no check fails".
 *
 *   symbol  what an expression stands for: an operation on symbols, or a leaf
 *           with a range. Equal expressions are one symbol, so a fact about
 *           one of them holds for all.
 *   path    a place in the program as the facts that hold there: each adds one
 *           symbol's range to its parent's. `dead` is true (at run time) when
 *           no item of the tile comes here.
 *   range   the least and the greatest value on a path, as i64 of either
 *           signedness; i1 for Bool, false before true. Both are one value for
 *           what is the same for all items: then it is exact.
 *
 * Arithmetic that may overflow for any value of a range gives the full range
 * of its kind; so does all that is not understood. u64, floats and vectors
 * have no range at all. Ids and sizes are taken to be at most
 * KILN__PROVE_SIZE_MAX, which the test looks at, too; so most sums are known
 * not to overflow while the kernel is compiled.
 */
#define KILN__PROVE_SIZE_MAX (((int64_t)1 << 40) - 1)
/* Of interpretation; a large kernel takes 10000. */
#define KILN__PROVE_STEPS_MAX 60000
/* Of the thread's stack, in bytes: symbols and paths may hang on each other in
   long chains. */
#define KILN__PROVE_STACK_MAX ((uintptr_t)4 << 20)

typedef struct kiln__range {
    LLVMValueRef low; /* NULL: no range */
    LLVMValueRef high;
} kiln__range;

#define KILN__SYMBOL_LEAF KILN__IR_NONE
#define KILN__SYMBOL_FIELDS KILN__IR_TUPLE /* of an array: its sizes */
#define KILN__SYMBOL_INSIDE KILN__IR_LOAD  /* index, size: a check of bounds */

typedef struct kiln__prove_symbol {
    uint32_t op;  /* KILN__SYMBOL_..., or an operation of typed IR */
    int32_t kind; /* of a scalar, else KILN_TYPE_NONE */
    int64_t imm;
    struct kiln__prove_symbol *operands[3];
    kiln__range range;                  /* LEAF */
    int64_t least, greatest;            /* whatever the arguments are */
    int exact;                          /* it never overflows */
    struct kiln__prove_symbol **fields; /* FIELDS */
    uint32_t field_count;
    uint32_t id;
    int has_facts;                    /* some path knows more about it */
    struct kiln__prove_symbol *chain; /* of equal hashes */
} kiln__prove_symbol;

typedef struct kiln__prove_path {
    struct kiln__prove_path *parent;
    const kiln__prove_symbol *about; /* NULL: no fact */
    kiln__range bound;               /* its range from here on */
    LLVMValueRef dead;
    uint32_t id;
    /* The same condition leads to the same path. */
    struct kiln__prove_path_child *children;
} kiln__prove_path;

typedef struct kiln__prover {
    kiln__lowering *l;
    kiln__arena *arena;
    LLVMValueRef item;
    LLVMValueRef first[3]; /* global ids of the tile */
    LLVMValueRef last[3];
    LLVMTypeRef i1;
    kiln__prove_symbol **symbols; /* by hash */
    struct kiln__known **known;
    struct kiln__obligation *obligations;
    unsigned char **seen; /* of each function: nodes that were interpreted */
    unsigned char **lost; /* and those that can never be proved */
    LLVMValueRef sizes;   /* ids and sizes, every bit of any of them */
    uint32_t obligation_count;
    uint32_t symbol_count;
    uint32_t path_count;
    uintptr_t top;    /* of the stack, where interpretation began */
    int64_t budget;   /* steps left; below 0: given up */
    int moves;        /* locals of loops are taken to move one way */
    int moves_failed; /* but one cannot be proved to */
    int learns;       /* what conditions say; else ranges stay as they are */
    int failed;       /* out of memory */
} kiln__prover;

/* One call that is being interpreted. */
typedef struct kiln__frame {
    const kiln__lower_function *f;
    const kiln__ir *ir;
    kiln__prove_symbol **locals;
    kiln__prove_symbol *
        *moving; /* by local: its bounds in this loop, or NULL */
    kiln__prove_path *root;
    kiln__prove_path *returned; /* ways out so far; NULL: none */
    kiln__prove_symbol *result;
    uint32_t depth;
} kiln__frame;

/* ---- lower_prove_range.c: arithmetic on ranges, as LLVM IR ---- */
LLVMValueRef kiln__prove_number(const kiln__prover *p, int64_t value);
LLVMValueRef kiln__prove_truth(const kiln__prover *p, int value);
LLVMValueRef kiln__prove_and(kiln__prover *p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef kiln__prove_or(kiln__prover *p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef kiln__prove_not(kiln__prover *p, LLVMValueRef a);
LLVMValueRef kiln__prove_select(kiln__prover *p, LLVMValueRef condition,
                                LLVMValueRef a, LLVMValueRef b);
/* a + b, wrapping. */
LLVMValueRef kiln__prove_plus(kiln__prover *p, LLVMValueRef a, int64_t b);
/* True when the value is the constant `truth`. */
int kiln__prove_is(LLVMValueRef value, int truth);
int kiln__range_is_point(kiln__range range);
int kiln__range_same(kiln__range a, kiln__range b);
/* Everything that a value of the kind can be. */
kiln__range kiln__range_full(const kiln__prover *p, int32_t kind);
kiln__range kiln__range_point(LLVMValueRef value);
/* What is in either, and what is in both. */
kiln__range kiln__range_join(kiln__prover *p, kiln__range a, kiln__range b);
kiln__range kiln__range_meet(kiln__prover *p, kiln__range a, kiln__range b);
/* `a` where the condition holds, else `b`. */
kiln__range kiln__range_select(kiln__prover *p, LLVMValueRef condition,
                               kiln__range a, kiln__range b);
kiln__range kiln__range_compare(kiln__prover *p, uint32_t op, kiln__range a,
                                kiln__range b);
kiln__range kiln__range_binary(kiln__prover *p, const kiln__prove_symbol *s,
                               kiln__range a, kiln__range b);
/* True where s, a sum or difference of x and `by`, overflows for no x of the
   range. */
LLVMValueRef kiln__range_can_move(kiln__prover *p, const kiln__prove_symbol *s,
                                  kiln__range x, LLVMValueRef by);
/* True when an index is within a size. */
kiln__range kiln__range_inside(kiln__prover *p, kiln__range index,
                               kiln__range size, int64_t least);
/* To another kind: as it is where it fits, else the full range. */
kiln__range kiln__range_fit(kiln__prover *p, kiln__range a, int32_t kind);
/* To another kind: the nearest values. */
kiln__range kiln__range_clamp(kiln__prover *p, kiln__range a, int32_t kind);
/* The kind's own bounds; false for what has no range. */
int kiln__prove_bounds(int32_t kind, int64_t *low, int64_t *high);

/* ---- lower_prove_divide.c: division, shifts, and what is bounded ---- */
kiln__range kiln__range_divide(kiln__prover *p, int32_t kind, kiln__range a,
                               kiln__range b);
kiln__range kiln__range_remainder(kiln__prover *p, int32_t kind, kiln__range a,
                                  kiln__range b);
kiln__range kiln__range_shift_right(kiln__prover *p, int32_t kind,
                                    kiln__range a, kiln__range b);
kiln__range kiln__range_and(kiln__prover *p, int32_t kind, kiln__range a,
                            kiln__range b);
kiln__range kiln__range_abs(kiln__prover *p, int32_t kind, kiln__range a);

/* ---- lower_prove_bounds.c: what is known while compiling ---- */
/* Sets least, greatest and exact from the operands'. */
void kiln__prove_symbol_bound(kiln__prove_symbol *s);

/* ---- lower_prove_symbol.c ---- */
kiln__prove_symbol *kiln__prove_symbol_leaf(kiln__prover *p, int32_t kind,
                                            kiln__range range);
/* Notes that the value is taken to be at most KILN__PROVE_SIZE_MAX. */
void kiln__prove_size(kiln__prover *p, kiln__prove_symbol *s,
                      LLVMValueRef most);
kiln__prove_symbol *kiln__prove_symbol_constant(kiln__prover *p, int32_t kind,
                                                int64_t value);
kiln__prove_symbol *kiln__prove_symbol_make(kiln__prover *p, uint32_t op,
                                            int32_t kind, int64_t imm,
                                            kiln__prove_symbol *a,
                                            kiln__prove_symbol *b,
                                            kiln__prove_symbol *c);
/* Fields to be filled in. */
kiln__prove_symbol *kiln__prove_symbol_fields(kiln__prover *p, uint32_t count);
/* Any value of the type. */
kiln__prove_symbol *kiln__prove_symbol_unknown(kiln__prover *p,
                                               const kiln__ir *ir,
                                               uint32_t type);
kiln__prove_symbol *kiln__prove_symbol_zero(kiln__prover *p, const kiln__ir *ir,
                                            uint32_t type);
/* The value that an LLVM value in register form is. */
kiln__prove_symbol *kiln__prove_symbol_of(kiln__prover *p, const kiln__ir *ir,
                                          uint32_t type, LLVMValueRef value);
kiln__prove_symbol *kiln__prove_symbol_choose(kiln__prover *p,
                                              kiln__prove_symbol *condition,
                                              kiln__prove_symbol *a,
                                              kiln__prove_symbol *b);
/* What comes from either of two paths. */
kiln__prove_symbol *kiln__prove_symbol_join(kiln__prover *p,
                                            kiln__prove_path *from_a,
                                            kiln__prove_symbol *a,
                                            kiln__prove_path *from_b,
                                            kiln__prove_symbol *b);

/* ---- lower_prove_path.c ---- */
kiln__prove_path *kiln__prove_path_new(kiln__prover *p,
                                       kiln__prove_path *parent,
                                       LLVMValueRef dead);
kiln__range kiln__prove_path_range(kiln__prover *p, kiln__prove_path *path,
                                   const kiln__prove_symbol *s);
/* The path on which the condition is `truth`. */
kiln__prove_path *kiln__prove_path_refine(kiln__prover *p,
                                          kiln__prove_path *path,
                                          kiln__prove_symbol *condition,
                                          int truth);

/* ---- lower_prove_value.c: expressions ---- */
kiln__prove_symbol *kiln__prove_value(kiln__prover *p, kiln__frame *frame,
                                      kiln__prove_path *path, uint32_t node);
/* Evaluates array, indices and values of an access, and what it checks. */
void kiln__prove_access(kiln__prover *p, kiln__frame *frame,
                        kiln__prove_path *path, uint32_t node);
/* The node raises unless the condition holds. */
void kiln__prove_require(kiln__prover *p, const kiln__frame *frame,
                         kiln__prove_path *path, uint32_t node,
                         kiln__prove_symbol *condition);

/* ---- lower_prove_walk.c: statements ---- */
/* The path behind the statement; NULL: it never ends. */
kiln__prove_path *kiln__prove_statement(kiln__prover *p, kiln__frame *frame,
                                        kiln__prove_path *path, uint32_t node);
/* Gives the frame's locals their first values; false without memory. */
int kiln__prove_locals(kiln__prover *p, kiln__frame *frame,
                       kiln__prove_symbol **arguments);
/* Interprets a call; the result's symbol. */
kiln__prove_symbol *kiln__prove_call(kiln__prover *p, const kiln__frame *caller,
                                     kiln__prove_path *path,
                                     const kiln__lower_function *f,
                                     kiln__prove_symbol **arguments);

/* ---- lower_prove.c ---- */
/* A function of the entry's flat arguments, and the least and the greatest
   global ids of a tile; the builder stands in it. NULL: out of memory. */
LLVMValueRef kiln__prove_function(kiln__lowering *l, const char *suffix,
                                  LLVMTypeRef result);
/* The entry's arguments in that function; NULL: out of memory. */
kiln__prove_symbol **kiln__prove_begin(kiln__prover *p, LLVMValueRef function);
/* Decides which nodes of the functions cannot raise in a tile for which
   job->proof_function says so, and makes that function; where that is not
   worth a second body, leaves it NULL. */
kiln_status kiln__lower_prove(kiln__lowering *l);

/* ---- lower_clip.c ---- */
/* Decides which guards of the entry the loops over items can replace, and
   makes job->clip_function; where there is none, leaves it NULL. */
kiln_status kiln__lower_clip(kiln__lowering *l);

#define KILN__PROVE_HERE ((uintptr_t)__builtin_frame_address(0))

/* One step of work; false when there were too many, or too many within each
   other. What is proved does not depend on the thread. */
static inline int kiln__prove_step(kiln__prover *p)
{
    if (p->top - KILN__PROVE_HERE > KILN__PROVE_STACK_MAX * KILN__STACK_SCALE)
        p->budget = 0;
    return --p->budget >= 0;
}

#endif /* KILN_LOWER_PROVE_H */
