/* wide_emit.cc - makes the body of a loop over items for vectors of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_emit.h"

#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

/*
 * Each block of the loop gets a copy, in which a value is made once if it is
 * the same for all items, and else as vectors. Addresses of neighbouring
 * elements are made for the first item of all these vectors only.
 */

wide_emitter::wide_emitter(const wide_values &of, const wide_body &which)
    : values(of), body(which), function(*of.loop.getHeader()->getParent()),
      b(function.getContext()), to_part(which.parts)
{
}

llvm::Type *wide_emitter::vector_of(llvm::Type *type) const
{
    return body.lanes == 1 ? type
                           : llvm::FixedVectorType::get(type, body.lanes);
}

/* Returns <0, step, 2 * step, ...>. */
llvm::Constant *wide_emitter::lanes_of(llvm::Type *type, int64_t step) const
{
    llvm::SmallVector<llvm::Constant *, 16> lanes;
    const unsigned width = type->getIntegerBitWidth();

    for (unsigned i = 0; i < body.lanes; i++)
        lanes.push_back(llvm::ConstantInt::get(
            type, llvm::APInt(64, static_cast<uint64_t>(step) * i)
                      .zextOrTrunc(width)));
    return body.lanes == 1 ? lanes[0] : llvm::ConstantVector::get(lanes);
}

/* ---- values ---- */

llvm::Value *wide_emitter::one_of(llvm::Value *value)
{
    const auto found = ones.find(value);

    return found != ones.end() ? found->second : value;
}

llvm::Value *wide_emitter::many_of(llvm::Value *value, unsigned part)
{
    const auto found = manys.find(value);
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    llvm::Value *one = one_of(value), *all;

    if (found != manys.end())
        return found->second[part];
    if (body.lanes == 1)
        return one;
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
        return llvm::ConstantVector::getSplat(
            llvm::ElementCount::getFixed(body.lanes), constant);
    if (at == nullptr || !values.loop.contains(at)) {
        b.SetInsertPoint(before);
    } else {
        auto *made = llvm::cast<llvm::Instruction>(one);
        llvm::BasicBlock *block = made->getParent();

        b.SetInsertPoint(block, llvm::isa<llvm::PHINode>(made)
                                    ? block->getFirstInsertionPt()
                                    : std::next(made->getIterator()));
    }
    all = b.CreateVectorSplat(body.lanes, one);
    manys[value] = wide_parts(body.parts, all);
    return all;
}

/* ---- instructions ---- */

/* What is the same for all items, or what the first one needs for addresses. */
void wide_emitter::make_one(llvm::Instruction &at)
{
    llvm::Instruction *copy = at.clone();

    for (llvm::Use &operand : copy->operands())
        operand.set(one_of(operand.get()));
    /* The first item may be one that does not come here, others do. */
    if (values.is_varying(&at))
        copy->dropPoisonGeneratingFlags();
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&at))
        if (!mask.empty() && values.heads.contains(at.getParent())) {
            copy->setOperand(0, safe_place(*load));
            copy->dropPoisonGeneratingMetadata();
            copy->dropUBImplyingAttrsAndMetadata();
        }
    kiln__wide_unmark(*copy);
    b.Insert(copy);
    if (!at.getType()->isVoidTy())
        ones[&at] = copy;
}

void wide_emitter::make_phi(llvm::PHINode &phi)
{
    if (values.is_joined(phi.getParent())) {
        blend(phi);
        return;
    }
    phis.push_back(&phi);
    if (!values.is_varying(&phi) || values.as_first.contains(&phi))
        ones[&phi] = b.CreatePHI(phi.getType(), phi.getNumIncomingValues());
    if (values.as_many.contains(&phi)) {
        wide_parts parts(body.parts);

        for (unsigned i = from_part; i < to_part; i++)
            parts[i] = b.CreatePHI(vector_of(phi.getType()),
                                   phi.getNumIncomingValues());
        manys[&phi] = parts;
    }
}

