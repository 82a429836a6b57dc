/* wide.h - loops over items whose bodies have loops, in vectors, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_WIDE_H
#define KILN_CODEGEN_MODULE_WIDE_H

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

/*
 *     for item { s = 0; for k { s += x[k] * a[k][item]; } y[item] = s; }
 *     =>
 *     for item by 16 { s = <0, ...>; for k { s += x[k] * <a[k][item], ...>; }
 *                      <y[item], ...> = s; }
 *
 * LLVM's vectoriser takes innermost loops only. Here a vector of items goes
 * through the loops inside together.
 *
 *   values   what is the same for all items, and what is not (wide_values.cc)
 *   emit     the body for vectors (wide_emit.cc, wide_masks.cc)
 *   choice   whether it pays, and for how many items (wide_choose.cc)
 *   loops    which loops, and the loops around the new bodies (wide.cc)
 */

/* What a loop over items computes. */
struct wide_values {
    wide_values(llvm::Loop &of, llvm::LoopInfo &all,
                llvm::PostDominatorTree &ends, llvm::ScalarEvolution &numbers)
        : loop(of), loops(all), postdominators(ends), evolution(numbers)
    {
    }

    /* Finds it. False: the loop cannot be done in vectors. */
    bool find();
    /* By how many bytes the places of neighbours are apart, if it is known. */
    std::optional<int64_t> stride_of(llvm::Value *pointer) const;
    /* True for an access whose neighbours access neighbouring elements. */
    bool is_beside(const llvm::Instruction &access) const;
    /* True for a block that masks put into another one. */
    bool is_joined(const llvm::BasicBlock *block) const
    {
        return heads.contains(block) || meets.contains(block);
    }
    /* Returns that other block. */
    llvm::BasicBlock *base_of(llvm::BasicBlock *block) const;
    bool is_varying(const llvm::Value *value) const
    {
        return varying.contains(value);
    }

    llvm::Loop &loop;
    llvm::LoopInfo &loops;
    llvm::PostDominatorTree &postdominators;
    llvm::ScalarEvolution &evolution;
    llvm::DenseSet<const llvm::Value *> varying;
    /* Blocks that some items run, by the block whose branch decided; they have
       no loop in them. */
    llvm::DenseMap<const llvm::BasicBlock *, llvm::BasicBlock *> heads;
    /* Where items that were apart meet: the block whose branch decided. */
    llvm::DenseMap<const llvm::BasicBlock *, llvm::BasicBlock *> meets;
    llvm::DenseSet<const llvm::Value *> as_first; /* needed of one item */
    llvm::DenseSet<const llvm::Value *> as_many;  /* needed of all items */

  private:
    bool spread(llvm::SmallVectorImpl<const llvm::Instruction *> &work);
    bool part(const llvm::BasicBlock &block,
              llvm::SmallVectorImpl<const llvm::Instruction *> &work);
    bool can_be_masked() const;
    bool can_be_wide(const llvm::Instruction &at) const;
    bool access_can_be_wide(const llvm::Instruction &at) const;
    std::optional<int64_t> stride_in(const llvm::SCEV *number) const;
    std::optional<int64_t> stride_of_sum(const llvm::SCEV *number) const;
    std::optional<int64_t> stride_of_product(const llvm::SCEV *number) const;
    bool need();
    void need_many(llvm::Value *value);
    bool need_first(llvm::Value *value);
};

/* A body to make: `lanes` items are a vector, `parts` vectors go side by side.
   A vector of one item is a scalar. */
struct wide_body {
    unsigned lanes;
    unsigned parts;
    llvm::Value
        *first; /* number of the first item of all, 0 being the loop's */
    llvm::Value *end;
    bool is_tail;   /* there may be fewer items than the last vectors have */
    bool has_masks; /* the processor's, so that there can be a tail */
    bool has_cheap_masks = false; /* about as fast as without */
    unsigned rest = 0; /* parts for items that do not fill `parts`; or 0 */
    /* Inner loops that the items go through one after the other; of scalars. */
    llvm::SmallVector<llvm::Loop *, 2> alone = {};
};

/* ---- wide_choose.cc ---- */
/* Chooses how many items go together, or returns false: it does not pay. */
bool kiln__wide_choose(const wide_values &values,
                       const llvm::TargetTransformInfo &target, wide_body &out);

/* ---- wide_emit.cc ---- */
/* Makes a loop of such bodies, which `from` branches to in the end, and that
   branches to `then`. */
void kiln__wide_emit(const wide_values &values, const wide_body &what,
                     llvm::BasicBlock *from, llvm::BasicBlock *then);

/* ---- wide.cc ---- */
/* Changes what loops over items of the function it is worth to. Returns false
   where nothing was changed. */
bool kiln__wide_items(llvm::Function &function,
                      llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_WIDE_H */
