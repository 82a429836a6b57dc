/* groups_inline.cc - brings all barriers of a kernel into one function. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/groups/groups.h"

/*
 * Loops over items are around pieces of one function. So what reaches a barrier
 * is inlined, and so is what uses a variable of the group: only functions that
 * have the item know where the group's memory is. It is C++ because the C
 * interface inlines whole modules only.
 */

/* Above this number of instructions the function takes too long to compile.
   Nested calls can multiply their sizes. */
#define INSTRUCTIONS_MAX 1000000u

using function_set = llvm::SmallSetVector<llvm::Function *, 16>;

struct groups_culprit {
    llvm::Function *function = nullptr;
    const char *why = nullptr;
};

/* Adds the functions of all instructions that use the value, also through
   constants. Returns false when it is used in another way than being called. */
static bool add_users(function_set &set, llvm::Value &value, bool is_function)
{
    bool is_called_only = true;

    for (llvm::Use &use : value.uses()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(use.getUser());
        const auto *call = llvm::dyn_cast_or_null<llvm::CallBase>(at);

        if (at != nullptr)
            set.insert(at->getFunction());
        else if (llvm::isa<llvm::Constant>(use.getUser()))
            add_users(set, *use.getUser(), false);
        if (is_function && (call == nullptr || !call->isCallee(&use)))
            is_called_only = false;
    }
    return is_called_only;
}

/* Finds every function that must not stay a function. */
static groups_culprit find_reaching(function_set &set, llvm::Module &module,
                                    const LLVMValueRef *splits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!add_users(set, *llvm::unwrap(splits[i]), true))
            return {llvm::unwrap<llvm::Function>(splits[i]),
                    "it may be called only"};
    for (llvm::GlobalVariable &variable : module.globals())
        if (variable.getAddressSpace() == KILN__SHARED_SPACE)
            add_users(set, variable, false);
    for (size_t i = 0; i < set.size(); i++)
        if (!add_users(set, *set[i], true))
            return {set[i], "it has a barrier or a variable of the group, and "
                            "its address is taken"};
    return {};
}

enum class visit_state { none, open, done };

/* Finds a function that reaches itself. */
static llvm::Function *find_cycle(
    llvm::Function *function, const function_set &set,
    llvm::DenseMap<llvm::Function *, visit_state> &states)
{
    if (states[function] == visit_state::open)
        return function;
    if (states[function] == visit_state::done)
        return nullptr;
    states[function] = visit_state::open;
    for (llvm::Instruction &at : llvm::instructions(*function)) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&at);
        llvm::Function *callee =
            call != nullptr ? call->getCalledFunction() : nullptr;
        llvm::Function *found = nullptr;

        if (callee != nullptr && set.contains(callee))
            found = find_cycle(callee, set, states);
        if (found != nullptr)
            return found;
    }
    states[function] = visit_state::done;
    return nullptr;
}

static std::vector<llvm::CallBase *> find_calls(llvm::Function &entry,
                                                const function_set &set)
{
    std::vector<llvm::CallBase *> calls;

    for (llvm::Instruction &at : llvm::instructions(entry)) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

        if (call != nullptr && call->getCalledFunction() != nullptr &&
            set.contains(call->getCalledFunction()))
            calls.push_back(call);
    }
    return calls;
}

static groups_culprit inline_all(llvm::Function &entry, const function_set &set)
{
    std::vector<llvm::CallBase *> calls;

    while (!(calls = find_calls(entry, set)).empty())
        for (llvm::CallBase *call : calls) {
            llvm::Function *callee = call->getCalledFunction();
            llvm::InlineFunctionInfo info;
            const llvm::InlineResult result =
                llvm::InlineFunction(*call, info, false, nullptr, false);

            if (!result.isSuccess())
                return {callee, result.getFailureReason()};
            if (entry.getInstructionCount() > INSTRUCTIONS_MAX)
                return {callee, "too much code is inlined to reach barriers"};
        }
    return {};
}

/* Removes what nothing calls any more. */
static void drop_unused(const function_set &set, const llvm::Function *entry)
{
    bool dropped = true;
    llvm::SmallPtrSet<llvm::Function *, 16> gone;

    while (dropped) {
        dropped = false;
        for (llvm::Function *at : set)
            if (at != entry && !gone.contains(at) && at->use_empty()) {
                at->eraseFromParent();
                gone.insert(at);
                dropped = true;
            }
    }
}

static groups_culprit gather(llvm::Function &entry, const LLVMValueRef *splits,
                             size_t count)
{
    llvm::DenseMap<llvm::Function *, visit_state> states;
    function_set set;
    groups_culprit bad = find_reaching(set, *entry.getParent(), splits, count);
    llvm::Function *cycle;

    if (bad.why != nullptr)
        return bad;
    cycle = find_cycle(&entry, set, states);
    if (cycle != nullptr)
        return {cycle, "it recurses, and has a barrier or a variable of the "
                       "group"};
    bad = inline_all(entry, set);
    if (bad.why == nullptr)
        drop_unused(set, &entry);
    return bad;
}

extern "C" const char *kiln__groups_inline(LLVMValueRef entry,
                                           const LLVMValueRef *splits,
                                           size_t count, LLVMValueRef *culprit)
{
    const groups_culprit bad =
        gather(*llvm::unwrap<llvm::Function>(entry), splits, count);

    *culprit = bad.function != nullptr ? llvm::wrap(bad.function) : nullptr;
    return bad.why;
}

/* ---- small functions ---- */

#define INLINED_MAX 256
#define SMALL_MAX 40 /* instructions that any inliner takes */

/* True for one that calls no other. */
static bool is_leaf(const llvm::Function &function)
{
    return llvm::none_of(
        llvm::instructions(function), [](const llvm::Instruction &at) {
            const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

            return call != nullptr &&
                   (call->getCalledFunction() == nullptr ||
                    !call->getCalledFunction()->isDeclaration());
        });
}

static bool will_be_inlined(const llvm::Function &callee)
{
    if (callee.isDeclaration() ||
        callee.hasFnAttribute(llvm::Attribute::NoInline) ||
        callee.hasFnAttribute(llvm::Attribute::OptimizeNone))
        return false;
    return callee.hasFnAttribute(llvm::Attribute::AlwaysInline) ||
           (callee.hasLocalLinkage() &&
            callee.getInstructionCount() <= SMALL_MAX && is_leaf(callee));
}

static llvm::CallBase *next_call(llvm::Function &function)
{
    for (llvm::Instruction &at : llvm::instructions(function)) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&at);

        if (call != nullptr && call->getCalledFunction() != nullptr &&
            will_be_inlined(*call->getCalledFunction()))
            return call;
    }
    return nullptr;
}

extern "C" int kiln__groups_inline_calls(LLVMValueRef function)
{
    for (unsigned i = 0; i < INLINED_MAX; i++) {
        llvm::InlineFunctionInfo info;
        llvm::CallBase *call =
            next_call(*llvm::unwrap<llvm::Function>(function));

        if (call == nullptr)
            return 1;
        if (!llvm::InlineFunction(*call, info).isSuccess())
            return 0;
    }
    return 0;
}
