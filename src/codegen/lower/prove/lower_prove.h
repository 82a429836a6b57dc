/* lower_prove.h - what the files that prove the checks of a tile share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_PROVE_H
#define KILN_LOWER_PROVE_H

#include "base/system/stack.h"
#include "codegen/lower/lower.h"

/*
 * A kernel is interpreted once, over ranges instead of values, for all items of
 * a tile together. The interpretation emits LLVM IR: straight code, without
 * memory and without branches, that computes "no check fails".
 *
 *   symbol  what an expression stands for: an operation on symbols, or a leaf
 *           with a range. Equal expressions are one symbol, so a fact about
 *           one of them holds for all.
 *   path    a place in the program, as the facts that hold there: each path
 *           adds one symbol's range to its parent's facts. `dead` is true (at
 *           run time) when no item of the tile comes here.
 *   range   the least and the greatest value on a path, as i64 of either
 *           signedness; i1 for Bool, false before true. Both are one value for
 *           what is the same for all items: then it is exact.
 *
 * Arithmetic that may overflow for any value of a range gives the full range
 * of its kind. So does everything that is not understood. u64, floats and
 * vectors have no range at all. Ids and sizes are assumed to be at most
 * `size_most`, and the test checks that, too. So most sums are known not to
 * overflow while the kernel is compiled.
 */
#define KILN__PROVE_SIZE_MAX (((int64_t)1 << 40) - 1)
/* Steps of interpretation. A large kernel takes 10000. */
#define KILN__PROVE_STEPS_MAX 60000
/* Bytes of the thread's stack: symbols and paths may form long chains, which
   are walked recursively. */
#define KILN__PROVE_STACK_MAX ((uintptr_t)4 << 20)

typedef struct kiln__range {
    LLVMValueRef low; /* NULL: there is no range */
    LLVMValueRef high;
} kiln__range;

#define KILN__SYMBOL_LEAF KILN__IR_NONE
#define KILN__SYMBOL_FIELDS KILN__IR_TUPLE /* of an array: its sizes */
#define KILN__SYMBOL_INSIDE KILN__IR_LOAD  /* a check of bounds: index, size */

#define KILN__LOOSE_LOW 1u
#define KILN__LOOSE_HIGH 2u
#define KILN__LOOSE (KILN__LOOSE_LOW | KILN__LOOSE_HIGH)

typedef struct kiln__prove_symbol {
    uint32_t op;  /* KILN__SYMBOL_..., or an operation of typed IR */
    int32_t kind; /* of a scalar; else KILN_TYPE_NONE */
    int64_t imm;
    struct kiln__prove_symbol *operands[3];
    kiln__range range;                  /* of a LEAF */
    int64_t least, greatest;            /* bounds that hold for all arguments */
    int exact;                          /* it never overflows */
    struct kiln__prove_symbol **fields; /* of FIELDS */
    uint32_t field_count;
    uint32_t id;
    /* At least how far apart numbers that are read from memory put its least
       and its greatest value, if nothing is known of them. */
    int64_t spread;
    /* KILN__LOOSE_...: the ends of its range that follow from a number of which
       nothing is known. */
    unsigned loose;
    int has_facts;                    /* some path has a fact about it */
    struct kiln__prove_symbol *chain; /* the next one of the same hash */
} kiln__prove_symbol;

typedef struct kiln__prove_path {
    struct kiln__prove_path *parent;
    const kiln__prove_symbol *about; /* NULL: the path adds no fact */
    kiln__range bound;               /* range of that symbol on this path */
    LLVMValueRef dead;
    uint32_t id;
    /* A second refinement by the same condition finds the path of the first. */
    struct kiln__prove_path_child *children;
} kiln__prove_path;

