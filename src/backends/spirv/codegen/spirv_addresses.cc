/* spirv_addresses.cc - addresses in as few instructions as SPIR-V needs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "codegen/module/codegen_stages.h"

/*
 * LLVM's passes count addresses in bytes, and with the width of a pointer. In
 * SPIR-V a pointer has a type, so that an address in bytes is three
 * instructions: two of them casts. And an index may be narrower than a pointer:
 * it is extended with its sign. So where all code behind an address agrees on a
 * type, that is what is counted, and extensions of indices are left out.
 *
 * Arrays of a group's memory are bytes, too, until the code that accesses them
 * says what they hold.
 */

using namespace llvm::PatternMatch;

namespace
{
/* Finds the type of which all accesses through an address are. */
class access_type
{
  public:
    explicit access_type(const llvm::DataLayout &layout_) : layout(layout_)
    {
    }
    /* Returns it, or null: there is none, or more than one. */
    llvm::Type *of(const llvm::Value &address);

  private:
    void meet(llvm::Type *type);
    void visit(const llvm::Use &use);

    const llvm::DataLayout &layout;
    llvm::Type *found = nullptr;
    bool disagrees = false;
    llvm::SmallPtrSet<const llvm::Value *, 16> seen;
    llvm::SmallVector<const llvm::Value *, 16> left;
};
} // namespace

/* How many users are looked at. */
#define USERS_MAX 1000u

void access_type::meet(llvm::Type *type)
{
    const bool is_number =
        (type->isIntegerTy() || type->isFloatingPointTy()) &&
        type->getScalarSizeInBits() % 8 == 0 &&
        layout.getTypeAllocSizeInBits(type) == type->getScalarSizeInBits();

    disagrees |= !is_number || (found != nullptr && found != type);
    found = type;
}

void access_type::visit(const llvm::Use &use)
{
    const auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    const auto *address = llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(user);

    if (user == nullptr)
        disagrees = true;
    else if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(user))
        meet(load->getType());
    else if (llvm::isa<llvm::StoreInst>(user) && use.getOperandNo() == 1)
        meet(user->getOperand(0)->getType());
    else if (llvm::isa<llvm::AtomicRMWInst>(user) && use.getOperandNo() == 0)
        meet(user->getOperand(1)->getType());
    else if (llvm::isa<llvm::AtomicCmpXchgInst>(user) &&
             use.getOperandNo() == 0)
        meet(user->getOperand(1)->getType());
    else if (llvm::isa<llvm::PHINode>(user) ||
             llvm::isa<llvm::SelectInst>(user))
        left.push_back(user);
    else if (address != nullptr && address->getNumIndices() == 1 &&
             address->getSourceElementType()->isIntegerTy(8))
        left.push_back(user);
    else if (address != nullptr && address->getNumIndices() == 1)
        meet(address->getSourceElementType());
    else
        disagrees = true;
}

llvm::Type *access_type::of(const llvm::Value &address)
{
    unsigned count = 0;

    left.push_back(&address);
    while (!left.empty() && !disagrees) {
        const llvm::Value *at = left.pop_back_val();

        if (!seen.insert(at).second)
            continue;
        for (const llvm::Use &use : at->uses()) {
            visit(use);
            disagrees |= ++count > USERS_MAX;
        }
    }
    return disagrees ? nullptr : found;
}

/* ---- bytes ---- */

/* Returns the number of elements of `size` bytes, or null: the bytes may be no
   whole number. */
static llvm::Value *elements_of(llvm::Value *bytes, uint64_t size,
                                llvm::IRBuilder<> &builder)
{
    llvm::Value *x;
    uint64_t by;

    if (const auto *number = llvm::dyn_cast<llvm::ConstantInt>(bytes)) {
        const int64_t count = number->getSExtValue();

        return count % (int64_t)size != 0
                   ? nullptr
                   : builder.getInt64((uint64_t)(count / (int64_t)size));
    }
    if (!match(bytes, m_Shl(m_Value(x), m_ConstantInt(by))) || by > 62 ||
        (uint64_t)1 << by < size)
        return nullptr;
    by -= (uint64_t)llvm::countr_zero(size);
    return by == 0 ? x : builder.CreateShl(x, by);
}

