/* item_jam.h - runs several items of a loop at the same time, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_JAM_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_JAM_H

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassManager.h>

/* True if there is such a loop behind a branch that has to be taken out of the
   items' loop before. */
bool kiln__jam_wants_unswitching(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &analyses);
/* Lets a few items go through their inner loop together. Returns false where
   nothing was changed. */
bool kiln__jam_items(llvm::Function &function,
                     llvm::FunctionAnalysisManager &analyses);

/* Says of loads that LLVM has moved whose items they are. */
void kiln__jam_restore_groups(const llvm::Loop &outer);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_JAM_H */
