/* wide_choose.cc - how many items go through loops together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/VectorUtils.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/wide/wide.h"
#include "codegen/module/wide/wide_bounds.h"

/*
 * Vectors of items pay if in the inner loops nearly all elements that
 * neighbours access are neighbours or the same one. Several vectors go side by
 * side, so that sums do not wait: as many as registers hold.
 *
 * Take loops that walk down columns, where each iteration accesses a row that
 * no other one does:
 *
 *     for item { s = 0; for k { s += x[k][item]; y[k][item] = s; } }
 *
 * They take as long as memory does, and of each row they access as much as
 * there are items in these vectors. Memory brings whole lines, and the next
 * ones before they are asked for, but not far-away rows; and rows that are a
 * power of two apart share few places in caches. So there are more vectors,
 * for up to 1 KiB of a row. Running sums of columns became 3 times as fast.
 *
 * Items that sum up rows, whose elements are far apart for neighbours, go
 * through their loops as scalars, some together (wide_alone.cc); a single loop
 * is item_jam.cc's.
 */

#define ARITHMETIC_OF_GATHER 8u
#define PARTS 4u
#define OPERATIONS 64u       /* of all vectors, in inner loops */
#define OPERATIONS_KEPT 256u /* where iterations wait for the one before */
#define COLUMN_PARTS 16u
#define COLUMN_OPERATIONS 160u
#define BITS_OF_MASKS 512u /* of vectors that have registers for masks */
#define OF_CALL 16u        /* operations */
#define FAR 64             /* bytes from an iteration's place to the next */
#define ROWS 8u            /* items that sum up rows together */
#define ROW_MOST 48u       /* instructions of the loop over a row */

namespace
{

/* What the inner loops of a loop over items do in an iteration. A loop is taken
   to have eight. */
struct work {
    uint64_t turns = 0; /* of arithmetic, where inner loops have more */
    uint64_t gathers = 0;
    unsigned arithmetic = 0;
    unsigned calls = 0; /* of these, of functions with many operations */
    unsigned beside = 0;
    unsigned down = 0;     /* of these, those of columns */
    unsigned kept = 0;     /* values that go from an iteration to the next */
    unsigned widest = 8;   /* bits of an element, or of what is kept */
    bool is_level = false; /* bounds of a loop differ by item */
};

class chooser
{
  public:
    chooser(const wide_values &of, const llvm::TargetTransformInfo &machine)
        : values(of), target(machine)
    {
    }

    bool choose(wide_body &out) const;

  private:
    bool has_masks(unsigned lanes) const;
    work measure() const;
    void measure_access(const llvm::Instruction &at, work &out) const;
    unsigned kept_in(const llvm::Loop &inner) const;
    bool is_of_column(const llvm::Instruction &at) const;
    void choose_parts(const work &w, wide_body &out) const;

    const wide_values &values;
    const llvm::TargetTransformInfo &target;
};

} // namespace

/* ---- accesses ---- */

static unsigned bits_of(const llvm::Instruction &at)
{
    const bool is_store = llvm::isa<llvm::StoreInst>(at);
    llvm::Type *type = is_store ? at.getOperand(0)->getType() : at.getType();

    return static_cast<unsigned>(
        at.getDataLayout().getTypeSizeInBits(type).getFixedValue());
}

/* True if the processor has the access under a mask. */
static bool is_legal(const llvm::TargetTransformInfo &target,
                     const llvm::Instruction &at, unsigned lanes)
{
    llvm::Type *type =
        llvm::FixedVectorType::get(llvm::getLoadStoreType(&at), lanes);
    const llvm::Align align = llvm::getLoadStoreAlignment(&at);

    return llvm::isa<llvm::LoadInst>(at)
               ? target.isLegalMaskedLoad(type, align, 0)
               : target.isLegalMaskedStore(type, align, 0);
}

/* True for a call of a function that has many operations. */
static bool is_of_library(const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::CallInst>(&at);

    return call != nullptr && call->hasFnAttr(llvm::VFABI::MappingsAttrName);
}

/* True for an access that is in another line of memory in each iteration. */
bool chooser::is_of_column(const llvm::Instruction &at) const
{
    auto *pointer =
        const_cast<llvm::Value *>(llvm::getLoadStorePointerOperand(&at));
    const llvm::SCEV *place = values.evolution.getSCEV(pointer);
    const llvm::Loop *inner = values.loops.getLoopFor(at.getParent());
    const auto *step = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);

    if (step == nullptr || step->getLoop() != inner || !step->isAffine())
        return false;
    const auto *bytes = llvm::dyn_cast<llvm::SCEVConstant>(step->getOperand(1));

    return bytes == nullptr || bytes->getAPInt().abs().uge(FAR);
}

/* True if the processor has all accesses to neighbours under masks. */
bool chooser::has_masks(unsigned lanes) const
{
    for (llvm::BasicBlock *block : values.loop.blocks())
        for (const llvm::Instruction &at : *block)
            if (llvm::getLoadStorePointerOperand(&at) != nullptr &&
                values.is_beside(at) && !is_legal(target, at, lanes))
                return false;
    return true;
}

/* ---- whether it pays ---- */

void chooser::measure_access(const llvm::Instruction &at, work &out) const
{
    const unsigned depth =
        values.loops.getLoopDepth(at.getParent()) - values.loop.getLoopDepth();

    out.widest = std::max(out.widest, bits_of(at));
    if (depth == 0)
        return;
    if (values.is_beside(at)) {
        out.beside++;
        out.down += is_of_column(at);
    } else {
        out.gathers += uint64_t{1} << std::min(3 * depth, 30U);
    }
}

