/* unroll_limit.cc - loops that are not to be unrolled. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/llvm_gap.h"
#include "codegen/module/loop_analyses.h"

/*
 * LLVM's limits are options of the process, or count instructions. So each loop
 * that is not to be unrolled gets the mark that all passes respect, Kiln's own
 * included, and that tells the assembler of CUDA the same. A mark to the
 * contrary, as lowering gives to short loops, is removed.
 */

/* Returns how often the loop runs at most; 0: this is not known. */
static unsigned iterations_of(llvm::ScalarEvolution &evolution,
                              const llvm::Loop &loop)
{
    const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
    const llvm::BasicBlock *head = loop.getHeader();

    /* Such a loop has not been rotated: its head runs once more. */
    return most > 1 && loop.isLoopExiting(head) && head != loop.getLoopLatch()
               ? most - 1
               : most;
}

static void limit_in(llvm::Function &function, unsigned most)
{
    kiln__loop_analyses known(function);

    for (llvm::Loop *loop : known.loops.getLoopsInPreorder()) {
        const unsigned count =
            most > 1 ? iterations_of(known.evolution, *loop) : 0;

        if (count == 0 || count > most)
            loop->setLoopAlreadyUnrolled();
    }
}

void kiln__llvm_limit_unrolling(LLVMModuleRef module, unsigned most)
{
    for (llvm::Function &function : *llvm::unwrap(module))
        if (!function.isDeclaration())
            limit_in(function, most);
}
