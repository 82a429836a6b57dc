/* trim.cc - makes guards of loops over items the loops' bounds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "codegen/module/items/trim.h"
#include "codegen/module/llvm_gap.h"

/*
 * What moves is a number of w bits that grows by 1 from item to item, until it
 * wraps. So a loop is cut into *pieces* in which nothing that is compared
 * wraps, and nothing that is extended before:
 *
 *     for at = first; at < end; at = until
 *         until = min(end, at + the items until the next wrap)
 *         from, to = of at..until, what fulfils the guard
 *         for i in from..to
 *             body
 *
 * Nearly always there is one piece. In it a value is the one at its beginning
 * plus the distance from there. A comparison of it with n is one of the
 * distance with n minus the value at the beginning, and that difference of two
 * ordered numbers fits into w bits without a sign. No bound is wrong by an
 * overflow, then, whatever a kernel adds or truncates. Where nothing can wrap,
 * there is no outer loop. Where only the counter itself is compared, n is the
 * bound: the simpler it is, the less time do LLVM's passes take for the loop.
 */

#define WRAPS_MAX 8   /* that a piece is ended for */
#define LOOPS_MAX 256 /* of a function */

namespace
{

struct rewriter {
    const trim_loop *l;
    const trim_guard *guard;
    llvm::IRBuilder<> *builder; /* at the beginning of a piece */
    llvm::Value *at;
    llvm::Value *until;
    bool is_plain;     /* the guard compares the counter itself */
    llvm::Value *from; /* the items that are left: counted from the piece's */
    llvm::Value *to;   /* first one, unless the guard is plain */
    llvm::DenseMap<llvm::Value *, llvm::Value *> known; /* at the beginning */
    /* numbers that are the counter and something fixed, and that */
    std::vector<std::pair<llvm::Instruction *, llvm::Value *>> straight;
};

} // namespace

static llvm::Value *call(rewriter &r, llvm::Intrinsic::ID which, llvm::Value *a,
                         llvm::Value *b)
{
    return r.builder->CreateBinaryIntrinsic(which, a, b);
}

/* ---- values at the beginning of a piece ---- */

/* A value that a body might not have come to look at must be some number. */
static llvm::Value *fixed(rewriter &r, llvm::Value *value)
{
    llvm::Value *&known = r.known[value];

    if (known == nullptr)
        known = llvm::isGuaranteedNotToBeUndefOrPoison(value)
                    ? value
                    : r.builder->CreateFreeze(value);
    return known;
}

/* Computes the value for the piece's first item. */
static llvm::Value *value_of(rewriter &r, llvm::Value *value)
{
    llvm::Instruction *made;

    if (value == r.l->counter)
        return r.at;
    if (r.l->loop->isLoopInvariant(value))
        return fixed(r, value);
    if (llvm::Value *known = r.known.lookup(value))
        return known;
    made = llvm::cast<llvm::Instruction>(value)->clone();
    for (llvm::Use &operand : made->operands())
        operand.set(value_of(r, operand.get()));
    made->dropPoisonGeneratingFlags();
    made->dropUnknownNonDebugMetadata();
    made->setDebugLoc(llvm::DebugLoc());
    r.known[value] = r.builder->Insert(made);
    return made;
}

/* ---- pieces ---- */

/* Where a number may wrap, in the order of signed or of unsigned numbers. */
struct wrap {
    llvm::Value *value;
    bool is_signed;
};

/* True where `counter + c` or `counter - c` says that it does not wrap. The
   counter is not negative, so it wraps for all items behind one for which it
   does, and none of them may look at it. */
static bool never_wraps(const rewriter &r, const wrap &w)
{
    const auto *at = llvm::dyn_cast<llvm::BinaryOperator>(w.value);
    const llvm::Value *counter = r.l->counter;

    if (w.value == counter)
        return true;
    if (at == nullptr)
        return false;
    if (at->getOpcode() == llvm::Instruction::Sub)
        return at->getOperand(0) == counter && w.is_signed &&
               at->hasNoSignedWrap();
    return at->getOpcode() == llvm::Instruction::Add &&
           llvm::is_contained(at->operands(), counter) &&
           (w.is_signed ? at->hasNoSignedWrap() : at->hasNoUnsignedWrap());
}

static void add_wrap(const rewriter &r, llvm::Value *value, bool is_signed,
                     std::vector<wrap> &out)
{
    if (never_wraps(r, {value, is_signed}) ||
        llvm::any_of(out, [=](const wrap &w) {
            return w.value == value && w.is_signed == is_signed;
        }))
        return;
    out.push_back({value, is_signed});
}