/* Counts what the loops inside do, and of the other code its accesses. */
work chooser::measure() const
{
    work out;

    for (llvm::BasicBlock *block : values.loop.blocks()) {
        const unsigned depth =
            values.loops.getLoopDepth(block) - values.loop.getLoopDepth();

        for (const llvm::Instruction &at : *block) {
            const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at);

            out.is_level |= kiln__wide_shared(at).has_value();
            if (pointer != nullptr && values.is_varying(pointer)) {
                measure_access(at, out);
            } else if (depth > 0 && values.as_many.contains(&at)) {
                if (llvm::isa<llvm::PHINode>(at)) {
                    if (!values.is_joined(block))
                        out.widest = std::max(out.widest, bits_of(at));
                    continue;
                }
                out.arithmetic++;
                out.calls += is_of_library(at);
                out.turns += uint64_t{1} << std::min(3 * depth, 30U);
            }
        }
    }
    for (const llvm::Loop *inner : values.loop.getSubLoops())
        out.kept = std::max(out.kept, kept_in(*inner));
    return out;
}

/* Returns how many values that differ by item the loop keeps, with those of the
   loops in it. */
unsigned chooser::kept_in(const llvm::Loop &inner) const
{
    unsigned own = 0, most = 0;

    for (const llvm::PHINode &phi : inner.getHeader()->phis())
        own += values.as_many.contains(&phi);
    for (const llvm::Loop *next : inner.getSubLoops())
        most = std::max(most, kept_in(*next));
    return own + most;
}

void chooser::choose_parts(const work &w, wide_body &out) const
{
    const unsigned registers =
        target.getNumberOfRegisters(target.getRegisterClassForType(true));
    const unsigned most = w.kept > 0 ? OPERATIONS_KEPT : OPERATIONS;
    const bool is_of_columns =
        w.beside > 0 && w.down == w.beside && !w.is_level;

    if (is_of_columns) {
        out.parts = COLUMN_PARTS;
        while (out.parts > PARTS &&
               (w.kept * out.parts > registers / 4 * 3 ||
                (w.arithmetic + OF_CALL * w.calls) * out.parts >
                    COLUMN_OPERATIONS))
            out.parts /= 2;
        if (out.parts > PARTS)
            out.rest = PARTS;
        return;
    }
    out.parts = PARTS;
    while (out.parts > 1 && ((w.kept + w.beside) * out.parts > registers / 2 ||
                             (w.arithmetic + w.beside) * out.parts > most))
        out.parts /= 2;
}

/* Chooses the vectors, or returns false: it does not pay. */
bool chooser::choose(wide_body &out) const
{
    const work w = measure();
    const unsigned bits = static_cast<unsigned>(
        target
            .getRegisterBitWidth(
                llvm::TargetTransformInfo::RGK_FixedWidthVector)
            .getFixedValue());

    out.lanes = bits / w.widest;
    /* Half of a triangle's arithmetic is masks. */
    if (out.lanes < 4 || w.arithmetic == 0 ||
        w.gathers * ARITHMETIC_OF_GATHER * (w.is_level ? 2 : 1) > w.turns)
        return false;
    out.has_masks = has_masks(out.lanes);
    out.has_cheap_masks = out.has_masks && bits >= BITS_OF_MASKS;
    if (!out.has_masks && !values.heads.empty())
        return false;
    choose_parts(w, out);
    return true;
}

/* ---- rows ---- */

/* True for a loop whose iterations wait for a sum of floats, in order. */
static bool waits(const llvm::Loop &inner)
{
    bool does_wait = false;

    for (const llvm::PHINode &phi : inner.getHeader()->phis()) {
        const auto *next = llvm::dyn_cast<llvm::Instruction>(
            phi.getIncomingValueForBlock(inner.getLoopLatch()));

        does_wait |= next != nullptr && llvm::isa<llvm::FPMathOperator>(next) &&
                     next->getType()->isFloatingPointTy() &&
                     !next->hasAllowReassoc() && inner.contains(next);
    }
    return does_wait && kiln__trim_size(inner) <= ROW_MOST;
}

/* True for a loop that gives nothing to what follows it. */
static bool can_be_alone(const llvm::Loop &inner)
{
    return kiln__trim_gives_nothing(inner) &&
           inner.getLoopPreheader() != nullptr &&
           inner.getExitingBlock() != nullptr &&
           inner.getUniqueExitBlock() != nullptr &&
           inner.getUniqueExitBlock()->phis().empty();
}

/* Chooses scalars of several items: where items sum up rows, more than once. */
static bool choose_rows(const wide_values &values, wide_body &out)
{
    unsigned count = 0, waiting = 0;

    out.lanes = 1;
    out.parts = ROWS;
    out.alone.clear();
    for (llvm::Loop *inner : values.loop.getSubLoops()) {
        if (!inner->isInnermost() || !inner->isLoopSimplifyForm())
            return false;
        count++;
        if (waits(*inner))
            waiting++;
        else if (can_be_alone(*inner))
            out.alone.push_back(inner);
        else
            return false;
    }
    if (!out.alone.empty())
        out.parts = ROWS / 2; /* each has a copy of these loops */
    return count > 1 && waiting > 0 && values.heads.empty();
}

bool kiln__wide_choose(const wide_values &values,
                       const llvm::TargetTransformInfo &target, wide_body &out)
{
    return chooser(values, target).choose(out) || choose_rows(values, out);
}
