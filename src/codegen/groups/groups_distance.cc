/* groups_distance.cc - how far apart neighbours' values are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstdlib>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/groups/groups_distance.h"

using namespace llvm::PatternMatch;

#define DEPTH_MAX 32 /* of an expression */
/* Multiples of so small a distance come again, in so many bits, behind more
   items than the memory of a group has bytes (2^26). */
#define INDEX_BITS 32u
#define DISTANCE_MOST 16

static groups_distance distance_of(const groups_neighbours &n,
                                   const llvm::Value *value, unsigned depth);

static groups_distance times(groups_distance a, int64_t by)
{
    int64_t result;

    return a && !llvm::MulOverflow(*a, by, result) ? groups_distance(result)
                                                   : std::nullopt;
}

static groups_distance plus(groups_distance a, groups_distance b)
{
    int64_t result;

    return a && b && !llvm::AddOverflow(*a, *b, result)
               ? groups_distance(result)
               : std::nullopt;
}

static groups_distance of_pointer(const groups_neighbours &n,
                                  const llvm::GetElementPtrInst *gep,
                                  unsigned depth)
{
    groups_distance sum = distance_of(n, gep->getPointerOperand(), depth);

    for (auto at = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep);
         sum && at != end; ++at) {
        const groups_distance index = distance_of(n, at.getOperand(), depth);

        if (index != 0)
            sum = plus(sum,
                       times(index, static_cast<int64_t>(
                                        at.getSequentialElementStride(*n.layout)
                                            .getFixedValue())));
    }
    return sum;
}

static groups_distance of_product(const groups_neighbours &n,
                                  const llvm::Instruction *at, unsigned depth)
{
    const auto *by = llvm::dyn_cast<llvm::ConstantInt>(at->getOperand(1));
    const bool is_shift = at->getOpcode() == llvm::Instruction::Shl;

    if (by == nullptr || (is_shift ? by->getValue() : by->getValue().abs())
                             .ugt(is_shift ? 32 : 4096))
        return std::nullopt;
    return times(distance_of(n, at->getOperand(0), depth),
                 is_shift ? INT64_C(1) << by->getSExtValue()
                          : by->getSExtValue());
}

/* LLVM writes a truncation that is extended, and often multiplied by the size
   of an element, as a shift to the left and one to the right, with sums in
   between. */
static groups_distance of_shift_back(const groups_neighbours &n,
                                     const llvm::Instruction *at,
                                     unsigned depth)
{
    const auto *by = llvm::dyn_cast<llvm::ConstantInt>(at->getOperand(1));
    const groups_distance d = distance_of(n, at->getOperand(0), depth);
    int64_t part;

    if (!d || by == nullptr || by->getValue().ugt(32))
        return std::nullopt;
    part = INT64_C(1) << by->getSExtValue();
    return *d % part == 0 ? groups_distance(*d / part) : std::nullopt;
}

/* It writes an unsigned int as a mask of an id's bits. */
static groups_distance of_mask(const groups_neighbours &n,
                               const llvm::Instruction *at, unsigned depth)
{
    const llvm::APInt *mask;

    return match(at->getOperand(1), m_APInt(mask)) && mask->isMask(32)
               ? distance_of(n, at->getOperand(0), depth)
               : std::nullopt;
}

static groups_distance of_sum(const groups_neighbours &n,
                              const llvm::Instruction *at, unsigned depth)
{
    const groups_distance a = distance_of(n, at->getOperand(0), depth);
    const groups_distance b = distance_of(n, at->getOperand(1), depth);

    return plus(a,
                at->getOpcode() == llvm::Instruction::Add ? b : times(b, -1));
}

/* Ids along the dimension differ by 1. */
static groups_distance of_query(const groups_neighbours &n,
                                const llvm::CallBase *call)
{
    const llvm::Function *callee = call->getCalledFunction();
    const llvm::ConstantInt *dimension;

    if (callee == nullptr || call->arg_size() == 0 ||
        (callee->getName() != "kiln_global_id" &&
         callee->getName() != "kiln_local_id"))
        return std::nullopt;
    dimension = llvm::dyn_cast<llvm::ConstantInt>(
        call->getArgOperand(call->arg_size() - 1));
    if (dimension == nullptr)
        return std::nullopt;
    return dimension->getValue() == n.dimension ? 1 : 0;
}

/* True when the instruction computes the same from the same operands, and all
   of these are the same for the items of a row. */
