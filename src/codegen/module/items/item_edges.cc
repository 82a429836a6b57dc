/* item_edges.cc - items at the edges of a grid get loops of their own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 *     for i in first..end
 *         west = i > 0 ? i - 1 : 0
 *         east = i < n - 1 ? i + 1 : i
 *         body
 *     =>
 *     for i in first..from body, as before
 *     for i in from..to    body with west = i - 1, east = i + 1
 *     for i in to..end     body, as before
 *
 * In between, items load neighbouring elements, so that their vectors are not
 * gathered; and what only one item does, under `if i == 0`, is no store under a
 * mask. An *edge* is a comparison of the counter with a small constant, or with
 * what is at most a few less than the loop's end, and so is a minimum or a
 * maximum of the two; a little may be added to the counter. So the first and
 * the last loop have few items. They are not vectorised.
 *
 * Counters are never negative, no value of the loop is used after it, and no
 * item leaves it early.
 */

#define NEAR 16u        /* items of the first and of the last loop */
#define LOOP_MOST 700u  /* instructions */
#define LOOPS_MOST 256u /* of a function */
#define DEPTH_MOST 4u

using namespace llvm::PatternMatch;

namespace
{

/* What an instruction is for all items in between. */
struct edge {
    llvm::Instruction *at;
    bool truth;         /* of a comparison */
    uint64_t least;     /* the first such item */
    llvm::Value *below; /* all such items are less than that; or NULL */
    bool is_signed;     /* as that number is */
    uint64_t less = 0;  /* what is to be subtracted from it */
};

struct splitter {
    explicit splitter(const trim_loop &of) : l(of)
    {
    }

    const trim_loop &l;
    llvm::SmallVector<edge, 4> edges;
    llvm::Value *from = nullptr;
    llvm::Value *to = nullptr;
};

} // namespace

/* ---- what edges are ---- */

/* True if `end` is a minimum of that value and others, or of the same number in
   more bits. It may be 0 instead: then there are no items. */
static bool is_limited_by(const llvm::Value *end, const llvm::Value *value,
                          unsigned depth)
{
    const auto *least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(end);
    const auto *wide = llvm::dyn_cast<llvm::CastInst>(end);
    llvm::Value *unless_none;

    if (end == value ||
        (wide != nullptr && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(wide) &&
         wide->getOperand(0) == value))
        return true;
    if (depth >= DEPTH_MOST)
        return false;
    if (match(end, m_Select(m_Value(), m_Value(unless_none), m_Zero())) ||
        match(end, m_Select(m_Value(), m_Zero(), m_Value(unless_none))))
        return is_limited_by(unless_none, value, depth + 1);
    return least != nullptr &&
           (least->getIntrinsicID() == llvm::Intrinsic::umin ||
            least->getIntrinsicID() == llvm::Intrinsic::smin) &&
           (is_limited_by(least->getLHS(), value, depth + 1) ||
            is_limited_by(least->getRHS(), value, depth + 1));
}

/* True for a value that is hardly less than the loop's end, if it is less. If
   it wraps around, as `n - 1` in 32 bits may, there are more items at that
   edge. */
static bool is_near_end(const trim_loop &l, llvm::Value *value, int64_t less)
{
    const llvm::APInt *more;
    llvm::Value *limit = value;
    int64_t by = -less;

    if (match(value,
              m_ZExtOrSExtOrSelf(m_Add(m_Value(limit), m_APInt(more))))) {
        if (more->getSignificantBits() > 32)
            return false;
        by += more->getSExtValue();
    }
    return by < 0 && by >= -static_cast<int64_t>(NEAR) &&
           is_limited_by(l.end, limit, 0);
}

/* Takes `i + c` apart. It does not wrap around: no launch has time to get to
   where it would, and numbers that may be less than 0 are compared as such. */
static std::optional<int64_t> move_of(const trim_loop &l, llvm::Value *value,
                                      llvm::CmpInst::Predicate predicate)
{
    const llvm::APInt *by;

    if (value == l.counter)
        return 0;
    if (!match(value, m_Add(m_Specific(l.counter), m_APInt(by))) ||
        by->abs().uge(NEAR) ||
        (llvm::CmpInst::isUnsigned(predicate) && by->isNegative()))
        return std::nullopt;
    return by->getSExtValue();
}

static std::optional<uint64_t> small_constant(const llvm::Value *value)
{
    const auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);

    if (number == nullptr || number->getValue().uge(NEAR))
        return std::nullopt;
    return number->getZExtValue();
}

