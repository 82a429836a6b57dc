/* llvm_gap_uniform.cc - which values are the same for all items of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <memory>

#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassInstrumentation.h>

#include "codegen/groups/groups_plan.h"
#include "codegen/module/device_queries.h"

/*
 * LLVM's analysis asks a target where divergence begins. Processors say:
 * nowhere. So it gets a target of our own, for which ids differ between items,
 * and so does what an item reads from memory that only it has.
 *
 * A load whose address is uniform counts as uniform. It is, unless items of the
 * group write there between the same barriers, which is a race.
 */

static bool is_id(llvm::StringRef name)
{
#define IS_ID(known, form, number, answer, differs) \
    (differs && name == known) ||
    return KILN__DEVICE_QUERIES(IS_ID) false;
#undef IS_ID
}

static llvm::InstructionUniformity of_call(const llvm::CallBase &call)
{
    const llvm::Function *callee = call.getCalledFunction();

    if (callee == nullptr || is_id(callee->getName()))
        return llvm::InstructionUniformity::NeverUniform;
    /* A function of the module may ask for ids, whatever it says of memory. */
    if (kiln__groups_is_query(&call) ||
        (callee->isDeclaration() && call.doesNotAccessMemory()))
        return llvm::InstructionUniformity::Default;
    return llvm::InstructionUniformity::NeverUniform;
}

namespace
{

class items_target final
    : public llvm::TargetTransformInfoImplCRTPBase<items_target>
{
  public:
    explicit items_target(const llvm::DataLayout &layout)
        : TargetTransformInfoImplCRTPBase(layout)
    {
    }

    bool hasBranchDivergence(const llvm::Function *) const override
    {
        return true;
    }

    llvm::InstructionUniformity getInstructionUniformity(
        const llvm::Value *value) const override
    {
        const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

        if (at == nullptr)
            return llvm::InstructionUniformity::Default;
        if (const auto *call = llvm::dyn_cast<llvm::CallBase>(at))
            return of_call(*call);
        return llvm::isa<llvm::AllocaInst>(at) || at->isAtomic() ||
                       at->isVolatile()
                   ? llvm::InstructionUniformity::NeverUniform
                   : llvm::InstructionUniformity::Default;
    }
};

} // namespace

static void take_results(groups_plan &plan, llvm::UniformityInfo &info)
{
    for (llvm::BasicBlock &block : *plan.function) {
        if (info.hasDivergentTerminator(block))
            plan.divergent.insert(block.getTerminator());
        for (llvm::Instruction &at : block)
            if (!at.getType()->isVoidTy() &&
                info.isUniform(static_cast<const llvm::Value *>(&at)))
                plan.uniform.insert(&at);
    }
}

void kiln__groups_find_uniform(groups_plan &plan)
{
    llvm::FunctionAnalysisManager analyses;

    analyses.registerPass([] {
        return llvm::TargetIRAnalysis([](const llvm::Function &function) {
            return llvm::TargetTransformInfo(
                std::make_unique<items_target>(function.getDataLayout()));
        });
    });
    analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    analyses.registerPass([] { return llvm::CycleAnalysis(); });
    analyses.registerPass([] { return llvm::UniformityInfoAnalysis(); });
    take_results(
        plan, analyses.getResult<llvm::UniformityInfoAnalysis>(*plan.function));
}
