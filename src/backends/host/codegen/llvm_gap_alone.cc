/* llvm_gap_alone.cc - atomics on memory that only one thread uses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "backends/host/codegen/host_codegen.h"

/*
 * One thread runs all items of a group, so nobody else sees the group's memory,
 * and an atomic operation on it is a load and a store. On x86 the lock alone
 * takes 20 cycles, which is most of a histogram's time.
 *
 * It is done after all passes. Items may use one element one after the other,
 * which the passes must not take for independent accesses: that is what the
 * loops over items say of all that is not atomic.
 */

/* ---- memory of the group ---- */

/* True if all that the address may be based on is the memory of the group. */
static bool is_of_group(const llvm::Value *address, const llvm::Value *memory)
{
    llvm::SmallVector<const llvm::Value *, 4> bases;

    llvm::getUnderlyingObjects(address, bases, nullptr, 16);
    return llvm::all_of(
        bases, [&](const llvm::Value *base) { return base == memory; });
}

static void lower_atomic(llvm::Instruction &at, const llvm::Value *memory)
{
    if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
        if (!update->isVolatile() &&
            is_of_group(update->getPointerOperand(), memory))
            llvm::lowerAtomicRMWInst(update);
    } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
        if (!exchange->isVolatile() &&
            is_of_group(exchange->getPointerOperand(), memory))
            llvm::lowerAtomicCmpXchgInst(exchange);
    }
}

void kiln__llvm_lower_atomics(LLVMValueRef kernel)
{
    llvm::Function &function = *llvm::unwrap<llvm::Function>(kernel);
    const llvm::Value *memory = function.getArg(KILN__HOST_MEMORY);

    for (llvm::Instruction &at :
         llvm::make_early_inc_range(llvm::instructions(function)))
        lower_atomic(at, memory);
}

/* ---- other memory ---- */

/*
 * Other threads may use other memory, unless the host lets this one be alone
 * (host_alone.c). While it is, they wait; so its code must end without their
 * help. A kernel that ignores the results of its atomic operations does.
 */

extern "C" int kiln__llvm_has_atomics(LLVMModuleRef module)
{
    for (const llvm::Function &function : *llvm::unwrap(module))
        for (const llvm::Instruction &at : llvm::instructions(function))
            if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(at))
                return 1;
    return 0;
}

/* True for a function that only computes. */
static bool only_computes(const llvm::Function &function)
{
    return llvm::all_of(
        llvm::instructions(function), [](const llvm::Instruction &at) {
            const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

            return !at.isAtomic() && !at.isVolatile() &&
                   (call == nullptr || call->doesNotAccessMemory() ||
                    llvm::isa<llvm::IntrinsicInst>(call));
        });
}

/* What the kernel calls in the other module does the same as the kernel, and
   checks more. A function of its own in this one computes whether that is
   necessary. */
static bool is_quiet_call(const llvm::CallBase &call)
{
    const llvm::Function *callee = call.getCalledFunction();
    const llvm::StringRef kernel = call.getFunction()->getName();

    if (callee == nullptr)
        return call.hasFnAttr(KILN__HOST_DEFERRED_MARK);
    llvm::StringRef name = callee->getName();

    return callee->isIntrinsic() || call.doesNotAccessMemory() ||
           name == KILN__RAISE ||
           (name.consume_front(kernel) && name.starts_with(".") &&
            (callee->isDeclaration() || only_computes(*callee)));
}

/* A load that is only to stay where it is (host_entry.c). */
static bool loads_launch(const llvm::Instruction &at)
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);

    return load != nullptr && !load->isAtomic() &&
           llvm::getUnderlyingObject(load->getPointerOperand()) ==
               at.getFunction()->getArg(0);
}

static bool is_quiet(const llvm::Instruction &at)
{
    if (const auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at))
        return !update->isVolatile() && update->use_empty();
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&at))
        return is_quiet_call(*call);
    return !at.isAtomic() && (!at.isVolatile() || loads_launch(at));
}

extern "C" int kiln__llvm_is_quiet(LLVMValueRef kernel, size_t most)
{
    const llvm::Function &function = *llvm::unwrap<llvm::Function>(kernel);

    return function.getInstructionCount() <= most &&
           llvm::all_of(
               llvm::instructions(function),
               [](const llvm::Instruction &at) { return is_quiet(at); });
}

/* Instead of the call, stores the group's number and returns. */
static void leave_before(llvm::CallBase *call)
{
    llvm::IRBuilder<> builder(call);
    llvm::Value *launch = call->getArgOperand(0);
    llvm::Value *group = call->getArgOperand(2);
    const uint64_t offset = offsetof(struct kiln__host_launch_state, left);
    llvm::Type *result = call->getFunction()->getReturnType();
    llvm::BasicBlock *block = call->getParent();

    builder.CreateAlignedStore(
        group,
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), launch, offset),
        llvm::Align(8));
    llvm::changeToUnreachable(call);
    block->getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(call->getContext(),
                             llvm::ConstantInt::get(result, KILN__HOST_LEFT),
                             block);
}

extern "C" LLVMValueRef kiln__llvm_copy_plain(LLVMValueRef kernel)
{
    llvm::ValueToValueMapTy map;
    llvm::Function *copy =
        llvm::CloneFunction(llvm::unwrap<llvm::Function>(kernel), map);
    llvm::SmallVector<llvm::CallBase *, 2> deferred;

    for (llvm::Instruction &at :
         llvm::make_early_inc_range(llvm::instructions(*copy))) {
        if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at))
            llvm::lowerAtomicRMWInst(update);
        else if (auto *call = llvm::dyn_cast<llvm::CallBase>(&at);
                 call != nullptr && call->hasFnAttr(KILN__HOST_DEFERRED_MARK))
            deferred.push_back(call);
    }
    for (llvm::CallBase *call : deferred)
        leave_before(call);
    return llvm::wrap(copy);
}
