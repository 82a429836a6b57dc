/* ahead_loop.cc - makes a loop that asks checks ahead of its iterations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/CFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/ahead/ahead_loop.h"

/*
 *     for i { if (c[i] >= n) raise; s += x[c[i]]; }
 *     =>
 *     for i by 4, while four are left {
 *         if (max(c[i], c[i + 1], c[i + 2], c[i + 3]) >= n) break;
 *         s += x[c[i]]; ... s += x[c[i + 3]];
 *     }
 *     for the rest { if (c[i] >= n) raise; s += x[c[i]]; }
 *
 * The second loop is the old one. It does the iterations that are left over,
 * and where a check fails it does as much as it always did and raises what it
 * always raised. So the first loop need not know what exactly has failed: a
 * few checks become one, and no exception comes between loads that could wait
 * for memory together.
 */

llvm::BasicBlock *kiln__ahead::block(const llvm::Twine &name)
{
    return llvm::BasicBlock::Create(function.getContext(), name, &function,
                                    loop.getHeader());
}

/* ---- the head ---- */

/* The new loop has the phis of the old one's header. */
void kiln__ahead::begin()
{
    before = loop.getLoopPreheader();
    head = at = block("ahead");
    llvm::IRBuilder<> b(head);
    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        llvm::PHINode *own = b.CreatePHI(phi.getType(), 2);

        own->addIncoming(phi.getIncomingValueForBlock(before), before);
        maps[0][&phi] = own;
    }
    if (plan.copies > 1) {
        left = b.CreatePHI(plan.left->getType(), 2);
        left->addIncoming(plan.left, before);
    }
    before->getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(head, loop.getHeader(), plan.enough, before);
}

/* Moves the counters of an iteration on to the next one. */
void kiln__ahead::step(unsigned copy)
{
    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        llvm::Instruction *next = kiln__ahead_step(loop, phi);

        if (next == nullptr)
            continue;
        if (maps[copy - 1].find(next) == maps[copy - 1].end())
            copy_of(*next, copy - 1)->insertInto(at, at->end());
        maps[copy][&phi] = maps[copy - 1][next];
    }
}

llvm::Instruction *kiln__ahead::copy_of(llvm::Instruction &from, unsigned copy)
{
    llvm::Instruction *made = from.clone();

    maps[copy][&from] = made;
    llvm::RemapInstruction(made, maps[copy],
                           llvm::RF_NoModuleLevelChanges |
                               llvm::RF_IgnoreMissingLocals);
    return made;
}

void kiln__ahead::compute(unsigned copy, const kiln__ahead_check &check)
{
    for (llvm::Instruction *need : check.needs)
        if (maps[copy].find(need) == maps[copy].end())
            copy_of(*need, copy)->insertInto(at, at->end());
}

/* ---- iterations ---- */

llvm::Value *kiln__ahead::mapped(llvm::Value *value, unsigned copy)
{
    llvm::Value *own = maps[copy].lookup(value);

    return own != nullptr ? own : value;
}

/* Behind a check that was asked, an iteration goes on. */
void kiln__ahead::skip(const kiln__ahead_check &check, unsigned copy)
{
    auto *own = llvm::cast<llvm::BasicBlock>(maps[copy][check.block]);
    auto *fine = llvm::cast<llvm::BasicBlock>(
        maps[copy][kiln__branch_of(check).getSuccessor(1 - check.raise)]);

    own->getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(fine, own);
}

/* What comes behind an exception, if anything does, comes behind its copy. */
void kiln__ahead::keep(const kiln__ahead_check &check, unsigned copy)
{
    llvm::BasicBlock *raise = kiln__branch_of(check).getSuccessor(check.raise);

    for (llvm::BasicBlock *after : llvm::successors(raise))
        for (llvm::PHINode &phi : after->phis())
            phi.addIncoming(mapped(phi.getIncomingValueForBlock(raise), copy),
                            llvm::cast<llvm::BasicBlock>(maps[copy][raise]));
}

void kiln__ahead::copy_block(llvm::BasicBlock &from, unsigned copy)
{
    auto *to = llvm::cast<llvm::BasicBlock>(maps[copy][&from]);

    for (llvm::Instruction &one : from) {
        if (maps[copy].find(&one) != maps[copy].end())
            continue; /* a phi of the header, or computed before */
        llvm::Instruction *made = one.clone();
        maps[copy][&one] = made;
        made->insertInto(to, to->end());
    }
}

