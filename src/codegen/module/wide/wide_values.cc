/* wide_values.cc - what the items of a loop have in common, and what not. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide.h"
#include "codegen/module/wide/wide_bounds.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

/*
 * A value is *varying* if it depends on the loop's counter. All others are the
 * same for all items: also what is loaded from one address, since items of the
 * loop depend on no other, so none writes there.
 *
 * A branch on a varying value parts the items until its immediate
 * post-dominator, where they meet. What is between has no loop; it is done for
 * all items, under masks. All other control flow is that of all items.
 */

/* True where the loop itself goes on to its next item. */
static bool is_latch(const llvm::Loop &loop, const llvm::BasicBlock *block)
{
    return loop.getLoopLatch() == block;
}

/* ---- who is where ---- */

/* Notes that a varying branch ends the block. Where its items meet, values may
   come from either way. */
bool wide_values::part(const llvm::BasicBlock &block,
                       llvm::SmallVectorImpl<const llvm::Instruction *> &work)
{
    auto *head = const_cast<llvm::BasicBlock *>(&block);
    const auto *node = postdominators.getNode(head);
    llvm::BasicBlock *meet = node != nullptr && node->getIDom() != nullptr
                                 ? node->getIDom()->getBlock()
                                 : nullptr;
    const llvm::Loop *inside = loops.getLoopFor(&block);
    llvm::SetVector<llvm::BasicBlock *> way;

    if (meet == nullptr || loops.getLoopFor(meet) != inside ||
        meet == inside->getHeader())
        return false;
    for (llvm::BasicBlock *next : llvm::successors(head))
        if (next != meet)
            way.insert(next);
    for (size_t i = 0; i < way.size(); i++) {
        if (loops.getLoopFor(way[i]) != inside ||
            way[i] == inside->getHeader() || way[i] == head)
            return false;
        for (llvm::BasicBlock *next : llvm::successors(way[i]))
            if (next != meet)
                way.insert(next);
    }
    for (llvm::BasicBlock *at : way)
        heads.insert({at, head}); /* an outer one stays, or is found later */
    meets.insert({meet, head});
    way.insert(meet);
    for (llvm::BasicBlock *at : way)
        for (llvm::PHINode &phi : at->phis())
            if (varying.insert(&phi).second)
                work.push_back(&phi);
    return true;
}

bool wide_values::spread(llvm::SmallVectorImpl<const llvm::Instruction *> &work)
{
    while (!work.empty()) {
        const llvm::Instruction *at = work.pop_back_val();

        for (const llvm::User *user : at->users()) {
            const auto *next = llvm::cast<llvm::Instruction>(user);

            if (!loop.contains(next))
                return false;
            if (kiln__wide_shared(*next))
                continue;
            if (next->isTerminator()) {
                if (!is_latch(loop, next->getParent()) &&
                    (!llvm::isa<llvm::BranchInst>(next) ||
                     !part(*next->getParent(), work)))
                    return false;
            } else if (varying.insert(next).second) {
                work.push_back(next);
            }
        }
    }
    return true;
}

llvm::BasicBlock *wide_values::base_of(llvm::BasicBlock *block) const
{
    for (;;) {
        if (llvm::BasicBlock *head = heads.lookup(block))
            block = head;
        else if (llvm::BasicBlock *before = meets.lookup(block))
            block = before;
        else
            return block;
    }
}

/* True if masks can stand for all branches to where some items are, and to
   where they meet: the blocks around these become one block. */
bool wide_values::can_be_masked() const
{
    for (llvm::BasicBlock *block : loop.blocks()) {
        unsigned joined = 0, count = 0;

        for (llvm::BasicBlock *next : llvm::successors(block)) {
            count++;
            if (!is_joined(next))
                continue;
            joined++;
            if (base_of(next) != base_of(block))
                return false;
        }
        if (joined != 0 && joined != count)
            return false;
    }
    return true;
}

/* ---- what can be done in vectors ---- */

static bool has_element_type(const llvm::Type *type,
                             const llvm::DataLayout &layout)
{
    auto *of = const_cast<llvm::Type *>(type);

    return llvm::VectorType::isValidElementType(of) &&
           (of->isIntegerTy(1) ||
            layout.getTypeSizeInBits(of) == layout.getTypeAllocSizeInBits(of));
}

