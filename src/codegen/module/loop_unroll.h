/* loop_unroll.h - unrolls whole loops without a pass manager, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_LOOP_UNROLL_H
#define KILN_CODEGEN_MODULE_LOOP_UNROLL_H

#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "codegen/module/loop_analyses.h"

/* Keeps the analyses true while it changes the function. */
struct kiln__loop_unroller {
    explicit kiln__loop_unroller(llvm::Function &function)
        : known(function), target(function.getDataLayout()), remarks(&function)
    {
    }

    /* Returns how often the loop runs; 0: that is no constant, the loop is not
       to be unrolled, or it has not the form that can be. */
    unsigned turns_of(const llvm::Loop &loop)
    {
        const unsigned turns = known.evolution.getSmallConstantTripCount(&loop);

        return loop.isLoopSimplifyForm() &&
                       (llvm::hasUnrollTransformation(&loop) &
                        llvm::TM_Disable) == 0 &&
                       turns ==
                           known.evolution.getSmallConstantMaxTripCount(&loop)
                   ? turns
                   : 0;
    }

    /* Makes straight code of a loop that runs so often; false: it stays. */
    bool unroll(llvm::Loop *loop, unsigned turns)
    {
        llvm::UnrollLoopOptions options = {};

        /* LLVM takes for granted that what is used behind the loop has a phi
           there. Passes on functions fold such phis. */
        llvm::formLCSSARecursively(*loop, known.dominators, &known.loops,
                                   &known.evolution);
        options.Count = turns;
        return llvm::UnrollLoop(loop, options, &known.loops, &known.evolution,
                                &known.dominators, &known.assumptions, &target,
                                &remarks,
                                true) != llvm::LoopUnrollResult::Unmodified;
    }

    kiln__loop_analyses known;
    llvm::TargetTransformInfo target;
    llvm::OptimizationRemarkEmitter remarks;
};

#endif /* KILN_CODEGEN_MODULE_LOOP_UNROLL_H */
