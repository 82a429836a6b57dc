/* groups_agree.cc - values on which the items of most groups agree. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/groups/groups_emit.h"

/*
 * What decides about a barrier may look divergent, and still be the same for
 * the items of each group: the group's number, say, that a kernel computes from
 * its global ids, in a launch of one row. No analysis can know that. But if the
 * decision depends on ids, sizes and arguments alone, a group can find out
 * before it begins. So such a kernel is cut twice: with these values as
 * parameters, which are uniform, and for any group. The first function asks all
 * items, and calls the second one if they differ.
 *
 * It is done only where it lets a group run all of its regions together.
 */

#define AGREE_MAX 64 /* instructions that are computed for an item */

using slice = llvm::SmallSetVector<llvm::Instruction *, 16>;

/* ---- what items can be asked ---- */

static bool is_division(const llvm::Value *value)
{
    const auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    return at != nullptr && at->getType()->isIntegerTy() &&
           (at->getOpcode() == llvm::Instruction::UDiv ||
            at->getOpcode() == llvm::Instruction::URem);
}

static bool is_pure(const llvm::Instruction &at)
{
    if (kiln__groups_is_query(&at) || is_division(&at))
        return true;
    return (llvm::isa<llvm::BinaryOperator>(at) ||
            llvm::isa<llvm::CastInst>(at) || llvm::isa<llvm::ICmpInst>(at) ||
            llvm::isa<llvm::SelectInst>(at) ||
            (llvm::isa<llvm::IntrinsicInst>(at) &&
             !at.mayReadOrWriteMemory())) &&
           llvm::isSafeToSpeculativelyExecute(&at);
}

/* Adds the value and what it is computed from. Returns false if that is more
   than ids, sizes and arguments. */
static bool add_slice(llvm::Value *value, slice &found)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (at == nullptr)
        return !llvm::isa<llvm::UndefValue>(value);
    if (found.contains(at))
        return true;
    if (!is_pure(*at) || found.size() == AGREE_MAX)
        return false;
    found.insert(at);
    return llvm::all_of(at->operands(), [&](const llvm::Use &use) {
        return add_slice(use.get(), found);
    });
}

/* Returns the quotient that the value is a cast or a comparison of: then it
   does not matter which, and one answer serves for all of them. */
static llvm::Instruction *quotient_of(const groups_plan &plan,
                                      llvm::Instruction *value)
{
    while (!is_division(value)) {
        const bool is_cast = llvm::isa<llvm::CastInst>(value);
        auto *of = llvm::dyn_cast<llvm::Instruction>(value->getOperand(0));

        if (of == nullptr || plan.uniform.contains(of) ||
            !(is_cast || (llvm::isa<llvm::ICmpInst>(value) &&
                          llvm::isa<llvm::Constant>(value->getOperand(1)))))
            return nullptr;
        value = of;
    }
    return value;
}

/* Returns what items are to be asked before this branch, or null. */
static llvm::Instruction *question_of(const groups_plan &plan,
                                      const llvm::Instruction *jump)
{
    auto *by = llvm::dyn_cast<llvm::Instruction>(
        kiln__groups_decided_by(const_cast<llvm::Instruction *>(jump)));
    slice found;

    if (by == nullptr || !by->getType()->isIntegerTy() || !add_slice(by, found))
        return nullptr;
    llvm::Instruction *quotient = quotient_of(plan, by);
    return quotient != nullptr ? quotient : by;
}

/* ---- a second plan ---- */

static bool is_all_together(const groups_plan &plan)
{
    return llvm::all_of(plan.regions, [](const groups_region &region) {
        return region.is_together;
    });
}

using questions = llvm::SmallSetVector<llvm::Instruction *, 4>;

static questions find_questions(const groups_plan &plan)
{
    questions found;

    for (const llvm::BasicBlock &block : *plan.function)
        if (plan.divergent.contains(block.getTerminator()) &&
            block.getTerminator()->getNumSuccessors() > 1)
            if (auto *at = question_of(plan, block.getTerminator()))
                found.insert(at);
    return found;
}