typedef struct kiln__prover kiln__prover;
struct kiln__prover {
    kiln__lowering *l;
    kiln__arena *arena;
    LLVMValueRef item;
    LLVMValueRef first[3]; /* least global ids of the tile */
    LLVMValueRef last[3];
    /* On a device the tile is the whole grid, and checks that cannot be proved
       stay. Then these are the sizes of a group, and of the grid in groups. */
    int is_grid;
    LLVMValueRef group_size[3];
    LLVMValueRef group_count[3];
    void (*begin)(struct kiln__prover *p); /* before anything is interpreted */
    int64_t size_most; /* what ids and sizes are assumed to be at most */
    LLVMTypeRef i1;
    kiln__prove_symbol **symbols; /* by hash */
    struct kiln__known **known;
    struct kiln__obligation *obligations;
    unsigned char **seen; /* by function: nodes that were interpreted */
    unsigned char **lost; /* by function: nodes that can never be proved */
    LLVMValueRef sizes;   /* all ids and sizes, or-ed together */
    uint32_t obligation_count;
    uint32_t symbol_count;
    uint32_t path_count;
    uint32_t loops; /* of the program, around what is interpreted */
    uintptr_t top;  /* address of the stack where interpretation began */
    int64_t budget; /* steps left; negative: given up */
    /* That locals of loops move in one direction; 2: or by factors, or to and
       fro; 0: nothing. */
    int assumes_motion;
    int motion_failed; /* but one of them cannot be proved to */
    int refines;       /* conditions narrow ranges */
    int failed;        /* out of memory */
};

