/* open_loops.h - loops whose bounds only the launch knows, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_OPEN_LOOPS_H
#define KILN_CODEGEN_MODULE_OPEN_LOOPS_H

#include <llvm/Analysis/LoopInfo.h>

/* True if no pass can find out how often the loop runs, nor that it runs once.
   False is no statement. */
bool kiln__is_open_loop(const llvm::Loop &loop);

#endif /* KILN_CODEGEN_MODULE_OPEN_LOOPS_H */
