/* trim_pieces.cc - goes through items in pieces. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/trim.h"

#include <llvm/IR/IRBuilder.h>

/*
 *     for i in first..end    body
 *     =>
 *     for base in first..end by most
 *         for i in base..min(base + most, end)    body
 */
void kiln__trim_in_pieces(trim_loop &l, uint64_t most)
{
    llvm::BasicBlock *header = l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    llvm::LLVMContext &context = function.getContext();
    auto *piece = llvm::BasicBlock::Create(context, "piece", &function, header);
    auto *next = llvm::BasicBlock::Create(context, "", &function, l.exit);
    llvm::IRBuilder<> b(piece);
    llvm::PHINode *base = b.CreatePHI(l.counter->getType(), 2);
    llvm::Value *stop = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin,
        b.CreateAdd(base, b.getInt64(most), "", true, true), l.end);

    b.CreateBr(header);
    base->addIncoming(l.first, l.before);
    base->addIncoming(stop, next);
    l.before->getTerminator()->replaceSuccessorWith(header, piece);
    l.counter->replaceIncomingBlockWith(l.before, piece);
    l.counter->setIncomingValueForBlock(piece, base);
    kiln__trim_end_at(l.jump, l.counter, stop, next);
    b.SetInsertPoint(next);
    b.CreateCondBr(b.CreateICmpULT(stop, l.end), piece, l.exit);
    l.before = piece;
    l.first = base;
    l.end = stop;
    l.exit = next;
}
