/* wide_shared.cc - what the items of a vector have in common, as marks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/wide/wide_bounds.h"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

/*
 * The least start of all items of a vector, the greatest end, and whether any
 * item goes somewhere are marked freezes of the item's own value. So for a
 * single item the code does what it did.
 */

#define SHARED "kiln.shared"
#define TAKES_PART "kiln.takes.part"

/* ---- marks ---- */

static llvm::Instruction *mark(llvm::IRBuilder<> &b, llvm::Value *value,
                               const char *kind, llvm::StringRef text)
{
    auto *at =
        llvm::cast<llvm::Instruction>(b.Insert(new llvm::FreezeInst(value)));
    llvm::LLVMContext &context = at->getContext();

    at->setMetadata(
        kind, llvm::MDNode::get(context, llvm::MDString::get(context, text)));
    return at;
}

static llvm::StringRef name_of(wide_shared as)
{
    switch (as) {
    case wide_shared::least:
        return "least";
    case wide_shared::least_unsigned:
        return "uleast";
    case wide_shared::most:
        return "most";
    case wide_shared::most_unsigned:
        return "umost";
    default:
        return "any";
    }
}

llvm::Instruction *kiln__wide_share(llvm::IRBuilder<> &b, llvm::Value *value,
                                    wide_shared as)
{
    return mark(b, value, SHARED, name_of(as));
}

llvm::Instruction *kiln__wide_takes_part(llvm::IRBuilder<> &b,
                                         llvm::Value *value)
{
    return mark(b, value, TAKES_PART, "");
}

std::optional<wide_shared> kiln__wide_shared(const llvm::Instruction &at)
{
    const llvm::MDNode *node =
        llvm::isa<llvm::FreezeInst>(at) ? at.getMetadata(SHARED) : nullptr;

    if (node == nullptr)
        return std::nullopt;
    const llvm::StringRef text =
        llvm::cast<llvm::MDString>(node->getOperand(0))->getString();

    return text == "least"    ? wide_shared::least
           : text == "uleast" ? wide_shared::least_unsigned
           : text == "most"   ? wide_shared::most
           : text == "umost"  ? wide_shared::most_unsigned
                              : wide_shared::any;
}

void kiln__wide_unmark(llvm::Instruction &copy)
{
    if (!llvm::isa<llvm::FreezeInst>(copy))
        return;
    copy.setMetadata(SHARED, nullptr);
    copy.setMetadata(TAKES_PART, nullptr);
}

/* ---- back ---- */

/* The item takes part in each iteration. */
static void take_part(llvm::Instruction &at)
{
    llvm::SmallVector<llvm::BasicBlock *, 16> heads;

    for (llvm::User *user : llvm::make_early_inc_range(at.users()))
        if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(user)) {
            choice->replaceAllUsesWith(choice->getTrueValue());
            choice->eraseFromParent();
        } else {
            heads.push_back(llvm::cast<llvm::Instruction>(user)->getParent());
        }
    at.replaceAllUsesWith(llvm::ConstantInt::getTrue(at.getContext()));
    at.eraseFromParent();
    for (llvm::BasicBlock *head : heads) {
        llvm::BasicBlock *then = head->getTerminator()->getSuccessor(0);
        llvm::BasicBlock *tail = then->getSingleSuccessor();

        llvm::ConstantFoldTerminator(head);
        llvm::MergeBlockIntoPredecessor(then);
        llvm::MergeBlockIntoPredecessor(tail);
    }
}

bool kiln__wide_restore(llvm::Function &function)
{
    llvm::SmallVector<llvm::Instruction *, 8> shared, takes_part;

    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &at : block)
            if (kiln__wide_shared(at))
                shared.push_back(&at);
            else if (llvm::isa<llvm::FreezeInst>(at) &&
                     at.getMetadata(TAKES_PART) != nullptr)
                takes_part.push_back(&at);
    for (llvm::Instruction *at : shared) {
        at->replaceAllUsesWith(at->getOperand(0));
        at->eraseFromParent();
    }
    for (llvm::Instruction *at : takes_part)
        take_part(*at);
    return !shared.empty() || !takes_part.empty();
}