/* Copies the function, with a parameter more for each question. */
static llvm::Function *copy_function(llvm::Function *from,
                                     const questions &asked,
                                     llvm::ValueToValueMapTy &map)
{
    llvm::SmallVector<llvm::Type *, 8> types(from->getFunctionType()->params());
    llvm::SmallVector<llvm::ReturnInst *, 4> returns;
    llvm::Function *to;

    for (const llvm::Instruction *at : asked)
        types.push_back(at->getType());
    to = llvm::Function::Create(
        llvm::FunctionType::get(from->getReturnType(), types, false),
        from->getLinkage(), from->getAddressSpace(), "", from->getParent());
    for (llvm::Argument &argument : from->args())
        map[&argument] = to->getArg(argument.getArgNo());
    llvm::CloneFunctionInto(to, from, map,
                            llvm::CloneFunctionChangeType::LocalChangesOnly,
                            returns);
    return to;
}

/* Makes the plan `out` for a copy of the other's function, not cut yet. */
static void copy(const groups_plan &plan, const questions &asked,
                 groups_plan &out)
{
    unsigned number = static_cast<unsigned>(plan.function->arg_size());
    llvm::ValueToValueMapTy map;
    const auto copied = [&](const llvm::BasicBlock *block) {
        return llvm::cast<llvm::BasicBlock>(&*map.lookup(block));
    };

    out.function = copy_function(plan.function, asked, map);
    for (const llvm::BasicBlock *block : plan.barriers)
        out.barriers.push_back(copied(block));
    for (const auto &[block, step] : plan.steps) {
        groups_step &to = out.steps[copied(block)];

        to.run = step.run;
        for (llvm::Value *variable : step.variables)
            to.variables.push_back(
                map.count(variable) != 0 ? &*map.lookup(variable) : variable);
    }
    for (const llvm::Instruction *at : asked) {
        auto *mine = llvm::cast<llvm::Instruction>(&*map.lookup(at));

        mine->replaceAllUsesWith(out.function->getArg(number++));
        out.agreed.push_back(mine);
    }
}

bool kiln__groups_plan_agreed(const groups_plan &plan, groups_plan &out)
{
    questions asked;

    if (plan.is_general || is_all_together(plan))
        return false;
    asked = find_questions(plan);
    if (asked.empty())
        return false;
    copy(plan, asked, out);
    if (kiln__groups_make_plan(out) && is_all_together(out))
        return true;
    out.function->eraseFromParent();
    return false;
}

/* ---- what one item answers ---- */

namespace
{

struct groups_asking {
    groups_emitter *e = nullptr;
    llvm::DenseMap<llvm::Value *, llvm::Value *> computed;
};

} // namespace

static llvm::Value *compute(groups_asking &asking, llvm::Value *value);

static llvm::Value *compute_argument(groups_asking &asking,
                                     const llvm::Argument *argument)
{
    const groups_emitter &e = *asking.e;
    const unsigned count = static_cast<unsigned>(e.out->arg_size());
    const unsigned i = argument->getArgNo();

    return i < count ? e.out->getArg(i)
                     : compute(asking, e.plan->agreed[i - count]);
}

/* An item may be asked what it would not compute, so no divisor is 0, and no
   operation is undefined. */
static llvm::Value *divisor_of(groups_asking &asking,
                               const llvm::Instruction *division)
{
    llvm::IRBuilder<> &builder = *asking.e->builder;
    llvm::Value *by = compute(asking, division->getOperand(1));

    return builder.CreateSelect(builder.CreateIsNull(by),
                                llvm::ConstantInt::get(by->getType(), 1), by);
}

static llvm::Value *compute_instruction(groups_asking &asking,
                                        const llvm::Instruction *at)
{
    llvm::Instruction *copy = at->clone();

    for (llvm::Use &operand : copy->operands())
        operand.set(is_division(at) && operand.getOperandNo() == 1
                        ? divisor_of(asking, at)
                        : compute(asking, operand.get()));
    copy->dropPoisonGeneratingFlags();
    copy->dropUnknownNonDebugMetadata();
    copy->setDebugLoc({});
    return asking.e->builder->Insert(copy);
}

static llvm::Value *compute(groups_asking &asking, llvm::Value *value)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    if (const auto *argument = llvm::dyn_cast<llvm::Argument>(value))
        return compute_argument(asking, argument);
    if (at == nullptr)
        return value;
    if (asking.computed.count(at) == 0) {
        llvm::Value *result = compute_instruction(asking, at);

        asking.computed[at] = result;
    }
    return asking.computed[at];
}

/* ---- what all items answer ---- */

namespace
{

/* The least and the greatest answer. A quotient by what is uniform grows with
   its dividend, so it is enough to divide these two. */
struct groups_answer {
    llvm::Instruction *asked = nullptr;
    bool is_divided_last = false;
    llvm::AllocaInst *least = nullptr, *greatest = nullptr;
};

} // namespace

