/* spirv_half.c - halves in memory, without arithmetic on them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/data/memory.h"
#include "base/error.h"

/*
 * OpenCL's vload_half and vstore_half are for all devices: a pointer to halves
 * needs the capability Float16Buffer alone, which all have. LLVM 22's generator
 * declares Float16 beside it for any type of halves. So that is removed if
 * there are only pointers to the type.
 */

#define HEADER_WORDS 5u

#define OP_CAPABILITY 17u
#define OP_TYPE_FLOAT 22u
#define OP_TYPE_VECTOR 23u
#define OP_TYPE_POINTER 32u
#define OP_TYPE_FUNCTION 33u
#define CAPABILITY_FLOAT16 9u

typedef struct words {
    const unsigned char *bytes;
    size_t count;
} words;

static uint32_t word_at(const words *w, size_t index)
{
    uint32_t word;

    memcpy(&word, w->bytes + 4 * index, sizeof word);
    return word;
}

/* Returns the place after the instruction at `at`; 0: the module is damaged. */
static size_t next_of(const words *w, size_t at)
{
    const uint32_t count = word_at(w, at) >> 16;

    return count == 0 || count > w->count - at ? 0 : at + count;
}

static uint32_t opcode_at(const words *w, size_t at)
{
    return word_at(w, at) & 0xffff;
}

/* Returns the first instruction from `at` with these two words, or 0. */
static size_t find(const words *w, size_t at, uint32_t opcode, size_t place,
                   uint32_t operand)
{
    size_t next;

    for (; at < w->count; at = next) {
        next = next_of(w, at);
        if (next == 0)
            return 0;
        if (opcode_at(w, at) == opcode && next - at > place &&
            word_at(w, at + place) == operand)
            return at;
    }
    return 0;
}

/* True if an instruction after that of the type has it as the type of its
   result or as a part of another type. Such instructions begin with a type, or
   with the number of what they make or use, which is not that of a type. */
static int uses(const words *w, size_t at, size_t next, uint32_t type)
{
    const uint32_t opcode = opcode_at(w, at);

    if (opcode == OP_TYPE_POINTER)
        return 0;
    if (opcode == OP_TYPE_VECTOR)
        return word_at(w, at + 2) == type; /* its length is behind */
    if (opcode > OP_TYPE_VECTOR && opcode <= OP_TYPE_FUNCTION) {
        for (size_t i = at + 2; i < next; i++)
            if (word_at(w, i) == type)
                return 1;
        return 0;
    }
    return next - at > 1 && word_at(w, at + 1) == type;
}

static int has_values(const words *w, size_t at, uint32_t type)
{
    size_t next;

    for (; at < w->count; at = next) {
        next = next_of(w, at);
        if (next == 0 || uses(w, at, next, type))
            return 1;
    }
    return 0;
}

/* Returns the place of the capability, or 0: it is needed, or not there. */
static size_t find_needless(const words *w)
{
    const size_t capability =
        find(w, HEADER_WORDS, OP_CAPABILITY, 1, CAPABILITY_FLOAT16);
    const size_t type = find(w, HEADER_WORDS, OP_TYPE_FLOAT, 2, 16);

    if (capability == 0 || type == 0 ||
        has_values(w, next_of(w, type), word_at(w, type + 1)))
        return 0;
    return capability;
}

kiln_status kiln__spirv_copy_module(kiln__codegen_job *job,
                                    const kiln__object *module, kiln_blob *out)
{
    const words w = {module->bytes, module->size / 4};
    const size_t before = 4 * find_needless(&w);
    const size_t dropped = before > 0 && !kiln__spirv_has(job, "fp16") ? 8 : 0;
    unsigned char *copy =
        kiln__blob_new(out, &kiln__malloc, module->size - dropped);

    if (copy == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    memcpy(copy, w.bytes, before);
    memcpy(copy + before, w.bytes + before + dropped,
           module->size - before - dropped);
    return KILN_OK;
}
