/* open_loops.cc - finds loops whose bounds only the launch knows. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/open_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm::PatternMatch;

/*
 * LLVM's passes that delete and unroll loops ask first how often a loop runs.
 * For each loop over groups, planes, rows and items that takes a proof over the
 * guards around it, and the answer is always that nobody knows. A few looks at
 * the operands tell as much.
 *
 * The loop counts up from `start` until `end`. It is open if each number that
 * `end` may be is one of memory or an argument, or such a number behind
 * `start`.
 */

#define DEPTH_MOST 6u   /* of numbers that `end` may be */
#define VALUES_MOST 64u /* that `start` is made of */

/* True if `made` is, or may be, made of the value. */
static bool is_made_of(const llvm::Value *made, const llvm::Value *value)
{
    llvm::SmallSetVector<const llvm::Value *, 16> all;

    all.insert(made);
    for (unsigned i = 0; i < all.size() && i < VALUES_MOST; i++) {
        const auto *at = llvm::dyn_cast<llvm::Instruction>(all[i]);

        if (at != nullptr && !llvm::isa<llvm::LoadInst>(at))
            all.insert(at->value_op_begin(), at->value_op_end());
    }
    return all.size() > VALUES_MOST || all.contains(value);
}

/* True for a number of memory or an argument of which `start` is not made, also
   as a part of a sum or a difference. */
static bool is_foreign(const llvm::Value *value, const llvm::Value *start,
                       unsigned depth)
{
    const llvm::Value *a, *b;

    if (llvm::isa<llvm::LoadInst>(value) || llvm::isa<llvm::Argument>(value))
        return value->getType()->getIntegerBitWidth() >= 32 &&
               !is_made_of(start, value);
    return depth < DEPTH_MOST &&
           (match(value, m_Add(m_Value(a), m_Value(b))) ||
            match(value, m_Sub(m_Value(a), m_Value(b))) ||
            match(value, m_Intrinsic<llvm::Intrinsic::sadd_sat>(m_Value(a),
                                                                m_Value(b))) ||
            match(value, m_Intrinsic<llvm::Intrinsic::ssub_sat>(m_Value(a),
                                                                m_Value(b)))) &&
           (is_foreign(a, start, depth + 1) || is_foreign(b, start, depth + 1));
}

static bool is_open(const llvm::Value *end, const llvm::Value *start,
                    unsigned depth)
{
    const llvm::Value *a, *b;

    if (depth > DEPTH_MOST)
        return false;
    if (match(end, m_SMax(m_Value(a), m_ConstantInt())))
        return is_open(a, start, depth + 1);
    if (match(end, m_MaxOrMin(m_Value(a), m_Value(b))) ||
        match(end, m_Select(m_Value(), m_Value(a), m_Value(b))))
        return is_open(a, start, depth + 1) && is_open(b, start, depth + 1);
    if (match(end, m_Add(m_Value(a), m_Value(b))) && (a == start || b == start))
        return llvm::isa<llvm::LoadInst>(a == start ? b : a);
    return is_foreign(end, start, depth);
}

/* Returns the counter that the value is, or is one iteration later. */
static const llvm::PHINode *counter_of(const llvm::Loop &loop,
                                       const llvm::Value *value)
{
    const llvm::Value *before;

    if (match(value, m_Add(m_Value(before), m_ConstantInt())))
        value = before;
    const auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
    return phi != nullptr && phi->getParent() == loop.getHeader() ? phi
                                                                  : nullptr;
}

/* True if data decide whether the loop goes on behind the block. */
static bool asks_data(const llvm::BasicBlock &block)
{
    const llvm::Value *asked;

    return match(block.getTerminator(),
                 m_Br(m_ICmp(m_Value(asked), m_ConstantInt()), m_BasicBlock(),
                      m_BasicBlock())) &&
           (llvm::isa<llvm::LoadInst>(asked) ||
            llvm::isa<llvm::CallInst>(asked)) &&
           !llvm::isa<llvm::IntrinsicInst>(asked);
}

/* True if all ways out of the loop but its end ask data. */
static bool others_ask_data(const llvm::Loop &loop)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> ways;

    loop.getExitingBlocks(ways);
    return llvm::all_of(ways, [&](const llvm::BasicBlock *way) {
        return way == loop.getLoopLatch() || asks_data(*way);
    });
}

/* False for a loop that may be left out. */
static bool has_effects(const llvm::Loop &loop)
{
    return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
        return llvm::any_of(*block, [](const llvm::Instruction &at) {
            return at.mayHaveSideEffects();
        });
    });
}

bool kiln__is_open_loop(const llvm::Loop &loop)
{
    const llvm::BasicBlock *latch = loop.getLoopLatch();
    const llvm::BasicBlock *before = loop.getLoopPreheader();
    const llvm::Value *next, *end;

    if (latch == nullptr || before == nullptr ||
        !match(latch->getTerminator(), m_Br(m_ICmp(m_Value(next), m_Value(end)),
                                            m_BasicBlock(), m_BasicBlock())))
        return false;
    if (loop.isLoopInvariant(next))
        std::swap(next, end);
    const llvm::PHINode *counter = counter_of(loop, next);
    return counter != nullptr && loop.isLoopInvariant(end) &&
           loop.isLoopExiting(latch) && others_ask_data(loop) &&
           has_effects(loop) &&
           is_open(end, counter->getIncomingValueForBlock(before), 0);
}
