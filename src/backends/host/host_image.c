/* host_image.c - maps and unmaps ELF images. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/host_elf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/reason.h"

/*
 * An image is a position-independent ELF file for x86-64 without libraries,
 * constructors, thread-local storage or indirect functions. It may come from a
 * disk or a network, so nothing in it is trusted: every offset, size and index
 * is checked against the file or the mapping before it is used. (The code
 * itself is not checked: a host kernel is trusted like the process.)
 *
 * One piece of anonymous memory contains all segments. It is filled and
 * relocated while it is writable and not executable; then each segment gets its
 * own protection. No page is ever writable and executable. Nothing refers to
 * the file afterwards, and unloading is one munmap().
 */

#define PROGRAM_HEADERS_MAX 64
#define SPAN_MAX ((uint64_t)1 << 30)

/* ---- reading the headers ---- */

static kiln_status corrupt(kiln_error **error, const char *what)
{
    return kiln__error_set(error, KILN_ECORRUPT, "host image: %s", what);
}

static kiln_status unsupported(kiln_error **error, const char *what)
{
    return kiln__error_set(error, KILN_EUNSUPPORTED, "host image: %s", what);
}

static kiln_status check_header(const Elf64_Ehdr *header, kiln_error **error)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return corrupt(error, "not an ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_ident[EI_VERSION] != EV_CURRENT ||
        header->e_version != EV_CURRENT)
        return unsupported(error, "not a 64-bit little-endian ELF file");
    if (header->e_type != ET_DYN || header->e_machine != EM_X86_64)
        return unsupported(error, "not a shared object for x86-64");
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
        header->e_phnum > PROGRAM_HEADERS_MAX)
        return corrupt(error, "bad program header table");
    return KILN_OK;
}

/* A segment must be inside the file, after its predecessor in memory, and on
   pages of its own, because a page has one protection. */
static kiln_status check_segment(const elf_file *file,
                                 const Elf64_Phdr *segment, kiln_error **error)
{
    const uint64_t page = file->page;

    if (segment->p_filesz > segment->p_memsz || segment->p_memsz == 0)
        return corrupt(error, "bad segment size");
    if (segment->p_offset > file->size ||
        segment->p_filesz > file->size - segment->p_offset)
        return corrupt(error, "segment beyond the end of the file");
    if (segment->p_vaddr > SPAN_MAX || segment->p_memsz > SPAN_MAX)
        return corrupt(error, "segment too far or too large");
    if (segment->p_vaddr / page * page < file->span)
        return corrupt(error, "overlapping segments");
    if ((segment->p_flags & PF_W) != 0 && (segment->p_flags & PF_X) != 0)
        return unsupported(error, "a segment is writable and executable");
    return KILN_OK;
}

static kiln_status add_segment(elf_file *file, const Elf64_Phdr *segment,
                               kiln_error **error)
{
    const uint64_t page = file->page;

    if (file->segment_count == ELF_SEGMENTS_MAX)
        return corrupt(error, "more segments than an image has");
    KILN_TRY(check_segment(file, segment, error));
    file->segments[file->segment_count++] = *segment;
    file->span = (segment->p_vaddr + segment->p_memsz + page - 1) / page * page;
    return KILN_OK;
}

static kiln_status add_program_header(elf_file *file, const Elf64_Phdr *header,
                                      kiln_error **error)
{
    switch (header->p_type) {
    case PT_LOAD:
        return add_segment(file, header, error);
    case PT_DYNAMIC:
        if (file->dynamic.p_type == PT_DYNAMIC)
            return corrupt(error, "two dynamic sections");
        file->dynamic = *header;
        return KILN_OK;
    case PT_GNU_RELRO:
        if (file->relro.p_type == PT_GNU_RELRO)
            return corrupt(error, "two read-only ranges");
        file->relro = *header;
        return KILN_OK;
    case PT_TLS:
        return unsupported(error, "thread-local storage");
    case PT_INTERP:
        return unsupported(error, "a program that wants an interpreter");
    default:
        return KILN_OK; /* notes, unwinding tables and the like */
    }
}

static kiln_status read_headers(elf_file *file, kiln_error **error)
{
    Elf64_Ehdr header;

    if (file->size < sizeof header)
        return corrupt(error, "too short for an ELF file");
    memcpy(&header, file->bytes, sizeof header);
    KILN_TRY(check_header(&header, error));
    if (header.e_phoff > file->size ||
        header.e_phnum * sizeof(Elf64_Phdr) > file->size - header.e_phoff)
        return corrupt(error, "program headers beyond the end of the file");

    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr entry;

        memcpy(&entry, file->bytes + header.e_phoff + i * sizeof entry,
               sizeof entry);
        KILN_TRY(add_program_header(file, &entry, error));
    }
    if (file->segment_count == 0 || file->dynamic.p_type != PT_DYNAMIC)
        return corrupt(error, "no segment or no dynamic section");
    return KILN_OK;
}

/* ---- the mapping ---- */

