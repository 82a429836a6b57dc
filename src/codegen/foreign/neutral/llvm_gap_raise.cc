/* llvm_gap_raise.cc - what LLVM's C interface lacks for functions that raise.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "codegen/module/codegen_stages.h"

/*
 * The C interface cannot change a function's result, split a block, or drop the
 * rest of one.
 */

/* Returns a function of the same name, attributes, parameters and body, whose
   result is of another type. The other one is left as a declaration, and its
   calls and returns with it. */
extern "C" LLVMValueRef kiln__llvm_replace_result(LLVMValueRef function,
                                                  LLVMTypeRef result)
{
    auto *from = llvm::cast<llvm::Function>(llvm::unwrap(function));
    auto *to = llvm::Function::Create(
        llvm::FunctionType::get(llvm::unwrap(result),
                                from->getFunctionType()->params(),
                                from->isVarArg()),
        from->getLinkage(), from->getAddressSpace(), "", from->getParent());
    llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>, 4> metadata;

    to->copyAttributesFrom(from);
    to->removeRetAttrs(llvm::AttributeMask(to->getAttributes().getRetAttrs()));
    for (llvm::Argument &argument : to->args())
        argument.removeAttr(llvm::Attribute::Returned);
    to->takeName(from);
    to->splice(to->begin(), from);
    for (llvm::Argument &argument : from->args()) {
        to->getArg(argument.getArgNo())->takeName(&argument);
        argument.replaceAllUsesWith(to->getArg(argument.getArgNo()));
    }
    from->getAllMetadata(metadata);
    for (const auto &[kind, node] : metadata)
        to->addMetadata(kind, *node);
    from->clearMetadata();
    from->setLinkage(llvm::GlobalValue::ExternalLinkage);
    return llvm::wrap(to);
}

/* Replaces a call by one of `callee`, whose result is {T, i1} or i1. The i1 is
   returned; the value replaces the old call's. */
extern "C" LLVMValueRef kiln__llvm_call_raising(LLVMValueRef call,
                                                LLVMValueRef callee)
{
    auto *old = llvm::cast<llvm::CallInst>(llvm::unwrap(call));
    auto *to = llvm::cast<llvm::Function>(llvm::unwrap(callee));
    llvm::SmallVector<llvm::Value *, 8> arguments(old->args());
    llvm::SmallVector<llvm::OperandBundleDef, 1> bundles;
    llvm::IRBuilder<> builder(old);
    llvm::CallInst *made;
    llvm::Value *raised;

    old->getOperandBundlesAsDefs(bundles);
    made = builder.CreateCall(to, arguments, bundles);
    made->setCallingConv(old->getCallingConv());
    made->setAttributes(llvm::AttributeList::get(
        old->getContext(), old->getAttributes().getFnAttrs(),
        llvm::AttributeSet(), [&] {
            llvm::SmallVector<llvm::AttributeSet, 8> sets;

            for (unsigned i = 0; i < old->arg_size(); i++)
                sets.push_back(
                    old->getAttributes().getParamAttrs(i).removeAttribute(
                        old->getContext(), llvm::Attribute::Returned));
            return sets;
        }()));
    made->setDebugLoc(old->getDebugLoc());
    raised = made;
    if (made->getType()->isStructTy()) {
        old->replaceAllUsesWith(builder.CreateExtractValue(made, 0));
        raised = builder.CreateExtractValue(made, 1);
    }
    old->eraseFromParent();
    return llvm::wrap(raised);
}

/* Returns `value` after the instruction, and drops the rest of its block. */
extern "C" void kiln__llvm_return_after(LLVMValueRef instruction,
                                        LLVMValueRef value)
{
    auto *last = llvm::cast<llvm::Instruction>(llvm::unwrap(instruction));
    llvm::BasicBlock *block = last->getParent();
    llvm::ReturnInst *made;

    llvm::changeToUnreachable(last->getNextNode());
    made = llvm::ReturnInst::Create(last->getContext(), llvm::unwrap(value),
                                    block->getTerminator()->getIterator());
    made->setDebugLoc(last->getDebugLoc());
    made->getNextNode()->eraseFromParent();
}

/* Returns `value` after the instruction if it is true, which is rare. */
extern "C" void kiln__llvm_return_if(LLVMValueRef condition, LLVMValueRef value)
{
    auto *raised = llvm::cast<llvm::Instruction>(llvm::unwrap(condition));
    llvm::LLVMContext &context = raised->getContext();
    llvm::Instruction *end = llvm::SplitBlockAndInsertIfThen(
        raised, std::next(raised->getIterator()), true,
        llvm::MDBuilder(context).createUnlikelyBranchWeights());
    llvm::ReturnInst *made = llvm::ReturnInst::Create(
        context, llvm::unwrap(value), end->getIterator());

    made->setDebugLoc(raised->getDebugLoc());
    end->eraseFromParent();
}

extern "C" LLVMBasicBlockRef kiln__llvm_split_before(LLVMValueRef instruction)
{
    auto *first = llvm::cast<llvm::Instruction>(llvm::unwrap(instruction));

    return llvm::wrap(
        first->getParent()->splitBasicBlock(first->getIterator()));
}

extern "C" void kiln__llvm_find_loops(LLVMValueRef function,
                                      LLVMBasicBlockRef *innermost,
                                      LLVMBasicBlockRef *outer)
{
    auto *in = llvm::cast<llvm::Function>(llvm::unwrap(function));
    const llvm::DominatorTree dominators(*in);
    const llvm::LoopInfo loops(dominators);

    for (llvm::BasicBlock &block : *in) {
        const llvm::Loop *loop = loops.getLoopFor(&block);
        const llvm::Loop *around =
            loop != nullptr ? loop->getParentLoop() : nullptr;

        *innermost++ =
            loop != nullptr ? llvm::wrap(loop->getHeader()) : nullptr;
        *outer++ =
            around != nullptr ? llvm::wrap(around->getHeader()) : nullptr;
    }
}
