/* streams.cc - gives loops a pointer for each array that they walk through. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/module/llvm_gap.h"

/*
 *     loop { ... x[i * n + a] ... x[(i + 1) * n + a] ...; i += 2; }
 *     =>
 *     p = x + a
 *     loop { q = p + n;  ... *p ... *q ...; p = q + n; }
 *
 * An index of 32 bits is computed and then made an address of 64; a pointer is
 * only moved on, by one instruction. LLVM's own strength reduction does this
 * where it can prove that the index does not wrap in any iteration. Here it is
 * enough that it does not wrap where it is used: all that an index is made of
 * says so (nsw, nuw), so an element that is accessed is at the exact place. The
 * pointers are computed modulo 2^64, and are exact in every iteration.
 *
 * Where the step is known, an index costs no more than a pointer does, unless
 * several accesses share the pointer.
 */

#define DEPTH_MAX 16                   /* of an index */
#define OFFSET_MOST (INT64_C(1) << 23) /* what instructions can add */
#define UNROLLED_MOST 16               /* pointers in one iteration */

namespace
{

/* A number of 64 bits: start + iteration * step. */
struct line {
    const llvm::SCEV *start = nullptr; /* null: it is none */
    const llvm::SCEV *step = nullptr;
};

struct access {
    llvm::Use *pointer;      /* null: it has got one */
    const llvm::SCEV *start; /* in bytes behind the base */
};

using stream_key = std::pair<llvm::Value *, const llvm::SCEV *>;

class streams
{
  public:
    explicit streams(llvm::ScalarEvolution &evolution)
        : evolution(evolution), expander(evolution, "stream")
    {
    }

    void run(llvm::Loop &in);

  private:
    bool is_fixed(const llvm::Value *value) const;
    const llvm::SCEV *number(llvm::Value *value, bool is_signed);
    line plus(line a, line b, bool is_minus);
    line times(line a, line b);
    line of_counter(llvm::PHINode &phi, bool is_signed, unsigned depth);
    line of_operation(llvm::Instruction &at, bool is_signed, unsigned depth);
    line of_extended(llvm::Instruction &at, bool is_signed, unsigned depth);
    line of_fixed(llvm::Value *value, bool is_signed, unsigned depth);
    line of(llvm::Value *value, bool is_signed, unsigned depth);
    line constant(uint64_t value);
    line of_gep(llvm::GetElementPtrInst &gep);
    bool of_address(llvm::Value *address, llvm::Value *&base, line &bytes);
    void gather(llvm::Instruction &at);
    bool pays(const stream_key &key, llvm::ArrayRef<access> all);
    const llvm::SCEV *way_in(const llvm::SCEV *step,
                             llvm::ArrayRef<access> all);
    bool can_place(const llvm::SCEV *number);
    void walk(const stream_key &key, llvm::SmallVectorImpl<access> &all);
    llvm::Value *move(llvm::IRBuilder<> &b, llvm::Value *pointer,
                      const llvm::SCEV *by);

    llvm::ScalarEvolution &evolution;
    llvm::SCEVExpander expander;
    llvm::Loop *loop = nullptr;
    llvm::MapVector<stream_key, llvm::SmallVector<access, 8>> found;
};

} // namespace

bool streams::is_fixed(const llvm::Value *value) const
{
    return loop->isLoopInvariant(value);
}

/* Returns what a value is that is computed outside of the loop, with 64 bits.
   What it is made of is not looked at, as that would be computed again. */
const llvm::SCEV *streams::number(llvm::Value *value, bool is_signed)
{
    llvm::Type *wide = llvm::Type::getInt64Ty(value->getContext());
    const auto *known = llvm::dyn_cast<llvm::ConstantInt>(value);
    const llvm::SCEV *s =
        known != nullptr
            ? evolution.getConstant(const_cast<llvm::ConstantInt *>(known))
            : evolution.getUnknown(value);

    return is_signed ? evolution.getNoopOrSignExtend(s, wide)
                     : evolution.getNoopOrZeroExtend(s, wide);
}

/* ---- indices ---- */

