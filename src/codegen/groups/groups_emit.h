/* groups_emit.h - the function for a group, while it is made. For C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GROUPS_GROUPS_EMIT_H
#define KILN_CODEGEN_GROUPS_GROUPS_EMIT_H

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "codegen/groups/groups_plan.h"

/* What an item that has ended waits for. */
#define GROUPS_ENDED UINT16_MAX

struct groups_emitter {
    kiln__codegen_job *job = nullptr;
    const groups_plan *plan = nullptr;
    LLVMBuilderRef c_builder = nullptr;
    llvm::IRBuilder<> *builder = nullptr; /* the same one */
    llvm::Function *out = nullptr;
    llvm::Function *general = nullptr; /* for groups that do not agree */
    llvm::CallInst *general_call = nullptr;
    std::vector<llvm::Value *> agreed;      /* what the items agree on */
    llvm::Instruction *variables = nullptr; /* new ones are made before it */
    llvm::Value *memory = nullptr;          /* of the group */
    llvm::Value *slots = nullptr;    /* address of the arrays over items */
    llvm::Value *count = nullptr;    /* of the elements of each */
    llvm::Value *waiting = nullptr;  /* array: region that items wait for */
    llvm::Function *first = nullptr; /* finds the least in it; null: unused */
    bool keeps_waiting = false;      /* the array is used */
    llvm::AllocaInst *any = nullptr; /* some item fulfils the guard, or null */
    llvm::BasicBlock *dispatch = nullptr;
    llvm::BasicBlock *done = nullptr;
    llvm::BasicBlock *failed = nullptr;
    std::vector<llvm::BasicBlock *> starts; /* of regions */
    std::vector<char> is_dispatched;        /* the dispatcher may go there */
    llvm::DenseMap<const llvm::Instruction *, llvm::AllocaInst *> scalars;
    llvm::DenseMap<const llvm::AllocaInst *, llvm::AllocaInst *> locals;
    /* of the region under way */
    const groups_region *region = nullptr;
    unsigned number = 0;
    llvm::Value *item = nullptr; /* number in the group */
    llvm::BasicBlock *before = nullptr;
    llvm::BasicBlock *item_start = nullptr;
    llvm::BasicBlock *item_end = nullptr;
    llvm::ValueToValueMapTy *map = nullptr;
    llvm::DenseMap<const llvm::Value *, llvm::Value *> brought;
    llvm::StoreInst *decision =
        nullptr; /* of what the branch at the split depends on */
    /* scalars that the region computes, and the variables for its items */
    llvm::SmallVector<std::pair<llvm::Instruction *, llvm::AllocaInst *>, 8>
        computed;
};

static inline const kiln__codegen_groups *groups_hooks(const groups_emitter &e)
{
    return e.job->backend->groups;
}

/* Returns what a branch to several blocks depends on. */
static inline llvm::Value *kiln__groups_decided_by(llvm::Instruction *jump)
{
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(jump))
        return branch->getCondition();
    return llvm::cast<llvm::SwitchInst>(jump)->getCondition();
}

/* ---- groups_emit.cc ---- */
llvm::AllocaInst *kiln__groups_variable(groups_emitter &e, llvm::Type *type);
/* Returns the address of the item's element of an array over items. */
llvm::Value *kiln__groups_slot(groups_emitter &e, uint64_t offset,
                               uint64_t size);
/* Builds that the item waits for the region, or has ended. */
void kiln__groups_wait(groups_emitter &e, unsigned number);
/* Goes to `done` when all items have ended. */
void kiln__groups_leave_if_ended(groups_emitter &e);

/* ---- groups_carry.cc ---- */
/* Reads what the region reads and is the same for all items. */
void kiln__groups_bring_scalars(groups_emitter &e);
/* Reads or computes the rest, in e.item_start. */
void kiln__groups_bring(groups_emitter &e);
/* Returns the value of one item, at its beginning. */
llvm::Value *kiln__groups_bring_value(groups_emitter &e, llvm::Value *value);
/* Makes the copied code use what was brought, and keep what others read. */
void kiln__groups_connect(groups_emitter &e);
/* Keeps the scalars that the region has computed, after its loop. */
void kiln__groups_keep_scalars(groups_emitter &e);
/* Returns a value of an item that does not depend on the item, computed before
   the loop; null: that cannot be done. */
llvm::Value *kiln__groups_outside(groups_emitter &e, llvm::Value *value,
                                  unsigned depth);

/* ---- groups_agree.cc ---- */
/* Finds what items agree on, and lets the general function run the group if
   they do not. */
void kiln__groups_leave_if_they_differ(groups_emitter &e);
/* Inlines the general function, when this one is complete. */
void kiln__groups_inline_general(groups_emitter &e);

/* ---- groups_copy.cc ---- */
/* Copies the blocks of the region, from e.item_start to e.item_end. */
void kiln__groups_copy(groups_emitter &e);

#endif /* KILN_CODEGEN_GROUPS_GROUPS_EMIT_H */
