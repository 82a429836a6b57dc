/* spirv_reflect.c - reads the parameters of kernels from a SPIR-V module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/device_abi.h"
#include "abi/facts_abi.h"
#include "backends/spirv/spirv.h"
#include "base/error.h"
#include "kiln/kernel.h"

/*
 * Modules come from stores and from foreign generators, so nothing in them is
 * trusted. An instruction is read only if all of its words are there, and an id
 * is never used as an index.
 *
 * Drivers must be told for each argument whether it is a pointer. The types of
 * the kernel's parameters in the module say that; the artifact's metadata say
 * where each value is in the packed block.
 */

/* Constants of the SPIR-V specification, sections 3.7 and 3.32. */
enum {
    OP_ENTRY_POINT = 15,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_POINTER = 32,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_END = 56,
    OP_LABEL = 248,
    STORAGE_UNIFORM_CONSTANT = 0,
    STORAGE_WORKGROUP = 4,
    STORAGE_CROSS_WORKGROUP = 5
};

/* ---- walking ---- */

kiln_status kiln__spirv_walk_init(kiln__spirv_walk *walk, const void *bytes,
                                  size_t size, kiln_error **error)
{
    const uint32_t *words = bytes;

    memset(walk, 0, sizeof *walk);
    if (bytes == NULL || (uintptr_t)bytes % sizeof *words != 0 ||
        size % sizeof *words != 0 ||
        size < KILN__SPIRV_HEAD_WORDS * sizeof *words)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "SPIR-V: a module of %llu bytes is none",
                               (unsigned long long)size);
    if (words[0] != KILN__SPIRV_MAGIC || (words[1] & 0xffff00ffu) != 0x10000u)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "SPIR-V: no module of version 1");
    walk->words = words;
    walk->count = size / sizeof *words;
    walk->at = KILN__SPIRV_HEAD_WORDS;
    return KILN_OK;
}

int kiln__spirv_walk_next(kiln__spirv_walk *walk, kiln__spirv_instruction *out)
{
    uint32_t length;

    if (walk->failed || walk->at >= walk->count)
        return 0;
    length = walk->words[walk->at] >> 16;
    if (length == 0 || length > walk->count - walk->at) {
        walk->failed = 1;
        return 0;
    }
    out->words = walk->words + walk->at;
    out->count = length;
    out->opcode = out->words[0] & 0xffffu;
    walk->at += length;
    return 1;
}

kiln_status kiln__spirv_walk_check(kiln__spirv_walk walk, kiln_error **error)
{
    kiln__spirv_instruction at;
    int is_whole = 0;

    while (kiln__spirv_walk_next(&walk, &at)) {
        if (at.opcode == OP_FUNCTION)
            is_whole = 0;
        else if (at.opcode == OP_FUNCTION_END)
            is_whole = 1;
    }
    if (is_whole && !walk.failed)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "SPIR-V: the module is cut off");
}

uint32_t kiln__spirv_walk_minor(const kiln__spirv_walk *walk)
{
    return walk->words[1] >> 8 & 0xffu;
}

/* ---- finding ---- */

/* A literal string ends with a NUL inside its words. */
static int is_named(const kiln__spirv_instruction *at, uint32_t first,
                    const char *name, const char *suffix)
{
    const char *text = (const char *)(at->words + first);
    const size_t size = strlen(name), rest = strlen(suffix) + 1;

    return at->count > first &&
           size + rest <= (at->count - first) * sizeof *at->words &&
           memcmp(text, name, size) == 0 &&
           memcmp(text + size, suffix, rest) == 0;
}

/* Returns the id of the entry point's function, or 0. */
static uint32_t find_entry(kiln__spirv_walk walk, const char *name,
                           const char *suffix)
{
    kiln__spirv_instruction at;

    while (kiln__spirv_walk_next(&walk, &at) && at.opcode != OP_FUNCTION)
        if (at.opcode == OP_ENTRY_POINT && is_named(&at, 3, name, suffix))
            return at.words[2];
    return 0;
}