/* A call that is being interpreted. */
typedef struct kiln__frame {
    const kiln__lower_function *f;
    const kiln__ir *ir;
    kiln__prove_symbol **locals;
    kiln__prove_symbol *
        *moving; /* by local: its bounds in this loop, or NULL */
    kiln__prove_path *root;
    /* The paths of all returns so far, joined; NULL: none. */
    kiln__prove_path *returned;
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
/* Returns a + b, wrapping. */
LLVMValueRef kiln__prove_plus(kiln__prover *p, LLVMValueRef a, int64_t b);
/* True when the value is the constant `truth`. */
int kiln__prove_is(LLVMValueRef value, int truth);
int kiln__range_is_point(kiln__range range);
int kiln__range_same(kiln__range a, kiln__range b);
/* Returns the range of everything that a value of the kind can be. */
kiln__range kiln__range_full(const kiln__prover *p, int32_t kind);
kiln__range kiln__range_point(LLVMValueRef value);
/* Return what is in either range, and what is in both. */
kiln__range kiln__range_join(kiln__prover *p, kiln__range a, kiln__range b);
kiln__range kiln__range_meet(kiln__prover *p, kiln__range a, kiln__range b);
/* Returns `a` where the condition holds, else `b`. */
kiln__range kiln__range_select(kiln__prover *p, LLVMValueRef condition,
                               kiln__range a, kiln__range b);
kiln__range kiln__range_compare(kiln__prover *p, uint32_t op, kiln__range a,
                                kiln__range b);
kiln__range kiln__range_binary(kiln__prover *p, const kiln__prove_symbol *s,
                               kiln__range a, kiln__range b);
/* Returns true where s, a sum or difference of x and `by`, overflows for no x
   of the range. */
LLVMValueRef kiln__range_can_move(kiln__prover *p, const kiln__prove_symbol *s,
                                  kiln__range x, LLVMValueRef by);
/* Returns true when an index is within a size. */
kiln__range kiln__range_inside(kiln__prover *p, kiln__range index,
                               kiln__range size, int64_t least);
/* Converts to another kind: unchanged where it fits, else the full range. */
kiln__range kiln__range_fit(kiln__prover *p, kiln__range a, int32_t kind);
/* Converts to another kind by taking the nearest values. */
kiln__range kiln__range_clamp(kiln__prover *p, kiln__range a, int32_t kind);
/* Stores the kind's own bounds; false for a kind without ranges. */
int kiln__prove_bounds(int32_t kind, int64_t *low, int64_t *high);

/* ---- lower_prove_divide.c: division, shifts, masks ---- */
kiln__range kiln__range_divide(kiln__prover *p, int32_t kind, kiln__range a,
                               kiln__range b);
kiln__range kiln__range_remainder(kiln__prover *p, int32_t kind, kiln__range a,
                                  kiln__range b);
kiln__range kiln__range_shift_right(kiln__prover *p, int32_t kind,
                                    kiln__range a, kiln__range b);
kiln__range kiln__range_and(kiln__prover *p, int32_t kind, kiln__range a,
                            kiln__range b);
kiln__range kiln__range_abs(kiln__prover *p, int32_t kind, kiln__range a);

/* ---- lower_prove_bounds.c: what is known at compile time ---- */
/* Sets least, greatest, exact and spread from those of the operands. */
void kiln__prove_symbol_bound(kiln__prove_symbol *s);

/* ---- lower_prove_symbol.c ---- */
kiln__prove_symbol *kiln__prove_symbol_leaf(kiln__prover *p, int32_t kind,
                                            kiln__range range);
/* Notes the assumption that the value is at most p->size_most. */
void kiln__prove_size(kiln__prover *p, kiln__prove_symbol *s,
                      LLVMValueRef most);
kiln__prove_symbol *kiln__prove_symbol_constant(kiln__prover *p, int32_t kind,
                                                int64_t value);
/* Symbols of the same form are one symbol. */
typedef struct kiln__prove_form {
    uint32_t op;
    int32_t kind;
    int64_t imm;
    kiln__prove_symbol *operands[3];
} kiln__prove_form;

/* Returns the ends of a number of which nothing is known, not even on some
   path. */
unsigned kiln__prove_loose_ends(const kiln__prove_symbol *s);
kiln__prove_symbol *kiln__prove_symbol_make(kiln__prover *p,
                                            const kiln__prove_form *form);
/* The same for an operation that has no immediate. */
kiln__prove_symbol *kiln__prove_symbol_apply(kiln__prover *p, uint32_t op,
                                             int32_t kind,
                                             kiln__prove_symbol *a,
                                             kiln__prove_symbol *b);
/* Makes an aggregate whose fields the caller fills in. */
kiln__prove_symbol *kiln__prove_symbol_fields(kiln__prover *p, uint32_t count);
/* Makes a symbol for any value of the type. */
kiln__prove_symbol *kiln__prove_symbol_unknown(kiln__prover *p,
                                               const kiln__ir *ir,
                                               uint32_t type);
kiln__prove_symbol *kiln__prove_symbol_zero(kiln__prover *p, const kiln__ir *ir,
                                            uint32_t type);
/* Makes the symbol of an LLVM value in register form. */
kiln__prove_symbol *kiln__prove_symbol_of(kiln__prover *p, const kiln__ir *ir,
                                          uint32_t type, LLVMValueRef value);
kiln__prove_symbol *kiln__prove_symbol_choose(kiln__prover *p,
                                              kiln__prove_symbol *condition,
                                              kiln__prove_symbol *a,
                                              kiln__prove_symbol *b);
/* Joins the symbols that come from two paths. */
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
/* Returns the path on which the condition is `truth`. */
kiln__prove_path *kiln__prove_path_refine(kiln__prover *p,
                                          kiln__prove_path *path,
                                          kiln__prove_symbol *condition,
                                          int truth);

/* ---- lower_prove_cases.c ---- */
/* Returns true where the condition holds for all items on the path; NULL:
   nothing is known. */
LLVMValueRef kiln__prove_holds(kiln__prover *p, kiln__prove_path *path,
                               kiln__prove_symbol *condition);

/* ---- lower_prove_value.c: expressions ---- */
kiln__prove_symbol *kiln__prove_value(kiln__prover *p, kiln__frame *frame,
                                      kiln__prove_path *path, uint32_t node);
/* Evaluates the array, the indices and the values of an access, and what it
   checks. */
void kiln__prove_access(kiln__prover *p, kiln__frame *frame,
                        kiln__prove_path *path, uint32_t node);
/* Requires the condition: the node raises where it does not hold. */
void kiln__prove_require(kiln__prover *p, const kiln__frame *frame,
                         kiln__prove_path *path, uint32_t node,
                         kiln__prove_symbol *condition);

/* ---- lower_prove_motion.c: locals that loops change ---- */
/* Returns a symbol with the bounds of a local that moves in one direction while
   the loop runs, or to and fro; NULL for any other. It is `start` before. */
kiln__prove_symbol *kiln__prove_motion(kiln__prover *p,
                                       const kiln__frame *frame,
                                       kiln__prove_path *path, uint32_t loop,
                                       uint32_t local,
                                       kiln__prove_symbol *start);

/* ---- lower_prove_walk.c: statements ---- */
/* Returns the path after the statement; NULL: control never gets there. */
kiln__prove_path *kiln__prove_statement(kiln__prover *p, kiln__frame *frame,
                                        kiln__prove_path *path, uint32_t node);
/* Gives the frame's locals their first values; false: out of memory. */
int kiln__prove_locals(kiln__prover *p, kiln__frame *frame,
                       kiln__prove_symbol **arguments);
/* Interprets a call and returns the symbol of its result. */
kiln__prove_symbol *kiln__prove_call(kiln__prover *p, const kiln__frame *caller,
                                     kiln__prove_path *path,
                                     const kiln__lower_function *f,
                                     kiln__prove_symbol **arguments);

/* ---- lower_prove.c ---- */
/* Makes a function that takes the entry's flat arguments and the least and the
   greatest global ids of a tile, and then, if it is a grid, the sizes of a
   group and of the grid in groups. Leaves the builder in it. NULL: out of
   memory. */
LLVMValueRef kiln__prove_function(kiln__lowering *l, const char *suffix,
                                  LLVMTypeRef result);
/* Returns the symbols of the entry's arguments in that function; NULL: out of
   memory. */
kiln__prove_symbol **kiln__prove_begin(kiln__prover *p, LLVMValueRef function);
/* How many parameters such a function has after the entry's arguments. */
static inline unsigned kiln__prove_extent(const kiln__lowering *l)
{
    return l->job->backend->device != NULL ? 12 : 6;
}
/* Makes such a function and interprets the kernel in it. */
kiln_status kiln__prove_interpret(kiln__prover *p, const char *suffix,
                                  LLVMTypeRef result, LLVMValueRef *function);
/* Builds "no check fails", and notes which nodes cannot raise then. */
LLVMValueRef kiln__prove_conclude(kiln__prover *p);
/* Decides which nodes cannot raise in a tile for which job->proof_function
   returns 0, and makes that function. Leaves it NULL where that is not worth a
   second body. */
kiln_status kiln__lower_prove(kiln__lowering *l);

/* ---- lower_clip.c ---- */
/* Decides which guards of the entry the loops over items can replace, and makes
   job->clip_function. Leaves it NULL where there are none. */
kiln_status kiln__lower_clip(kiln__lowering *l);

/* ---- lower_facts.c ---- */
/* Makes job->facts, for a second entry of a device's kernel, and decides which
   nodes cannot raise where they hold. Leaves them NULL where there is nothing
   to be assumed. */
kiln_status kiln__lower_facts(kiln__lowering *l);

#define KILN__PROVE_HERE ((uintptr_t)__builtin_frame_address(0))

/* Counts one step of work. Returns false when there were too many, or when they
   nest too deeply. The limits are fixed numbers, so what is proved does not
   depend on the thread. */
static inline int kiln__prove_step(kiln__prover *p)
{
    if (p->top - KILN__PROVE_HERE > KILN__PROVE_STACK_MAX * KILN__STACK_SCALE)
        p->budget = 0;
    return --p->budget >= 0;
}

#endif /* KILN_LOWER_PROVE_H */
