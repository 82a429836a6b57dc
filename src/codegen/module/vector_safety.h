/* vector_safety.h - before LLVM's loop vectoriser, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_VECTOR_SAFETY_H
#define KILN_CODEGEN_MODULE_VECTOR_SAFETY_H

#include <llvm/IR/PassManager.h>

#define KILN__ACCESSES_MOST \
    64u /* of a loop, of which each pair is looked at \
         */

/* Changes loops of which the vectoriser would make wrong code. Returns what is
   still known. */
llvm::PreservedAnalyses kiln__make_vectors_safe(
    llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

#endif /* KILN_CODEGEN_MODULE_VECTOR_SAFETY_H */