static bool is_of_row(const groups_neighbours &n, const llvm::Instruction *at,
                      unsigned depth)
{
    return (llvm::isa<llvm::BinaryOperator>(at) ||
            llvm::isa<llvm::CastInst>(at) || llvm::isa<llvm::CmpInst>(at) ||
            llvm::isa<llvm::SelectInst>(at)) &&
           llvm::all_of(at->operands(), [&](const llvm::Use &operand) {
               return distance_of(n, operand.get(), depth) == 0;
           });
}

static groups_distance find_distance(const groups_neighbours &n,
                                     const llvm::Instruction *at,
                                     unsigned depth)
{
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(at))
        return of_query(n, call);
    if (const auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(at))
        return of_pointer(n, gep, depth + 1);
    if (is_of_row(n, at, depth + 1))
        return 0;
    switch (at->getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::AddrSpaceCast:
        return distance_of(n, at->getOperand(0), depth + 1);
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
        return of_sum(n, at, depth + 1);
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
        return of_product(n, at, depth + 1);
    case llvm::Instruction::AShr:
        return of_shift_back(n, at, depth + 1);
    case llvm::Instruction::And:
        return of_mask(n, at, depth + 1);
    default:
        return std::nullopt;
    }
}

/* True if the result is cut to so few bits that items of one row that are far
   apart may have the same one. */
static bool may_wrap(const llvm::Instruction *at, int64_t distance)
{
    const unsigned bits =
        at->getType()->isIntegerTy() ? at->getType()->getIntegerBitWidth() : 64;
    const llvm::APInt *cut;
    unsigned kept = bits;

    if (at->getOpcode() == llvm::Instruction::And)
        kept = INDEX_BITS;
    else if (at->getOpcode() == llvm::Instruction::AShr)
        kept = match(at->getOperand(1), m_APInt(cut)) && cut->ult(bits)
                   ? bits - static_cast<unsigned>(cut->getZExtValue())
                   : 0;
    return kept < INDEX_BITS ||
           (kept < 64 && std::abs(distance) > DISTANCE_MOST);
}

static groups_distance distance_of(const groups_neighbours &n,
                                   const llvm::Value *value, unsigned depth)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    groups_distance d;

    if (at == nullptr || n.plan->uniform.contains(at))
        return 0;
    if (depth == DEPTH_MAX)
        return std::nullopt;
    if (const auto found = n.known.find(at); found != n.known.end())
        return found->second;
    d = find_distance(n, at, depth);
    if (n.is_proof && d && *d != 0 && may_wrap(at, *d))
        d = std::nullopt;
    n.known[at] = d;
    return d;
}

groups_distance kiln__groups_distance(const groups_neighbours &n,
                                      const llvm::Value *value)
{
    return distance_of(n, value, 0);
}

/* ---- the dimension along which memory is read ---- */

#define LOOP_WEIGHT 8u /* of an access in a loop, beside one outside of it */
#define NESTED_MAX 3u

static uint64_t weight_of(const llvm::LoopInfo &loops,
                          const llvm::Instruction &at)
{
    const unsigned depth = loops.getLoopDepth(at.getParent());
    uint64_t weight = 1;

    for (unsigned i = 0; i < std::min(depth, NESTED_MAX); i++)
        weight *= LOOP_WEIGHT;
    return weight;
}

static bool is_next_element(const groups_neighbours &n,
                            const llvm::Instruction &at)
{
    const auto d =
        kiln__groups_distance(n, llvm::getLoadStorePointerOperand(&at));
    const int64_t size = static_cast<int64_t>(
        n.layout->getTypeAllocSize(llvm::getLoadStoreType(&at))
            .getFixedValue());

    return d && *d == size;
}

unsigned kiln__groups_inner_dimension(const groups_plan &plan)
{
    llvm::DominatorTree dominators(*plan.function);
    llvm::LoopInfo loops(dominators);
    uint64_t weights[3] = {0, 0, 0};
    groups_neighbours along[3];
    unsigned best = 0;

    if (!plan.steps.empty())
        return 0;
    for (unsigned d = 0; d < 3; d++)
        along[d] = {&plan, &plan.function->getDataLayout(), d};
    for (const llvm::Instruction &at : llvm::instructions(*plan.function))
        for (unsigned d = 0;
             d < 3 && llvm::getLoadStorePointerOperand(&at) != nullptr; d++)
            if (is_next_element(along[d], at))
                weights[d] += weight_of(loops, at);
    for (unsigned d = 1; d < 3; d++)
        if (weights[d] > 2 * weights[0] && weights[d] > weights[best])
            best = d;
    return best;
}
