/* lower_group.h - functions emitted for a whole group of items at once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_GROUP_H
#define KILN_LOWER_GROUP_H

#include "codegen/lower/lower.h"
#include "codegen/lower/lower_rewrite.h"
#include "ir/ir_uniform.h"

/*
 * A backend without barriers of its own runs the items of a group in loops. A
 * kernel with collective operations is then emitted for the group. Its control
 * flow around these operations becomes real control flow that runs once for
 * the group, and what lies between them becomes *regions*, loops over the
 * items.
 *
 *   flatten   moves collective operations out of expressions
 *             (lower_group_flatten.c)
 *   plan      frames, steps, and where variables live (lower_group_plan.c,
 *             lower_group_steps.c, lower_group_remat.c)
 *   emit      steps (lower_group.c), variables (lower_group_slot.c),
 *             operations (lower_group_collective.c)
 *
 * Collective callees are emitted in place: each call is a *frame* of its own,
 * whose parameters and result are variables of the caller.
 *
 * The same is done one level down. A statement that is uniform only within
 * sub-groups is emitted for one sub-group after the other, and its regions are
 * loops over lanes. The *scope* says which of the two levels it is:
 * KILN__UNIFORM_GROUP or KILN__UNIFORM_SUB_GROUP.
 */

typedef enum kiln__group_storage {
    KILN__STORAGE_REGION, /* used in one region: a register of the item */
    KILN__STORAGE_SLOT,   /* an array in the group's memory, by item */
    KILN__STORAGE_REMAT,  /* each region computes it: a register */
    KILN__STORAGE_SCALAR  /* one for the group, set only at group level */
} kiln__group_storage;

typedef struct kiln__group_variable {
    kiln__group_storage storage;
    uint32_t unit;                     /* the unit that touches it, or 0 */
    uint64_t offset;                   /* of a slot, in bytes for an item */
    LLVMValueRef place;                /* alloca; NULL for what has no bytes */
    struct kiln__group_frame *frame;   /* the frame whose local it is */
    uint32_t type;                     /* index of a type in that frame */
    uint32_t set;                      /* the only SET of it, or 0 */
    uint8_t is_in_loop;                /* the SET is in a loop of its frame */
    uint8_t is_argument;               /* an argument of the kernel */
    uint8_t is_kept;                   /* used outside of regions */
    struct kiln__group_variable *next; /* the one that was made before it */
} kiln__group_variable;

typedef enum kiln__group_action {
    KILN__STEP_REGION,     /* nodes, for each item */
    KILN__STEP_STATEMENT,  /* one node, at this level */
    KILN__STEP_COLLECTIVE, /* (set %t (group ...)) */
    KILN__STEP_CALL,       /* a call: its frame */
    KILN__STEP_LEAVE,      /* leaves the frame, with all items */
    KILN__STEP_CLEAR,      /* clears a flag, for each item */
    KILN__STEP_SUB_GROUPS, /* one node, for each sub-group */
    KILN__STEP_NEXT        /* goes to the next sub-group */
} kiln__group_action;

/* A local that a region reads or sets. */
typedef struct kiln__group_touch {
    struct kiln__group_touch *next;
    uint32_t local;
    uint8_t is_set;
    uint8_t is_guard; /* items with this flag set skip the region */
} kiln__group_touch;

/* Steps of one block; `first` is NULL when there are none. */
typedef struct kiln__group_steps {
    struct kiln__group_step *first;
    struct kiln__group_step *last;
    uint8_t is_planned;
} kiln__group_steps;

typedef struct kiln__group_step {
    struct kiln__group_step *next;
    kiln__group_action action;
    uint32_t node;    /* a statement's node; of CLEAR a local */
    uint32_t skipped; /* of a region: the flag that a CONTINUE sets, or 0 */
    uint32_t *nodes;  /* of a region, in the arena */
    size_t count;
    size_t capacity;
    kiln__group_touch *touches;
    struct kiln__group_frame *frame; /* of a call */
    kiln__group_steps inner;         /* of SUB_GROUPS */
} kiln__group_step;

