/* host_sites.c - finds the slots for sites in a host image. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "base/error.h"

/*
 * The linker's image still has its section headers. They are checked here,
 * before anything is stored: an image that is not as expected is refused.
 */

typedef struct image {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
} image;

static int inside(const image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset;
}

static int open_image(image *i, const kiln_blob *payload)
{
    *i = (image){.bytes = payload->data, .size = payload->size};
    if (!inside(i, 0, sizeof i->header))
        return 0;
    memcpy(&i->header, i->bytes, sizeof i->header);
    return i->header.e_shentsize == sizeof(Elf64_Shdr) &&
           i->header.e_shstrndx < i->header.e_shnum &&
           inside(i, i->header.e_shoff,
                  (uint64_t)i->header.e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Shdr section(const image *i, size_t index)
{
    Elf64_Shdr out;

    memcpy(&out, i->bytes + i->header.e_shoff + index * sizeof out, sizeof out);
    return out;
}

static int is_called(const image *i, const Elf64_Shdr *s, const char *name)
{
    const Elf64_Shdr names = section(i, i->header.e_shstrndx);
    const size_t size = strlen(name) + 1;

    return s->sh_name < names.sh_size && size <= names.sh_size - s->sh_name &&
           inside(i, names.sh_offset, names.sh_size) &&
           memcmp(i->bytes + names.sh_offset + s->sh_name, name, size) == 0;
}

static int is_zero(const image *i, uint64_t offset, size_t size)
{
    for (size_t at = 0; at < size; at++)
        if (i->bytes[offset + at] != 0)
            return 0;
    return 1;
}

kiln_status kiln__host_find_sites(kiln__codegen_job *job,
                                  const kiln_blob *payload, size_t size,
                                  uint64_t *offset)
{
    image i;

    if (!open_image(&i, payload))
        return kiln__job_fail(job, KILN_ECODEGEN, "linker: a damaged image");
    for (size_t at = 0; at < i.header.e_shnum; at++) {
        const Elf64_Shdr s = section(&i, at);

        if (!is_called(&i, &s, KILN__SITE_TABLE))
            continue;
        if (s.sh_type != SHT_PROGBITS || s.sh_size != size ||
            s.sh_offset % 8 != 0 || !inside(&i, s.sh_offset, size) ||
            !is_zero(&i, s.sh_offset, size))
            break;
        *offset = s.sh_offset;
        return KILN_OK;
    }
    return kiln__job_fail(job, KILN_ECODEGEN, "linker: no slots for sites");
}