static kiln_status map_segments(elf_file *file, kiln__host_space *space,
                                kiln_error **error)
{
    void *base = kiln__host_space_take(space, (size_t)file->span);

    if (base == NULL)
        return kiln__error_no_memory(error);
    file->base = base;
    for (size_t i = 0; i < file->segment_count; i++) {
        const Elf64_Phdr *segment = &file->segments[i];

        memcpy(file->base + segment->p_vaddr, file->bytes + segment->p_offset,
               (size_t)segment->p_filesz);
    }
    return KILN_OK;
}

static int protection(uint32_t flags)
{
    return ((flags & PF_R) != 0 ? PROT_READ : 0) |
           ((flags & PF_W) != 0 ? PROT_WRITE : 0) |
           ((flags & PF_X) != 0 ? PROT_EXEC : 0);
}

/* The mapping is already readable and writable. */
static int protect(const elf_file *file, uint64_t first, uint64_t end,
                   int flags)
{
    return flags == (PROT_READ | PROT_WRITE) ||
           mprotect(file->base + first, (size_t)(end - first), flags) == 0;
}

static uint64_t page_down(const elf_file *file, uint64_t address)
{
    return address / file->page * file->page;
}

static uint64_t page_up(const elf_file *file, uint64_t address)
{
    return page_down(file, address + file->page - 1);
}

/* The range that is read-only after relocation: whole pages of a writable
   segment. Linkers may round its end up to the segment's last page. */
static int protect_relro(const elf_file *file)
{
    const Elf64_Phdr *relro = &file->relro;
    const Elf64_Phdr *segment = elf_in_segment(file, relro->p_vaddr, 1, PF_W);
    uint64_t first, end, segment_end;

    if (relro->p_type != PT_GNU_RELRO || segment == NULL)
        return 1;
    first = page_up(file, relro->p_vaddr);
    segment_end = segment->p_vaddr + segment->p_memsz;
    if (relro->p_memsz < segment_end - relro->p_vaddr)
        end = page_down(file, relro->p_vaddr + relro->p_memsz);
    else
        end = page_up(file, segment_end);
    return first >= end || protect(file, first, end, PROT_READ);
}

/* Gaps between segments can be neither read nor written. */
static kiln_status protect_all(const elf_file *file, kiln_error **error)
{
    uint64_t done = 0;
    int fine = 1;

    for (size_t i = 0; i < file->segment_count; i++) {
        const Elf64_Phdr *segment = &file->segments[i];
        const uint64_t first = page_down(file, segment->p_vaddr);
        const uint64_t end = page_up(file, segment->p_vaddr + segment->p_memsz);

        if (first > done)
            fine &= protect(file, done, first, PROT_NONE);
        fine &= protect(file, first, end, protection(segment->p_flags));
        done = end;
    }
    if (fine && protect_relro(file))
        return KILN_OK;
    if (kiln__passes(errno))
        return kiln__error_set(error, KILN_ENOMEM,
                               "host image: the system has no memory or no "
                               "more mappings for its pages; see "
                               "kiln_context_collect() and vm.max_map_count");
    return kiln__error_set(error, KILN_EDEVICE,
                           "host image: the system refused to protect its "
                           "pages: %s",
                           kiln__reason_text(errno));
}

/* ---- loading ---- */

struct kiln__host_image {
    const kiln_alloc *alloc;
    elf_file file; /* `bytes` belong to the caller and are gone after loading */
};

static kiln_status load_segments(elf_file *file, kiln__host_space *space,
                                 kiln_error **error)
{
    kiln_status status;

    KILN_TRY(read_headers(file, error));
    KILN_TRY(map_segments(file, space, error));
    status = kiln__elf_read_dynamic(file, error);
    if (status == KILN_OK)
        status = kiln__elf_relocate(file, error);
    if (status == KILN_OK)
        status = protect_all(file, error);
    if (status != KILN_OK)
        munmap(file->base, (size_t)file->span);
    return status;
}

kiln_status kiln__host_image_load(kiln__host_image **out,
                                  const kiln_alloc *alloc,
                                  kiln__host_space *space, const void *bytes,
                                  size_t size, kiln_error **error)
{
    kiln__host_image *image = kiln__allocate(alloc, sizeof *image);
    kiln_status status;

    if (image == NULL)
        return kiln__error_no_memory(error);
    image->alloc = alloc;
    image->file = (elf_file){
        .bytes = bytes,
        .size = size,
        .page = (uint64_t)sysconf(_SC_PAGESIZE),
    };
    status = load_segments(&image->file, space, error);
    image->file.bytes = NULL;
    if (status != KILN_OK) {
        kiln__deallocate(alloc, image, sizeof *image);
        return status;
    }
    *out = image;
    return KILN_OK;
}

void *kiln__host_image_symbol(const kiln__host_image *image, const char *name)
{
    return kiln__elf_find(&image->file, name);
}

void kiln__host_image_unload(kiln__host_image *image)
{
    if (image == NULL)
        return;
    munmap(image->file.base, (size_t)image->file.span);
    kiln__deallocate(image->alloc, image, sizeof *image);
}