#define KILN__SPLIT_NOT 0
#define KILN__SPLIT 1       /* runs once for the scope */
#define KILN__SPLIT_VALUE 2 /* a RETURN whose value only a region sets */

typedef struct kiln__group_frame {
    struct kiln__group_frame *outer;
    uint32_t ordinal;       /* of the call, in the outer frame */
    kiln__lower_function f; /* a copy; its value is the group's function */
    const kiln__uniform_view *view;
    uint8_t scope;   /* of the call */
    uint8_t *split;  /* by node: KILN__SPLIT_... */
    uint8_t *scopes; /* by loop node: the scope for which it is split */
    kiln__group_variable **variables; /* by local */
    kiln__group_variable *result;     /* NULL: no result */
    kiln__group_steps *steps;         /* by BLOCK node */
    int has_exits;                    /* some items return before others */
    LLVMBasicBlockRef leave;
    LLVMValueRef *locals; /* kiln__lowering's, while the frame is emitted */
    char *fixed;
    kiln__lower_loop *loop;
} kiln__group_frame;

/* What is being emitted. */
typedef struct kiln__group {
    kiln__uniform *uniform;
    kiln__group_frame *frame;
    uint8_t scope;
    LLVMValueRef first; /* number of the scope's first item */
    LLVMValueRef last;  /* SUB_GROUP: one more than its last item's number */
    LLVMValueRef items; /* of a full group */
    LLVMValueRef count; /* `items` rounded up to a multiple of 64 */
    LLVMValueRef slots; /* address of the slots */
    LLVMBasicBlockRef entry;
    LLVMBasicBlockRef failed;
    LLVMBasicBlockRef next_sub_group;
    LLVMBasicBlockRef item_end; /* set in a region; else NULL */
    LLVMValueRef number;        /* of the item; set in a region */
} kiln__group;

/* A loop over the items of the scope. */
typedef struct kiln__group_loop {
    kiln__codegen_items items;
    LLVMBasicBlockRef head, next; /* of the loop over lanes */
} kiln__group_loop;

/* ---- lower_group_flatten.c ---- */
kiln_status kiln__group_flatten(kiln__lowering *l,
                                kiln__lower_function *function,
                                const kiln__uniform_function *functions);

/* ---- lower_group_plan.c ---- */
/* Gathers facts about the request's functions, and flattens collective ones. */
kiln_status kiln__group_prepare(kiln__lowering *l);
/* Marks what is split in the frame and decides where its locals live. */
void kiln__group_decide(kiln__lowering *l, kiln__group_frame *frame);
/* True when the node, or something in it, is collective or a loop that is to
   run once for the group. */
int kiln__group_carries(const kiln__lowering *l, const kiln__group_frame *frame,
                        uint32_t node);

/* ---- lower_group_loops.c ---- */
/* A flag of loops: the loop over items is inside this loop, although nothing in
   it is collective (loop interchange). */
#define KILN__GROUP_INTERCHANGED 0x8000u
/* A flag of WHILE nodes: lower_group_strides.c has made it for that. */
#define KILN__GROUP_TURNS 0x4000u
typedef struct kiln__group_finder {
    const kiln__lowering *l;
    kiln__ir *ir; /* of the entry */
    const kiln__uniform_view *view;
    uint32_t *sets;   /* by local: its only SET plus 1; 0: none or several */
    uint32_t *loops;  /* by local: the FOR that counts it plus 1, or 0 */
    uint32_t strided; /* a local plus 1 that neighbours have one apart, or 0 */
} kiln__group_finder;

/* Examines a kernel. */
kiln_status kiln__group_finder_init(kiln__group_finder *f, kiln__lowering *l);
/* True when the FOR loop is better done once for the group, as far as its
   bounds and its block tell. */
int kiln__group_loop_fits(const kiln__group_finder *f, uint32_t index);
/* True if it would be for a loop with the block, whose counter is one apart for
   neighbours. */
int kiln__group_strides_fit(const kiln__group_finder *f, uint32_t block,
                            uint32_t counter);
