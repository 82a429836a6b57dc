/* wide_masks.cc - masks of items, and accesses under them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_emit.h"

#include <llvm/Analysis/VectorUtils.h>

/*
 * Where only some items go, all of them compute, but only those access memory.
 * An edge between two blocks has the mask of the items that take it. What the
 * others compute may be poison, and so may be their conditions: masks are made
 * by selects, which look at a condition only for items that come to it.
 */

/* ---- masks ---- */

/* The items that come to a block are those that come over any edge. Where all
   that were apart have met, they are those that there are. */
void wide_emitter::enter(llvm::BasicBlock &block)
{
    mask = all;
    if (!values.heads.contains(&block))
        return;
    mask.clear();
    for (llvm::BasicBlock *from : llvm::predecessors(&block)) {
        const wide_parts &taken = edges[{from, &block}];

        for (unsigned i = 0; i < body.parts; i++)
            if (mask.size() <= i)
                mask.push_back(taken[i]);
            else
                mask[i] = b.CreateOr(mask[i], taken[i]);
    }
}

llvm::Value *wide_emitter::mask_of(unsigned part)
{
    return mask.empty() ? llvm::ConstantInt::getTrue(vector_of(b.getInt1Ty()))
                        : mask[part];
}

/* Notes which items take which edge. */
void wide_emitter::leave(llvm::BasicBlock &block)
{
    auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());

    for (unsigned way = 0; way < branch->getNumSuccessors(); way++) {
        wide_parts taken;

        for (unsigned i = 0; i < body.parts; i++) {
            llvm::Value *condition;

            if (branch->isUnconditional() ||
                branch->getSuccessor(0) == branch->getSuccessor(1)) {
                taken.push_back(mask_of(i));
                continue;
            }
            condition = many_of(branch->getCondition(), i);
            if (way == 1)
                condition = b.CreateNot(condition);
            taken.push_back(mask.empty()
                                ? condition
                                : b.CreateLogicalAnd(mask[i], condition));
        }
        edges[{&block, branch->getSuccessor(way)}] = taken;
    }
}

/* ---- what items share ---- */

static llvm::APInt neutral_of(wide_shared as, unsigned width)
{
    switch (as) {
    case wide_shared::least:
        return llvm::APInt::getSignedMaxValue(width);
    case wide_shared::least_unsigned:
        return llvm::APInt::getMaxValue(width);
    case wide_shared::most:
        return llvm::APInt::getSignedMinValue(width);
    default:
        return llvm::APInt::getZero(width);
    }
}

static llvm::Value *join(llvm::IRBuilder<> &b, wide_shared as, llvm::Value *one,
                         llvm::Value *two)
{
    switch (as) {
    case wide_shared::least:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, one, two);
    case wide_shared::least_unsigned:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, one, two);
    case wide_shared::most:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, one, two);
    case wide_shared::most_unsigned:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, one, two);
    default:
        return b.CreateOr(one, two);
    }
}

static llvm::Value *join_lanes(llvm::IRBuilder<> &b, wide_shared as,
                               llvm::Value *vector)
{
    const bool is_signed = as == wide_shared::least || as == wide_shared::most;

    switch (as) {
    case wide_shared::least:
    case wide_shared::least_unsigned:
        return b.CreateIntMinReduce(vector, is_signed);
    case wide_shared::most:
    case wide_shared::most_unsigned:
        return b.CreateIntMaxReduce(vector, is_signed);
    default:
        return b.CreateOrReduce(vector);
    }
}

/* Computes one value for all items that there are. */
void wide_emitter::share(llvm::Instruction &at, wide_shared as)
{
    const unsigned width = at.getType()->getIntegerBitWidth();
    llvm::Value *result = nullptr;

    for (unsigned i = 0; i < body.parts; i++) {
        llvm::Value *value = b.CreateFreeze(many_of(at.getOperand(0), i));

        if (!all.empty())
            value = b.CreateSelect(
                all[i], value,
                b.CreateVectorSplat(body.lanes,
                                    b.getInt(neutral_of(as, width))));
        result = result == nullptr ? value : join(b, as, result, value);
    }
    ones[&at] = body.lanes == 1 ? result : join_lanes(b, as, result);
}

