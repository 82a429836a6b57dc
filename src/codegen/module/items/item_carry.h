/* item_carry.h - elements that an iteration has just written, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_CARRY_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_CARRY_H

#include <llvm/IR/PassManager.h>

/* Lets loops inside of items have in registers what they read again in the
   iteration after they wrote it. Returns false where nothing was changed. */
bool kiln__carry_elements(llvm::Function &function,
                          llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_CARRY_H */
