/* exact_index.h - what an index is made of, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_EXACT_INDEX_H
#define KILN_CODEGEN_MODULE_EXACT_INDEX_H

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

/*
 * An index may be computed with 32 bits and then widened. It is exact where it
 * is used for an access if all that it is made of says that it does not wrap
 * (nsw, nuw): an element at a place that wrapped is poison, and no program
 * accesses that. So it may be computed with 64 bits from the start, modulo
 * 2^64, with its parts in any order. LLVM's scalar evolution must prove as much
 * for every iteration of a loop, whether there is an access in it or not.
 */

/* A number of 64 bits: start + iteration * step. */
struct exact_line {
    const llvm::SCEV *start = nullptr; /* null: it is none */
    const llvm::SCEV *step = nullptr;
};

class exact_index
{
  public:
    /* `loop`: the loop whose iterations count, which has a preheader and one
       latch; null: what is computed by the code is looked into, and there are
       no steps. */
    exact_index(llvm::ScalarEvolution &evolution, const llvm::Loop *loop)
        : evolution(evolution), loop(loop)
    {
    }

    /* Finds which base an address is behind, and by how many bytes. Returns
       false if it is no line. */
    bool of_address(llvm::Value *address, llvm::Value *&base,
                    exact_line &bytes);

  private:
    bool is_fixed(const llvm::Value *value) const;
    const llvm::SCEV *number(llvm::Value *value, bool is_signed);
    exact_line plus(exact_line a, exact_line b, bool is_minus);
    exact_line times(exact_line a, exact_line b);
    exact_line of_counter(llvm::PHINode &phi, bool is_signed, unsigned depth);
    exact_line of_operation(llvm::Instruction &at, bool is_signed,
                            unsigned depth);
    exact_line of_extended(llvm::Instruction &at, bool is_signed,
                           unsigned depth);
    exact_line fixed(llvm::Value &value, bool is_signed);
    exact_line of_fixed(llvm::Value *value, bool is_signed, unsigned depth);
    exact_line of_straight(llvm::Instruction &at, bool is_signed,
                           unsigned depth);
    exact_line of(llvm::Value *value, bool is_signed, unsigned depth);
    exact_line constant(uint64_t value);
    exact_line of_gep(llvm::GetElementPtrInst &gep);

    llvm::ScalarEvolution &evolution;
    const llvm::Loop *loop;
};

/* True for memory that is addressed by 64 bits. */
bool kiln__is_far(const llvm::Value *base);

/* True for a distance that an access can add to a pointer. */
bool kiln__is_near(const llvm::SCEV *bytes);

#endif /* KILN_CODEGEN_MODULE_EXACT_INDEX_H */
