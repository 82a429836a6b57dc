/* item_runs.h - runs of items whose places grow like their numbers, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_RUNS_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_RUNS_H

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/module/items/trim.h"

namespace item_runs
{

inline constexpr unsigned shortest = 16; /* items of a run */

/* An operation on something that grows like the counter, and on something
   fixed; or its extension from a few bits, which is an operation with a mask
   in other words. */
struct operation {
    llvm::Instruction *at;
    llvm::Value *moving;
    llvm::Value *fixed;             /* NULL for an extension */
    llvm::Value *frozen = nullptr;  /* the same, without poison */
    llvm::Value *low = nullptr;     /* bits of `moving` that change in a run */
    llvm::Value *of_base = nullptr; /* the result for the run's first item */
};

/* ---- item_runs.cc ---- */
inline bool is_division(const operation &o)
{
    return o.at->isIntDivRem();
}

/* ---- item_runs_length.cc ---- */
/* Makes what is the same for all runs of the operation. Returns whether they
   may be long enough. */
llvm::Value *begin(operation &o, llvm::IRBuilder<> &b);
/* Computes the operation for the first item of a run. Returns how many items
   may follow. */
llvm::Value *begin_run(const trim_loop &l, operation &o, llvm::Value *first,
                       llvm::IRBuilder<> &b);
/* Returns the operation for an item of a run, `more` behind the first one. */
llvm::Value *value_in_run(const operation &o, llvm::Value *more,
                          llvm::IRBuilder<> &b);

} // namespace item_runs

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_RUNS_H */