static bool divides_by_uniform(const groups_plan &plan,
                               const llvm::Instruction *at)
{
    const auto *by = at->getOpcode() == llvm::Instruction::UDiv
                         ? at->getOperand(1)
                         : nullptr;
    const auto *computed = llvm::dyn_cast_or_null<llvm::Instruction>(by);

    return by != nullptr &&
           (computed == nullptr || plan.uniform.contains(computed));
}

static groups_answer open_answer(groups_emitter &e, llvm::Instruction *asked)
{
    llvm::Type *type = asked->getType();
    groups_answer answer;

    answer.asked = asked;
    answer.is_divided_last = divides_by_uniform(*e.plan, asked);
    answer.least = kiln__groups_variable(e, type);
    answer.greatest = kiln__groups_variable(e, type);
    e.builder->CreateStore(llvm::Constant::getAllOnesValue(type), answer.least);
    e.builder->CreateStore(llvm::Constant::getNullValue(type), answer.greatest);
    return answer;
}

static void store_into(groups_emitter &e, llvm::Intrinsic::ID join,
                       llvm::AllocaInst *variable, llvm::Value *value)
{
    llvm::Value *before = e.builder->CreateLoad(value->getType(), variable);

    e.builder->CreateStore(
        e.builder->CreateBinaryIntrinsic(join, before, value), variable);
}

static void ask_item(groups_asking &asking, const groups_answer &answer)
{
    groups_emitter &e = *asking.e;
    llvm::Value *value =
        compute(asking, answer.is_divided_last
                            ? answer.asked->getOperand(0)
                            : static_cast<llvm::Value *>(answer.asked));

    store_into(e, llvm::Intrinsic::umin, answer.least, value);
    store_into(e, llvm::Intrinsic::umax, answer.greatest, value);
}

/* Stores what the items agree on, and builds whether they do. */
static llvm::Value *close_answer(groups_emitter &e, const groups_answer &answer)
{
    llvm::Type *type = answer.asked->getType();
    llvm::Value *least = e.builder->CreateLoad(type, answer.least);
    llvm::Value *greatest = e.builder->CreateLoad(type, answer.greatest);
    groups_asking asking;

    asking.e = &e;
    if (answer.is_divided_last) {
        llvm::Value *by = divisor_of(asking, answer.asked);

        least = e.builder->CreateUDiv(least, by);
        greatest = e.builder->CreateUDiv(greatest, by);
    }
    e.agreed.push_back(least);
    return e.builder->CreateICmpEQ(least, greatest);
}

static llvm::Value *ask(groups_emitter &e)
{
    const LLVMValueRef item = llvm::wrap(e.out->getArg(0));
    llvm::SmallVector<groups_answer, 4> answers;
    llvm::Value *agree = e.builder->getTrue();
    groups_asking asking;
    kiln__codegen_items loop;

    asking.e = &e;
    for (llvm::Instruction *asked : e.plan->agreed)
        answers.push_back(open_answer(e, asked));
    groups_hooks(e)->open(e.job, e.c_builder, item, &loop);
    for (const groups_answer &answer : answers)
        ask_item(asking, answer);
    groups_hooks(e)->close(e.job, e.c_builder, item, &loop, 0);
    for (const groups_answer &answer : answers)
        agree = e.builder->CreateAnd(agree, close_answer(e, answer));
    return agree;
}

/* ---- the general function ---- */

void kiln__groups_leave_if_they_differ(groups_emitter &e)
{
    llvm::LLVMContext &context = e.out->getContext();
    auto *differ = llvm::BasicBlock::Create(context, "", e.out);
    auto *next = llvm::BasicBlock::Create(context, "", e.out);
    llvm::SmallVector<llvm::Value *, 8> arguments;

    for (llvm::Argument &argument : e.out->args())
        arguments.push_back(&argument);
    e.builder->CreateCondBr(ask(e), next, differ);
    e.builder->SetInsertPoint(differ);
    e.general_call = e.builder->CreateCall(e.general, arguments);
    e.builder->CreateRet(e.general_call);
    e.builder->SetInsertPoint(next);
}

void kiln__groups_inline_general(groups_emitter &e)
{
    llvm::DISubprogram *where = e.out->getSubprogram();
    llvm::InlineFunctionInfo info;

    if (where != nullptr)
        e.general_call->setDebugLoc(
            llvm::DILocation::get(e.out->getContext(), 0, 0, where));
    if (llvm::InlineFunction(*e.general_call, info).isSuccess())
        e.general->eraseFromParent();
}