/* Private memory is one for all items, one after the other. */
static bool is_private(const llvm::Value *pointer)
{
    llvm::SmallVector<const llvm::Value *, 4> objects;

    llvm::getUnderlyingObjects(pointer, objects);
    return llvm::any_of(objects, [](const llvm::Value *object) {
        return llvm::isa<llvm::AllocaInst>(object);
    });
}

bool wide_values::access_can_be_wide(const llvm::Instruction &at) const
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&at);
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);
    const llvm::Type *type = llvm::getLoadStoreType(&at);

    if ((load != nullptr ? !load->isSimple() : !store->isSimple()) ||
        is_private(pointer))
        return false;
    if (store == nullptr)
        return !is_varying(pointer) ||
               (!type->isIntegerTy(1) &&
                has_element_type(type, at.getDataLayout()));
    if (!is_varying(pointer)) /* one element, for all items */
        return !is_varying(store->getValueOperand()) &&
               !heads.contains(at.getParent());
    return !type->isIntegerTy(1) && has_element_type(type, at.getDataLayout());
}

static bool call_can_be_wide(const llvm::CallBase &call)
{
    const llvm::Intrinsic::ID id = call.getIntrinsicID();

    if (call.mayHaveSideEffects() || call.isConvergent())
        return false;
    return (id != llvm::Intrinsic::not_intrinsic &&
            llvm::isTriviallyVectorizable(id) &&
            !llvm::isa<llvm::VectorType>(call.getType())) ||
           llvm::VFDatabase::getMappings(
               const_cast<llvm::CallInst &>(llvm::cast<llvm::CallInst>(call)))
                   .size() > 0;
}

bool wide_values::can_be_wide(const llvm::Instruction &at) const
{
    const bool is_masked = heads.contains(at.getParent());
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

    if (at.isTerminator())
        return llvm::isa<llvm::BranchInst>(at);
    if (llvm::isa<llvm::LoadInst>(at) || llvm::isa<llvm::StoreInst>(at))
        return access_can_be_wide(at);
    if (at.mayReadOrWriteMemory() || at.mayHaveSideEffects() ||
        llvm::isa<llvm::AllocaInst>(at))
        return false;
    if (!is_varying(&at))
        return llvm::isa<llvm::PHINode>(at) ||
               (!is_masked && call == nullptr) ||
               llvm::isSafeToSpeculativelyExecute(&at);
    if (!has_element_type(at.getType(), at.getDataLayout()))
        return false;
    if (call != nullptr)
        return call_can_be_wide(*call);
    return llvm::isa<llvm::PHINode>(at) || llvm::isa<llvm::FreezeInst>(at) ||
           ((at.isBinaryOp() || at.isUnaryOp() || at.isCast() ||
             llvm::isa<llvm::CmpInst>(at) || llvm::isa<llvm::SelectInst>(at) ||
             llvm::isa<llvm::GetElementPtrInst>(at)) &&
            llvm::isSafeToSpeculativelyExecute(&at));
}

/* ---- how far neighbours are apart ---- */

std::optional<int64_t> wide_values::stride_of_sum(
    const llvm::SCEV *number) const
{
    int64_t sum = 0;

    for (const llvm::SCEV *part : number->operands()) {
        const std::optional<int64_t> one = stride_in(part);

        if (!one || llvm::AddOverflow(sum, *one, sum))
            return std::nullopt;
    }
    return sum;
}

std::optional<int64_t> wide_values::stride_of_product(
    const llvm::SCEV *number) const
{
    const auto *factor =
        llvm::dyn_cast<llvm::SCEVConstant>(number->operands()[0]);
    int64_t product;

    if (llvm::all_of(number->operands(), [&](const llvm::SCEV *part) {
            return stride_in(part) == 0;
        }))
        return 0;
    if (factor == nullptr || number->operands().size() != 2 ||
        factor->getAPInt().getSignificantBits() > 32)
        return std::nullopt;
    const std::optional<int64_t> one = stride_in(number->operands()[1]);

    if (!one ||
        llvm::MulOverflow(*one, factor->getAPInt().getSExtValue(), product))
        return std::nullopt;
    return product;
}

