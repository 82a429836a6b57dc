/* narrow.h - what the files that narrow integers share, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_NARROW_H
#define KILN_CODEGEN_MODULE_NARROW_H

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "codegen/module/llvm_gap.h"

/* What a branch says of a value where it goes one way. */
struct narrow_fact {
    const llvm::Value *value;
    llvm::CmpInst::Predicate predicate;
    const llvm::Value *than;
};

/* The signed ranges of a function's integers of 64 bits, at each block. */
class narrow_ranges
{
  public:
    explicit narrow_ranges(llvm::Function &function);
    /* Returns what the value may be in the block. */
    llvm::ConstantRange at(const llvm::Value *value,
                           const llvm::BasicBlock *block) const;
    /* Returns what it may be anywhere. */
    llvm::ConstantRange of(const llvm::Value *value) const;

  private:
    void find_facts(const llvm::BasicBlock *block);
    void add_facts(const llvm::Value *condition, bool holds,
                   llvm::SmallVectorImpl<narrow_fact> &out) const;
    void add_branch_facts(const llvm::BasicBlock *from,
                          const llvm::BasicBlock *to,
                          llvm::SmallVectorImpl<narrow_fact> &out) const;
    llvm::ConstantRange meet(
        llvm::ConstantRange range, const llvm::Value *value,
        const llvm::SmallVectorImpl<narrow_fact> &known) const;
    llvm::ConstantRange behind(const llvm::Value *value,
                               const llvm::BasicBlock *from,
                               const llvm::BasicBlock *to) const;
    llvm::ConstantRange compute(const llvm::Instruction &at) const;
    llvm::ConstantRange of_binary(const llvm::BinaryOperator &inst) const;
    llvm::ConstantRange of_phi(const llvm::PHINode &phi) const;
    llvm::ConstantRange of_call(const llvm::CallBase &call) const;
    bool update(const llvm::Instruction &at, bool grows, bool widens);

    llvm::Function &function;
    llvm::DominatorTree dominators;
    llvm::DenseMap<const llvm::Value *, llvm::ConstantRange> ranges;
    /* Facts that hold in a block, those of its dominators included. */
    llvm::DenseMap<const llvm::BasicBlock *, llvm::SmallVector<narrow_fact, 4>>
        facts;
};

#endif /* KILN_CODEGEN_MODULE_NARROW_H */
