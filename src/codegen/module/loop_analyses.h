/* loop_analyses.h - what LLVM's analyses say of a function's loops, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_LOOP_ANALYSES_H
#define KILN_CODEGEN_MODULE_LOOP_ANALYSES_H

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

/* For passes that run without a pass manager. Members depend on those before
   them. */
struct kiln__loop_analyses {
    explicit kiln__loop_analyses(llvm::Function &function)
        : known(function.getParent()->getTargetTriple()), library(known),
          assumptions(function), dominators(function), loops(dominators),
          evolution(function, library, assumptions, dominators, loops)
    {
    }

    llvm::TargetLibraryInfoImpl known;
    llvm::TargetLibraryInfo library;
    llvm::AssumptionCache assumptions;
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::ScalarEvolution evolution;
};

#endif /* KILN_CODEGEN_MODULE_LOOP_ANALYSES_H */
