/* build_id.h - finds out which build a file, or the object at an address,
   is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BUILD_ID_H
#define KILN_BUILD_ID_H

#include "kiln/error.h"

/*
 * The GNU build id is a note that the linker leaves in an ELF object: a digest
 * of its contents. Format: the System V ABI, chapter "Note Section"; the note
 * has the name "GNU" and type 3.
 */
#define KILN__BUILD_ID_TEXT_SIZE 65 /* hexadecimal, at most 32 bytes, NUL */

/* KILN_ENOTFOUND: there is no such file, or it has no build id. Other failures
   may be temporary. */
kiln_status kiln__build_id_of_file(char out[KILN__BUILD_ID_TEXT_SIZE],
                                   const char *path);
/* The build id of the loaded object that holds the address. `base`, which may
   be NULL, receives the object's start. */
kiln_status kiln__build_id_of_address(char out[KILN__BUILD_ID_TEXT_SIZE],
                                      const void *address, const void **base);

/* The build ids of a code generator and of a libLLVM apart from it, as they
   are loaded; "" where one cannot be found out, and for LLVM inside the
   generator. */
typedef struct kiln__build_ids {
    char codegen[KILN__BUILD_ID_TEXT_SIZE];
    char llvm[KILN__BUILD_ID_TEXT_SIZE];
} kiln__build_ids;

typedef struct kiln__builds_loaded {
    kiln__build_ids ids;
    char llvm_path[4096];
} kiln__builds_loaded;

/* Takes an address inside each. */
void kiln__builds_look(kiln__builds_loaded *out, const void *codegen,
                       const void *llvm);

#endif /* KILN_BUILD_ID_H */
