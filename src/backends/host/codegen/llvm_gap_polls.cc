/* llvm_gap_polls.cc - adds checks to host code so that it can be stopped. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/codegen_stages.h"

/*
 * A flag says that the code is to stop (host_codegen.h). Reading it is called a
 * *poll*. This file decides where code polls. It runs after all passes, so it
 * keeps no loop from being vectorised, and a poll in each iteration of a loop
 * is one poll for a vector of items. It is C++ because LLVM's C interface has
 * neither loops nor dominance.
 *
 * A loop that surely takes few iterations does not poll. A loop that counts is
 * cut into pieces of a number of iterations,
 *
 *     do body(i); while (++i < end);
 *
 *     do {
 *         piece = min(end, i + iterations);
 *         do body(i); while (++i < piece);
 *         poll
 *     } while (i < end);
 *
 * so its iterations cost what they did, and each piece a little more. An
 * innermost loop may run again and again, often with few iterations. It is cut
 * only where the first piece is known before the loops around it: then the
 * remaining cost is one comparison at its end. Other innermost loops, if they
 * surely end, are left to the loop around them, which polls. A loop that does
 * not count polls in each iteration; a counter of its own would cost more than
 * the load and the branch. A function polls at each call if it may be part of a
 * recursion, or leads to thousands of calls.
 */

namespace
{

/* Iterations without inner loops between two polls: some microseconds. */
constexpr uint64_t between_polls = 16384;
/* Iterations between two polls of a loop around loops that poll, which begin to
   count each time; and of a loop around loops that do not poll. */
constexpr uint64_t around_loops = 1024;
constexpr uint64_t around_unpolled_loops = 64;

/* ---- loops that count ---- */

/* A loop that counts: it goes on while `tested predicate limit`. */
struct counting {
    llvm::BranchInst *back;
    llvm::PHINode *counter;
    llvm::Value *tested; /* the counter, or its value in the next iteration */
    llvm::Value *limit;
    llvm::CmpInst::Predicate predicate;
    int64_t step;
    /* Where the limits of pieces may be computed, and where the limit of the
       first piece may be, which begins at `start`. NULL: when the loop
       begins. */
    llvm::Instruction *early = nullptr;
    llvm::Instruction *early_first = nullptr;
    llvm::Value *start = nullptr;
};

struct plan {
    llvm::BasicBlock *header;
    /* If not set, the loop polls in each iteration. */
    std::optional<counting> counts;
    uint64_t iterations;
};

/* Returns the counter that the value is or comes from, and by how much it grows
   in an iteration. */
llvm::PHINode *counter_of(const llvm::Loop &loop, llvm::Value *tested,
                          int64_t &step)
{
    auto *phi = llvm::dyn_cast<llvm::PHINode>(tested);
    auto *next = llvm::dyn_cast<llvm::BinaryOperator>(tested);

    if (phi == nullptr && next != nullptr)
        phi = llvm::dyn_cast<llvm::PHINode>(next->getOperand(0));
    if (phi == nullptr || phi->getParent() != loop.getHeader())
        return nullptr;
    llvm::Value *after = phi->getIncomingValueForBlock(loop.getLoopLatch());
    auto *add = llvm::dyn_cast<llvm::BinaryOperator>(after);
    if (add == nullptr || add->getOpcode() != llvm::Instruction::Add ||
        add->getOperand(0) != phi || (tested != phi && tested != add))
        return nullptr;
    auto *by = llvm::dyn_cast<llvm::ConstantInt>(add->getOperand(1));
    if (by == nullptr || by->getBitWidth() > 64 || by->isZero())
        return nullptr;
    step = by->getSExtValue();
    return phi;
}

bool goes_right_way(llvm::CmpInst::Predicate predicate, int64_t step)
{
    switch (predicate) {
    case llvm::CmpInst::ICMP_NE:
        return true;
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_ULE:
    case llvm::CmpInst::ICMP_SLT:
    case llvm::CmpInst::ICMP_SLE:
        return step > 0;
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SGE:
        return step < 0;
    default:
        return false;
    }
}

/* Returns the loop's last branch and its comparison, or nothing. */
std::optional<counting> find_test(const llvm::Loop &loop)
{
    llvm::BasicBlock *latch = loop.getLoopLatch();
    auto *back = latch != nullptr
                     ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator())
                     : nullptr;