/* Counts an address that counts bytes by elements. */
static void count_elements(llvm::GetElementPtrInst &at)
{
    const llvm::DataLayout &layout = at.getDataLayout();
    llvm::IRBuilder<> builder(&at);
    llvm::Type *type;
    llvm::Value *count;

    if (!at.getSourceElementType()->isIntegerTy(8) || at.getNumIndices() != 1 ||
        at.getType()->isVectorTy())
        return;
    type = access_type(layout).of(at);
    if (type == nullptr || type->isIntegerTy(8))
        return;
    count =
        elements_of(at.getOperand(1), layout.getTypeAllocSize(type), builder);
    if (count == nullptr)
        return;
    at.setSourceElementType(type);
    at.setResultElementType(type);
    at.setOperand(1, count);
    if (!llvm::isa<llvm::ConstantInt>(count))
        at.setNoWrapFlags(llvm::GEPNoWrapFlags::none());
}

/* ---- indices ---- */

/* Leaves out the extension of an index that has a sign, or needs none. */
static void narrow_index(llvm::GetElementPtrInst &at)
{
    const unsigned last = at.getNumOperands() - 1;
    llvm::Value *x = nullptr;

    if (at.getType()->isVectorTy())
        return;
    if (match(at.getOperand(last), m_SExt(m_Value(x))) ||
        match(at.getOperand(last), m_NNegZExt(m_Value(x))) ||
        (match(at.getOperand(last), m_ZExt(m_Value(x))) &&
         llvm::isKnownNonNegative(x, at.getDataLayout())))
        if (x->getType()->isIntegerTy(32))
            at.setOperand(last, x);
}

/* ---- the memory of a group ---- */

/* Gives an array of bytes the type that it is used with. */
static void type_memory(llvm::GlobalVariable &memory)
{
    const llvm::DataLayout &layout = memory.getDataLayout();
    auto *bytes = llvm::dyn_cast<llvm::ArrayType>(memory.getValueType());
    llvm::Type *type = access_type(layout).of(memory), *all;
    llvm::GlobalVariable *typed;
    uint64_t size;

    if (bytes == nullptr || !bytes->getElementType()->isIntegerTy(8) ||
        type == nullptr || type->isIntegerTy(8))
        return;
    size = layout.getTypeAllocSize(type);
    if (bytes->getNumElements() % size != 0)
        return;
    all = llvm::ArrayType::get(type, bytes->getNumElements() / size);
    typed = new llvm::GlobalVariable(
        *memory.getParent(), all, false, memory.getLinkage(),
        llvm::UndefValue::get(all), "", &memory,
        llvm::GlobalValue::NotThreadLocal, memory.getAddressSpace());
    typed->setAlignment(memory.getAlign());
    typed->takeName(&memory);
    memory.replaceAllUsesWith(typed);
    memory.eraseFromParent();
}

/* Counts from the array itself, not from its first element. */
static void count_from_array(llvm::GetElementPtrInst &at)
{
    auto *memory = llvm::dyn_cast<llvm::GlobalVariable>(at.getPointerOperand());
    auto *all = memory == nullptr
                    ? nullptr
                    : llvm::dyn_cast<llvm::ArrayType>(memory->getValueType());
    llvm::IRBuilder<> builder(&at);

    if (all == nullptr || at.getNumIndices() != 1 ||
        at.getSourceElementType() != all->getElementType())
        return;
    at.replaceAllUsesWith(
        builder.CreateGEP(all, memory, {builder.getInt32(0), at.getOperand(1)},
                          "", at.getNoWrapFlags()));
    at.eraseFromParent();
}

static bool is_group_memory(const llvm::GlobalVariable &global)
{
    return global.getAddressSpace() == KILN__SHARED_SPACE &&
           global.hasInternalLinkage();
}

void kiln__llvm_spirv_addresses(LLVMModuleRef module)
{
    llvm::Module &m = *llvm::unwrap(module);
    llvm::SmallVector<llvm::GetElementPtrInst *, 64> addresses;
    llvm::SmallVector<llvm::WeakTrackingVH, 64> indices;

    for (llvm::Function &f : m)
        for (llvm::Instruction &at : llvm::instructions(f))
            if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&at))
                addresses.push_back(address);
    for (llvm::GetElementPtrInst *at : addresses)
        indices.push_back(at->getOperand(at->getNumOperands() - 1));
    for (llvm::GetElementPtrInst *at : addresses)
        count_elements(*at);
    for (llvm::GetElementPtrInst *at : addresses)
        narrow_index(*at);
    for (llvm::GlobalVariable &global : llvm::make_early_inc_range(m.globals()))
        if (is_group_memory(global))
            type_memory(global);
    for (llvm::GetElementPtrInst *at : addresses)
        count_from_array(*at);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(indices);
}
