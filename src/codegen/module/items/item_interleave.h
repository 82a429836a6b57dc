/* item_interleave.h - items that read what others wrote, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_INTERLEAVE_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_INTERLEAVE_H

#include <llvm/IR/PassManager.h>

/* Lets the vectoriser interleave loops over items that load what they have just
   stored under masks. */
void kiln__interleave_items(llvm::Function &function,
                            llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_INTERLEAVE_H */
