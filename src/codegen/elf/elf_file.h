/* elf_file.h - finds a section, a symbol or a note in an ELF file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_ELF_ELF_FILE_H
#define KILN_CODEGEN_ELF_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Files are of 64 bits and little-endian, and need not be trusted: what is
 * damaged is taken for absent.
 */

/* Bytes of somebody else's, in a file or all of it. */
typedef struct kiln__bytes {
    const void *data;
    size_t size;
} kiln__bytes;

/* Finds the section of that name. Its contents are empty where it has only a
   size, which is stored in `*size`. Returns 0 when there is none. */
int kiln__elf_section(kiln__bytes *contents, uint64_t *size, kiln__bytes file,
                      const char *name);

/* Returns the number of the symbol in .symtab; 0 when there is none. */
uint32_t kiln__elf_symbol(kiln__bytes file, const char *name);

/* Finds the first note of that name and type in the file's segments. Returns 0
   when there is none. */
int kiln__elf_note(kiln__bytes *contents, kiln__bytes file, const char *name,
                   uint32_t type);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_ELF_ELF_FILE_H */
