/* item_reuse.cc - values that the item before has computed already. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/items/item_reuse.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/Hashing.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/module/llvm_gap.h"

/*
 *     for i { y[i] = flux(x[i], x[i + 1]) - flux(x[i - 1], x[i]); }
 *     =>
 *     left = flux(x[first - 1], x[first])
 *     for i { right = flux(x[i], x[i + 1]); y[i] = right - left; left = right;
 * }
 *
 * An item computes what its neighbour computes, too: kernels of finite volumes
 * do so for each face of a cell. A value is that of the item before if the same
 * operations are applied to loads that are one item apart, and to what is the
 * same for all items. What it loads has not changed meanwhile, since items of
 * the loop depend on no other. LLVM vectorises such a loop: the vector of the
 * items before is a shift of two vectors.
 */

#define LARGE 12u  /* operations that are worth it */
#define TRIES 256u /* pairs that are compared, in a loop */
#define BLOCK 600u /* instructions of a loop */

namespace
{

class reuse
{
  public:
    reuse(llvm::Loop &in, llvm::ScalarEvolution &numbers)
        : loop(in), block(*in.getHeader()), evolution(numbers)
    {
    }

    /* `begins` makes a block in front of the loop, if there is none. */
    bool run(llvm::function_ref<bool()> begins);

  private:
    bool is_operation(const llvm::Instruction &at) const;
    void hash_all();
    bool is_before(llvm::Value *a, llvm::Value *b);
    bool is_number_before(llvm::Value *a, llvm::Value *b);
    bool operands_are_before(llvm::Instruction &a, llvm::Instruction &b);
    void gather(llvm::Instruction &at,
                llvm::DenseSet<llvm::Instruction *> &all) const;
    bool pays(llvm::Instruction &a, llvm::Instruction &b) const;
    llvm::Value *first_of(llvm::Instruction &at);
    void take(llvm::Instruction &a, llvm::Instruction &b);

    llvm::Loop &loop;
    llvm::BasicBlock &block;
    llvm::ScalarEvolution &evolution;
    llvm::DenseMap<const llvm::Value *, uint64_t> hashes;
    llvm::DenseMap<std::pair<llvm::Value *, llvm::Value *>, bool> known;
};

} // namespace

/* True for what may be computed from its operands alone, or is loaded. */
bool reuse::is_operation(const llvm::Instruction &at) const
{
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);

    if (load != nullptr)
        return load->isSimple();
    if (call != nullptr)
        return call->doesNotAccessMemory() && !call->mayHaveSideEffects() &&
               !call->isConvergent();
    return at.isBinaryOp() || at.isUnaryOp() || at.isCast() ||
           llvm::isa<llvm::CmpInst, llvm::SelectInst, llvm::GetElementPtrInst>(
               at);
}

/* Values that may be the same for neighbours have the same hash. */
void reuse::hash_all()
{
    for (const llvm::Instruction &at : block) {
        uint64_t hash = llvm::hash_combine(at.getOpcode(), at.getType());

        if (evolution.isSCEVable(at.getType()) ||
            llvm::isa<llvm::LoadInst>(at)) {
            hashes[&at] = hash;
            continue;
        }
        for (const llvm::Value *operand : at.operands()) {
            const auto found = hashes.find(operand);
            const bool is_number = evolution.isSCEVable(operand->getType());

            hash = llvm::hash_combine(
                hash, found != hashes.end() ? found->second
                      : is_number           ? uint64_t{1}
                                  : reinterpret_cast<uintptr_t>(operand));
        }
        hashes[&at] = hash;
    }
}

/* ---- what the item before has ---- */

/* True for a counter, or an address, that `b` was one item ago. */
bool reuse::is_number_before(llvm::Value *a, llvm::Value *b)
{
    const auto *line =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(b));

    if (line == nullptr || line->getLoop() != &loop || !line->isAffine())
        return false;
    return evolution.getMinusSCEV(line, evolution.getSCEV(a)) ==
           line->getStepRecurrence(evolution);
}

bool reuse::operands_are_before(llvm::Instruction &a, llvm::Instruction &b)
{
    if (!a.isSameOperationAs(&b) || !a.hasSameSubclassOptionalData(&b))
        return false;
    for (unsigned i = 0; i < a.getNumOperands(); i++)
        if (!is_before(a.getOperand(i), b.getOperand(i)))
            return false;
    return true;
}

/* True if the value of `a` is that of `b` for the item before. */
bool reuse::is_before(llvm::Value *a, llvm::Value *b)
{
    auto *from = llvm::dyn_cast<llvm::Instruction>(a);
    auto *to = llvm::dyn_cast<llvm::Instruction>(b);

    if (a == b && loop.isLoopInvariant(a))
        return true;
    if (from == nullptr || to == nullptr || !loop.contains(from) ||
        !loop.contains(to) || a->getType() != b->getType())
        return false;
    const auto found = known.find({a, b});

    if (found != known.end())
        return found->second;
    const bool is =
        (evolution.isSCEVable(a->getType()) && is_number_before(a, b)) ||
        (is_operation(*from) && operands_are_before(*from, *to));

    known[{a, b}] = is;
    return is;
}