line streams::plus(line a, line b, bool is_minus)
{
    if (a.start == nullptr || b.start == nullptr)
        return {};
    if (is_minus)
        return {evolution.getMinusSCEV(a.start, b.start),
                evolution.getMinusSCEV(a.step, b.step)};
    return {evolution.getAddExpr(a.start, b.start),
            evolution.getAddExpr(a.step, b.step)};
}

line streams::times(line a, line b)
{
    if (a.start == nullptr || b.start == nullptr ||
        (!a.step->isZero() && !b.step->isZero()))
        return {};
    if (a.step->isZero())
        std::swap(a, b);
    return {evolution.getMulExpr(a.start, b.start),
            evolution.getMulExpr(a.step, b.start)};
}

/* A step that wraps is used by nothing: see above. */
static bool is_exact(const llvm::Instruction &at, bool is_signed)
{
    if (at.getType()->isIntegerTy(64))
        return true;
    if (const auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&at))
        return disjoint->isDisjoint();
    return is_signed ? at.hasNoSignedWrap() : at.hasNoUnsignedWrap();
}

line streams::of_counter(llvm::PHINode &phi, bool is_signed, unsigned depth)
{
    auto *next = llvm::dyn_cast<llvm::BinaryOperator>(
        phi.getIncomingValueForBlock(loop->getLoopLatch()));
    line by;

    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
        next->getOperand(0) != &phi || !is_fixed(next->getOperand(1)) ||
        !is_exact(*next, is_signed))
        return {};
    by = of(next->getOperand(1), is_signed, depth + 1);
    return {number(phi.getIncomingValueForBlock(loop->getLoopPreheader()),
                   is_signed),
            by.start};
}

line streams::of_operation(llvm::Instruction &at, bool is_signed,
                           unsigned depth)
{
    line a, b;

    if (!is_exact(at, is_signed))
        return {};
    a = of(at.getOperand(0), is_signed, depth + 1);
    if (at.getOpcode() == llvm::Instruction::Shl) {
        const auto *by = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand(1));

        if (by == nullptr || by->getValue().uge(32))
            return {};
        b.start = evolution.getConstant(llvm::Type::getInt64Ty(at.getContext()),
                                        UINT64_C(1) << by->getZExtValue());
        b.step = evolution.getZero(b.start->getType());
        return times(a, b);
    }
    b = of(at.getOperand(1), is_signed, depth + 1);
    if (at.getOpcode() == llvm::Instruction::Mul)
        return times(a, b);
    return plus(a, b, at.getOpcode() == llvm::Instruction::Sub);
}

/* A number without a sign is the same with one in a wider type. */
line streams::of_extended(llvm::Instruction &at, bool is_signed, unsigned depth)
{
    llvm::Value *from = at.getOperand(0);
    line result;

    if (llvm::isa<llvm::SExtInst>(at))
        return is_signed || at.getType()->isIntegerTy(64)
                   ? of(from, true, depth + 1)
                   : line();
    result = of(from, false, depth + 1);
    if (result.start == nullptr && at.hasNonNeg())
        result = of(from, true, depth + 1);
    return result;
}

/* Of a fixed number, only constants that are added are looked at. */
line streams::of_fixed(llvm::Value *value, bool is_signed, unsigned depth)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    const llvm::SCEV *start;
    line part;

    if (at != nullptr && depth < DEPTH_MAX &&
        (llvm::isa<llvm::ZExtInst>(at) || llvm::isa<llvm::SExtInst>(at)))
        part = of_extended(*at, is_signed, depth);
    else if (at != nullptr && depth < DEPTH_MAX &&
             (at->getOpcode() == llvm::Instruction::Add ||
              at->getOpcode() == llvm::Instruction::Or) &&
             llvm::isa<llvm::ConstantInt>(at->getOperand(1)))
        part = of_operation(*at, is_signed, depth);
    if (part.start != nullptr)
        return part;
    start = number(value, is_signed);
    return {start, evolution.getZero(start->getType())};
}

