/* llvm_gap_passes.cc - runs LLVM's passes, and one of our own among them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>

#include "codegen/module/items/item_carry.h"
#include "codegen/module/items/item_choices.h"
#include "codegen/module/items/item_interleave.h"
#include "codegen/module/items/item_jam.h"
#include "codegen/module/items/item_records.h"
#include "codegen/module/items/item_reuse.h"
#include "codegen/module/llvm_gap.h"
#include "codegen/module/open_loops.h"
#include "codegen/module/vector_safety.h"
#include "codegen/module/wide/wide.h"

using namespace llvm::PatternMatch;

/*
 * The C interface runs passes by their names, but adds none. What is added
 * here goes before the vectoriser of loops.
 *
 * LLVM 22 vectorises some loops wrongly. Where a counter is cut to a few bits,
 * as in x[l & 3], it assumes that the cut counter does not wrap, and checks
 * that before the loop. But where it also assumes this of the same counter cut
 * to 32 bits, it takes the second check for the first one, too
 * (SCEVWrapPredicate::implies), and the loop reads what is behind the fourth
 * element. So counters are hidden from it where they are cut to less than 32
 * bits: behind a freeze it sees numbers of which it assumes nothing.
 */

#define NARROW 32u

/* Returns the operand that holds what is cut, or null: the value is not cut, or
   to many bits. */
static llvm::Use *what_is_cut(llvm::Instruction &at)
{
    const llvm::APInt *mask, *left, *right;

    if (!at.getType()->isIntegerTy())
        return nullptr;
    if (match(&at, m_And(m_Value(), m_APInt(mask))))
        return mask->isMask() && mask->countr_one() < NARROW
                   ? &at.getOperandUse(0)
                   : nullptr;
    if (llvm::isa<llvm::TruncInst>(at))
        return at.getType()->getIntegerBitWidth() < NARROW
                   ? &at.getOperandUse(0)
                   : nullptr;
    if (match(&at, m_Shr(m_Shl(m_Value(), m_APInt(left)), m_APInt(right))) &&
        *left == *right && left->ult(at.getType()->getIntegerBitWidth()) &&
        at.getType()->getIntegerBitWidth() - left->getZExtValue() < NARROW)
        return &llvm::cast<llvm::Instruction>(at.getOperand(0))
                    ->getOperandUse(0);
    return nullptr;
}

namespace
{

struct hide_cut_counters : llvm::PassInfoMixin<hide_cut_counters> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        const llvm::LoopInfo &loops =
            analyses.getResult<llvm::LoopAnalysis>(function);
        llvm::PreservedAnalyses kept = llvm::PreservedAnalyses::all();

        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &at : block) {
                const llvm::Loop *loop = loops.getLoopFor(&block);
                llvm::Use *use = loop != nullptr ? what_is_cut(at) : nullptr;

                if (use == nullptr || loop->isLoopInvariant(use->get()))
                    continue;
                use->set(new llvm::FreezeInst(
                    use->get(), "",
                    llvm::cast<llvm::Instruction>(use->getUser())
                        ->getIterator()));
                kept = llvm::PreservedAnalyses::none();
                kept.preserveSet<llvm::CFGAnalyses>();
            }
        return kept;
    }

    static bool isRequired()
    {
        return true;
    }
};

void unswitch(llvm::Function &function, llvm::FunctionAnalysisManager &analyses)
{
    llvm::PreservedAnalyses kept =
        llvm::createFunctionToLoopPassAdaptor(
            llvm::SimpleLoopUnswitchPass(true, true), true)
            .run(function, analyses);

    analyses.invalidate(function, kept);
}

struct wide_items : llvm::PassInfoMixin<wide_items> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        bool changed = kiln__carry_elements(function, analyses);

        if (changed)
            analyses.invalidate(function, llvm::PreservedAnalyses::none());
        changed |= kiln__wide_items(function, analyses);
        changed |= kiln__reuse_values(function, analyses);
        kiln__interleave_items(function, analyses);
        return changed ? llvm::PreservedAnalyses::none()
                       : llvm::PreservedAnalyses::all();
    }

    static bool isRequired()
    {
        return true;
    }
};

struct safe_vectors : llvm::PassInfoMixin<safe_vectors> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        return kiln__make_vectors_safe(function, analyses);
    }

    static bool isRequired()
    {
        return true;
    }
};