llvm::Value *wide_emitter::make_call(llvm::CallInst &call, unsigned part)
{
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    llvm::Function *variant = llvm::VFDatabase(call).getVectorizedFunction(
        llvm::VFShape::get(call.getFunctionType(),
                           llvm::ElementCount::getFixed(body.lanes), false));
    const bool is_plain = variant == nullptr;
    llvm::SmallVector<llvm::Value *, 4> arguments;
    llvm::SmallVector<llvm::Type *, 2> types;

    if (is_plain &&
        llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr))
        types.push_back(vector_of(call.getType()));
    for (unsigned i = 0; i < call.arg_size(); i++) {
        llvm::Value *argument = call.getArgOperand(i);

        arguments.push_back(
            is_plain && llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr)
                ? one_of(argument)
                : many_of(argument, part));
        if (is_plain && llvm::isVectorIntrinsicWithOverloadTypeAtArg(
                            id, static_cast<int>(i), nullptr))
            types.push_back(arguments.back()->getType());
    }
    if (is_plain)
        variant = llvm::Intrinsic::getOrInsertDeclaration(function.getParent(),
                                                          id, types);
    return b.CreateCall(variant, arguments);
}

llvm::Value *wide_emitter::make_part(llvm::Instruction &at, unsigned part)
{
    llvm::SmallVector<llvm::Value *, 4> of;

    if (body.lanes == 1) {
        llvm::Instruction *copy = at.clone();

        for (llvm::Use &operand : copy->operands())
            operand.set(many_of(operand.get(), part));
        kiln__wide_unmark(*copy);
        return b.Insert(copy);
    }
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&at))
        return make_call(*call, part);
    for (llvm::Value *operand : at.operands())
        of.push_back(many_of(operand, part));
    if (auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(&at))
        return b.CreateGEP(place->getSourceElementType(), of[0],
                           llvm::ArrayRef(of).drop_front(), "",
                           place->getNoWrapFlags());
    if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&at))
        return b.CreateCast(cast->getOpcode(), of[0], vector_of(at.getType()));
    if (auto *compare = llvm::dyn_cast<llvm::CmpInst>(&at))
        return b.CreateCmp(compare->getPredicate(), of[0], of[1]);
    if (llvm::isa<llvm::SelectInst>(at))
        return b.CreateSelect(values.is_varying(at.getOperand(0))
                                  ? of[0]
                                  : one_of(at.getOperand(0)),
                              of[1], of[2]);
    if (llvm::isa<llvm::FreezeInst>(at))
        return b.CreateFreeze(of[0]);
    return b.CreateNAryOp(at.getOpcode(), of);
}

void wide_emitter::make_many(llvm::Instruction &at)
{
    llvm::BasicBlock *block = b.GetInsertBlock();
    wide_parts parts(body.parts);

    for (unsigned i = from_part; i < to_part; i++) {
        const llvm::Instruction *last =
            block->empty() ? nullptr : &block->back();
        llvm::Value *made = make_part(at, i);

        parts[i] = made;
        if (made != last && made == &block->back() &&
            !llvm::isa<llvm::GetElementPtrInst>(made))
            llvm::cast<llvm::Instruction>(made)->copyIRFlags(&at);
    }
    manys[&at] = parts;
}

void wide_emitter::make(llvm::Instruction &at)
{
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&at)) {
        make_phi(*phi);
        return;
    }
    if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at))
        if (values.is_varying(pointer)) {
            access(at);
            return;
        }
    if (const auto as = kiln__wide_shared(at);
        as && values.is_varying(at.getOperand(0))) {
        share(at, *as);
        return;
    }
    if (!values.is_varying(&at) || values.as_first.contains(&at))
        make_one(at);
    if (values.as_many.contains(&at))
        make_many(at);
}

/* ---- blocks ---- */

void wide_emitter::make_blocks(llvm::BasicBlock *then)
{
    for (llvm::BasicBlock *block : values.loop.blocks())
        if (!values.is_joined(block))
            blocks[block] = llvm::BasicBlock::Create(function.getContext(),
                                                     "wide", &function, then);
}

/* Item number `index` and those after it have these numbers. */
void wide_emitter::begin_counter(llvm::PHINode &counter)
{
    const unsigned latch = static_cast<unsigned>(
        counter.getBasicBlockIndex(values.loop.getLoopLatch()));
    const auto *next =
        llvm::cast<llvm::BinaryOperator>(counter.getIncomingValue(latch));
    const int64_t step =
        llvm::cast<llvm::ConstantInt>(next->getOperand(1))->getSExtValue();
    llvm::Type *type = counter.getType();
    llvm::Value *first = b.CreateZExtOrTrunc(index, type);
    wide_parts parts;

    first = b.CreateAdd(
        counter.getIncomingValue(1 - latch),
        b.CreateMul(first, llvm::ConstantInt::getSigned(type, step, true)));
    ones[&counter] = first;
    if (!values.as_many.contains(&counter))
        return;
    for (unsigned i = 0; i < body.parts; i++) {
        const int64_t away = step * static_cast<int64_t>(i * body.lanes);
        llvm::Value *start =
            b.CreateAdd(first, llvm::ConstantInt::getSigned(type, away, true));

        parts.push_back(b.CreateAdd(
            body.lanes == 1 ? start : b.CreateVectorSplat(body.lanes, start),
            lanes_of(type, step)));
    }
    manys[&counter] = parts;
}