/* True when all items count alike in the FOR loop, and access the same elements
   or neighbouring ones. */
int kiln__group_loop_is_wide(const kiln__group_finder *f, uint32_t index);
/* Marks such loops, if they are under uniform control. */
void kiln__group_mark_loops(const kiln__group_finder *f, int *found);

/* ---- lower_group_wide.c ---- */
/* True for a kernel whose items can go through its loops as vectors. */
int kiln__group_is_wide(const kiln__group_finder *f);

/* ---- lower_group_edit.c ---- */
/* Copies an expression: a node has one user. */
uint32_t kiln__group_copy(kiln__rewrite *r, const kiln__lowering *l,
                          uint32_t index);
/* True when the statement sets a local of the expression. */
int kiln__group_changes(const kiln__ir *ir, uint32_t statement, uint32_t index);

/* ---- lower_group_strides.c ---- */
/* Rewrites loops in which items take turns at elements. After that, facts found
   earlier do not hold any more. */
kiln_status kiln__group_turn_strides(const kiln__group_finder *finder,
                                     int *changed);

/* ---- lower_group_hoist.c ---- */
/* Takes out of guards around loops what all items compute alike. After that,
   facts found earlier do not hold any more. */
kiln_status kiln__group_hoist_sets(const kiln__group_finder *finder,
                                   int *changed);

/* ---- lower_group_fission.c ---- */
/* Takes loops apart that are better outside of the items only in part. After
   that, facts found earlier do not hold any more. */
kiln_status kiln__group_divide_loops(const kiln__group_finder *finder,
                                     int *changed);

/* ---- lower_group_guards.c ---- */
/* True for `if c return end`. */
int kiln__group_is_exit(const kiln__ir *ir, uint32_t index);
/* Rewrites guards around such loops. After that, facts found earlier do not
   hold any more. */
kiln_status kiln__group_split_guards(const kiln__group_finder *finder,
                                     int *changed);

/* ---- lower_group_steps.c ---- */
/* Returns the entry's frame with all that it calls; NULL after a failure. */
kiln__group_frame *kiln__group_plan(kiln__lowering *l, kiln__uniform *uniform);

/* ---- lower_group_remat.c ---- */
/* True when the variable may be computed wherever it is used. */
int kiln__group_can_repeat(const kiln__lowering *l,
                           const kiln__group_variable *variable);
/* Computes the variable into its place. */
void kiln__group_rematerialise(kiln__lowering *l,
                               const kiln__group_variable *variable);

/* ---- lower_group_slot.c ---- */
/* Returns how many bytes a value of the type takes for each item. */
uint64_t kiln__group_slot_size(const kiln__lower_function *f, uint32_t type);
LLVMValueRef kiln__group_slot_read(kiln__lowering *l,
                                   const kiln__group_variable *variable,
                                   uint32_t type, LLVMValueRef number);
void kiln__group_slot_write(kiln__lowering *l,
                            const kiln__group_variable *variable, uint32_t type,
                            LLVMValueRef number, LLVMValueRef value);

/* ---- lower_group.c ---- */
/* Defines function 0 for a group. */
kiln_status kiln__group_define(kiln__lowering *l, kiln__lower_function *f);
/* Makes a place of the type in the function's first block. */
LLVMValueRef kiln__group_place(kiln__lowering *l, LLVMTypeRef type);
/* Begins and ends a loop over the items of the scope. In between, `number` of
   the group is the item's. */
void kiln__group_open(kiln__lowering *l, kiln__group_loop *loop);
void kiln__group_close(kiln__lowering *l, kiln__group_loop *loop,
                       int is_parallel);
/* Runs `body` for each sub-group of the scope. */
void kiln__group_each(kiln__lowering *l,
                      void (*body)(kiln__lowering *l, void *env), void *env);

/* ---- lower_group_collective.c ---- */
void kiln__group_collective(kiln__lowering *l, const kiln__ir_node *set);

#endif /* KILN_LOWER_GROUP_H */
