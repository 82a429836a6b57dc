/* wide_bounds.h - loops whose bounds differ by item, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_WIDE_BOUNDS_H
#define KILN_CODEGEN_MODULE_WIDE_BOUNDS_H

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

/* What all items of a vector have instead of a value of their own. */
enum class wide_shared { least, least_unsigned, most, most_unsigned, any };

/* Returns what the instruction is for a vector, if it is such a value: a freeze
   of the item's own. */
std::optional<wide_shared> kiln__wide_shared(const llvm::Instruction &at);

/* Makes such a value of the item's own. */
llvm::Instruction *kiln__wide_share(llvm::IRBuilder<> &b, llvm::Value *value,
                                    wide_shared as);
/* Marks the condition that an item takes part in an iteration. */
llvm::Instruction *kiln__wide_takes_part(llvm::IRBuilder<> &b,
                                         llvm::Value *value);

/* Lets a copy that is code for several items be like any other code: what is
   marked is taken back. */
void kiln__wide_unmark(llvm::Instruction &copy);

/* The start and the end of a loop inside of the loop over items, and the
   comparison of its latch. */
struct wide_start {
    llvm::Loop &items;
    llvm::Loop &loop;
    llvm::ICmpInst &compare;
    llvm::Value *start;
    llvm::Value *end;
};

/* True if the start is known to be less than the end for each item that goes
   through the loop. */
bool kiln__wide_begins(const wide_start &of, llvm::DominatorTree &dominators,
                       llvm::ScalarEvolution &evolution);

/* Gives loops inside of the loop over items that have other bounds for each
   item the same ones for all, where that can be done. For a single item, the
   code still does the same. Returns false where nothing was changed. */
bool kiln__wide_level(llvm::Loop &items, llvm::LoopInfo &loops,
                      llvm::DominatorTree &dominators,
                      llvm::ScalarEvolution &evolution);
/* Takes back what kiln__wide_level() did to loops that are still there. */
bool kiln__wide_restore(llvm::Function &function);

#endif /* KILN_CODEGEN_MODULE_WIDE_BOUNDS_H */