/* Copies an iteration, with the exceptions that it may still raise. */
void kiln__ahead::copy_iteration(unsigned copy)
{
    llvm::SmallVector<llvm::BasicBlock *, 16> from(order.begin(), order.end());

    for (const kiln__ahead_check &check : plan.checks)
        if (check.stays)
            from.push_back(kiln__branch_of(check).getSuccessor(check.raise));
    for (llvm::PHINode &phi : loop.getHeader()->phis())
        if (maps[copy].find(&phi) == maps[copy].end())
            maps[copy][&phi] = mapped(
                phi.getIncomingValueForBlock(loop.getLoopLatch()), copy - 1);
    for (llvm::BasicBlock *one : from)
        maps[copy][one] = block("");
    for (llvm::BasicBlock *one : from)
        copy_block(*one, copy);
    for (llvm::BasicBlock *one : from)
        for (llvm::Instruction &made :
             *llvm::cast<llvm::BasicBlock>(maps[copy][one]))
            llvm::RemapInstruction(&made, maps[copy],
                                   llvm::RF_NoModuleLevelChanges |
                                       llvm::RF_IgnoreMissingLocals);
    for (const kiln__ahead_check &check : plan.checks)
        if (check.stays)
            keep(check, copy);
        else
            skip(check, copy);
    llvm::BranchInst::Create(
        llvm::cast<llvm::BasicBlock>(maps[copy][loop.getHeader()]), at);
    at = llvm::cast<llvm::BasicBlock>(maps[copy][loop.getLoopLatch()]);
    at->getTerminator()->eraseFromParent();
}

/* ---- the end ---- */

/* Gives the old loop's phis what they have when it goes on from the block. */
void kiln__ahead::resume(llvm::BasicBlock &from, bool has_run)
{
    for (llvm::PHINode &phi : loop.getHeader()->phis())
        phi.addIncoming(
            has_run ? mapped(phi.getIncomingValueForBlock(loop.getLoopLatch()),
                             plan.copies - 1)
                    : mapped(&phi, 0),
            &from);
}

void kiln__ahead::go_to_exit(llvm::BasicBlock &from)
{
    for (llvm::PHINode &phi : exit->phis())
        phi.addIncoming(
            mapped(phi.getIncomingValueForBlock(loop.getLoopLatch()),
                   plan.copies - 1),
            &from);
}

/* Ends the new loop's last block: it begins again while all iterations of a
   round are left. */
void kiln__ahead::end_round(llvm::BasicBlock *otherwise,
                            const llvm::MDNode *like)
{
    llvm::IRBuilder<> b(at);
    llvm::Type *type = plan.left->getType();
    llvm::Value *again;

    if (plan.copies > 1) {
        again = b.CreateICmpUGE(
            left, llvm::ConstantInt::get(type, 2 * plan.copies - 1));
        left->addIncoming(
            b.CreateSub(left, llvm::ConstantInt::get(type, plan.copies)), at);
    } else {
        auto *latch =
            llvm::cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());

        again = mapped(latch->getCondition(), 0);
        if (latch->getSuccessor(0) != loop.getHeader())
            again = b.CreateNot(again);
    }
    b.CreateCondBr(again, head, otherwise)
        ->setMetadata(llvm::LLVMContext::MD_loop, own_loop_id(like));
    for (llvm::PHINode &phi : loop.getHeader()->phis())
        llvm::cast<llvm::PHINode>(maps[0][&phi])
            ->addIncoming(
                mapped(phi.getIncomingValueForBlock(loop.getLoopLatch()),
                       plan.copies - 1),
                at);
}

/* Fewer iterations than a round are left to the old loop. */
void kiln__ahead::end(const llvm::MDNode *like)
{
    llvm::BasicBlock *rest = plan.copies > 1 ? block("ahead.rest") : exit;

    end_round(rest, like);
    if (plan.copies == 1) {
        go_to_exit(*at);
        return;
    }
    llvm::IRBuilder<> b(rest);
    b.CreateCondBr(b.CreateICmpEQ(left, llvm::ConstantInt::get(
                                            left->getType(), plan.copies - 1)),
                   exit, loop.getHeader());
    resume(*rest, true);
    go_to_exit(*rest);
}

/* What is said of one loop is said of the new one. */
llvm::MDNode *kiln__ahead::own_loop_id(const llvm::MDNode *like)
{
    llvm::SmallVector<llvm::Metadata *, 4> all = {nullptr};

    for (unsigned i = 1; like != nullptr && i < like->getNumOperands(); i++)
        all.push_back(like->getOperand(i));
    llvm::MDNode *own = llvm::MDNode::getDistinct(function.getContext(), all);
    own->replaceOperandWith(0, own);
    return own;
}

/* Says of counters what was asked in front of the loop. */
void kiln__ahead::mark_walks()
{
    for (llvm::PHINode *walk : plan.walks)
        for (llvm::ValueToValueMapTy &map : maps) {
            llvm::Value *next = map.lookup(kiln__ahead_step(loop, *walk));

            llvm::cast<llvm::Instruction>(next)->setHasNoUnsignedWrap();
            llvm::cast<llvm::Instruction>(next)->setHasNoSignedWrap();
        }
}

void kiln__ahead::run()
{
    llvm::MDNode *const id = loop.getLoopID();

    llvm::addStringMetadataToLoop(&loop, KILN__UNROLL_DISABLED, 1);
    begin();
    for (unsigned copy = 1; copy < plan.copies; copy++)
        step(copy);
    for (unsigned stage = 0; stage < plan.stages; stage++)
        ask(stage);
    for (unsigned copy = 0; copy < plan.copies; copy++)
        copy_iteration(copy);
    mark_walks();
    /* LLVM unrolls a loop that ends in one way only. */
    end(plan.stages > 0 ? loop.getLoopID() : id);
}

void kiln__ahead_apply(const kiln__ahead_plan &plan, llvm::LoopInfo &loops)
{
    kiln__ahead(plan, loops).run();
}