    if (back == nullptr || !back->isConditional() ||
        loop.contains(back->getSuccessor(0)) ==
            loop.contains(back->getSuccessor(1)))
        return std::nullopt;
    auto *test = llvm::dyn_cast<llvm::ICmpInst>(back->getCondition());
    if (test == nullptr || !test->getOperand(0)->getType()->isIntegerTy())
        return std::nullopt;
    counting c = {back,
                  nullptr,
                  test->getOperand(0),
                  test->getOperand(1),
                  test->getPredicate(),
                  0};
    if (loop.isLoopInvariant(c.tested)) {
        std::swap(c.tested, c.limit);
        c.predicate = llvm::CmpInst::getSwappedPredicate(c.predicate);
    }
    if (!loop.contains(back->getSuccessor(0)))
        c.predicate = llvm::CmpInst::getInversePredicate(c.predicate);
    return c;
}

std::optional<counting> find_counting(const llvm::Loop &loop)
{
    std::optional<counting> c = find_test(loop);

    if (!c || !loop.isLoopInvariant(c->limit))
        return std::nullopt;
    c->counter = counter_of(loop, c->tested, c->step);
    if (c->counter == nullptr || !goes_right_way(c->predicate, c->step))
        return std::nullopt;
    return c;
}

/* Returns the end of the block before the outermost enclosing loop in which
   none of the values changes; NULL: there is no such block. */
llvm::Instruction *find_early(const llvm::Loop &loop, llvm::Value *a,
                              llvm::Value *b)
{
    llvm::Instruction *found = nullptr;

    for (const llvm::Loop *at = &loop; at != nullptr;
         at = at->getParentLoop()) {
        llvm::BasicBlock *before = at->getLoopPreheader();

        if (before == nullptr || !at->isLoopInvariant(a) ||
            !at->isLoopInvariant(b))
            break;
        found = before->getTerminator();
    }
    return found;
}

void find_places(const llvm::Loop &loop, counting &c)
{
    llvm::BasicBlock *before = loop.getLoopPreheader();

    if (before == nullptr)
        return;
    c.start = c.counter->getIncomingValueForBlock(before);
    c.early = find_early(loop, c.limit, c.limit);
    c.early_first = find_early(loop, c.limit, c.start);
}

/* True when the counter neither skips its limit nor wraps at the end of its
   type. A counter that does goes on for ever in spite of its limit, and so
   would its last piece. */
bool surely_ends(const counting &c)
{
    const auto *add = llvm::cast<llvm::BinaryOperator>(
        c.counter->getIncomingValueForBlock(c.back->getParent()));

    if (llvm::CmpInst::isNonStrictPredicate(c.predicate))
        return false;
    if (c.step == 1 || c.step == -1)
        return true;
    if (c.predicate == llvm::CmpInst::ICMP_NE)
        return add->hasNoSignedWrap() || add->hasNoUnsignedWrap();
    return llvm::CmpInst::isSigned(c.predicate) ? add->hasNoSignedWrap()
                                                : add->hasNoUnsignedWrap();
}

bool is_known_early(const llvm::Loop &loop, const counting &c)
{
    return loop.getParentLoop() == nullptr ||
           (c.early_first != nullptr &&
            !loop.getParentLoop()->contains(c.early_first));
}

/* Returns the most iterations that the loop takes; 0: unknown, or many. */
uint64_t iterations_of(const llvm::Loop &loop, const counting &c)
{
    llvm::BasicBlock *before = loop.getLoopPredecessor();
    auto *limit = llvm::dyn_cast<llvm::ConstantInt>(c.limit);
    auto *start = before != nullptr
                      ? llvm::dyn_cast<llvm::ConstantInt>(
                            c.counter->getIncomingValueForBlock(before))
                      : nullptr;

    if (limit == nullptr || start == nullptr || limit->getBitWidth() < 32 ||
        limit->getValue().abs().ugt(1 << 30) ||
        llvm::CmpInst::isNonStrictPredicate(c.predicate))
        return 0; /* or the counter may wrap */
    const llvm::APInt first = start->getValue().sext(128);
    const llvm::APInt last = limit->getValue().sext(128);
    const llvm::APInt distance = c.step > 0 ? last - first : first - last;
    const uint64_t step = c.step > 0 ? (uint64_t)c.step : 0 - (uint64_t)c.step;

    if (distance.isNegative() || distance.ugt(between_polls))
        return 0;
    if (c.predicate == llvm::CmpInst::ICMP_NE &&
        distance.getZExtValue() % step != 0)
        return 0;
    return distance.getZExtValue() / step + 2;
}