struct jam_items : llvm::PassInfoMixin<jam_items> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        const bool unswitches = kiln__jam_wants_unswitching(function, analyses);

        if (unswitches)
            unswitch(function, analyses);
        if (kiln__jam_items(function, analyses)) {
            analyses.invalidate(function, llvm::PreservedAnalyses::none());
            llvm::EarlyCSEPass(true).run(function, analyses);
        } else if (!unswitches) {
            return llvm::PreservedAnalyses::all();
        }
        return llvm::PreservedAnalyses::none();
    }

    static bool isRequired()
    {
        return true;
    }
};

struct split_choices : llvm::PassInfoMixin<split_choices> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        return kiln__split_choices(function, analyses)
                   ? llvm::PreservedAnalyses::none()
                   : llvm::PreservedAnalyses::all();
    }

    static bool isRequired()
    {
        return true;
    }
};

struct split_records : llvm::PassInfoMixin<split_records> {
    static llvm::PreservedAnalyses run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses)
    {
        return kiln__split_records(function, analyses)
                   ? llvm::PreservedAnalyses::none()
                   : llvm::PreservedAnalyses::all();
    }

    static bool isRequired()
    {
        return true;
    }
};

/* A pass of LLVM's over the loops of which it can know how often they run. */
template <typename pass_type>
struct of_closed_loops : llvm::PassInfoMixin<of_closed_loops<pass_type>> {
    pass_type pass;

    llvm::PreservedAnalyses run(llvm::Loop &loop,
                                llvm::LoopAnalysisManager &analyses,
                                llvm::LoopStandardAnalysisResults &results,
                                llvm::LPMUpdater &updater)
    {
        return kiln__is_open_loop(loop)
                   ? llvm::PreservedAnalyses::all()
                   : pass.run(loop, analyses, results, updater);
    }
};

} // namespace

static void add_ours(llvm::PassBuilder &builder, bool vectorizes)
{
    builder.registerVectorizerStartEPCallback(
        [vectorizes](llvm::FunctionPassManager &passes,
                     llvm::OptimizationLevel) {
            passes.addPass(split_choices());
            passes.addPass(wide_items());
            passes.addPass(jam_items());
            passes.addPass(split_records());
            passes.addPass(hide_cut_counters());
            if (vectorizes)
                passes.addPass(safe_vectors());
        });
    builder.registerPipelineParsingCallback(
        [](llvm::StringRef name, llvm::FunctionPassManager &passes,
           llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
            if (name == KILN__SPLIT_CHOICES)
                passes.addPass(split_choices());
            else if (name == KILN__WIDE_ITEMS)
                passes.addPass(wide_items());
            else if (name == KILN__SAFE_VECTORS)
                passes.addPass(safe_vectors());
            else if (name == KILN__JAM_ITEMS)
                passes.addPass(jam_items());
            else if (name == KILN__SPLIT_RECORDS)
                passes.addPass(split_records());
            else if (name == KILN__HIDE_CUT_COUNTERS)
                passes.addPass(hide_cut_counters());
            else
                return false;
            return true;
        });
    builder.registerPipelineParsingCallback(
        [](llvm::StringRef name, llvm::LoopPassManager &passes,
           llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
            if (name == KILN__DELETE_LOOPS)
                passes.addPass(of_closed_loops<llvm::LoopDeletionPass>());
            else if (name == KILN__UNROLL_LOOPS)
                passes.addPass(of_closed_loops<llvm::LoopFullUnrollPass>());
            else
                return false;
            return true;
        });
}

char *kiln__llvm_run_passes(LLVMModuleRef module, const char *names,
                            LLVMTargetMachineRef machine, int vectorizes)
{
    llvm::Module *to = llvm::unwrap(module);
    llvm::PipelineTuningOptions tuning;
    llvm::PassInstrumentationCallbacks callbacks;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    llvm::ModulePassManager passes;

    tuning.LoopVectorization = vectorizes != 0;
    tuning.SLPVectorization = vectorizes != 0;
    llvm::PassBuilder builder(reinterpret_cast<llvm::TargetMachine *>(machine),
                              tuning, std::nullopt, &callbacks);
    add_ours(builder, vectorizes != 0);
    builder.registerLoopAnalyses(loops);
    builder.registerFunctionAnalyses(functions);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerModuleAnalyses(modules);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::StandardInstrumentations instruments(to->getContext(), false, false);
    instruments.registerCallbacks(callbacks, &modules);
    if (llvm::Error error = builder.parsePassPipeline(passes, names))
        return strdup(llvm::toString(std::move(error)).c_str());
    passes.run(*to, modules);
    return nullptr;
}
