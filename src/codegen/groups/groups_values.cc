/* groups_values.cc - how values get from one region to another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "codegen/groups/groups_plan.h"
#include "codegen/module/device_queries.h"

/*
 * A region *reads* a value if one of its uses can be reached from the region's
 * entry without passing the definition. Such a value
 *
 * - is computed again, if that takes a few instructions that have no effect,
 *   from values that are at hand;
 * - or is one variable, if it is uniform and of group level: then the latest
 *   value of the group is the latest of each of its items;
 * - or is in an array over the items.
 *
 * Computing again is right because a definition dominates its uses: since the
 * value was computed, none of its operands can have been.
 */

#define AGAIN_MAX 20 /* instructions */

bool kiln__groups_is_query(const llvm::Value *value)
{
#define NAME(name, form, number, answer, differs) name,
    static const char *const names[] = {KILN__DEVICE_QUERIES(NAME)
                                            KILN__GROUPS_MEMORY};
#undef NAME
    const auto *call = llvm::dyn_cast<llvm::CallBase>(value);
    const llvm::Function *callee =
        call != nullptr ? call->getCalledFunction() : nullptr;

    return callee != nullptr && callee->isDeclaration() &&
           llvm::is_contained(names, callee->getName());
}

/* ---- what regions read ---- */

/* True when the region's entry leads to the end of `from` without passing the
   definition. */
static bool is_read(const groups_region &region, const llvm::BasicBlock *from,
                    const llvm::BasicBlock *definition,
                    llvm::DenseSet<const llvm::BasicBlock *> &seen)
{
    std::vector<const llvm::BasicBlock *> open;

    if (from != definition && seen.insert(from).second)
        open.push_back(from);
    while (!open.empty()) {
        const llvm::BasicBlock *at = open.back();

        open.pop_back();
        if (at == region.entry)
            return true;
        for (const llvm::BasicBlock *before : llvm::predecessors(at))
            if (before != definition && region.has.contains(before) &&
                seen.insert(before).second)
                open.push_back(before);
    }
    return false;
}

static bool reads(const groups_region &region, llvm::Instruction &value)
{
    llvm::DenseSet<const llvm::BasicBlock *> seen;

    for (llvm::Use &use : value.uses()) {
        const auto *user = llvm::cast<llvm::Instruction>(use.getUser());
        const auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
        const llvm::BasicBlock *from =
            phi != nullptr ? phi->getIncomingBlock(use) : user->getParent();

        if (region.has.contains(user->getParent()) &&
            region.has.contains(from) &&
            is_read(region, from, value.getParent(), seen))
            return true;
    }
    return false;
}

using regions_of_blocks = llvm::DenseMap<const llvm::BasicBlock *,
                                         llvm::SmallVector<groups_region *, 2>>;

static bool stays_in_block(const llvm::Instruction &value)
{
    for (const llvm::User *user : value.users()) {
        const auto *at = llvm::cast<llvm::Instruction>(user);

        if (at->getParent() != value.getParent() ||
            llvm::isa<llvm::PHINode>(at))
            return false;
    }
    return true;
}

/* ---- storage ---- */

static bool is_scalar(const groups_plan &plan, const llvm::Instruction *value)
{
    return plan.uniform.contains(value) &&
           plan.group_level.contains(value->getParent());
}

/* Takes what computing the value again costs from `room`. Returns false when it
   is not possible, or there is not enough room. */
static bool can_repeat(const groups_plan &plan, const llvm::Instruction *value,
                       unsigned &room)
{
    if (llvm::isa<llvm::AllocaInst>(value))
        return true;
    if (room == 0)
        return false;
    room--;
    if (kiln__groups_is_query(value))
        return llvm::none_of(value->operands(), [](const llvm::Use &use) {
            return llvm::isa<llvm::Instruction>(use);
        });
    if (!(llvm::isa<llvm::BinaryOperator>(value) ||
          llvm::isa<llvm::CastInst>(value) || llvm::isa<llvm::CmpInst>(value) ||
          llvm::isa<llvm::GetElementPtrInst>(value) ||
          llvm::isa<llvm::SelectInst>(value)) ||
        !llvm::isSafeToSpeculativelyExecute(value))
        return false;
    for (const llvm::Value *operand : value->operands()) {
        const auto *at = llvm::dyn_cast<llvm::Instruction>(operand);

        if (at != nullptr && !is_scalar(plan, at) &&
            !can_repeat(plan, at, room))
            return false;
    }
    return true;
}

static groups_storage storage_of(const groups_plan &plan,
                                 const llvm::Instruction *value)
{
    unsigned room = AGAIN_MAX;

    if (can_repeat(plan, value, room))
        return groups_storage::again;
    return is_scalar(plan, value) ? groups_storage::scalar
                                  : groups_storage::slots;
}

/* Adds what computing the region's values again needs. */
static void add_operands(groups_plan &plan, groups_region &region)
{
    for (size_t i = 0; i < region.live.size(); i++) {
        llvm::Instruction *value = region.live[i];

        plan.values[value].storage = storage_of(plan, value);
        if (plan.values[value].storage != groups_storage::again)
            continue;
        for (llvm::Value *operand : value->operands()) {
            auto *at = llvm::dyn_cast<llvm::Instruction>(operand);

            if (at != nullptr && !llvm::isa<llvm::AllocaInst>(at))
                region.live.insert(at);
        }
    }
}

