/* groups_plan.h - how a kernel is cut into regions, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GROUPS_GROUPS_PLAN_H
#define KILN_CODEGEN_GROUPS_GROUPS_PLAN_H

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "codegen/groups/groups.h"

/*
 * A *split* is a block at whose end every item waits: at a barrier, which may
 * have a step; before a branch that decides for the group, or where items meet
 * again. Each
 * successor of a split is an *entry*: a block with no other predecessor, and so
 * without phis. A *region* is what an entry reaches without passing a split. A
 * block may be in several regions; each gets a copy of it.
 *
 * In a block of *group level*, all items that have not ended yet take part, and
 * they go through these blocks in the same order. Regions that begin there are
 * run *together*. All other regions are run for the items that wait at their
 * entry.
 */

/* How a value reaches regions other than the one that computes it. */
enum class groups_storage {
    again,  /* they compute it again */
    scalar, /* one variable: the value is the group's */
    slots,  /* an array over the items, in the group's memory */
};

struct groups_value {
    groups_storage storage = groups_storage::slots;
    uint64_t offset = 0; /* of the array: bytes for each item before it */
};

struct groups_region {
    llvm::BasicBlock *entry = nullptr;
    bool is_together = false;
    bool is_masked = false; /* some items may have ended before */
    bool can_end = false;   /* an item may end in it */
    std::vector<llvm::BasicBlock *> blocks; /* reverse post-order */
    llvm::DenseSet<const llvm::BasicBlock *> has;
    std::vector<llvm::BasicBlock *> splits; /* where its items may get */
    std::vector<unsigned> next;             /* regions that may follow */
    /* values of other regions, or of an earlier run, that it reads */
    llvm::SetVector<llvm::Instruction *> live;
};

/* What is done once for the items that wait at a split. */
struct groups_step {
    llvm::Function *run = nullptr;
    std::vector<llvm::Value *> variables; /* of the item or the group */
};

struct groups_plan {
    llvm::Function *function = nullptr;
    bool is_general = false;
    /* For groups whose items agree on these values: the function's last
       parameters have taken the places of their uses. */
    std::vector<llvm::Instruction *> agreed;
    /* What an item must fulfil to run any region but that of the entry block;
       null: nothing. The entry block computes it. */
    llvm::Instruction *guard = nullptr;
    /* what the analysis of uniformity found */
    llvm::DenseSet<const llvm::Instruction *> uniform;
    llvm::DenseSet<const llvm::Instruction *> divergent; /* branches */
    /* blocks */
    std::vector<llvm::BasicBlock *> barriers;
    /* by barrier */
    llvm::DenseMap<const llvm::BasicBlock *, groups_step> steps;
    llvm::DenseSet<const llvm::BasicBlock *> group_level;
    llvm::DenseSet<const llvm::BasicBlock *> splits;
    /* entries, and whether the region is run together */
    llvm::MapVector<llvm::BasicBlock *, bool> entries;
    std::vector<groups_region> regions;
    llvm::DenseMap<const llvm::BasicBlock *, unsigned> region_of; /* by entry */
    llvm::MapVector<llvm::Instruction *, groups_value> values;
    llvm::MapVector<llvm::AllocaInst *, groups_value> arrays; /* private ones */
    llvm::DenseSet<const llvm::AllocaInst *> locals; /* of one region's item */
    uint64_t private_bytes = 0;
};

/* ---- groups_cut.cc ---- */
/* Finds all of a plan but its values. Returns false when its regions do not fit
   together. */
bool kiln__groups_make_plan(groups_plan &plan);
/* True when it must be known at run time which items wait. */
bool kiln__groups_keeps_waiting(const groups_plan &plan);

/* ---- groups_unroll.cc ---- */
/* Unrolls short loops without barriers that index arrays of an item. Returns
   false if there are none. */
bool kiln__groups_unroll(llvm::Function &function);

/* ---- groups_guard.cc ---- */
/* Takes the kernel's guard out of its control flow, if it has one. */
void kiln__groups_take_guard(groups_plan &plan);

/* ---- groups_loops.cc ---- */
/* Lets items wait in loops that the group is better to run together. Needs what
   is uniform. Returns false if there are none. */
bool kiln__groups_wait_in_loops(groups_plan &plan);
/* Lets items wait at the end of the block. */
void kiln__groups_add_wait(llvm::BasicBlock *block);

/* ---- groups_strides.cc ---- */
/* Parts what loops count into a beginning of each item and a way of the group:
   of loops with barriers, or of all if there are no barriers. Needs what is
   uniform, and changes it. Returns false if there is nothing to part. */
bool kiln__groups_part_counters(groups_plan &plan);

/* ---- llvm_gap_uniform.cc ---- */
/* Finds which values and branches are the same for all items. */
void kiln__groups_find_uniform(groups_plan &plan);

/* ---- groups_agree.cc ---- */
/* Makes the plan `out` for a copy of the function, for groups whose items agree
   on what decides about barriers. Returns false if it would not be better. */
bool kiln__groups_plan_agreed(const groups_plan &plan, groups_plan &out);

/* ---- groups_levels.cc ---- */
/* Finds the blocks of group level, and adds splits where items meet. */
void kiln__groups_find_levels(groups_plan &plan);

/* ---- groups_decide.cc ---- */
/* Adds splits at the uniform branches that decide which split is next. */
void kiln__groups_find_decisions(groups_plan &plan);

/* ---- groups_split.cc ---- */
/* Makes blocks end where items wait, and removes the calls. */
void kiln__groups_split_barriers(groups_plan &plan);
/* Makes every edge out of the block lead to an entry. */
void kiln__groups_split_edges(groups_plan &plan, llvm::BasicBlock *block,
                              bool is_together);
/* Makes the edges from these blocks to `to` lead through one block, which is a
   split. */
void kiln__groups_join(groups_plan &plan, llvm::BasicBlock *to,
                       llvm::ArrayRef<llvm::BasicBlock *> from);

/* ---- groups_regions.cc ---- */
/* Fills plan.regions. Returns false when regions that are run together would
   not end at one split. */
bool kiln__groups_find_regions(groups_plan &plan);

/* ---- groups_volatile.cc ---- */
/* Makes plain what is volatile in the group's memory, where items that differ
   in the dimension do not race. */
void kiln__groups_drop_volatile(const groups_plan &plan, unsigned dimension);

/* ---- groups_values.cc ---- */
/* Decides how values get from region to region. */
void kiln__groups_find_values(groups_plan &plan);
/* True for a call that only asks for ids or sizes: it may be repeated. */
bool kiln__groups_is_query(const llvm::Value *value);

/* ---- groups_emit.cc ---- */
/* Makes the function for the whole group. `general`, which is for groups whose
   items do not agree, is given where the plan is for those that do; it is
   inlined. */
llvm::Function *kiln__groups_emit(kiln__codegen_job *job,
                                  const groups_plan &plan,
                                  llvm::Function *general);

#endif /* KILN_CODEGEN_GROUPS_GROUPS_PLAN_H */