/* ---- the cost of a loop ---- */

bool calls_functions(const llvm::Loop &loop)
{
    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &instruction : *block) {
            auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);

            if (call != nullptr &&
                (call->getCalledFunction() == nullptr ||
                 !call->getCalledFunction()->isDeclaration()))
                return true;
        }
    return false;
}

/* What is inside a loop: how many iterations its short loops take together in
   one of its iterations; how deep other loops are nested; and whether one of
   them does not poll. */
struct inside {
    uint64_t iterations = 1;
    unsigned depth = 0;
    bool is_unpolled = false;
};

/* Returns the iterations of a loop between two polls. */
uint64_t iterations_around(const inside &all)
{
    if (all.depth == 0)
        return between_polls / all.iterations;
    if (all.depth == 1)
        return all.is_unpolled ? around_unpolled_loops : around_loops;
    return 1;
}

/* Plans the loops, innermost first. Returns what this loop adds to the one
   around it. */
inside plan_loop(const llvm::Loop &loop, bool is_slow,
                 llvm::SmallVectorImpl<plan> &plans)
{
    inside all, result;

    for (const llvm::Loop *sub : loop) {
        const inside one = plan_loop(*sub, is_slow, plans);

        all.iterations += one.iterations;
        all.depth = std::max(all.depth, one.depth);
        all.is_unpolled |= one.is_unpolled;
    }
    if (calls_functions(loop))
        all.depth = 2;
    std::optional<counting> c = find_counting(loop);
    const uint64_t iterations = c ? iterations_of(loop, *c) : 0;
    if (all.depth == 0 && iterations > 0 &&
        iterations * all.iterations <= between_polls) {
        result.iterations = iterations * all.iterations;
        return result;
    }
    if (c)
        find_places(loop, *c);
    const uint64_t piece = iterations_around(all);
    if (piece <= 1 || is_slow || loop.getLoopPreheader() == nullptr ||
        (c && !surely_ends(*c)))
        c.reset();
    if (all.depth > 0 || !c || is_known_early(loop, *c))
        plans.push_back({loop.getHeader(), c, piece});
    else
        result.is_unpolled = true;
    result.depth = all.depth + 1;
    return result;
}

/* Plans polls for blocks to which a path returns without passing the header of
   a loop. */
void plan_irreducible(llvm::Function &f, llvm::SmallVectorImpl<plan> &plans)
{
    llvm::SmallVector<
        std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>>
        edges;
    llvm::SmallPtrSet<llvm::BasicBlock *, 8> planned;

    for (const plan &p : plans)
        planned.insert(p.header);
    llvm::FindFunctionBackedges(f, edges);
    for (const auto &edge : edges) {
        auto *to = const_cast<llvm::BasicBlock *>(edge.second);

        if (planned.insert(to).second)
            plans.push_back({to, std::nullopt, 1});
    }
}

/* ---- one function ---- */

class poller
{
  public:
    poller(llvm::Function &f, const kiln__poll_plan &names, bool is_entry)
        : f(f), names(names), is_entry(is_entry)
    {
    }
    void poll_at(llvm::BasicBlock *block);
    void cut(const plan &p);

  private:
    llvm::Function &f;
    const kiln__poll_plan &names;
    const bool is_entry;
    llvm::Value *flag = nullptr;
    llvm::BasicBlock *stopped = nullptr;
    /* By how much the counter grows in a piece. */
    llvm::Value *distance = nullptr;

    llvm::Value *find_flag();
    llvm::BasicBlock *find_stopped(llvm::BasicBlock *next);
    llvm::BasicBlock *add_poll(llvm::BasicBlock *at);
    llvm::BasicBlock *add_block();
    llvm::Value *find_piece(llvm::IRBuilder<> &b, const counting &c,
                            llvm::Value *start, llvm::Value *last);
    llvm::Value *find_last(llvm::IRBuilder<> &b, const counting &c);
    llvm::Value *add_pieces(const counting &c, llvm::BasicBlock *outer,
                            llvm::BasicBlock *next, llvm::Value *start);
    llvm::BasicBlock *add_outer(const plan &p, llvm::BasicBlock *next,
                                llvm::Value **start);
};

llvm::BasicBlock *poller::add_block()
{
    return llvm::BasicBlock::Create(f.getContext(), "", &f);
}