/* ---- whether it pays ---- */

/* Adds all of the loop that the value is computed from. */
void reuse::gather(llvm::Instruction &at,
                   llvm::DenseSet<llvm::Instruction *> &all) const
{
    llvm::SmallVector<llvm::Instruction *, 32> work = {&at};

    while (!work.empty()) {
        llvm::Instruction *next = work.pop_back_val();

        if (!loop.contains(next) || !all.insert(next).second ||
            llvm::isa<llvm::PHINode>(next))
            continue;
        for (llvm::Value *operand : next->operands())
            if (auto *from = llvm::dyn_cast<llvm::Instruction>(operand))
                work.push_back(from);
    }
}

/* What both values are computed from remains. What follows has to be computed
   from both, or LLVM could not vectorise the loop. */
bool reuse::pays(llvm::Instruction &a, llvm::Instruction &b) const
{
    llvm::DenseSet<llvm::Instruction *> of_a, of_b;
    unsigned saved = 0;

    gather(a, of_a);
    gather(b, of_b);
    if (of_b.contains(&a))
        return false;
    for (const llvm::User *user : a.users()) {
        const auto *next = llvm::cast<llvm::Instruction>(user);

        if (llvm::isa<llvm::PHINode>(next) || next->getParent() != &block ||
            !b.comesBefore(next))
            return false;
    }
    for (const llvm::Instruction *at : of_a)
        saved += !of_b.contains(at) && !llvm::isa<llvm::PHINode>(at) &&
                 at->getType()->isFloatingPointTy();
    return saved >= LARGE;
}

/* ---- the loop ---- */

/* Computes the value in front of the loop, as its first item would. */
llvm::Value *reuse::first_of(llvm::Instruction &at)
{
    llvm::DenseSet<llvm::Instruction *> all;
    llvm::DenseMap<llvm::Value *, llvm::Value *> made;
    llvm::Instruction *before = loop.getLoopPreheader()->getTerminator();

    gather(at, all);
    for (llvm::Instruction &one : block) {
        if (!all.contains(&one))
            continue;
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&one)) {
            made[phi] = phi->getIncomingValueForBlock(loop.getLoopPreheader());
            continue;
        }
        llvm::Instruction *copy = one.clone();

        for (llvm::Use &operand : copy->operands())
            if (const auto found = made.find(operand.get());
                found != made.end())
                operand.set(found->second);
        copy->insertBefore(before->getIterator());
        copy->setMetadata(llvm::LLVMContext::MD_access_group, nullptr);
        made[&one] = copy;
    }
    return made[&at];
}

void reuse::take(llvm::Instruction &a, llvm::Instruction &b)
{
    llvm::PHINode *phi =
        llvm::PHINode::Create(a.getType(), 2, "", block.begin());

    phi->addIncoming(first_of(a), loop.getLoopPreheader());
    phi->addIncoming(&b, &block);
    a.replaceAllUsesWith(phi);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(&a);
}

/* Takes one value, the largest. */
bool reuse::run(llvm::function_ref<bool()> begins)
{
    unsigned tries = 0;

    hash_all();
    for (auto a = block.rbegin(); a != block.rend(); ++a) {
        if (!a->getType()->isFloatingPointTy() || !is_operation(*a))
            continue;
        for (llvm::Instruction &b : block) {
            if (&b == &*a || hashes[&b] != hashes[&*a] ||
                llvm::isa<llvm::LoadInst>(b))
                continue;
            if (++tries > TRIES)
                return false;
            if (is_before(&*a, &b) && pays(*a, b) && begins()) {
                take(*a, b);
                return true;
            }
        }
    }
    return false;
}

bool kiln__reuse_values(llvm::Function &function,
                        llvm::FunctionAnalysisManager &analyses)
{
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &dominators =
        analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto &evolution =
        analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool changed = false;

    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (loop->isInnermost() && loop->getNumBlocks() == 1 &&
            llvm::findOptionMDForLoop(loop, KILN__ITEM_LOOP) != nullptr &&
            loop->isAnnotatedParallel() && loop->getHeader()->size() <= BLOCK &&
            reuse(*loop, evolution).run([&] {
                return loop->getLoopPreheader() != nullptr ||
                       llvm::InsertPreheaderForLoop(loop, &dominators, &loops,
                                                    nullptr, false) != nullptr;
            })) {
            evolution.forgetLoop(loop);
            changed = true;
        }
    return changed;
}
