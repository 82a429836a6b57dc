/* item_choices.h - loads from one of two places, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_CHOICES_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_CHOICES_H

#include <llvm/IR/PassManager.h>

/* Makes branches with a load each of loads whose place items choose. Returns
   false where nothing was changed. */
bool kiln__split_choices(llvm::Function &function,
                         llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_CHOICES_H */