/* Returns where the flag is. The entry reads that address once. */
llvm::Value *poller::find_flag()
{
    llvm::Module &m = *f.getParent();

    if (flag != nullptr)
        return flag;
    if (!is_entry)
        return flag = m.getOrInsertGlobal(
                   names.alarm, llvm::Type::getInt32Ty(m.getContext()));
    llvm::BasicBlock &first = f.getEntryBlock();
    llvm::IRBuilder<> b(&first, first.getFirstNonPHIOrDbgOrAlloca());
    llvm::Value *place =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f.getArg(0), names.offset);
    return flag = b.CreateAlignedLoad(b.getPtrTy(), place, llvm::Align(8));
}

/* Returns the block for code that has seen the flag set. */
llvm::BasicBlock *poller::find_stopped(llvm::BasicBlock *next)
{
    if (is_entry && stopped != nullptr)
        return stopped;
    llvm::BasicBlock *block = add_block();
    llvm::IRBuilder<> b(block);
    if (is_entry) {
        b.CreateRet(b.getInt32(1));
        return stopped = block;
    }
    b.CreateCall(f.getParent()->getOrInsertFunction(
        names.poll, llvm::FunctionType::get(b.getVoidTy(), false)));
    b.CreateBr(next);
    return block;
}

/* Adds a poll to a block without a terminator; returns the block that
   follows. */
llvm::BasicBlock *poller::add_poll(llvm::BasicBlock *at)
{
    llvm::Value *place = find_flag();
    llvm::BasicBlock *next = add_block();
    llvm::IRBuilder<> b(at);
    llvm::LoadInst *load =
        b.CreateAlignedLoad(b.getInt32Ty(), place, llvm::Align(4));

    load->setAtomic(llvm::AtomicOrdering::Monotonic);
    b.CreateCondBr(
        b.CreateICmpNE(load, b.getInt32(0)), find_stopped(next), next,
        llvm::MDBuilder(f.getContext()).createUnlikelyBranchWeights());
    next->moveAfter(at);
    return next;
}

/* Adds a poll at the beginning of the block. */
void poller::poll_at(llvm::BasicBlock *block)
{
    auto at = block == &f.getEntryBlock() ? block->getFirstNonPHIOrDbgOrAlloca()
                                          : block->getFirstInsertionPt();

    if (at == block->end())
        return;
    llvm::BasicBlock *rest = block->splitBasicBlock(at);
    block->getTerminator()->eraseFromParent();
    llvm::BasicBlock *next = add_poll(block);
    llvm::IRBuilder<>(next).CreateBr(rest);
}

/* ---- cutting loops ---- */

/* Returns the limit of the piece that begins at `start`. It is never beyond the
   loop's own limit, so when the loop ends, its piece ends, too. */
llvm::Value *poller::find_piece(llvm::IRBuilder<> &b, const counting &c,
                                llvm::Value *start, llvm::Value *last)
{
    const bool up = c.step > 0;

    if (c.predicate != llvm::CmpInst::ICMP_NE) {
        const auto before = llvm::CmpInst::getStrictPredicate(c.predicate);
        llvm::Value *end =
            up ? b.CreateAdd(start, distance) : b.CreateSub(start, distance);

        return b.CreateSelect(b.CreateICmp(before, start, last), end, c.limit);
    }
    llvm::Value *left =
        up ? b.CreateSub(c.limit, start) : b.CreateSub(start, c.limit);
    left = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, distance);
    return up ? b.CreateAdd(start, left) : b.CreateSub(start, left);
}

/* Returns the value before which a whole piece may begin. */
llvm::Value *poller::find_last(llvm::IRBuilder<> &b, const counting &c)
{
    const bool is_signed = llvm::CmpInst::isSigned(c.predicate);
    namespace intrinsic = llvm::Intrinsic;

    if (c.predicate == llvm::CmpInst::ICMP_NE)
        return nullptr;
    if (c.step > 0)
        return b.CreateBinaryIntrinsic(is_signed ? intrinsic::ssub_sat
                                                 : intrinsic::usub_sat,
                                       c.limit, distance);
    return b.CreateBinaryIntrinsic(is_signed ? intrinsic::sadd_sat
                                             : intrinsic::uadd_sat,
                                   c.limit, distance);
}

/* Adds the block before the header. All edges from outside the loop lead to it,
   and one from `next`, which comes back after a piece. */