/* ---- private variables ---- */

static bool is_repeated(const groups_plan &plan, unsigned number)
{
    std::vector<char> seen(plan.regions.size());
    std::vector<unsigned> open = plan.regions[number].next;

    while (!open.empty()) {
        const unsigned at = open.back();

        open.pop_back();
        if (at == number)
            return true;
        if (!seen[at])
            open.insert(open.end(), plan.regions[at].next.begin(),
                        plan.regions[at].next.end());
        seen[at] = 1;
    }
    return false;
}

using instruction_set = llvm::SmallSetVector<llvm::Instruction *, 16>;

/* True for a use that leaves no copy of the pointer behind. */
static bool is_plain_use(const llvm::Use &use, const llvm::Instruction *user)
{
    const auto *call = llvm::dyn_cast<llvm::CallBase>(user);

    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(user))
        return &use == &store->getOperandUse(1);
    if (call != nullptr)
        return call->isArgOperand(&use) &&
               call->doesNotCapture(call->getArgOperandNo(&use));
    return llvm::isa<llvm::LoadInst>(user);
}

/* Finds what uses the variable, also by addresses inside it. Returns false when
   there may be other uses. */
static bool find_uses(llvm::Instruction &variable, instruction_set &users)
{
    instruction_set pointers;

    pointers.insert(&variable);
    for (size_t i = 0; i < pointers.size(); i++)
        for (const llvm::Use &use : pointers[i]->uses()) {
            auto *user = llvm::cast<llvm::Instruction>(use.getUser());

            if (llvm::isa<llvm::LifetimeIntrinsic>(user))
                continue;
            users.insert(user);
            if (llvm::isa<llvm::GetElementPtrInst>(user) ||
                llvm::isa<llvm::PHINode>(user) ||
                llvm::isa<llvm::SelectInst>(user) ||
                llvm::isa<llvm::AddrSpaceCastInst>(user))
                pointers.insert(user);
            else if (!is_plain_use(use, user))
                return false;
        }
    return true;
}

/* True when a step reads or writes what items have in the variable. */
static bool is_exchanged(const groups_plan &plan,
                         const llvm::AllocaInst &variable)
{
    return llvm::any_of(plan.steps, [&](const auto &step) {
        return llvm::is_contained(step.second.variables, &variable);
    });
}

/* True when what the variable contains is of no use after the region in which
   an item uses it. */
static bool is_local(const groups_plan &plan, llvm::AllocaInst &variable)
{
    instruction_set users;
    unsigned number = 0, count = 0;

    if (is_exchanged(plan, variable) || !find_uses(variable, users))
        return false;
    for (unsigned i = 0; i < plan.regions.size(); i++)
        if (llvm::any_of(users, [&](const llvm::Instruction *user) {
                return plan.regions[i].has.contains(user->getParent()) &&
                       !llvm::isa<llvm::GetElementPtrInst>(user);
            })) {
            number = i;
            count++;
        }
    return count == 0 || (count == 1 && !is_repeated(plan, number));
}

/* ---- places ---- */

/* Offsets are multiplied by the number of items, which is a multiple of 64. */
static uint64_t reserve(groups_plan &plan, uint64_t size, uint64_t alignment)
{
    const uint64_t offset =
        alignment > 64 ? llvm::alignTo(plan.private_bytes, alignment / 64)
                       : plan.private_bytes;

    plan.private_bytes = offset + llvm::alignTo(size, alignment);
    return offset;
}

static void place(groups_plan &plan)
{
    const llvm::DataLayout &layout = plan.function->getDataLayout();

    for (auto &[value, of] : plan.values)
        if (of.storage == groups_storage::slots) {
            llvm::Type *type = value->getType();

            of.offset = reserve(plan, layout.getTypeAllocSize(type),
                                layout.getABITypeAlign(type).value());
        }
    for (auto &[variable, of] : plan.arrays)
        of.offset =
            reserve(plan, variable->getAllocationSize(layout)->getFixedValue(),
                    variable->getAlign().value());
}

/* Adds the value to what regions read. Only those that a use is in can. */
static void add_reads(const regions_of_blocks &regions,
                      llvm::Instruction &value)
{
    llvm::SmallSetVector<groups_region *, 4> where;

    for (const llvm::User *user : value.users()) {
        const auto found =
            regions.find(llvm::cast<llvm::Instruction>(user)->getParent());

        if (found != regions.end())
            where.insert(found->second.begin(), found->second.end());
    }
    for (groups_region *region : where)
        if (reads(*region, value))
            region->live.insert(&value);
}

void kiln__groups_find_values(groups_plan &plan)
{
    regions_of_blocks regions;

    for (groups_region &region : plan.regions)
        for (const llvm::BasicBlock *block : region.has)
            regions[block].push_back(&region);
    for (llvm::Instruction &at : llvm::instructions(*plan.function)) {
        if (auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&at)) {
            if (is_local(plan, *variable))
                plan.locals.insert(variable);
            else
                plan.arrays[variable] = {};
            continue;
        }
        if (at.use_empty() || stays_in_block(at))
            continue;
        add_reads(regions, at);
    }
    for (groups_region &region : plan.regions) {
        if (plan.guard != nullptr &&
            !region.has.contains(plan.guard->getParent()))
            region.live.insert(plan.guard);
        add_operands(plan, region);
    }
    place(plan);
}
