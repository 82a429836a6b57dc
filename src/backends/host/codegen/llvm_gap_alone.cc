/* llvm_gap_alone.cc - atomics on memory that only one thread uses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
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
