/* gpu_image.c - copies payloads for drivers, which are told no size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <string.h>

#include "backends/gpu/gpu.h"
#include "base/error.h"

/*
 * A driver gets only an address. It takes the extent of an ELF image from its
 * headers, and that of a text from its NUL. An artifact may come from anywhere,
 * so an image must not refer to bytes that it does not have.
 */

static int is_within(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset <= end && size <= end - offset;
}

static int segments_fit(const unsigned char *bytes, size_t size,
                        const Elf64_Ehdr *head)
{
    if (head->e_phnum == 0)
        return 1;
    if (head->e_phentsize != sizeof(Elf64_Phdr) ||
        !is_within(head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr),
                   size))
        return 0;
    for (size_t i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, bytes + head->e_phoff + i * sizeof segment,
               sizeof segment);
        if (!is_within(segment.p_offset, segment.p_filesz, size))
            return 0;
    }
    return 1;
}

static int sections_fit(const unsigned char *bytes, size_t size,
                        const Elf64_Ehdr *head)
{
    if (head->e_shnum == 0)
        return head->e_shoff == 0;
    if (head->e_shentsize != sizeof(Elf64_Shdr) ||
        head->e_shstrndx >= head->e_shnum ||
        !is_within(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr),
                   size))
        return 0;
    for (size_t i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr section;

        memcpy(&section, bytes + head->e_shoff + i * sizeof section,
               sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            !is_within(section.sh_offset, section.sh_size, size))
            return 0;
    }
    return 1;
}

static int is_sound_elf(const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr head;

    if (size < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
           head.e_ident[EI_CLASS] == ELFCLASS64 &&
           head.e_ident[EI_DATA] == ELFDATA2LSB &&
           segments_fit(bytes, size, &head) && sections_fit(bytes, size, &head);
}

kiln_status kiln__gpu_image_copy(void **out, size_t *out_size,
                                 const kiln_alloc *alloc,
                                 const kiln_artifact *artifact,
                                 kiln_error **error)
{
    const char *format = kiln_artifact_format(artifact);
    const int is_text = strcmp(format, "ptx") == 0;
    size_t size;
    const unsigned char *bytes = kiln_artifact_bytes(artifact, &size);

    if (!is_text && !is_sound_elf(bytes, size))
        return kiln__error_set(error, KILN_ECORRUPT,
                               "%s image: damaged, or no ELF image", format);
    if (is_text && size > 0 && memchr(bytes, '\0', size - 1) != NULL)
        return kiln__error_set(error, KILN_ECORRUPT, "%s text: it holds a NUL",
                               format);
    *out_size = size + 1;
    *out = kiln__allocate(alloc, *out_size);
    if (*out == NULL)
        return kiln__error_no_memory(error);
    if (size > 0)
        memcpy(*out, bytes, size);
    return KILN_OK;
}