llvm::BasicBlock *poller::add_outer(const plan &p, llvm::BasicBlock *next,
                                    llvm::Value **start)
{
    llvm::BasicBlock *latch = p.counts->back->getParent();
    llvm::BasicBlock *outer = add_block();

    outer->moveBefore(p.header);
    for (llvm::PHINode &phi : p.header->phis()) {
        llvm::PHINode *made =
            llvm::PHINode::Create(phi.getType(), phi.getNumIncomingValues());

        made->insertInto(outer, outer->end());
        for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
            if (phi.getIncomingBlock(i) == latch)
                continue;
            made->addIncoming(phi.getIncomingValue(i), phi.getIncomingBlock(i));
            phi.removeIncomingValue(i, false);
        }
        made->addIncoming(phi.getIncomingValueForBlock(latch), next);
        phi.addIncoming(made, outer);
        if (&phi == p.counts->counter)
            *start = made;
    }
    llvm::SmallVector<llvm::BasicBlock *> before(llvm::predecessors(p.header));
    for (llvm::BasicBlock *block : before)
        if (block != latch)
            block->getTerminator()->replaceSuccessorWith(p.header, outer);
    return outer;
}

/* Returns the limit of each piece, in `outer`, which has no terminator yet. The
   first one is computed early if possible, the others in `next`. */
llvm::Value *poller::add_pieces(const counting &c, llvm::BasicBlock *outer,
                                llvm::BasicBlock *next, llvm::Value *start)
{
    llvm::IRBuilder<> b(outer);
    llvm::Value *last = nullptr;

    if (c.early != nullptr) {
        b.SetInsertPoint(c.early);
        last = find_last(b, c);
    }
    if (c.early_first == nullptr) {
        b.SetInsertPoint(outer);
        return find_piece(b, c, start,
                          last != nullptr ? last : find_last(b, c));
    }
    llvm::Value *after =
        llvm::cast<llvm::PHINode>(start)->getIncomingValueForBlock(next);
    auto *piece = llvm::PHINode::Create(c.limit->getType(), 2, "", outer);
    b.SetInsertPoint(c.early_first);
    llvm::Value *first = find_piece(b, c, c.start, last);
    for (llvm::BasicBlock *before : llvm::cast<llvm::PHINode>(start)->blocks())
        if (before != next)
            piece->addIncoming(first, before);
    b.SetInsertPoint(next);
    piece->addIncoming(find_piece(b, c, after, last), next);
    return piece;
}

void poller::cut(const plan &p)
{
    const counting &c = *p.counts;
    llvm::BasicBlock *latch = c.back->getParent();
    const unsigned out = c.back->getSuccessor(0) == p.header ? 1 : 0;
    llvm::BasicBlock *exit = c.back->getSuccessor(out);
    llvm::BasicBlock *piece_end = add_block();
    llvm::BasicBlock *ahead = add_block();
    llvm::BasicBlock *next = add_poll(ahead);
    llvm::Value *start = nullptr;
    llvm::BasicBlock *outer = add_outer(p, next, &start);
    auto *test = llvm::cast<llvm::Instruction>(c.back->getCondition());

    distance = llvm::ConstantInt::get(
        c.limit->getType(),
        p.iterations * (c.step > 0 ? (uint64_t)c.step : 0 - (uint64_t)c.step));
    llvm::Value *piece = add_pieces(c, outer, next, start);
    llvm::IRBuilder<> b(next);
    b.CreateBr(outer);
    b.SetInsertPoint(outer);
    b.CreateBr(p.header);

    piece_end->moveAfter(latch);
    exit->replacePhiUsesWith(latch, piece_end);
    b.SetInsertPoint(piece_end);
    b.CreateCondBr(b.CreateICmp(c.predicate, c.tested, c.limit), ahead, exit);

    b.SetInsertPoint(c.back);
    c.back->setCondition(b.CreateICmp(c.predicate, c.tested, piece));
    c.back->setSuccessor(0, p.header);
    c.back->setSuccessor(1, piece_end);
    c.back->setMetadata(llvm::LLVMContext::MD_prof, nullptr);
    if (test->use_empty())
        test->eraseFromParent();
}

/* True when the header's incoming edges can be redirected, and the step of a
   piece fits the counter's type. */
