/* cuda_cubin.c - reads from a cubin what its kernel needs of the device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"

/*
 * A cubin is an ELF file. Its section .nv.info is a list of attributes. Each
 * has a byte for its form, a byte that names the attribute, and two more bytes;
 * these are the value or, in form 4, the size of the value that follows.
 * Attributes of a function begin with its symbol's number. .nv.shared.KERNEL is
 * the memory that a group of the kernel shares. NVIDIA documents the tools that
 * print all this (cuobjdump -elf, -res-usage), but not the numbers. What has
 * another form than expected is ignored, and the job's fields keep their
 * values.
 *
 * Spills are not in the file: the assembler prints them, function by function.
 */

#define FORM_SIZED 4
#define REGISTERS 0x2f
#define FRAME 0x11 /* of this function alone */
#define STACK 0x12 /* of this function with all that it calls */

/* From sm_90 on, the first bytes of a group's memory are the system's. */
#define SYSTEM_SHARED 1024u

typedef struct cubin {
    const unsigned char *bytes;
    uint64_t size;
    Elf64_Ehdr head;
} cubin;

static int is_inside(const cubin *c, uint64_t offset, uint64_t size)
{
    return offset <= c->size && size <= c->size - offset;
}

static int read_section(const cubin *c, size_t index, Elf64_Shdr *out)
{
    const uint64_t at = c->head.e_shoff + index * sizeof *out;

    if (index >= c->head.e_shnum || !is_inside(c, at, sizeof *out))
        return 0;
    memcpy(out, c->bytes + at, sizeof *out);
    return out->sh_type == SHT_NOBITS ||
           is_inside(c, out->sh_offset, out->sh_size);
}

/* Returns the NUL-terminated text at the offset in a section of texts, or
   "". */
static const char *text_at(const cubin *c, size_t section, uint64_t offset)
{
    Elf64_Shdr texts;

    if (!read_section(c, section, &texts) || texts.sh_type != SHT_STRTAB ||
        offset >= texts.sh_size ||
        c->bytes[texts.sh_offset + texts.sh_size - 1] != '\0')
        return "";
    return (const char *)c->bytes + texts.sh_offset + offset;
}

/* Finds the section whose name is `prefix` and `name`. */
static int find_section(const cubin *c, const char *prefix, const char *name,
                        Elf64_Shdr *out)
{
    const size_t length = strlen(prefix);

    for (size_t i = 0; i < c->head.e_shnum; i++) {
        const char *text;

        if (!read_section(c, i, out))
            return 0;
        text = text_at(c, c->head.e_shstrndx, out->sh_name);
        if (strncmp(text, prefix, length) == 0 &&
            strcmp(text + length, name) == 0)
            return 1;
    }
    return 0;
}

/* Returns the number of the symbol, or 0. */
static uint32_t find_symbol(const cubin *c, const char *name)
{
    Elf64_Shdr table;
    Elf64_Sym symbol;

    if (!find_section(c, ".symtab", "", &table) || table.sh_type != SHT_SYMTAB)
        return 0;
    for (uint32_t i = 1; i < table.sh_size / sizeof symbol; i++) {
        memcpy(&symbol, c->bytes + table.sh_offset + i * sizeof symbol,
               sizeof symbol);
        if (strcmp(text_at(c, table.sh_link, symbol.st_name), name) == 0)
            return i;
    }
    return 0;
}

static int open_cubin(cubin *c, const kiln_blob *blob)
{
    *c = (cubin){.bytes = blob->data, .size = blob->size};
    if (c->size < sizeof c->head)
        return 0;
    memcpy(&c->head, c->bytes, sizeof c->head);
    return memcmp(c->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           c->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           c->head.e_shentsize == sizeof(Elf64_Shdr);
}

/* ---- attributes ---- */

typedef struct needs {
    uint32_t registers;
    uint32_t frame;
    uint32_t stack;
} needs;

static void take_attribute(needs *n, unsigned attribute, uint32_t value)
{
    if (attribute == REGISTERS)
        n->registers = value;
    else if (attribute == FRAME)
        n->frame = value;
    else if (attribute == STACK)
        n->stack = value;
}

static needs read_attributes(const cubin *c, uint32_t symbol)
{
    needs n = {0, 0, 0};
    Elf64_Shdr info;
    uint64_t at, end;

    if (symbol == 0 || !find_section(c, ".nv.info", "", &info) ||
        info.sh_type == SHT_NOBITS)
        return n;
    end = info.sh_offset + info.sh_size;
    for (at = info.sh_offset; end - at >= 4;) {
        const unsigned char *head = c->bytes + at;
        const uint64_t size =
            head[0] == FORM_SIZED ? head[2] + 256u * head[3] : 0;
        uint32_t words[2];

        at += 4;
        if (size > end - at)
            break;
        if (size == sizeof words) {
            memcpy(words, c->bytes + at, sizeof words);
            if (words[0] == symbol)
                take_attribute(&n, head[1], words[1]);
        }
        at += size;
    }
    return n;
}

static uint32_t read_shared(const cubin *c, const kiln__codegen_job *job)
{
    const char *processor = job->settings->processor;
    const unsigned long model = strncmp(processor, "sm_", 3) == 0
                                    ? strtoul(processor + 3, NULL, 10)
                                    : 0;
    Elf64_Shdr shared;

    if (!find_section(c, ".nv.shared.", job->request->entry, &shared) ||
        shared.sh_size > UINT32_MAX)
        return 0;
    if (model >= 90 && shared.sh_size >= SYSTEM_SHARED)
        shared.sh_size -= SYSTEM_SHARED;
    return (uint32_t)shared.sh_size;
}

/* ---- spills ---- */

/* Returns the sum of all "<number> bytes spill stores". */
static uint32_t read_spills(const char *said)
{
    static const char behind[] = " bytes spill stores";
    uint32_t sum = 0;

    for (const char *at = said; (at = strstr(at, behind)) != NULL;) {
        const char *digit = at;

        while (digit > said && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        sum += (uint32_t)strtoul(digit, NULL, 10);
        at += sizeof behind - 1;
    }
    return sum;
}

void kiln__cubin_read(kiln__codegen_job *job, const kiln_blob *blob,
                      const char *said)
{
    uint32_t shared;
    needs n;
    cubin c;

    job->spill_bytes = read_spills(said);
    if (!open_cubin(&c, blob))
        return;
    n = read_attributes(&c, find_symbol(&c, job->request->entry));
    shared = read_shared(&c, job);
    job->registers = n.registers;
    if (n.stack != 0 || n.frame != 0)
        job->private_bytes = n.stack > n.frame ? n.stack : n.frame;
    if (shared != 0)
        job->static_local_bytes = shared;
}
