/* item_checks.h - checks that data decide, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_CHECKS_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_CHECKS_H

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include "codegen/module/items/trim.h"

namespace item_checks
{

/* Items that are asked before they run: their numbers stay in a cache. */
inline constexpr uint64_t piece = 1024;

/* Numbers of a check that all items pass if the first and the last one do:
   `counter + more`, compared with a fixed end. */
struct reach {
    llvm::Value *more = nullptr; /* NULL: nothing */
    bool is_less = false;        /* it is subtracted */
};

/* A branch to a block that raises. */
struct check {
    llvm::BranchInst *branch;
    unsigned raise; /* number of that successor */
    /* Where the branch asks whether index < end, as unsigned numbers, and the
       end is the same for all items; else NULL. */
    llvm::Value *index = nullptr;
    llvm::Value *end = nullptr;
    bool is_of_bounds = false;
    bool is_certain = false; /* each item comes to it, unless it raises */
    bool is_fixed = false;   /* the condition is the same for all items */
    bool has_reach = false;
    reach numbers = {};
    bool keeps_inside = false; /* a place depends on the index */

    /* True where it can be asked in front of the loop. That may be too strict
       where only some of the items come to it. */
    bool is_asked_once() const
    {
        return is_fixed || has_reach;
    }

    llvm::BasicBlockEdge passed() const
    {
        return {branch->getParent(), branch->getSuccessor(1 - raise)};
    }
};

/* A read that comes after a write in an item. It is asked before. */
struct early_read {
    const llvm::StoreInst *write;
    const llvm::LoadInst *read;
};

struct asker {
    asker(const trim_loop &of, const llvm::DominatorTree &tree)
        : l(of), dominators(tree)
    {
    }

    const trim_loop &l;
    const llvm::DominatorTree &dominators;
    llvm::SmallVector<check, 4> checks;
    /* What the checks need that are asked of each item. */
    llvm::SmallSetVector<const llvm::Instruction *, 16> needs;
    llvm::SmallVector<early_read, 4> early_reads;
    bool needs_branches = false;
    /* All writes of an item, where the loop that asks keeps what is written. */
    llvm::SmallVector<const llvm::StoreInst *, 4> kept;
};

/* ---- item_checks_find.cc ---- */
/* Finds the checks; false: they cannot be asked before the items run. */
bool find(asker &a);

/* ---- item_checks_apart.cc ---- */
/* True if it can be asked which bytes all items access there. */
bool is_extent_known(const asker &a, const llvm::Instruction &access);
/* Returns whether a read that is asked early might see a write. */
llvm::Value *ask_early_reads(const asker &a, llvm::IRBuilder<> &b);

/* ---- item_checks_keep.cc ---- */
/* Notes all writes of an item; false: they cannot be kept. */
bool find_kept(asker &a);
/* Lets the copied loop that asks keep what it would have written. Its items end
   in `step`. */
void keep(const asker &a, llvm::BasicBlock *step, llvm::ValueToValueMapTy &map);
/* Lets the copied loop without checks write what was kept. */
void use_kept(const asker &a, llvm::ValueToValueMapTy &map);

} // namespace item_checks

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_CHECKS_H */