line streams::of(llvm::Value *value, bool is_signed, unsigned depth)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (!value->getType()->isIntegerTy() ||
        value->getType()->getIntegerBitWidth() > 64)
        return {};
    if (is_fixed(value))
        return of_fixed(value, is_signed, depth);
    if (at == nullptr || depth == DEPTH_MAX)
        return {};
    switch (at->getOpcode()) {
    case llvm::Instruction::PHI:
        return at->getParent() == loop->getHeader()
                   ? of_counter(llvm::cast<llvm::PHINode>(*at), is_signed,
                                depth)
                   : line();
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::Or:
        return of_operation(*at, is_signed, depth);
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
        return of_extended(*at, is_signed, depth);
    default:
        return {};
    }
}

/* ---- addresses ---- */

line streams::constant(uint64_t value)
{
    llvm::Type *wide = llvm::Type::getInt64Ty(loop->getHeader()->getContext());

    return {evolution.getConstant(wide, value), evolution.getZero(wide)};
}

/* Returns the bytes that an address is behind that of `gep`'s operand. */
line streams::of_gep(llvm::GetElementPtrInst &gep)
{
    const llvm::DataLayout &layout = gep.getDataLayout();
    line bytes = constant(0);

    for (auto at = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep);
         at != end; ++at) {
        if (llvm::StructType *type = at.getStructTypeOrNull())
            bytes =
                plus(bytes,
                     constant(layout.getStructLayout(type)->getElementOffset(
                         static_cast<unsigned>(
                             llvm::cast<llvm::ConstantInt>(at.getOperand())
                                 ->getZExtValue()))),
                     false);
        else
            bytes = plus(bytes,
                         times(of(at.getOperand(), true, 0),
                               constant(at.getSequentialElementStride(layout)
                                            .getFixedValue())),
                         false);
    }
    return bytes;
}

/* Finds which base an address is behind, and by how many bytes. */
bool streams::of_address(llvm::Value *address, llvm::Value *&base, line &bytes)
{
    bytes = constant(0);
    for (base = address; !is_fixed(base) && bytes.start != nullptr;) {
        auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(base);

        if (gep == nullptr || !gep->getType()->isPointerTy())
            return false;
        bytes = plus(bytes, of_gep(*gep), false);
        base = gep->getPointerOperand();
    }
    return bytes.start != nullptr;
}

/* True for memory that is addressed by 64 bits. */
static bool is_far(const llvm::Value *base)
{
    const unsigned space =
        base->stripPointerCasts()->getType()->getPointerAddressSpace();

    return space == 0 || space == 1;
}

/* Notes an access to what the loop walks through. */
void streams::gather(llvm::Instruction &at)
{
    llvm::Value *address = llvm::getLoadStorePointerOperand(&at), *base;
    line bytes;

    if (address == nullptr || is_fixed(address) ||
        !of_address(address, base, bytes) || !is_far(base) ||
        bytes.step->isZero() || !can_place(bytes.start) ||
        !can_place(bytes.step))
        return;
    found[{base, bytes.step}].push_back(
        {&at.getOperandUse(llvm::isa<llvm::StoreInst>(at) ? 1 : 0),
         bytes.start});
}

/* True when it can be computed in front of the loop, and is not expensive. */
bool streams::can_place(const llvm::SCEV *number)
{
    return evolution.isLoopInvariant(number, loop) &&
           expander.isSafeToExpandAt(number,
                                     loop->getLoopPreheader()->getTerminator());
}

static bool is_near(const llvm::SCEV *bytes)
{
    const auto *known = llvm::dyn_cast<llvm::SCEVConstant>(bytes);

    return known != nullptr &&
           known->getAPInt().abs().ult(static_cast<uint64_t>(OFFSET_MOST));
}

/* True when the first of the accesses is to have a pointer. */
bool streams::pays(const stream_key &key, llvm::ArrayRef<access> all)
{
    return !llvm::isa<llvm::SCEVConstant>(key.second) ||
           llvm::any_of(all.drop_front(), [&](const access &a) {
               return is_near(evolution.getMinusSCEV(a.start, all[0].start));
           });
}

/* ---- pointers ---- */