std::optional<int64_t> wide_values::stride_in(const llvm::SCEV *number) const
{
    const auto *line = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number);
    const auto *unknown = llvm::dyn_cast<llvm::SCEVUnknown>(number);

    if (evolution.isLoopInvariant(number, &loop))
        return 0;
    if (unknown != nullptr)
        return is_varying(unknown->getValue()) ? std::nullopt
                                               : std::optional<int64_t>(0);
    if (line != nullptr && line->getLoop() == &loop && line->isAffine()) {
        const auto *step = llvm::dyn_cast<llvm::SCEVConstant>(
            line->getStepRecurrence(evolution));

        if (step == nullptr || step->getAPInt().getSignificantBits() > 32)
            return std::nullopt;
        return step->getAPInt().getSExtValue();
    }
    if (line != nullptr && loop.contains(line->getLoop())) {
        for (const llvm::SCEV *step : llvm::drop_begin(line->operands()))
            if (stride_in(step) != 0)
                return std::nullopt;
        return stride_in(line->getStart());
    }
    if (llvm::isa<llvm::SCEVAddExpr>(number))
        return stride_of_sum(number);
    if (llvm::isa<llvm::SCEVMulExpr>(number))
        return stride_of_product(number);
    if (llvm::all_of(number->operands(), [&](const llvm::SCEV *part) {
            return stride_in(part) == 0;
        }))
        return 0;
    return std::nullopt;
}

std::optional<int64_t> wide_values::stride_of(llvm::Value *pointer) const
{
    if (!is_varying(pointer))
        return 0;
    return stride_in(evolution.getSCEV(pointer));
}

bool wide_values::is_beside(const llvm::Instruction &access) const
{
    auto *pointer =
        const_cast<llvm::Value *>(llvm::getLoadStorePointerOperand(&access));
    const uint64_t size = access.getDataLayout().getTypeStoreSize(
        llvm::getLoadStoreType(&access));

    return is_varying(pointer) &&
           stride_of(pointer) == static_cast<int64_t>(size);
}

/* ---- what is needed of values ---- */

void wide_values::need_many(llvm::Value *value)
{
    llvm::SmallVector<llvm::Value *, 16> work = {value};

    while (!work.empty()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(work.pop_back_val());

        if (at == nullptr || !is_varying(at) || !as_many.insert(at).second)
            continue;
        if (llvm::isa<llvm::LoadInst>(at) && is_beside(*at))
            continue;
        if (!llvm::isa<llvm::PHINode>(at) ||
            at->getParent() != loop.getHeader())
            work.append(at->op_begin(), at->op_end());
    }
}

/* An address is computed for the first item of a vector only. That item may
   be one that does not come here, so nothing is loaded for it. */
bool wide_values::need_first(llvm::Value *value)
{
    llvm::SmallVector<llvm::Value *, 16> work = {value};

    while (!work.empty()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(work.pop_back_val());

        if (at == nullptr || !is_varying(at) || !as_first.insert(at).second)
            continue;
        if (llvm::isa<llvm::PHINode>(at)) {
            if (heads.contains(at->getParent()) ||
                meets.contains(at->getParent()))
                return false;
            if (at->getParent() == loop.getHeader())
                continue;
        } else if (!llvm::isSafeToSpeculativelyExecute(at) ||
                   at->mayReadFromMemory()) {
            return false;
        }
        work.append(at->op_begin(), at->op_end());
    }
    return true;
}

bool wide_values::need()
{
    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block) {
            llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);

            if ((at.isTerminator() && !is_latch(loop, block)) ||
                kiln__wide_shared(at))
                need_many(at.getOperand(0));
            if (pointer == nullptr || !is_varying(pointer))
                continue;
            if (llvm::isa<llvm::StoreInst>(at))
                need_many(at.getOperand(0));
            if (!is_beside(at))
                need_many(pointer);
            else if (!need_first(pointer))
                return false;
        }
    return true;
}

bool wide_values::find()
{
    llvm::SmallVector<const llvm::Instruction *, 32> work;

    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        varying.insert(&phi);
        work.push_back(&phi);
    }
    if (!spread(work) || !can_be_masked())
        return false;
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            if (!can_be_wide(at))
                return false;
    return need();
}
