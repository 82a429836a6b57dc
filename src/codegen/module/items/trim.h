/* trim.h - guards of loops over items that become the loops' bounds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_TRIM_H
#define KILN_CODEGEN_MODULE_ITEMS_TRIM_H

#include <utility>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

/*
 * Take a loop over items whose body begins by asking whether its item is in
 * range, in one or in several branches:
 *
 *     for i in first..end                 for i in from..to
 *         if (i + c < n) && u      =>         body
 *             body
 *
 * Iterations outside of the range do nothing: what they run before the
 * question, and behind the body, has no effect. So the loop can leave them out,
 * and its body has no branch. The question is a conjunction. A factor of it is
 *
 *   - a comparison of something that moves with something fixed, which is the
 *     same in all iterations. What moves is the counter, also truncated or
 *     extended, plus or minus something fixed;
 *   - a fixed condition;
 *   - anything else. That stays in the body.
 */

/* A loop that counts up by 1, with the branch that ends it behind its body. */
struct trim_loop {
    llvm::Loop *loop = nullptr;
    llvm::BasicBlock *before = nullptr; /* the preheader */
    llvm::BasicBlock *exit = nullptr;
    llvm::PHINode *counter = nullptr;
    llvm::Value *first = nullptr;
    llvm::Value *end = nullptr;
    llvm::BranchInst *jump = nullptr; /* of the latch */
};

/* `moving`, which has 64 bits or fewer, compared with something fixed. */
struct trim_comparison {
    llvm::CmpInst::Predicate predicate;
    llvm::Value *moving;
    llvm::Value *fixed;
};

/* A condition, and what it must be for the body to run. */
using trim_factor = std::pair<llvm::Value *, bool>;

/* A branch to the body, with the factors of its condition that stay. */
struct trim_branch {
    llvm::BranchInst *branch;
    unsigned body; /* number of the successor that the body is in */
    std::vector<trim_factor> rest;
};

struct trim_guard {
    std::vector<trim_comparison> comparisons;
    std::vector<trim_factor> fixed;
    std::vector<trim_branch> branches;
};

/* ---- trim_find.cc ---- */
/* True for a block that raises an exception. */
bool kiln__trim_raises(const llvm::BasicBlock &block);
/* True for a loop over independent items of the form above. It may have other
   ways out, to blocks that raise. */
bool kiln__trim_is_item_loop(llvm::Loop *loop, trim_loop &out);
/* Finds the guard of a loop; false: it has none that bounds can replace. */
bool kiln__trim_find(const trim_loop &loop, trim_guard &guard);
/* True for a value with the counter in it, as above. */
bool kiln__trim_moves(const trim_loop &loop, const llvm::Value *value);

/* ---- trim_each.cc ---- */
/* How many instructions the loop has. */
size_t kiln__trim_size(const llvm::Loop &loop);
/* True if it computes an exponential, a sine or the like: its time goes there,
   and copies of it are large. */
bool kiln__trim_has_mathematics(const llvm::Loop &loop);
/* True if nothing behind the loop needs what it computes. */
bool kiln__trim_gives_nothing(const llvm::Loop &loop);
/* Whether a loop is to be changed; it may be asked twice. Reads it. */
using trim_wants = llvm::function_ref<bool(llvm::Loop &loop, trim_loop &out)>;
using trim_change = llvm::function_ref<void(
    const trim_loop &loop, const llvm::DominatorTree &dominators)>;
/* Changes the wanted loops of each function that has no more than so many of
   them: analyses are made anew for each. */
void kiln__trim_each(llvm::Module &module, size_t loops_most, trim_wants wants,
                     trim_change change);
/* Makes one block of those that only follow each other: other passes leave
   such chains on the way from a loop to what raises. */
void kiln__trim_merge(llvm::Module &module);

/* ---- trim_copy.cc ---- */
/* Adds a copy of the loop. It begins at `start`, which gets a branch to it, and
   ends where the loop does. `map` gets what stands for what; `name` is added to
   the names of blocks. */
void kiln__trim_copy(const trim_loop &loop, llvm::BasicBlock *start,
                     const char *name, llvm::ValueToValueMapTy &map);
/* Lets the loop with that counter and that branch of its latch end at `end`,
   before the block `after`. */
void kiln__trim_end_at(llvm::BranchInst *jump, llvm::PHINode *counter,
                       llvm::Value *end, llvm::BasicBlock *after);
/* Items first..end of a loop. */
struct trim_part {
    llvm::BasicBlock *start;
    const char *name;
    llvm::Value *first;
    llvm::Value *end;
    llvm::BasicBlock *after;
};
/* Adds a copy of the loop for a part of its items. Returns the branch of its
   latch. */
llvm::BranchInst *kiln__trim_copy_part(const trim_loop &loop,
                                       const trim_part &part,
                                       llvm::ValueToValueMapTy &map);

/* ---- trim_pieces.cc ---- */
/* Adds a loop around the loop, which then goes through at most so many items at
   a time. Analyses of the function do not know of it. */
void kiln__trim_in_pieces(trim_loop &loop, uint64_t most);

/* ---- item_edges.cc ---- */
/* Says that the loop that ends with the branch is rarely run, or has few items:
   no other one is made of it. */
void kiln__trim_leave_as_it_is(llvm::BranchInst *jump);

/* ---- trim_widths.cc ---- */
/* Makes truncations and extensions of what has their effect and moves. */
void kiln__trim_spell_out(const trim_loop &loop);

/* ---- trim.cc ---- */
/* Makes the guard the bounds of its loop. Analyses of the function do not hold
   any more. */
void kiln__trim_rewrite(const trim_loop &loop, const trim_guard &guard);

#endif /* KILN_CODEGEN_MODULE_ITEMS_TRIM_H */
