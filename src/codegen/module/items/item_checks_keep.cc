/* item_checks_keep.cc - what is computed to be checked is kept. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/Function.h>

#include "codegen/module/items/item_checks.h"

/*
 * The loop that asks computes most of what items write. Where it can compute
 * all of it, it keeps the values of a piece on the stack, and the loop without
 * checks only has to copy them:
 *
 *     for i in base..stop
 *         value = 255 * exp(x[i])
 *         bad |= value >= 256
 *         kept[i - base] = u8(value)
 *     if bad == 0
 *         for i in base..stop
 *             y[i] = kept[i - base]
 *
 * Each item has to write all of it. All loops of a function share the memory,
 * since only one of them runs at a time. Beyond the cache, two arrays are
 * written more slowly from kept values than from those that are computed once
 * more, if that is cheap: then nothing is kept.
 */

#define BYTES_MOST 16u   /* that an item writes */
#define MANY_NEEDS 40u   /* instructions that are not cheap together */
#define MARK "kiln.kept" /* metadata: values may have no names */

using namespace item_checks;

/* True where the checks need so much that it should not be computed twice. */
static bool are_needs_expensive(const asker &a)
{
    return a.needs.size() >= MANY_NEEDS ||
           kiln__trim_has_mathematics(*a.l.loop) ||
           llvm::any_of(a.needs, [](const llvm::Instruction *at) {
               return at->isIntDivRem() ||
                      at->getOpcode() == llvm::Instruction::FDiv;
           });
}

static uint64_t size_of(const llvm::StoreInst &store)
{
    return store.getDataLayout().getTypeStoreSize(
        store.getValueOperand()->getType());
}

bool item_checks::find_kept(asker &a)
{
    uint64_t bytes = 0;

    for (const llvm::BasicBlock *block : a.l.loop->blocks())
        for (const llvm::Instruction &at : *block) {
            const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);

            if (store == nullptr)
                continue;
            const llvm::Type *type = store->getValueOperand()->getType();

            bytes += size_of(*store);
            if (bytes > BYTES_MOST ||
                !a.dominators.dominates(block, a.l.jump->getParent()) ||
                !(type->isFloatingPointTy() || type->isIntegerTy(8) ||
                  type->isIntegerTy(16) || type->isIntegerTy(32) ||
                  type->isIntegerTy(64)))
                return false;
            a.kept.push_back(store);
        }
    return a.kept.size() == 1 || are_needs_expensive(a);
}

/* Returns the memory of a function. */
static llvm::AllocaInst *memory_of(llvm::Function &function)
{
    llvm::BasicBlock &entry = function.getEntryBlock();

    for (llvm::Instruction &at : entry)
        if (llvm::isa<llvm::AllocaInst>(at) && at.hasMetadata(MARK))
            return llvm::cast<llvm::AllocaInst>(&at);
    llvm::IRBuilder<> b(&*entry.begin());
    llvm::AllocaInst *memory =
        b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), BYTES_MOST * piece));

    memory->setMetadata(MARK, llvm::MDNode::get(function.getContext(), {}));
    memory->setAlignment(llvm::Align(64));
    return memory;
}

/* Returns the place of what the item with that number writes. */
static llvm::Value *place_of(const asker &a, size_t which, llvm::Value *item,
                             llvm::IRBuilder<> &b)
{
    llvm::Value *memory = memory_of(*a.l.loop->getHeader()->getParent());
    llvm::Type *type = a.kept[which]->getValueOperand()->getType();
    uint64_t bytes = 0;

    for (size_t i = 0; i < which; i++)
        bytes += size_of(*a.kept[i]);
    return b.CreateInBoundsGEP(
        type,
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), memory, bytes * piece),
        b.CreateSub(item, a.l.first, "", true, true));
}

/* Every item of the loop that asks comes to `step`, also where it would have
   raised. */
void item_checks::keep(const asker &a, llvm::BasicBlock *step,
                       llvm::ValueToValueMapTy &map)
{
    auto *header = llvm::cast<llvm::BasicBlock>(map[a.l.loop->getHeader()]);
    llvm::BasicBlock &entry = header->getParent()->getEntryBlock();
    llvm::IRBuilder<> b(header->getContext());

    for (size_t i = 0; i < a.kept.size(); i++) {
        auto *store = llvm::cast<llvm::StoreInst>(map[a.kept[i]]);
        llvm::Type *type = store->getValueOperand()->getType();

        b.SetInsertPoint(&*entry.begin());
        llvm::AllocaInst *value = b.CreateAlloca(type);

        b.SetInsertPoint(header, header->getFirstInsertionPt());
        b.CreateStore(llvm::Constant::getNullValue(type), value);
        b.SetInsertPoint(store);
        b.CreateStore(store->getValueOperand(), value);
        b.SetInsertPoint(step->getTerminator());
        b.CreateStore(b.CreateLoad(type, value),
                      place_of(a, i, map[a.l.counter], b))
            ->copyMetadata(*store, llvm::LLVMContext::MD_access_group);
        store->eraseFromParent();
    }
}

void item_checks::use_kept(const asker &a, llvm::ValueToValueMapTy &map)
{
    for (size_t i = 0; i < a.kept.size(); i++) {
        auto *store = llvm::cast<llvm::StoreInst>(map[a.kept[i]]);
        llvm::IRBuilder<> b(store);
        llvm::LoadInst *value =
            b.CreateLoad(store->getValueOperand()->getType(),
                         place_of(a, i, map[a.l.counter], b));

        value->copyMetadata(*store, llvm::LLVMContext::MD_access_group);
        store->setOperand(0, value);
    }
}
