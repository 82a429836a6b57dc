/* item_records.cc - items that have a record of numbers each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_records.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 * Colours, vectors and complex numbers are arrays of two dimensions whose first
 * one is short:
 *
 *     for i
 *         y[i] = sqrt(v[0, i] * v[0, i] + v[1, i] * v[1, i])
 *
 * Only the launch knows how long it is, so a vector of items would gather. If
 * it is known, a few loads and shuffles do. It is nearly always the number of
 * places at which the loop accesses a record. So the loop gets a copy for that
 * length, in which the size is a constant.
 */

#define LENGTH_MOST 8u
#define SIZES_MOST 8u  /* of a loop */
#define LOOPS_MOST 16u /* of a function */
#define LOOP_MOST 400u /* instructions */

/* Of loops that have their copy. */
#define IS_SPLIT "kiln.records"

namespace
{

/* Elements that a loop accesses in records of one array. */
struct record {
    const llvm::SCEV *first; /* address of the first that was found */
    uint64_t bytes;          /* of an element */
    int64_t least = 0;       /* distances from it, in bytes */
    int64_t most = 0;
};

/* A size, and the value that it is likely to have. */
using sizes = llvm::SmallMapVector<llvm::Value *, unsigned, SIZES_MOST>;

class finder
{
  public:
    finder(const llvm::Loop &of, llvm::ScalarEvolution &all)
        : loop(of), numbers(all)
    {
    }

    sizes find();

  private:
    void find_factors();
    llvm::Value *size_of(const llvm::SCEVAddRecExpr &place,
                         uint64_t bytes) const;
    void add(const llvm::Instruction &at);

    const llvm::Loop &loop;
    llvm::ScalarEvolution &numbers;
    llvm::DenseMap<const llvm::SCEV *, llvm::Value *> factors;
    llvm::SmallVector<std::pair<llvm::Value *, record>, 16> records;
};

} // namespace

/* ---- which sizes ---- */

/* Finds fixed numbers that the loop multiplies with. */
void finder::find_factors()
{
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block) {
            if (at.getOpcode() != llvm::Instruction::Mul)
                continue;
            for (llvm::Value *factor : at.operands())
                if (loop.isLoopInvariant(factor) &&
                    !llvm::isa<llvm::Constant>(factor) &&
                    numbers.isSCEVable(factor->getType()))
                    factors[numbers.getSCEV(factor)] = factor;
        }
}

/* Returns the size by which addresses of neighbours are apart, in elements; or
   NULL. */
llvm::Value *finder::size_of(const llvm::SCEVAddRecExpr &place,
                             uint64_t bytes) const
{
    const llvm::SCEV *step = place.getStepRecurrence(numbers);

    if (bytes > 1) {
        const auto *product = llvm::dyn_cast<llvm::SCEVMulExpr>(step);
        const auto *factor =
            product != nullptr && product->getNumOperands() == 2
                ? llvm::dyn_cast<llvm::SCEVConstant>(product->getOperand(0))
                : nullptr;

        if (factor == nullptr || factor->getAPInt() != bytes)
            return nullptr;
        step = product->getOperand(1);
    }
    return factors.lookup(step);
}

/* Adds an access to those of its array's records. */
void finder::add(const llvm::Instruction &at)
{
    auto *pointer =
        const_cast<llvm::Value *>(llvm::getLoadStorePointerOperand(&at));
    const auto *place =
        pointer != nullptr
            ? llvm::dyn_cast<llvm::SCEVAddRecExpr>(numbers.getSCEV(pointer))
            : nullptr;

    if (place == nullptr || place->getLoop() != &loop || !place->isAffine())
        return;
    const uint64_t bytes =
        at.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&at));
    llvm::Value *size = size_of(*place, bytes);

    if (size == nullptr)
        return;
    for (auto &[of, known] : records) {
        if (of != size || known.bytes != bytes ||
            numbers.getPointerBase(place) !=
                numbers.getPointerBase(known.first))
            continue;
        const auto *away = llvm::dyn_cast<llvm::SCEVConstant>(
            numbers.getMinusSCEV(place, known.first));

        if (away == nullptr || away->getAPInt().getSignificantBits() > 32)
            continue;
        known.least = std::min(known.least, away->getAPInt().getSExtValue());
        known.most = std::max(known.most, away->getAPInt().getSExtValue());
        return;
    }
    records.push_back({size, {place, bytes}});
}

