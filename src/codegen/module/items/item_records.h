/* item_records.h - arrays of small records, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_RECORDS_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_RECORDS_H

#include <llvm/IR/PassManager.h>

/* Gives loops over items a copy for records of the length that their accesses
   suggest. Returns false where nothing was changed. */
bool kiln__split_records(llvm::Function &function,
                         llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_RECORDS_H */
