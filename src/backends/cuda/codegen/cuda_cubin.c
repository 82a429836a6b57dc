/* cuda_cubin.c - reads from a cubin what its kernel needs of the device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "codegen/elf/elf_file.h"

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

static needs read_attributes(kiln__bytes info, uint32_t symbol)
{
    const unsigned char *bytes = info.data;
    needs n = {0, 0, 0};

    for (size_t at = 0; info.size - at >= 4;) {
        const unsigned char *head = bytes + at;
        const size_t size =
            head[0] == FORM_SIZED ? head[2] + 256u * head[3] : 0;
        uint32_t words[2];

        at += 4;
        if (size > info.size - at)
            break;
        if (size == sizeof words) {
            memcpy(words, bytes + at, sizeof words);
            if (words[0] == symbol)
                take_attribute(&n, head[1], words[1]);
        }
        at += size;
    }
    return n;
}

static needs read_needs(const kiln__codegen_job *job, kiln__bytes cubin)
{
    const uint32_t symbol = kiln__elf_symbol(cubin, job->request->entry);
    kiln__bytes info;
    uint64_t size;

    return symbol != 0 && kiln__elf_section(&info, &size, cubin, ".nv.info")
               ? read_attributes(info, symbol)
               : (needs){0, 0, 0};
}

static uint32_t read_shared(kiln__codegen_job *job, kiln__bytes cubin)
{
    const char *processor = job->settings->processor;
    const unsigned long model = strncmp(processor, "sm_", 3) == 0
                                    ? strtoul(processor + 3, NULL, 10)
                                    : 0;
    const char *name =
        kiln__arena_format(&job->arena, ".nv.shared.%s", job->request->entry);
    kiln__bytes contents;
    uint64_t size;

    if (name == NULL || !kiln__elf_section(&contents, &size, cubin, name) ||
        size > UINT32_MAX)
        return 0;
    return (uint32_t)(model >= 90 && size >= SYSTEM_SHARED
                          ? size - SYSTEM_SHARED
                          : size);
}

/* ---- spills ---- */

/* Returns the sum of all "<number> bytes spill stores". */
static uint32_t read_spills(const char *said)
{
    static const char after[] = " bytes spill stores";
    uint32_t sum = 0;

    for (const char *at = said; (at = strstr(at, after)) != NULL;) {
        const char *digit = at;

        while (digit > said && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        sum += (uint32_t)strtoul(digit, NULL, 10);
        at += sizeof after - 1;
    }
    return sum;
}

void kiln__cubin_read(kiln__codegen_job *job, const kiln_blob *blob,
                      const char *said)
{
    const kiln__bytes cubin = {blob->data, blob->size};
    const needs n = read_needs(job, cubin);
    const uint32_t shared = read_shared(job, cubin);

    job->spill_bytes = read_spills(said);
    job->registers = n.registers;
    if (n.stack != 0 || n.frame != 0)
        job->private_bytes = n.stack > n.frame ? n.stack : n.frame;
    if (shared != 0)
        job->static_local_bytes = shared;
}