/* Moves to the position after the OpFunction with that id. */
static int find_function(kiln__spirv_walk *walk, uint32_t id)
{
    kiln__spirv_instruction at;

    while (kiln__spirv_walk_next(walk, &at))
        if (at.opcode == OP_FUNCTION && at.count == 5 && at.words[2] == id)
            return 1;
    return 0;
}

/* Finds the declaration of a type that a parameter may have. */
static int find_type(kiln__spirv_walk walk, uint32_t type,
                     kiln__spirv_instruction *out)
{
    while (kiln__spirv_walk_next(&walk, out) && out->opcode != OP_FUNCTION)
        if (out->opcode >= OP_TYPE_INT && out->opcode <= OP_TYPE_POINTER &&
            out->count >= 3 && out->words[1] == type)
            return 1;
    return 0;
}

/* ---- parameters ---- */

typedef struct reading {
    kiln__spirv_walk start; /* the module's beginning */
    kiln__spirv_walk at;    /* position in the function */
    kiln__spirv_parameter *out;
    size_t count;
    const kiln_kernel_info *info;
    int is_known;
    int is_local;    /* the next parameter is memory of the group */
    int may_be_half; /* the next parameter may be its low half */
    kiln_error **error;
} reading;

static kiln_status disagree(const reading *r, const char *what)
{
    return kiln__error_set(r->error, KILN_ECORRUPT, "SPIR-V: kernel %.128s: %s",
                           r->info->name, what);
}

/* The size of a struct is left to the driver's check. */
static kiln_status judge_type(reading *r, const kiln__spirv_instruction *type,
                              uint32_t size, int *is_pointer)
{
    const uint32_t what = type->words[2];

    *is_pointer = 0;
    if (type->opcode == OP_TYPE_POINTER) {
        if (what == STORAGE_WORKGROUP && !r->is_local)
            return disagree(r,
                            "a parameter is a pointer to memory of the group");
        if (what != STORAGE_WORKGROUP && r->is_local)
            return disagree(r, "a parameter is no memory of the group");
        *is_pointer =
            what == STORAGE_CROSS_WORKGROUP || what == STORAGE_UNIFORM_CONSTANT;
    }
    if ((type->opcode == OP_TYPE_INT || type->opcode == OP_TYPE_FLOAT) &&
        what != 8 * size)
        return disagree(r, "a parameter has another size than its metadata");
    return KILN_OK;
}

static int is_half(const kiln__spirv_instruction *type, uint32_t size)
{
    return type->opcode == OP_TYPE_INT && size == 8 && type->words[2] == 32;
}

/* Reads the function's next parameter, which takes `size` bytes at `offset`. */
static kiln_status take_parameter(reading *r, uint32_t offset, uint32_t size,
                                  int *is_pointer)
{
    kiln__spirv_instruction at, type;

    if (!kiln__spirv_walk_next(&r->at, &at) ||
        at.opcode != OP_FUNCTION_PARAMETER || at.count != 3)
        return disagree(r, "the module has fewer parameters than its metadata");
    if (r->count == KILN__SPIRV_LARGE_PARAMETERS)
        return disagree(r, "a function of SPIR-V has at most 255 parameters, "
                           "and it has more");
    if (!find_type(r->start, at.words[1], &type))
        return disagree(r, "a parameter has a type that nobody declares");
    if (r->may_be_half && is_half(&type, size))
        size /= 2;
    KILN_TRY(judge_type(r, &type, size, is_pointer));
    if (*is_pointer)
        size = sizeof(void *);
    r->out[r->count++] =
        (kiln__spirv_parameter){offset, size, *is_pointer,
                                r->is_local && type.opcode == OP_TYPE_POINTER};
    return KILN_OK;
}