llvm::Value *streams::move(llvm::IRBuilder<> &b, llvm::Value *pointer,
                           const llvm::SCEV *by)
{
    llvm::Value *bytes = expander.expandCodeFor(
        by, b.getInt64Ty(), loop->getLoopPreheader()->getTerminator());

    return b.CreateGEP(b.getInt8Ty(), pointer, bytes);
}

/* Returns the way between accesses of an unrolled loop, or the whole step. */
const llvm::SCEV *streams::way_in(const llvm::SCEV *step,
                                  llvm::ArrayRef<access> all)
{
    for (const access &a : all) {
        const llvm::SCEV *way = evolution.getMinusSCEV(a.start, all[0].start);

        if (way->isZero() || is_near(way))
            continue;
        for (unsigned n = 2; n <= UNROLLED_MOST; n++)
            if (evolution.getMulExpr(evolution.getConstant(way->getType(), n),
                                     way) == step)
                return way;
    }
    return step;
}

/* Gives the accesses that the first one's pointer reaches, by a known number of
   bytes or by whole ways, pointers that are moved on. Leaves the others. */
void streams::walk(const stream_key &key, llvm::SmallVectorImpl<access> &all)
{
    llvm::BasicBlock *before = loop->getLoopPreheader();
    llvm::IRBuilder<> b(loop->getHeader(), loop->getHeader()->begin());
    const llvm::SCEV *way = way_in(key.second, all), *at = all[0].start;
    llvm::SmallVector<access, 8> rest;
    llvm::PHINode *first = b.CreatePHI(key.first->getType(), 2);
    llvm::Value *pointer = first;
    const llvm::SCEV *end = evolution.getAddExpr(at, key.second);

    b.SetInsertPoint(before->getTerminator());
    first->addIncoming(move(b, key.first, at), before);
    b.SetInsertPoint(loop->getHeader(),
                     loop->getHeader()->getFirstInsertionPt());
    for (unsigned n = 0; n < UNROLLED_MOST && at != end; n++) {
        for (access &a : all) {
            const llvm::SCEV *apart = evolution.getMinusSCEV(a.start, at);

            if (a.pointer == nullptr || !is_near(apart))
                continue;
            a.pointer->set(
                apart->isZero()
                    ? pointer
                    : b.CreateGEP(b.getInt8Ty(), pointer,
                                  b.getInt64(static_cast<uint64_t>(
                                      llvm::cast<llvm::SCEVConstant>(apart)
                                          ->getAPInt()
                                          .getSExtValue()))));
            a.pointer = nullptr;
        }
        pointer = move(b, pointer, way);
        at = evolution.getAddExpr(at, way);
    }
    if (at != end)
        pointer = move(b, first, key.second);
    first->addIncoming(pointer, loop->getLoopLatch());
    for (const access &a : all)
        if (a.pointer != nullptr)
            rest.push_back(a);
    all = std::move(rest);
}

void streams::run(llvm::Loop &in)
{
    llvm::SmallVector<llvm::WeakTrackingVH, 16> old;

    loop = &in;
    found.clear();
    if (!in.isInnermost() || in.getLoopLatch() == nullptr ||
        in.getLoopPreheader() == nullptr)
        return;
    for (llvm::BasicBlock *block : in.blocks())
        for (llvm::Instruction &at : *block)
            gather(at);
    for (auto &[key, all] : found)
        while (!all.empty()) {
            if (!pays(key, all)) {
                all.erase(all.begin());
                continue;
            }
            for (const access &a : all)
                old.push_back(a.pointer->get());
            walk(key, all);
        }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(old);
}

extern "C" void kiln__llvm_walk(LLVMValueRef value)
{
    auto &function = *llvm::unwrap<llvm::Function>(value);
    const llvm::TargetLibraryInfoImpl known(
        function.getParent()->getTargetTriple());
    llvm::TargetLibraryInfo library(known);
    llvm::AssumptionCache assumptions(function);
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators,
                                    loops);
    streams all(evolution);

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        if (loop->isInnermost() && loop->getLoopPreheader() == nullptr)
            llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr,
                                         false);
        all.run(*loop);
    }
}
