/* llvm_gap_vecmath.cc - declarations that LLVM is to keep. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "codegen/vecmath/vecmath.h"

/*
 * Passes drop declarations that nothing uses, unless a list of the module names
 * them. The C interface cannot change such a list.
 */

extern "C" void kiln__llvm_keep(LLVMValueRef function)
{
    llvm::Function *f = llvm::unwrap<llvm::Function>(function);

    llvm::appendToCompilerUsed(*f->getParent(), {f});
}

extern "C" void kiln__llvm_keep_no_more(LLVMModuleRef module,
                                        const char *prefix)
{
    llvm::removeFromUsedLists(
        *llvm::unwrap(module), [prefix](llvm::Constant *kept) {
            return kept->stripPointerCasts()->getName().starts_with(prefix);
        });
}