/* Returns the operand with the counter in it. */
static llvm::Value *moving_part(const rewriter &r, llvm::Value *value)
{
    auto *at = llvm::cast<llvm::Instruction>(value);

    return at->getOperand(r.l->loop->isLoopInvariant(at->getOperand(0)) ? 1
                                                                        : 0);
}

/* Adds the extensions that the value is made of. */
static void find_extensions(const rewriter &r, llvm::Value *value,
                            std::vector<wrap> &out)
{
    while (value != r.l->counter) {
        auto *at = llvm::cast<llvm::Instruction>(value);

        value = moving_part(r, value);
        if (llvm::isa<llvm::SExtInst>(at) || llvm::isa<llvm::ZExtInst>(at))
            add_wrap(r, value, llvm::isa<llvm::SExtInst>(at), out);
    }
}

/* True where `a + c` or `a - c` says that extending both is the same as
   extending the result. */
static bool splits(const llvm::Value *value, bool is_signed)
{
    const auto *at = llvm::dyn_cast<llvm::BinaryOperator>(value);

    return at != nullptr &&
           (is_signed ? at->hasNoSignedWrap() : at->hasNoUnsignedWrap());
}

/* Finds numbers in the loop that are extended to 64 bits, most of all the
   places of elements. In a piece they are the counter plus something fixed. */
static void find_straight(rewriter &r, std::vector<wrap> &out)
{
    for (llvm::BasicBlock *block : r.l->loop->blocks())
        for (llvm::Instruction &at : *block) {
            llvm::Value *value =
                at.getNumOperands() > 0 ? at.getOperand(0) : nullptr;
            const bool is_signed = llvm::isa<llvm::SExtInst>(at);

            if ((!is_signed && !llvm::isa<llvm::ZExtInst>(at)) ||
                !at.getType()->isIntegerTy(64) ||
                !kiln__trim_moves(*r.l, value) || out.size() >= WRAPS_MAX)
                continue;
            while (splits(value, is_signed))
                value = moving_part(r, value);
            add_wrap(r, value, is_signed, out);
            find_extensions(r, value, out);
            r.straight.push_back({&at, nullptr});
        }
}

static std::vector<wrap> find_wraps(rewriter &r)
{
    std::vector<wrap> out;

    for (const trim_comparison &c : r.guard->comparisons) {
        add_wrap(r, c.moving, llvm::CmpInst::isSigned(c.predicate), out);
        find_extensions(r, c.moving, out);
    }
    find_straight(r, out);
    return out;
}

/* Ends the piece before the number wraps. */
static void end_before(rewriter &r, const wrap &w)
{
    llvm::IRBuilder<> &b = *r.builder;
    const unsigned width = w.value->getType()->getIntegerBitWidth();
    llvm::Value *rest = value_of(r, w.value);

    if (w.is_signed)
        rest =
            b.CreateXor(rest, b.getInt(llvm::APInt::getSignedMinValue(width)));
    /* how many items follow before it wraps */
    rest = b.CreateZExt(b.CreateNot(rest), b.getInt64Ty());
    rest = call(r, llvm::Intrinsic::uadd_sat, r.at, rest);
    rest = call(r, llvm::Intrinsic::uadd_sat, rest, b.getInt64(1));
    r.until = call(r, llvm::Intrinsic::umin, r.until, rest);
}

/* ---- bounds ---- */

static void begin_at(rewriter &r, llvm::Value *from)
{
    r.from = call(r, llvm::Intrinsic::umax, r.from, from);
}

static void end_at(rewriter &r, llvm::Value *to)
{
    r.to = call(r, llvm::Intrinsic::umin, r.to, to);
}

/* Returns the number of the first item for which the counter, which is never
   negative, is `n + more` or greater. */
static llvm::Value *first_of_counter(rewriter &r, const trim_comparison &c,
                                     uint64_t more)
{
    const bool is_signed = llvm::CmpInst::isSigned(c.predicate);
    llvm::IRBuilder<> &b = *r.builder;
    llvm::Value *n = fixed(r, c.fixed);

    if (more > 0)
        n = call(r,
                 is_signed ? llvm::Intrinsic::sadd_sat
                           : llvm::Intrinsic::uadd_sat,
                 n, b.getInt64(more));
    return is_signed ? call(r, llvm::Intrinsic::smax, n, b.getInt64(0)) : n;
}

/* Returns for which item the number is `n + more` or greater for the first
   time: its number, or how far after the beginning of the piece it is. */