bool can_cut(const plan &p)
{
    const counting &c = *p.counts;
    const uint64_t step = c.step > 0 ? (uint64_t)c.step : 0 - (uint64_t)c.step;
    const unsigned bits = c.counter->getType()->getIntegerBitWidth();
    const uint64_t most = (uint64_t)1 << (bits < 63 ? bits - 2 : 61);

    if (bits < 16 || step > most / p.iterations || p.header->hasAddressTaken())
        return false;
    for (llvm::BasicBlock *block : llvm::predecessors(p.header))
        if (!llvm::isa<llvm::BranchInst>(block->getTerminator()) &&
            !llvm::isa<llvm::SwitchInst>(block->getTerminator()))
            return false;
    return true;
}

/* ---- functions ---- */

using functions = llvm::SmallPtrSet<const llvm::Function *, 8>;

/* Returns how many calls one call of the function leads to without a poll, its
   own included. */
uint64_t calls_of(const llvm::CallGraphNode &node,
                  const llvm::DenseMap<const llvm::Function *, uint64_t> &known)
{
    uint64_t sum = 1;

    for (const auto &record : node)
        sum = llvm::SaturatingAdd(sum,
                                  known.lookup(record.second->getFunction()));
    return sum;
}

/* Finds the functions that poll at each call: those that may be part of a
   recursion, and those that lead to so many calls that these take long, though
   they end. */
functions find_polled(llvm::Module &m)
{
    llvm::CallGraph graph(m);
    llvm::DenseMap<const llvm::Function *, uint64_t> calls;
    functions found;

    for (auto at = llvm::scc_begin(&graph); !at.isAtEnd(); ++at)
        for (const llvm::CallGraphNode *node : *at) {
            const llvm::Function *f = node->getFunction();

            if (f == nullptr || f->isDeclaration())
                continue;
            calls[f] = calls_of(*node, calls);
            if (!at.hasCycle() && !f->hasAddressTaken() &&
                calls[f] <= between_polls)
                continue;
            found.insert(f);
            calls[f] = 1;
        }
    return found;
}

/* Removes attributes that do not hold any more. */
void forget_attributes(llvm::Function &f)
{
    for (auto kind :
         {llvm::Attribute::Memory, llvm::Attribute::WillReturn,
          llvm::Attribute::NoSync, llvm::Attribute::NoFree,
          llvm::Attribute::NoCallback, llvm::Attribute::Speculatable})
        f.removeFnAttr(kind);
}

/* Gives each loop a preheader, where the limits of its pieces are computed.
   Passes leave many loops without one, above all vectorised ones. */
void add_preheaders(llvm::DominatorTree &tree, llvm::LoopInfo &loops)
{
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (loop->getLoopPreheader() == nullptr)
            llvm::InsertPreheaderForLoop(loop, &tree, &loops, nullptr, false);
}

/* Returns true when the function polls. */
bool add_polls(llvm::Function &f, const kiln__poll_plan &names, bool is_entry,
               bool polls_at_entry)
{
    llvm::SmallVector<plan, 8> plans;
    {
        llvm::DominatorTree tree(f);
        llvm::LoopInfo loops(tree);

        if (names.is_slow == 0)
            add_preheaders(tree, loops);
        for (const llvm::Loop *loop : loops)
            plan_loop(*loop, names.is_slow != 0, plans);
        llvm::ReversePostOrderTraversal<llvm::Function *> order(&f);
        if (llvm::containsIrreducibleCFG<llvm::BasicBlock *>(order, loops))
            plan_irreducible(f, plans);
    }
    poller p(f, names, is_entry);
    for (const plan &one : plans)
        if (one.counts && can_cut(one))
            p.cut(one);
        else
            p.poll_at(one.header);
    if (polls_at_entry)
        p.poll_at(&f.getEntryBlock());
    if (plans.empty() && !polls_at_entry)
        return false;
    forget_attributes(f);
    return true;
}

bool is_named(const llvm::Function &f, const kiln__poll_plan &names)
{
    for (const char *name : names.entries)
        if (name != nullptr && f.getName() == name)
            return true;
    return false;
}

} // namespace

extern "C" int kiln__llvm_add_polls(LLVMModuleRef module,
                                    const kiln__poll_plan *plan)
{
    llvm::SmallVector<llvm::Function *> all;
    int polls = 0;

    for (llvm::Function &f : *llvm::unwrap(module))
        if (!f.isDeclaration())
            all.push_back(&f);
    const functions polled = find_polled(*llvm::unwrap(module));
    for (llvm::Function *f : all) {
        const bool is_entry = is_named(*f, *plan);

        if (add_polls(*f, *plan, is_entry, !is_entry && polled.contains(f)) &&
            !is_entry)
            polls = 1;
    }
    return polls;
}
