/* host_elf.h - the structs that the two halves of the ELF loader share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_ELF_H
#define KILN_HOST_ELF_H

#include <elf.h>

#include "backends/host/host_backend.h"

#define ELF_SEGMENTS_MAX 16

/* An image during loading, and afterwards. Addresses in it are relative to
   `base`. */
typedef struct elf_file {
    const unsigned char *bytes; /* of the file; only during loading */
    uint64_t size;
    uint64_t page; /* size of a page */

    unsigned char *base; /* start of the mapping */
    uint64_t span;       /* size of the mapping, up to the end of the last
                            segment */
    Elf64_Phdr segments[ELF_SEGMENTS_MAX];
    size_t segment_count;
    Elf64_Phdr dynamic;
    Elf64_Phdr relro; /* p_type 0: there is none */

    /* Addresses of the dynamic section's tables. They are checked to be where
       nothing can be written, so that the tables cannot change after they were
       checked. */
    uint64_t symbols;
    uint64_t symbol_count;
    uint64_t strings;
    uint64_t strings_size;
    uint64_t relocations[2]; /* RELA, JMPREL */
    uint64_t relocations_size[2];
} elf_file;

/* Returns the segment that contains [address, address + size) and has all of
   `flags`, or NULL. */
static inline const Elf64_Phdr *elf_in_segment(const elf_file *file,
                                               uint64_t address, uint64_t size,
                                               uint32_t flags)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const Elf64_Phdr *segment = &file->segments[i];

        if (address >= segment->p_vaddr &&
            address - segment->p_vaddr <= segment->p_memsz &&
            size <= segment->p_memsz - (address - segment->p_vaddr) &&
            (segment->p_flags & flags) == flags)
            return segment;
    }
    return NULL;
}

/* ---- host_elf.c ---- */

/* Finds the tables of the dynamic section. */
kiln_status kiln__elf_read_dynamic(elf_file *file, kiln_error **error);
/* Applies every relocation. */
kiln_status kiln__elf_relocate(const elf_file *file, kiln_error **error);
/* Returns the address of an exported function, or NULL. */
void *kiln__elf_find(const elf_file *file, const char *name);

#endif /* KILN_HOST_ELF_H */
