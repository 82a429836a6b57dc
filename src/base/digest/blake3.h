/* blake3.h - LLVM's BLAKE3, under the names that it has in libkiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BLAKE3_H
#define KILN_BLAKE3_H

/* cmake/blake3.cmake renames the functions, so that they clash with no other
   library, and not with LLVM when a program is linked with it, too. */
#define llvm_blake3_hasher_init kiln__blake3_hasher_init
#define llvm_blake3_hasher_update kiln__blake3_hasher_update
#define llvm_blake3_hasher_finalize kiln__blake3_hasher_finalize

#include <llvm-c/blake3.h>

#endif /* KILN_BLAKE3_H */