/* An array is a pointer and numbers; anything else is one value. */
static kiln_status take_argument(reading *r, const kiln_argument_info *argument)
{
    int is_pointer;

    if (argument->size == 0)
        return KILN_OK;
    KILN_TRY(take_parameter(r, argument->offset, argument->size, &is_pointer));
    if (!is_pointer)
        return KILN_OK;
    if (argument->size < sizeof(void *) ||
        argument->size % sizeof(int64_t) != 0)
        return disagree(r, "an array's size is no whole number of words");
    for (uint32_t at = sizeof(void *); at < argument->size;
         at += (uint32_t)sizeof(int64_t)) {
        r->may_be_half = r->is_known;
        KILN_TRY(take_parameter(r, argument->offset + at, sizeof(int64_t),
                                &is_pointer));
        if (is_pointer)
            return disagree(r, "an array's size is a pointer");
    }
    r->may_be_half = 0;
    return KILN_OK;
}

/* Dynamic group memory is the last parameter. Its size is a hidden argument. */
static kiln_status take_local(reading *r, uint32_t size_at)
{
    int is_pointer;

    if (!r->info->dynamic_local)
        return KILN_OK;
    r->is_local = 1;
    KILN_TRY(take_parameter(r, size_at, sizeof(uint64_t), &is_pointer));
    if (!r->out[r->count - 1].is_local)
        return disagree(r, "a parameter is no memory of the group");
    return KILN_OK;
}

/* The entry for known launches does not take the grid's sizes. */
static kiln_status take_hidden(reading *r, uint32_t offset)
{
    const kiln_kernel_info *info = r->info;
    uint32_t count = info->hidden_arguments;
    int is_pointer;

    if (!kiln__hidden_fits(count, info->allocates, info->dynamic_local,
                           info->any_block))
        return disagree(r, "it has hidden arguments of another kind");
    if (r->is_known)
        count = kiln__hidden_own(count, info->any_block);
    for (uint32_t i = 0; i < count; i++)
        KILN_TRY(take_parameter(r, offset + 8 * i, 8, &is_pointer));
    return KILN_OK;
}

static kiln_status take_all(reading *r)
{
    const kiln_kernel_info *info = r->info;
    const uint32_t hidden = (info->argument_bytes + 7u) & ~7u;
    kiln__spirv_instruction at;

    for (size_t i = 0; i < info->argument_count; i++) {
        const kiln_argument_info *argument = &info->arguments[i];

        if (argument->size > info->argument_bytes ||
            argument->offset > info->argument_bytes - argument->size)
            return disagree(r, "an argument lies outside of its block");
        KILN_TRY(take_argument(r, argument));
    }
    KILN_TRY(take_hidden(r, hidden));
    KILN_TRY(take_local(r, hidden + 8 * (KILN__HIDDEN_MOST - 1)));
    if (kiln__spirv_walk_next(&r->at, &at) &&
        at.opcode == OP_FUNCTION_PARAMETER)
        return disagree(r, "the module has more parameters than its metadata");
    return KILN_OK;
}

kiln_status kiln__spirv_parameters(kiln__spirv_parameter *out, size_t *count,
                                   const kiln_artifact *artifact,
                                   const kiln_kernel_info *info, int is_known,
                                   kiln_error **error)
{
    reading r = {
        .out = out, .info = info, .is_known = is_known, .error = error};
    size_t size;
    const void *bytes = kiln_artifact_bytes(artifact, &size);
    uint32_t entry;

    KILN_TRY(kiln__spirv_walk_init(&r.start, bytes, size, error));
    entry = find_entry(r.start, info->name, is_known ? KILN__FACTS_SUFFIX : "");
    if (entry == 0)
        return disagree(&r, is_known ? "the module has no second entry"
                                     : "the module has no such kernel");
    r.at = r.start;
    if (!find_function(&r.at, entry))
        return disagree(&r, "the module has no such function");
    KILN_TRY(take_all(&r));
    *count = r.count;
    return KILN_OK;
}