sizes finder::find()
{
    sizes found;

    find_factors();
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &at : *block)
            add(at);
    for (const auto &[size, one] : records) {
        const uint64_t length =
            static_cast<uint64_t>(one.most - one.least) / one.bytes + 1;

        if (length > LENGTH_MOST)
            return {};
        if (length > 1)
            found[size] = std::max(found[size], static_cast<unsigned>(length));
    }
    return found;
}

/* ---- the copy ---- */

static bool has_shape(const llvm::Loop &loop)
{
    return loop.isInnermost() && loop.getLoopLatch() != nullptr &&
           llvm::findOptionMDForLoop(&loop, KILN__ITEM_LOOP) != nullptr &&
           llvm::findOptionMDForLoop(&loop, IS_SPLIT) == nullptr &&
           llvm::hasVectorizeTransformation(&loop) !=
               llvm::TM_SuppressedByUser &&
           loop.getExitingBlock() == loop.getLoopLatch() &&
           loop.getUniqueExitBlock() != nullptr &&
           loop.getUniqueExitBlock()->phis().empty() &&
           kiln__trim_size(loop) <= LOOP_MOST;
}

static llvm::Value *are_as_expected(llvm::IRBuilder<> &b, const sizes &of)
{
    llvm::Value *all = b.getTrue();

    for (const auto &[size, expected] : of)
        all = b.CreateAnd(all, b.CreateICmpEQ(b.CreateFreeze(size),
                                              llvm::ConstantInt::get(
                                                  size->getType(), expected)));
    return all;
}

/* Puts a copy for records of these sizes in front of the loop. */
static void add_copy(llvm::Loop &loop, const sizes &of)
{
    llvm::BasicBlock *before = loop.getLoopPreheader();
    llvm::BasicBlock *header = loop.getHeader();
    llvm::Function &function = *header->getParent();
    llvm::SmallVector<llvm::BasicBlock *, 8> blocks;
    llvm::ValueToValueMapTy map;
    auto *start = llvm::BasicBlock::Create(function.getContext(), "records",
                                           &function, header);
    auto *as_written =
        llvm::BasicBlock::Create(function.getContext(), "", &function, header);
    llvm::IRBuilder<> b(before->getTerminator());

    for (const auto &[size, expected] : of)
        map[size] = llvm::ConstantInt::get(size->getType(), expected);
    for (llvm::BasicBlock *block : loop.blocks()) {
        blocks.push_back(
            llvm::CloneBasicBlock(block, map, ".records", &function));
        map[block] = blocks.back();
    }
    map[before] = start;
    llvm::remapInstructionsInBlocks(blocks, map);
    b.CreateCondBr(are_as_expected(b, of), start, as_written);
    before->getTerminator()->eraseFromParent();
    b.SetInsertPoint(start);
    b.CreateBr(llvm::cast<llvm::BasicBlock>(map[header]));
    b.SetInsertPoint(as_written);
    b.CreateBr(header);
    header->replacePhiUsesWith(before, as_written);
    llvm::addStringMetadataToLoop(&loop, IS_SPLIT, 1);
}

static bool split_one(llvm::Function &function,
                      llvm::FunctionAnalysisManager &analyses)
{
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &numbers = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto &dominators =
        analyses.getResult<llvm::DominatorTreeAnalysis>(function);

    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        if (!has_shape(*loop) || !kiln__trim_gives_nothing(*loop))
            continue;
        const sizes found = finder(*loop, numbers).find();

        if (found.empty())
            continue;
        if (loop->getLoopPreheader() == nullptr &&
            llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr,
                                         false) == nullptr)
            continue;
        add_copy(*loop, found);
        return true;
    }
    return false;
}

bool kiln__split_records(llvm::Function &function,
                         llvm::FunctionAnalysisManager &analyses)
{
    bool changed = false;

    for (unsigned i = 0; i < LOOPS_MOST && split_one(function, analyses); i++) {
        analyses.invalidate(function, llvm::PreservedAnalyses::none());
        changed = true;
    }
    return changed;
}