/* Makes the masks of items that there are. */
void wide_emitter::begin_masks()
{
    llvm::Type *i64 = b.getInt64Ty();

    for (unsigned i = 0; i < body.parts; i++) {
        llvm::Value *first =
            b.CreateAdd(index, b.getInt64(uint64_t{i} * body.lanes));

        all.push_back(
            b.CreateICmpULT(b.CreateAdd(b.CreateVectorSplat(body.lanes, first),
                                        lanes_of(i64, 1)),
                            many_of(body.end, i)));
    }
}

void wide_emitter::begin(llvm::BasicBlock *from)
{
    llvm::BasicBlock *header = values.loop.getHeader();
    llvm::BranchInst *entry = llvm::BranchInst::Create(blocks[header], from);
    llvm::Type *i64 = b.getInt64Ty();

    before = entry;
    b.SetInsertPoint(blocks[header]);
    index = b.CreatePHI(i64, 2);
    index->addIncoming(body.first, from);
    for (llvm::PHINode &counter : header->phis())
        begin_counter(counter);
    if (body.is_tail)
        begin_masks();
}

/* The latch goes on to the next vectors; other branches are the same for all
   items, or became masks. */
void wide_emitter::end(llvm::BasicBlock &block, llvm::BasicBlock *then)
{
    auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());

    if (&block == values.loop.getLoopLatch()) {
        llvm::Value *next =
            b.CreateAdd(index, b.getInt64(body.lanes * body.parts), "", true);

        index->addIncoming(next, b.GetInsertBlock());
        b.CreateCondBr(b.CreateICmpULT(next, body.end),
                       blocks[values.loop.getHeader()], then);
    } else if (values.is_joined(branch->getSuccessor(0))) {
        leave(block);
    } else if (branch->isUnconditional()) {
        b.CreateBr(blocks[branch->getSuccessor(0)]);
    } else {
        b.CreateCondBr(one_of(branch->getCondition()),
                       blocks[branch->getSuccessor(0)],
                       blocks[branch->getSuccessor(1)]);
    }
}

void wide_emitter::make_block(llvm::BasicBlock &block)
{
    llvm::BasicBlock *to = blocks[values.base_of(&block)];

    b.SetInsertPoint(to);
    enter(block);
    for (llvm::Instruction &at : block) {
        const bool is_counter =
            &block == values.loop.getHeader() && llvm::isa<llvm::PHINode>(at);

        if (!is_counter && !at.isTerminator())
            make(at);
    }
}

void wide_emitter::fill_phi(llvm::PHINode &phi, unsigned incoming)
{
    llvm::Value *value = phi.getIncomingValue(incoming);
    llvm::BasicBlock *from =
        blocks[values.base_of(phi.getIncomingBlock(incoming))];

    if (ones.contains(&phi))
        llvm::cast<llvm::PHINode>(ones[&phi])->addIncoming(one_of(value), from);
    if (!values.as_many.contains(&phi))
        return;
    for (unsigned part = from_part; part < to_part; part++) {
        auto *to = llvm::cast<llvm::PHINode>(manys[&phi][part]);

        to->addIncoming(many_of(value, part), from);
    }
}

void wide_emitter::fill_phis()
{
    for (llvm::PHINode *phi : phis)
        for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
            fill_phi(*phi, i);
    phis.clear();
}

void wide_emitter::run(llvm::BasicBlock *from, llvm::BasicBlock *then)
{
    llvm::LoopBlocksRPO order(&values.loop);

    make_blocks(then);
    begin(from);
    order.perform(&values.loops);
    for (llvm::BasicBlock *block : order) {
        llvm::Loop *alone = alone_around(block);

        if (alone == nullptr) {
            make_block(*block);
            end(*block, then);
        } else if (alone->getHeader() == block) {
            make_alone(*alone, then);
        }
    }
    fill_phis();
}

void kiln__wide_emit(const wide_values &values, const wide_body &what,
                     llvm::BasicBlock *from, llvm::BasicBlock *then)
{
    wide_emitter(values, what).run(from, then);
}
