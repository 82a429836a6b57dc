/* groups_cut.cc - cuts a kernel at its barriers: the order of the steps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "abi/host_abi.h"
#include "codegen/groups/groups_distance.h"

/* A region's number has 16 bits, and one means that an item has ended. */
#define REGIONS_MAX (UINT16_MAX - 1)
/* Copies of blocks that belong to several regions. */
#define BLOCKS_MAX 1000000u

static const char *refused(const llvm::Function &function)
{
    for (const llvm::BasicBlock &block : function) {
        if (block.hasAddressTaken() ||
            llvm::isa<llvm::IndirectBrInst>(block.getTerminator()))
            return "it has barriers, and addresses of labels";
        for (const llvm::Instruction &at : block)
            if (const auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&at))
                if (variable->getAlign().value() > KILN__HOST_MEMORY_ALIGNMENT)
                    return "it has barriers, and a variable that is aligned to "
                           "more than 128 bytes";
    }
    return nullptr;
}

/* Finds what is uniform, when as much as possible is. */
static void find_uniform(groups_plan &plan)
{
    kiln__groups_find_uniform(plan);
    if (!plan.is_general && kiln__groups_part_counters(plan)) {
        plan.uniform.clear();
        plan.divergent.clear();
        kiln__groups_find_uniform(plan);
    }
}

bool kiln__groups_make_plan(groups_plan &plan)
{
    find_uniform(plan);
    kiln__groups_find_levels(plan);
    if (!plan.is_general)
        kiln__groups_find_decisions(plan);
    return kiln__groups_find_regions(plan);
}

static bool is_too_large(const groups_plan &plan)
{
    size_t blocks = 0;

    for (const groups_region &region : plan.regions)
        blocks += region.blocks.size();
    return plan.regions.size() > REGIONS_MAX || blocks > BLOCKS_MAX;
}

bool kiln__groups_keeps_waiting(const groups_plan &plan)
{
    if (!plan.steps.empty())
        return true;
    return llvm::any_of(plan.regions, [](const groups_region &region) {
        return !region.is_together || region.is_masked;
    });
}

static const char *reserve(kiln__codegen_job *job, const groups_plan &plan)
{
    uint64_t bytes = plan.private_bytes;
    uint32_t offset;

    if (kiln__groups_keeps_waiting(plan))
        bytes += sizeof(uint16_t);
    if (bytes > UINT32_MAX ||
        kiln__groups_reserve(job, 0, KILN__HOST_MEMORY_ALIGNMENT, &offset) !=
            KILN_OK)
        return "its items keep too much across barriers";
    job->private_bytes =
        std::max(job->private_bytes, static_cast<uint32_t>(bytes));
    return nullptr;
}

/* Finds how values are kept, and memory for them. */
static const char *complete(kiln__codegen_job *job, groups_plan &plan)
{
    if (is_too_large(plan))
        return "its barriers cut it into too many pieces";
    kiln__groups_find_values(plan);
    return reserve(job, plan);
}

/* Makes the function, and in front of it one for groups whose items agree,
   where that is better. */
static const char *emit(kiln__codegen_job *job, groups_plan &plan,
                        LLVMValueRef *entry)
{
    groups_plan agreed;
    const bool has_agreed = kiln__groups_plan_agreed(plan, agreed);
    const char *why = complete(job, plan);
    llvm::Function *function;

    if (why == nullptr && has_agreed)
        why = complete(job, agreed);
    if (why != nullptr)
        return why;
    function = kiln__groups_emit(job, plan, nullptr);
    if (has_agreed) {
        agreed.function->takeName(function);
        function = kiln__groups_emit(job, agreed, function);
    }
    *entry = llvm::wrap(function);
    return nullptr;
}

extern "C" const char *kiln__groups_cut(kiln__codegen_job *job,
                                        LLVMValueRef *entry, int is_general)
{
    groups_plan plan;
    const char *why;

    plan.function = llvm::unwrap<llvm::Function>(*entry);
    plan.is_general = is_general != 0;
    why = refused(*plan.function);
    if (why != nullptr)
        return why;
    kiln__groups_split_barriers(plan);
    if (!kiln__groups_make_plan(plan)) {
        groups_plan general;

        general.function = plan.function;
        general.barriers = plan.barriers;
        general.steps = plan.steps;
        general.is_general = true;
        plan = general;
        if (!kiln__groups_make_plan(plan))
            return "its barriers cut it into pieces that do not fit together";
    }
    job->inner_dimension = kiln__groups_inner_dimension(plan);
    if (job->settings->opt_level >= 2 && !plan.is_general)
        kiln__groups_drop_volatile(plan, job->inner_dimension);
    return emit(job, plan, entry);
}

/* ---- kernels without barriers ---- */

#define INSTRUCTIONS_MAX 4000 /* of a kernel whose loops are looked at */

/* Lets items wait where it pays. False: nowhere, or not all of them could run
   together. */
static bool plan_loops(groups_plan &plan)
{
    groups_plan first;

    first.function = plan.function;
    kiln__groups_take_guard(first);
    plan.guard = first.guard;
    find_uniform(first);
    if (!kiln__groups_wait_in_loops(first))
        return false;
    if (plan.guard != nullptr)
        kiln__groups_add_wait(&plan.function->getEntryBlock());
    kiln__groups_split_barriers(plan);
    return kiln__groups_make_plan(plan) && !is_too_large(plan) &&
           !kiln__groups_keeps_waiting(plan);
}

extern "C" int kiln__groups_cut_loops(kiln__codegen_job *job,
                                      LLVMValueRef *entry)
{
    llvm::Function *original = llvm::unwrap<llvm::Function>(*entry);
    llvm::ValueToValueMapTy map;
    groups_plan plan;
    llvm::Function *cut;

    if (original->getInstructionCount() > INSTRUCTIONS_MAX)
        return 0;
    plan.function = llvm::CloneFunction(original, map);
    if (refused(*plan.function) != nullptr ||
        !kiln__groups_inline_calls(llvm::wrap(plan.function)) ||
        plan.function->getInstructionCount() > INSTRUCTIONS_MAX) {
        plan.function->eraseFromParent();
        return 0;
    }
    kiln__groups_normalise(llvm::wrap(plan.function));
    kiln__groups_rotate(llvm::wrap(plan.function));
    if (!plan_loops(plan)) {
        plan.function->eraseFromParent();
        return 0;
    }
    kiln__groups_find_values(plan);
    if (reserve(job, plan) != nullptr) {
        plan.function->eraseFromParent();
        return 0;
    }
    cut = kiln__groups_emit(job, plan, nullptr);
    cut->takeName(original);
    original->eraseFromParent();
    *entry = llvm::wrap(cut);
    return 1;
}