/* Whether the predicate holds for a number that is greater than the other, or
   less, and not equal. */
static bool holds(llvm::CmpInst::Predicate predicate, bool is_greater)
{
    switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
        return false;
    case llvm::CmpInst::ICMP_NE:
        return true;
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SGE:
        return is_greater;
    default:
        return !is_greater;
    }
}

static std::optional<edge> edge_of_comparison(const trim_loop &l,
                                              llvm::ICmpInst &at)
{
    const bool is_swapped = l.loop->isLoopInvariant(at.getOperand(0));
    llvm::Value *other = at.getOperand(is_swapped ? 0 : 1);
    const llvm::CmpInst::Predicate predicate =
        is_swapped ? at.getSwappedPredicate() : at.getPredicate();
    const std::optional<int64_t> by =
        move_of(l, at.getOperand(is_swapped ? 1 : 0), predicate);

    if (!by || !l.loop->isLoopInvariant(other))
        return std::nullopt;
    if (const std::optional<uint64_t> number = small_constant(other)) {
        const int64_t first = static_cast<int64_t>(*number) - *by + 1;

        return edge{&at, holds(predicate, true),
                    static_cast<uint64_t>(std::max(first, int64_t{0})), nullptr,
                    false};
    }
    if (*by < 0 && is_limited_by(l.end, other, 0) &&
        llvm::isKnownNonNegative(other, at.getDataLayout())) /* of all items */
        return edge{&at, holds(predicate, false), 0, nullptr, false};
    if (*by >= 0 && is_near_end(l, other, *by))
        return edge{&at,   holds(predicate, false), 0,
                    other, at.isSigned(),           static_cast<uint64_t>(*by)};
    return std::nullopt;
}

/* Of `max(i, c)`, `min(i, n - 1)`, and `i - c` where it is not less than 0. */
static std::optional<edge> edge_of_call(const trim_loop &l,
                                        llvm::IntrinsicInst &at)
{
    const llvm::Intrinsic::ID which = at.getIntrinsicID();
    const bool is_min =
        which == llvm::Intrinsic::umin || which == llvm::Intrinsic::smin;

    if (!is_min && which != llvm::Intrinsic::umax &&
        which != llvm::Intrinsic::smax && which != llvm::Intrinsic::usub_sat)
        return std::nullopt;
    if (at.getArgOperand(0) != l.counter)
        return std::nullopt;
    llvm::Value *other = at.getArgOperand(1);
    const std::optional<uint64_t> number = small_constant(other);

    if (number && !is_min)
        return edge{&at, false, *number, nullptr, false};
    if (is_min && l.loop->isLoopInvariant(other) && is_near_end(l, other, 0))
        return edge{&at, false, 0, other, which == llvm::Intrinsic::smin};
    return std::nullopt;
}

/* True if the place of an access depends on the value, or in a loop with no
   other inside, a branch. Elsewhere that is mostly the guard of a loop. */
static bool matters(const llvm::Loop &loop, const llvm::Instruction &at,
                    unsigned depth)
{
    return llvm::any_of(at.users(), [&loop, depth](const llvm::User *user) {
        const auto *next = llvm::cast<llvm::Instruction>(user);

        return (llvm::isa<llvm::BranchInst>(next) && loop.isInnermost()) ||
               llvm::isa<llvm::GetElementPtrInst>(next) ||
               (next->getType()->isIntegerTy() && depth < DEPTH_MOST &&
                !llvm::isa<llvm::PHINode>(next) &&
                matters(loop, *next, depth + 1));
    });
}

static void find_edges(splitter &s)
{
    for (llvm::BasicBlock *block : s.l.loop->blocks())
        for (llvm::Instruction &at : *block) {
            std::optional<edge> found;

            if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&at))
                found = edge_of_comparison(s.l, *compare);
            else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at))
                found = edge_of_call(s.l, *call);
            if (found && &at != s.l.jump->getCondition() &&
                matters(*s.l.loop, at, 0))
                s.edges.push_back(*found);
        }
}

/* ---- loops ---- */

