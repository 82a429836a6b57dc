/* groups_carry.cc - carries values between the regions of a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include "codegen/groups/groups_emit.h"

/*
 * What a region reads is brought to the beginning of each item, or in front of
 * the loop if it is the group's. From there it gets to its uses as if it were
 * defined there once more. A definition in the region that others read is kept
 * when it has been executed.
 *
 * A scalar has two variables. Items of one region all read what was there
 * before the region, so what they compute goes to a second variable first.
 * Often it does not depend on the item at all, a loop's counter for example;
 * then it is computed in front of the loop.
 */

#define OUTSIDE_MAX 16 /* levels of an expression */

static groups_storage storage_of(const groups_emitter &e,
                                 llvm::Instruction *value)
{
    return e.plan->values.find(value)->second.storage;
}

static llvm::AllocaInst *scalar_of(groups_emitter &e, llvm::Instruction *value)
{
    llvm::AllocaInst *&variable = e.scalars[value];

    if (variable == nullptr)
        variable = kiln__groups_variable(e, value->getType());
    return variable;
}

/* ---- arrays over items ---- */

/* An i1 takes a byte. */
static llvm::Type *type_in_memory(llvm::Type *type)
{
    return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext())
                                : type;
}

static llvm::Value *slot_of(groups_emitter &e, llvm::Instruction *value)
{
    const llvm::DataLayout &layout = e.out->getDataLayout();

    return kiln__groups_slot(e, e.plan->values.find(value)->second.offset,
                             layout.getTypeAllocSize(value->getType()));
}

static llvm::Value *read_slot(groups_emitter &e, llvm::Instruction *value)
{
    llvm::Value *got = e.builder->CreateLoad(type_in_memory(value->getType()),
                                             slot_of(e, value));

    return value->getType()->isIntegerTy(1)
               ? e.builder->CreateTrunc(got, value->getType())
               : got;
}

static void write_slot(groups_emitter &e, llvm::Instruction *value,
                       llvm::Value *copy)
{
    llvm::Value *address = slot_of(e, value);

    if (value->getType()->isIntegerTy(1))
        copy = e.builder->CreateZExt(copy, e.builder->getInt8Ty());
    e.builder->CreateStore(copy, address);
}

/* ---- what a region reads ---- */

void kiln__groups_bring_scalars(groups_emitter &e)
{
    for (llvm::Instruction *value : e.region->live)
        if (storage_of(e, value) == groups_storage::scalar)
            e.brought[value] =
                e.builder->CreateLoad(value->getType(), scalar_of(e, value));
}

static llvm::Value *address_of(groups_emitter &e, llvm::AllocaInst *variable)
{
    const auto found = e.plan->arrays.find(variable);
    llvm::AllocaInst *&local = e.locals[variable];

    if (found != e.plan->arrays.end())
        return kiln__groups_slot(
            e, found->second.offset,
            llvm::alignTo(variable->getAllocationSize(e.out->getDataLayout())
                              ->getFixedValue(),
                          variable->getAlign()));
    if (local == nullptr) {
        local = kiln__groups_variable(e, variable->getAllocatedType());
        local->setAlignment(variable->getAlign());
        local->setOperand(0, variable->getOperand(0));
    }
    return local;
}

llvm::Value *kiln__groups_bring_value(groups_emitter &e, llvm::Value *value)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    auto *variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    llvm::Value *got;

    if (at == nullptr)
        return e.map->count(value) != 0 ? &*e.map->lookup(value) : value;
    if (e.brought.count(value) != 0)
        return e.brought[value];
    if (variable != nullptr) {
        got = address_of(e, variable);
    } else if (storage_of(e, at) == groups_storage::again) {
        llvm::Instruction *copy = at->clone();

        for (llvm::Use &operand : copy->operands())
            operand.set(kiln__groups_bring_value(e, operand.get()));
        got = e.builder->Insert(copy);
    } else {
        got = read_slot(e, at);
    }
    e.brought[value] = got;
    return got;
}

void kiln__groups_bring(groups_emitter &e)
{
    for (llvm::Instruction *value : e.region->live)
        kiln__groups_bring_value(e, value);
    for (llvm::Instruction &at : e.plan->function->getEntryBlock())
        if (llvm::isa<llvm::AllocaInst>(at) &&
            llvm::any_of(at.users(), [&](const llvm::User *user) {
                return e.region->has.contains(
                    llvm::cast<llvm::Instruction>(user)->getParent());
            }))
            kiln__groups_bring_value(e, &at);
}

/* ---- uses ---- */

/* Returns the uses of the value in the region's copy. */
static std::vector<llvm::Use *> uses_of(const groups_emitter &e,
                                        llvm::Value *value)
{
    std::vector<llvm::Use *> uses;

    for (llvm::Use &use : value->uses())
        if (llvm::cast<llvm::Instruction>(use.getUser())->getFunction() ==
            e.out)
            uses.push_back(&use);
    return uses;
}

