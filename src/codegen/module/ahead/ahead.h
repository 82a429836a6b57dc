/* ahead.h - loops whose checks are asked ahead of their iterations, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_AHEAD_H
#define KILN_CODEGEN_MODULE_AHEAD_H

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/module/loop_analyses.h"

/* Of loops that are not unrolled, or not again. */
#define KILN__UNROLL_DISABLED "llvm.loop.unroll.disable"

/* A branch in the loop to a block that raises. */
struct kiln__ahead_check {
    llvm::BasicBlock *block; /* ends with the branch */
    unsigned raise;          /* which of its successors raises */
    /* How many iterations end before it raises; null: data decide that. */
    const llvm::SCEV *turns;
    bool stays;     /* it cannot be asked ahead */
    unsigned stage; /* where data decide: it is asked behind those before */
    /* What the loop computes for the condition, operands first. */
    llvm::SmallSetVector<llvm::Instruction *, 8> needs;
    /* An iteration comes to the check only where these are so: those of the
       conditions that are worth to be asked. */
    llvm::SmallVector<std::pair<llvm::Value *, bool>, 2> behind;
};

struct kiln__ahead_plan {
    llvm::Loop *loop;
    llvm::SmallVector<kiln__ahead_check, 4> checks; /* in the loop's order */
    const llvm::SCEV *turns; /* iterations before the last one */
    unsigned copies;         /* iterations that are checked together */
    unsigned stages;
    /* Counters by one that the new loop knows to be neither negative nor to
       wrap. */
    llvm::SmallVector<llvm::PHINode *, 2> walks;
    /* In front of the loop, and without poison. */
    llvm::Value *enough; /* true: the loop may begin with such iterations */
    llvm::Value *left;   /* value of `turns` */
};

/* Members depend on those before them. */
struct kiln__ahead_analyses {
    kiln__ahead_analyses(llvm::Function &function, kiln__loop_analyses &known,
                         const llvm::Function &raise, unsigned most);

    llvm::LoopInfo &loops;
    llvm::DominatorTree &dominators;
    llvm::ScalarEvolution &evolution;
    const llvm::Function &raise;
    unsigned most; /* iterations whose data decide together; 0: none do */
    llvm::BasicAAResult basic;
    llvm::ScopedNoAliasAAResult scopes;
    llvm::AAResults aliases;
    llvm::TargetTransformInfo target;
};

/* ---- ahead_plan.cc ---- */
/* Decides which checks of a loop can be asked ahead. False: it pays for none,
   or the loop is of another form. */
bool kiln__ahead_plan_of(kiln__ahead_analyses &known, llvm::Loop &loop,
                         kiln__ahead_plan &plan);
/* Where copy `copy` of the loop's iterations has its own value of the phi of
   the header, this is the instruction that computes it out of the phi of the
   iteration before; null: it is more than a step. */
llvm::Instruction *kiln__ahead_step(const llvm::Loop &loop,
                                    const llvm::PHINode &phi);

/* ---- ahead_loop.cc ---- */
/* Changes the loop; nothing that is known of the function stays true. */
void kiln__ahead_apply(const kiln__ahead_plan &plan, llvm::LoopInfo &loops);

/* ---- raise_loops.cc ---- */
/* Returns the call in a block that raises and ends; or null. */
llvm::CallInst *kiln__raise_of(llvm::BasicBlock &block,
                               const llvm::Function &raise);
/* True for an innermost loop that may be unrolled, of which all ways out but
   one, behind its last block, raise. */
bool kiln__ends_or_raises(const llvm::Loop &loop, const llvm::Function &raise);
/* Returns the loop's instructions; 0: it cannot be unrolled. */
unsigned kiln__unrolled_size(const llvm::Loop &loop);
/* How many iterations of such a loop become one. */
unsigned kiln__unrolled_count(unsigned size);

#endif /* KILN_CODEGEN_MODULE_AHEAD_H */
