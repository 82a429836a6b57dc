/* build_id.c - finds out which build a file, or the object at an address,
   is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/data/memory.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/passing.h"

#define NOTES_MAX ((size_t)4096) /* of one segment; more are not searched */
#define SEGMENTS_MAX 64
#define BEGINNING ((size_t)1024)

/* ---- notes ---- */

static size_t aligned(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static int write_id(char *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    if (size == 0 || 2 * size >= KILN__BUILD_ID_TEXT_SIZE)
        return 0;
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * size] = '\0';
    return 1;
}

/* Each note is a header, a padded name and a padded description. */
static int find_note(char *out, const unsigned char *notes, size_t size)
{
    ElfW(Nhdr) note;

    while (size >= sizeof note) {
        size_t name, description;

        memcpy(&note, notes, sizeof note);
        notes += sizeof note;
        size -= sizeof note;
        name = aligned(note.n_namesz);
        description = aligned(note.n_descsz);
        if (name > size || description > size - name ||
            note.n_descsz > description)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes, "GNU", 4) == 0)
            return write_id(out, notes + name, note.n_descsz);
        notes += name + description;
        size -= name + description;
    }
    return 0;
}

/* ---- files ---- */

static int read_at(int descriptor, void *out, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX &&
           kiln__io_read_at(descriptor, out, size, offset) == (ssize_t)size;
}

static int is_elf(const ElfW(Ehdr) * head)
{
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_phentsize == sizeof(ElfW(Phdr)) &&
           head->e_phnum <= SEGMENTS_MAX;
}

/* The parts of a file that are read; too large for a small stack. Linkers put
   the notes near the beginning. */
typedef struct parts {
    unsigned char beginning[BEGINNING];
    size_t beginning_size;
    ElfW(Phdr) segments[SEGMENTS_MAX];
    unsigned char notes[NOTES_MAX];
} parts;

static int read_part(int descriptor, const parts *read, void *out, size_t size,
                     uint64_t offset)
{
    if (offset > read->beginning_size || size > read->beginning_size - offset)
        return read_at(descriptor, out, size, offset);
    memcpy(out, read->beginning + offset, size);
    return 1;
}

static int find_in_parts(char *out, int descriptor, parts *read)
{
    const ssize_t begins =
        kiln__io_read_at(descriptor, read->beginning, BEGINNING, 0);
    ElfW(Ehdr) head;

    read->beginning_size = begins > 0 ? (size_t)begins : 0;
    if (!read_part(descriptor, read, &head, sizeof head, 0) || !is_elf(&head) ||
        !read_part(descriptor, read, read->segments,
                   head.e_phnum * sizeof *read->segments, head.e_phoff))
        return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        const ElfW(Phdr) *segment = &read->segments[i];
        const size_t size = segment->p_filesz;

        if (segment->p_type == PT_NOTE && size <= sizeof read->notes &&
            read_part(descriptor, read, read->notes, size, segment->p_offset) &&
            find_note(out, read->notes, size))
            return 1;
    }
    return 0;
}

static int find_in_file(char *out, int descriptor)
{
    parts *read = kiln__resize(&kiln__malloc, NULL, 0, sizeof *read);
    const int found = read != NULL && find_in_parts(out, descriptor, read);

    kiln__deallocate(&kiln__malloc, read, sizeof *read);
    return found;
}

kiln_status kiln__build_id_of_file(char out[KILN__BUILD_ID_TEXT_SIZE],
                                   const char *path)
{
    const int descriptor = kiln__descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
    int found;

    if (descriptor < 0)
        return kiln__passing_status(errno, KILN_ENOTFOUND);
    found = find_in_file(out, descriptor);
    (void)close(descriptor);
    return found ? KILN_OK : KILN_ENOTFOUND;
}

/* ---- loaded objects ---- */

typedef struct search {
    uintptr_t address;
    char *out;
    const void *base;
    int found;
} search;

static int holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD && address >= start &&
            address - start < segment->p_memsz)
            return 1;
    }
    return 0;
}

static int visit(struct dl_phdr_info *object, size_t size, void *env)
{
    search *s = env;

    (void)size;
    if (!holds(object, s->address))
        return 0;
    s->base = object->dlpi_phdr;
    for (unsigned i = 0; i < object->dlpi_phnum && !s->found; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE)
            s->found = find_note(
                s->out,
                (const unsigned char *)(object->dlpi_addr + segment->p_vaddr),
                segment->p_memsz);
    }
    return 1;
}

kiln_status kiln__build_id_of_address(char out[KILN__BUILD_ID_TEXT_SIZE],
                                      const void *address, const void **base)
{
    search s = {.address = (uintptr_t)address, .out = out};

    (void)dl_iterate_phdr(visit, &s);
    if (base != NULL)
        *base = s.base;
    return s.found ? KILN_OK : KILN_ENOTFOUND;
}

void kiln__builds_look(kiln__builds_loaded *out, const void *codegen,
                       const void *llvm)
{
    const void *own = NULL, *other = NULL;
    Dl_info object;

    out->llvm_path[0] = '\0';
    if (kiln__build_id_of_address(out->ids.codegen, codegen, &own) != KILN_OK)
        out->ids.codegen[0] = '\0';
    if (kiln__build_id_of_address(out->ids.llvm, llvm, &other) != KILN_OK ||
        own == other)
        out->ids.llvm[0] = '\0';
    else if (dladdr(llvm, &object) != 0 && object.dli_fname != NULL)
        (void)snprintf(out->llvm_path, sizeof out->llvm_path, "%s",
                       object.dli_fname);
}