/* Finds the items in between: first <= from <= to <= end. */
static void find_bounds(splitter &s, llvm::IRBuilder<> &b)
{
    s.from = s.l.first;
    s.to = s.l.end;
    for (const edge &at : s.edges) {
        llvm::Value *below = at.below;

        s.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, s.from,
                                         b.getInt64(at.least));
        if (below == nullptr)
            continue;
        below = b.CreateFreeze(below);
        if (at.less != 0)
            below = b.CreateBinaryIntrinsic(at.is_signed
                                                ? llvm::Intrinsic::ssub_sat
                                                : llvm::Intrinsic::usub_sat,
                                            below, b.getInt64(at.less));
        if (at.is_signed)
            below = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, below,
                                            b.getInt64(0));
        s.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, s.to, below);
    }
    s.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, s.from, s.l.end);
    s.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, s.from, s.to);
}

void kiln__trim_leave_as_it_is(llvm::BranchInst *jump)
{
    llvm::LLVMContext &context = jump->getContext();
    llvm::Metadata *off = llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 0));
    llvm::Metadata *operands[] = {
        nullptr,
        llvm::MDNode::get(
            context,
            {llvm::MDString::get(context, "llvm.loop.vectorize.enable"), off}),
        llvm::MDNode::get(context, {llvm::MDString::get(
                                       context, "llvm.loop.unroll.disable")})};
    llvm::MDNode *loop = llvm::MDNode::getDistinct(context, operands);

    loop->replaceOperandWith(0, loop);
    jump->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

/* Adds a copy of the loop, over from..to, between `before` and `after`. */
static void add_loop(const trim_loop &l, llvm::BasicBlock *before,
                     llvm::Value *from, llvm::Value *to,
                     llvm::BasicBlock *after)
{
    llvm::Function &function = *before->getParent();
    llvm::BasicBlock *start =
        llvm::BasicBlock::Create(function.getContext(), "", &function, after);
    llvm::ValueToValueMapTy map;
    llvm::IRBuilder<> b(before);

    b.CreateCondBr(b.CreateICmpULT(from, to), start, after);
    /* It has few items. */
    kiln__trim_leave_as_it_is(
        kiln__trim_copy_part(l, {start, ".edge", from, to, after}, map));
}

static void replace(const edge &e, const trim_loop &l)
{
    llvm::IRBuilder<> b(e.at);
    llvm::Value *value = l.counter;

    if (llvm::isa<llvm::ICmpInst>(e.at))
        value = b.getInt1(e.truth);
    else if (const auto *call = llvm::cast<llvm::IntrinsicInst>(e.at);
             call->getIntrinsicID() == llvm::Intrinsic::usub_sat)
        value = b.CreateSub(l.counter, call->getArgOperand(1), "", true, true);
    e.at->replaceAllUsesWith(value);
    e.at->eraseFromParent();
}

static void split(splitter &s)
{
    const trim_loop &l = s.l;
    llvm::BasicBlock *header = l.loop->getHeader();
    llvm::Function &function = *header->getParent();
    llvm::LLVMContext &context = function.getContext();
    auto *middle = llvm::BasicBlock::Create(context, "", &function, header);
    auto *inside = llvm::BasicBlock::Create(context, "", &function, header);
    auto *last = llvm::BasicBlock::Create(context, "", &function, l.exit);
    llvm::IRBuilder<> b(l.before->getTerminator());

    find_bounds(s, b);
    l.before->getTerminator()->eraseFromParent();
    add_loop(l, l.before, l.first, s.from, middle);
    add_loop(l, last, s.to, l.end, l.exit);
    b.SetInsertPoint(middle);
    b.CreateCondBr(b.CreateICmpULT(s.from, s.to), inside, last);
    b.SetInsertPoint(inside);
    b.CreateBr(header);
    l.counter->replaceIncomingBlockWith(l.before, inside);
    l.counter->setIncomingValueForBlock(inside, s.from);
    kiln__trim_end_at(l.jump, l.counter, s.to, last);
    for (const edge &e : s.edges)
        replace(e, l);
}

/* ---- functions ---- */

static bool is_wanted(llvm::Loop &loop, trim_loop &out)
{
    return kiln__trim_size(loop) <= LOOP_MOST &&
           loop.getExitingBlock() != nullptr &&
           kiln__trim_is_item_loop(&loop, out);
}

static void split_if_it_has_edges(const trim_loop &l,
                                  const llvm::DominatorTree & /*dominators*/)
{
    splitter s(l);

    find_edges(s);
    if (!s.edges.empty())
        split(s);
}

void kiln__llvm_split_edges(LLVMModuleRef module)
{
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MOST, is_wanted,
                    split_if_it_has_edges);
}
