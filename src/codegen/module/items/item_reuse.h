/* item_reuse.h - what the item before has computed already, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_REUSE_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_REUSE_H

#include <llvm/IR/PassManager.h>

/* Lets items take large values from the item before. Returns false where
   nothing was changed. */
bool kiln__reuse_values(llvm::Function &function,
                        llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_REUSE_H */