static llvm::Value *first_of(rewriter &r, const trim_comparison &c,
                             uint64_t more)
{
    llvm::IRBuilder<> &b = *r.builder;
    const bool is_signed = llvm::CmpInst::isSigned(c.predicate);
    llvm::Value *n, *begin, *is_ahead, *out;

    if (r.is_plain)
        return first_of_counter(r, c, more);
    n = fixed(r, c.fixed);
    begin = value_of(r, c.moving);
    is_ahead = b.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SGE
                                      : llvm::CmpInst::ICMP_UGE,
                            n, begin);
    out = b.CreateZExt(b.CreateSub(n, begin), b.getInt64Ty());
    if (more > 0)
        out = call(r, llvm::Intrinsic::uadd_sat, out, b.getInt64(more));
    return b.CreateSelect(is_ahead, out, b.getInt64(0));
}

static void keep(rewriter &r, const trim_comparison &c)
{
    switch (c.predicate) {
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_SLT:
        end_at(r, first_of(r, c, 0));
        break;
    case llvm::CmpInst::ICMP_ULE:
    case llvm::CmpInst::ICMP_SLE:
        end_at(r, first_of(r, c, 1));
        break;
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_SGT:
        begin_at(r, first_of(r, c, 1));
        break;
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::ICMP_SGE:
        begin_at(r, first_of(r, c, 0));
        break;
    default: /* equal */
        begin_at(r, first_of(r, c, 0));
        end_at(r, first_of(r, c, 1));
        break;
    }
}

static void keep_if(rewriter &r, const trim_factor &factor)
{
    llvm::IRBuilder<> &b = *r.builder;
    llvm::Value *condition = fixed(r, factor.first);
    llvm::Value *none = b.getInt64(0);

    r.to = factor.second ? b.CreateSelect(condition, r.to, none)
                         : b.CreateSelect(condition, none, r.to);
}

/* ---- the loop ---- */

/* Returns what the extended number is at the beginning of the piece. */
static llvm::Value *extended(rewriter &r, llvm::Value *value, bool is_signed)
{
    llvm::IRBuilder<> &b = *r.builder;
    llvm::Type *wide = b.getInt64Ty();
    llvm::BinaryOperator *at;
    llvm::Value *moving, *by;

    if (!splits(value, is_signed)) {
        value = value_of(r, value);
        return is_signed ? b.CreateSExt(value, wide)
                         : b.CreateZExt(value, wide);
    }
    at = llvm::cast<llvm::BinaryOperator>(value);
    moving = moving_part(r, value);
    by = fixed(r, at->getOperand(moving == at->getOperand(0) ? 1 : 0));
    by = is_signed ? b.CreateSExt(by, wide) : b.CreateZExt(by, wide);
    moving = extended(r, moving, is_signed);
    return at->getOpcode() == llvm::Instruction::Add ? b.CreateAdd(moving, by)
                                                     : b.CreateSub(moving, by);
}

static void find_fixed_parts(rewriter &r)
{
    for (auto &[number, part] : r.straight)
        part = r.builder->CreateSub(extended(r, number->getOperand(0),
                                             llvm::isa<llvm::SExtInst>(number)),
                                    r.at);
}

/* True when the guard compares nothing that moves but the counter. */
static bool compares_counter(const rewriter &r)
{
    return llvm::all_of(r.guard->comparisons, [&](const trim_comparison &c) {
        return c.moving == r.l->counter;
    });
}

static void find_bounds(rewriter &r, const std::vector<wrap> &wraps)
{
    llvm::IRBuilder<> &b = *r.builder;

    r.until = r.l->end;
    for (const wrap &w : wraps)
        end_before(r, w);
    r.is_plain = compares_counter(r);
    r.from = r.is_plain ? r.at : b.getInt64(0);
    r.to = r.is_plain ? r.until : b.CreateSub(r.until, r.at, "", true, true);
    for (const trim_comparison &c : r.guard->comparisons)
        keep(r, c);
    for (const trim_factor &factor : r.guard->fixed)
        keep_if(r, factor);
    find_fixed_parts(r);
}

/* Makes numbers of items of the distances. */
static void count_from_first(rewriter &r)
{
    llvm::IRBuilder<> &b = *r.builder;

    r.from = call(r, llvm::Intrinsic::umin, r.from, r.to);
    r.from = b.CreateAdd(r.at, r.from, "", true, true);
    r.to = b.CreateAdd(r.at, r.to, "", true, true);
}