/* Takes the value of the edge that an item came over. */
void wide_emitter::blend(llvm::PHINode &phi)
{
    llvm::BasicBlock *block = phi.getParent();
    wide_parts parts;

    if (!values.as_many.contains(&phi))
        return;
    for (unsigned part = 0; part < body.parts; part++) {
        llvm::Value *value = many_of(phi.getIncomingValue(0), part);

        for (unsigned i = 1; i < phi.getNumIncomingValues(); i++)
            value =
                b.CreateSelect(edges[{phi.getIncomingBlock(i), block}][part],
                               many_of(phi.getIncomingValue(i), part), value);
        parts.push_back(value);
    }
    manys[&phi] = parts;
}

/* ---- accesses ---- */

/* Returns where to load what is the same for all items: where no item comes,
   there may be nothing at its address. */
llvm::Value *wide_emitter::safe_place(llvm::LoadInst &load)
{
    llvm::BasicBlock &entry = function.getEntryBlock();
    llvm::IRBuilder<> first(&entry, entry.getFirstInsertionPt());
    llvm::AllocaInst *empty = first.CreateAlloca(load.getType());
    llvm::Value *any = b.CreateOrReduce(mask[0]);

    empty->setAlignment(std::max(empty->getAlign(), load.getAlign()));
    first.SetInsertPoint(empty->getNextNode());
    first.CreateStore(llvm::Constant::getNullValue(load.getType()), empty);
    for (unsigned i = 1; i < body.parts; i++)
        any = b.CreateOr(any, b.CreateOrReduce(mask[i]));
    return b.CreateSelect(any, one_of(load.getPointerOperand()), empty);
}

static void keep_metadata(llvm::Value *to, const llvm::Instruction &from)
{
    static const unsigned kinds[] = {
        llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_alias_scope,
        llvm::LLVMContext::MD_noalias, llvm::LLVMContext::MD_access_group,
        llvm::LLVMContext::MD_invariant_load};

    llvm::cast<llvm::Instruction>(to)->copyMetadata(from, kinds);
}

llvm::Value *wide_emitter::make_access(llvm::Instruction &at,
                                       llvm::Value *pointer, unsigned part)
{
    llvm::Type *type = vector_of(llvm::getLoadStoreType(&at));
    const llvm::Align align = llvm::getLoadStoreAlignment(&at);
    const bool is_plain = mask.empty() || body.lanes == 1;
    const bool is_apart = pointer->getType()->isVectorTy();

    if (llvm::isa<llvm::LoadInst>(at)) {
        if (is_apart)
            return b.CreateMaskedGather(type, pointer, align, mask_of(part));
        if (is_plain)
            return b.CreateAlignedLoad(type, pointer, align);
        return b.CreateMaskedLoad(type, pointer, align, mask[part]);
    }
    llvm::Value *value = many_of(at.getOperand(0), part);

    if (is_apart)
        return b.CreateMaskedScatter(value, pointer, align, mask_of(part));
    if (is_plain)
        return b.CreateAlignedStore(value, pointer, align);
    return b.CreateMaskedStore(value, pointer, align, mask[part]);
}

void wide_emitter::access(llvm::Instruction &at)
{
    llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);
    const bool is_load = llvm::isa<llvm::LoadInst>(at);
    const bool is_beside = values.is_beside(at);
    wide_parts parts(body.parts);

    if (is_load && !values.as_many.contains(&at))
        return;
    for (unsigned i = from_part; i < to_part; i++) {
        parts[i] = make_access(
            at,
            is_beside ? b.CreateConstGEP1_64(llvm::getLoadStoreType(&at),
                                             one_of(pointer),
                                             uint64_t{i} * body.lanes)
                      : many_of(pointer, i),
            i);
        keep_metadata(parts[i], at);
    }
    if (is_load)
        manys[&at] = parts;
}