static void connect_value(groups_emitter &e, llvm::Instruction *value)
{
    const bool is_computed = e.region->has.contains(value->getParent());
    auto *copy = is_computed
                     ? llvm::cast<llvm::Instruction>(&*e.map->lookup(value))
                     : nullptr;
    llvm::Value *got = e.brought[value];
    llvm::SSAUpdater updater;

    if (!is_computed) {
        for (llvm::Use *use : uses_of(e, value))
            use->set(got);
        return;
    }
    updater.Initialize(value->getType(), value->getName());
    updater.AddAvailableValue(e.item_start, got);
    updater.AddAvailableValue(copy->getParent(), copy);
    for (llvm::Use *use : uses_of(e, copy)) {
        const auto *user = llvm::cast<llvm::Instruction>(use->getUser());

        if (user->getParent() != copy->getParent() ||
            llvm::isa<llvm::PHINode>(user))
            updater.RewriteUse(*use);
    }
}

/* ---- what others read ---- */

static void keep(groups_emitter &e, llvm::Instruction *value)
{
    auto *copy = llvm::cast<llvm::Instruction>(&*e.map->lookup(value));
    llvm::AllocaInst *variable;

    if (llvm::isa<llvm::PHINode>(copy))
        e.builder->SetInsertPoint(copy->getParent(),
                                  copy->getParent()->getFirstInsertionPt());
    else
        e.builder->SetInsertPoint(copy->getNextNode());
    if (storage_of(e, value) == groups_storage::slots) {
        write_slot(e, value, copy);
        return;
    }
    variable = kiln__groups_variable(e, value->getType());
    e.builder->CreateStore(copy, variable);
    e.computed.push_back({value, variable});
}

void kiln__groups_connect(groups_emitter &e)
{
    for (llvm::Instruction *value : e.region->live)
        connect_value(e, value);
    for (const auto &[value, of] : e.plan->values)
        if (of.storage != groups_storage::again &&
            e.region->has.contains(value->getParent()))
            keep(e, value);
}

/* ---- scalars ---- */

static bool is_outside(const groups_emitter &e, const llvm::Instruction *at)
{
    return at->getParent() == e.before ||
           at->getParent() == &e.out->getEntryBlock() ||
           llvm::is_contained(e.agreed, at);
}

/* Makes a copy of a pure instruction in front of the loop. */
static llvm::Value *copy_outside(groups_emitter &e, llvm::Instruction *at,
                                 unsigned depth)
{
    llvm::SmallVector<llvm::Value *, 4> operands;
    llvm::Instruction *copy;

    for (llvm::Value *operand : at->operands()) {
        operands.push_back(kiln__groups_outside(e, operand, depth + 1));
        if (operands.back() == nullptr)
            return nullptr;
    }
    copy = at->clone();
    for (unsigned i = 0; i < operands.size(); i++)
        copy->setOperand(i, operands[i]);
    copy->insertBefore(e.before->getTerminator()->getIterator());
    return copy;
}

llvm::Value *kiln__groups_outside(groups_emitter &e, llvm::Value *value,
                                  unsigned depth)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (at == nullptr || is_outside(e, at))
        return value;
    if (depth > OUTSIDE_MAX)
        return nullptr;
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(at))
        return phi->getNumIncomingValues() == 1
                   ? kiln__groups_outside(e, phi->getIncomingValue(0),
                                          depth + 1)
                   : nullptr;
    if ((llvm::isa<llvm::BinaryOperator>(at) || llvm::isa<llvm::CastInst>(at) ||
         llvm::isa<llvm::CmpInst>(at) ||
         llvm::isa<llvm::GetElementPtrInst>(at) ||
         llvm::isa<llvm::SelectInst>(at)) &&
        llvm::isSafeToSpeculativelyExecute(at))
        return copy_outside(e, at, depth);
    return nullptr;
}

/* True when items cannot leave at the split without having computed the value
   in this region. */
static bool is_always_computed(const groups_emitter &e,
                               const llvm::Instruction *value)
{
    std::vector<const llvm::BasicBlock *> open = {e.region->entry};
    llvm::DenseSet<const llvm::BasicBlock *> seen;

    while (!open.empty()) {
        const llvm::BasicBlock *at = open.back();

        open.pop_back();
        if (at == value->getParent() || !seen.insert(at).second)
            continue;
        if (e.plan->splits.contains(at))
            return false;
        for (const llvm::BasicBlock *after : llvm::successors(at))
            open.push_back(after);
    }
    return true;
}

/* Removes the variable of a value that is computed in front of the loop. */
static void drop(llvm::AllocaInst *variable)
{
    while (!variable->use_empty())
        llvm::cast<llvm::Instruction>(variable->user_back())->eraseFromParent();
    variable->eraseFromParent();
}

void kiln__groups_keep_scalars(groups_emitter &e)
{
    llvm::BasicBlock *here = e.builder->GetInsertBlock();
    std::vector<std::pair<llvm::Instruction *, llvm::Value *>> results;

    for (const auto &[value, variable] : e.computed) {
        llvm::Value *result =
            is_always_computed(e, value)
                ? kiln__groups_outside(e, &*e.map->lookup(value), 0)
                : nullptr;

        if (result != nullptr) {
            drop(variable);
        } else {
            e.builder->SetInsertPoint(e.before->getTerminator());
            e.builder->CreateStore(
                e.builder->CreateLoad(value->getType(), scalar_of(e, value)),
                variable);
            e.builder->SetInsertPoint(here);
            result = e.builder->CreateLoad(value->getType(), variable);
        }
        results.push_back({value, result});
    }
    e.builder->SetInsertPoint(here);
    for (const auto &[value, result] : results)
        e.builder->CreateStore(result, scalar_of(e, value));
    e.computed.clear();
}