/* Lets the loop run over the items that are left, if there are any; then
   control goes to `after`. */
static void set_bounds(rewriter &r, llvm::BasicBlock *after)
{
    const trim_loop &l = *r.l;
    llvm::IRBuilder<> &b = *r.builder;
    llvm::BasicBlock *header = l.counter->getParent();
    llvm::Value *any = b.CreateICmpULT(r.from, r.to);
    llvm::Value *next =
        l.counter->getIncomingValueForBlock(l.jump->getParent());
    llvm::BasicBlock *start = llvm::BasicBlock::Create(
        header->getContext(), "", header->getParent(), header);

    if (!r.is_plain)
        count_from_first(r);
    b.CreateCondBr(any, start, after);
    b.SetInsertPoint(start);
    b.CreateBr(header);
    l.counter->setIncomingBlock(
        static_cast<unsigned>(l.counter->getBasicBlockIndex(l.before)), start);
    l.counter->setIncomingValueForBlock(start, r.from);
    b.SetInsertPoint(l.jump);
    l.jump->setCondition(b.CreateICmpULT(next, r.to));
    l.jump->setSuccessor(1, after);
}

/* Builds what is around the loop: a beginning, or a loop over pieces. */
static void build_pieces(rewriter &r)
{
    const trim_loop &l = *r.l;
    llvm::BasicBlock *header = l.counter->getParent();
    llvm::LLVMContext &context = header->getContext();
    llvm::BasicBlock *piece =
        llvm::BasicBlock::Create(context, "", header->getParent(), header);
    llvm::BasicBlock *after = l.exit;
    llvm::IRBuilder<> builder(piece);
    const std::vector<wrap> wraps = find_wraps(r);
    llvm::PHINode *at = nullptr;

    r.builder = &builder;
    r.at = l.first;
    if (!wraps.empty()) {
        at = builder.CreatePHI(builder.getInt64Ty(), 2);
        at->addIncoming(l.first, l.before);
        r.at = at;
        after =
            llvm::BasicBlock::Create(context, "", header->getParent(), l.exit);
    }
    l.before->getTerminator()->replaceSuccessorWith(header, piece);
    find_bounds(r, wraps);
    set_bounds(r, after);
    if (at == nullptr)
        return;
    builder.SetInsertPoint(after);
    at->addIncoming(r.until, after);
    builder.CreateCondBr(builder.CreateICmpULT(r.until, l.end), piece, l.exit);
}

/* ---- the body ---- */

/* Leaves of the branch's condition what the bounds do not say. */
static void simplify(const trim_branch &branch)
{
    llvm::BranchInst *old = branch.branch;
    llvm::BasicBlock *body = old->getSuccessor(branch.body);
    llvm::BasicBlock *other = old->getSuccessor(1 - branch.body);
    llvm::IRBuilder<> b(old);
    llvm::Value *condition = nullptr;

    for (const trim_factor &factor : branch.rest) {
        llvm::Value *value =
            factor.second ? factor.first : b.CreateNot(factor.first);

        condition =
            condition == nullptr ? value : b.CreateLogicalAnd(condition, value);
    }
    if (condition != nullptr) {
        b.CreateCondBr(condition, body, other);
    } else {
        b.CreateBr(body);
        other->removePredecessor(old->getParent());
    }
    old->eraseFromParent();
}

static void straighten(rewriter &r)
{
    for (const auto &[number, part] : r.straight) {
        number->replaceAllUsesWith(llvm::BinaryOperator::CreateAdd(
            r.l->counter, part, "", number->getIterator()));
        number->eraseFromParent();
    }
}

void kiln__trim_rewrite(const trim_loop &loop, const trim_guard &guard)
{
    rewriter r;

    r.l = &loop;
    r.guard = &guard;
    build_pieces(r);
    for (const trim_branch &branch : guard.branches)
        simplify(branch);
    straighten(r);
}

/* ---- functions ---- */

static bool is_item_loop(llvm::Loop &loop, trim_loop &out)
{
    return kiln__trim_is_item_loop(&loop, out);
}

static void trim(const trim_loop &l, const llvm::DominatorTree & /*dominators*/)
{
    trim_guard guard;

    kiln__trim_spell_out(l);
    if (kiln__trim_find(l, guard))
        kiln__trim_rewrite(l, guard);
}

void kiln__llvm_trim(LLVMModuleRef module)
{
    kiln__trim_merge(*llvm::unwrap(module));
    kiln__trim_each(*llvm::unwrap(module), LOOPS_MAX, is_item_loop, trim);
}
