/* groups_normal.cc - gives a kernel with barriers a plain form. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

#include "codegen/groups/groups_plan.h"

/*
 * Variables become values, so that uniformity is seen; constants are folded;
 * loops get one latch, and values leave them through phis, since a uniform
 * counter differs between items after a loop that they leave at different
 * times. No pass here copies code that has barriers: each copy would be one
 * more place for items to wait at. Loops of several heads stay as they are: the
 * analyses understand them, and LLVM 22's fix-irreducible breaks some. It is
 * C++ because the C interface runs passes on modules only, and does not know
 * operand bundles of a call.
 */

static const char normal[] =
    "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa";

static void run_passes(llvm::Function &function, const char *passes)
{
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder;
    llvm::FunctionPassManager manager;

    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    /* what is derived from a place in the group's memory loses its space */
    manager.addPass(llvm::InferAddressSpacesPass(KILN__SHARED_SPACE));
    llvm::cantFail(builder.parsePassPipeline(manager, passes));
    manager.run(function, functions);
}

/* Without convergence tokens: they cannot be stored, and say nothing that the
   uniformity of branches does not say. */
static void drop_tokens(llvm::Function &function)
{
    llvm::SmallVector<llvm::CallBase *, 8> calls, tokens;

    for (llvm::Instruction &at : llvm::instructions(function)) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

        if (call == nullptr)
            continue;
        if (call->getOperandBundle(llvm::LLVMContext::OB_convergencectrl))
            calls.push_back(call);
        if (llvm::isa<llvm::ConvergenceControlInst>(call))
            tokens.push_back(call);
    }
    for (llvm::CallBase *call : calls) {
        llvm::CallBase *plain = llvm::CallBase::removeOperandBundle(
            call, llvm::LLVMContext::OB_convergencectrl, call->getIterator());

        if (llvm::is_contained(tokens, call))
            *llvm::find(tokens, call) = plain;
        plain->takeName(call);
        call->replaceAllUsesWith(plain);
        call->eraseFromParent();
    }
    for (llvm::CallBase *token : tokens)
        token->eraseFromParent();
}

/* Drops what is true of one item only: that pointers do not overlap may be
   false between two items. */
static void drop_scopes(llvm::Function &function)
{
    for (llvm::Instruction &at :
         llvm::make_early_inc_range(llvm::instructions(function))) {
        at.setMetadata(llvm::LLVMContext::MD_alias_scope, nullptr);
        at.setMetadata(llvm::LLVMContext::MD_noalias, nullptr);
        if (llvm::isa<llvm::NoAliasScopeDeclInst>(at))
            at.eraseFromParent();
    }
}

extern "C" void kiln__groups_normalise(LLVMValueRef value)
{
    llvm::Function &function = *llvm::unwrap<llvm::Function>(value);

    drop_tokens(function);
    drop_scopes(function);
    run_passes(function, normal);
    if (kiln__groups_unroll(function))
        run_passes(function, normal);
}

extern "C" void kiln__groups_rotate(LLVMValueRef function)
{
    run_passes(*llvm::unwrap<llvm::Function>(function),
               "loop(loop-rotate),loop-simplify,lcssa");
}
