/* spirv_legalise.c - rewrites modules for the older translator. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/spirv.h"
#include "base/data/array.h"
#include "base/error.h"

/*
 * OpConstantNull of a number or a Bool is valid SPIR-V, and LLVM's generator
 * uses it for zero. The translator of LLVM 15 accepts it only for types without
 * values, and otherwise ends its process. OpConstant 0 and OpConstantFalse mean
 * the same.
 *
 * OpMemoryBarrier becomes a call of mem_fence(), which PoCL's library does not
 * have under that name. It is removed: all of PoCL's atomics are sequentially
 * consistent, and only atomics make the memory of one item visible to another.
 *
 * Ids do not change, so everything else is copied.
 */

enum {
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_CONSTANT_NULL = 46,
    OP_MEMORY_BARRIER = 225
};

#define HEAD(opcode, count) ((uint32_t)(count) << 16 | (uint32_t)(opcode))

/* A scalar type that was declared. */
typedef struct scalar {
    uint32_t id;
    uint32_t opcode;
    uint32_t width; /* in bits; 0 for a Bool */
} scalar;

typedef struct rewriting {
    const kiln_alloc *alloc;
    kiln__array_of(scalar) scalars;
    kiln__array_of(uint32_t) words;
} rewriting;

static int put(rewriting *r, const uint32_t *words, size_t count)
{
    if (!kiln__array_reserve(r->alloc, &r->words, count))
        return 0;
    memcpy(r->words.items + r->words.count, words, count * sizeof *words);
    r->words.count += count;
    return 1;
}

static int note_type(rewriting *r, const kiln__spirv_instruction *at)
{
    const int is_bool = at->opcode == OP_TYPE_BOOL;
    scalar type;

    if (at->count < (is_bool ? 2u : 3u))
        return 1;
    type = (scalar){at->words[1], at->opcode, is_bool ? 0 : at->words[2]};
    return kiln__array_push(r->alloc, &r->scalars, type);
}

static const scalar *find_type(const rewriting *r, uint32_t id)
{
    for (size_t i = 0; i < r->scalars.count; i++)
        if (r->scalars.items[i].id == id)
            return &r->scalars.items[i];
    return NULL;
}

static int put_null(rewriting *r, const kiln__spirv_instruction *at)
{
    const scalar *type = at->count == 3 ? find_type(r, at->words[1]) : NULL;
    uint32_t zero[5] = {0};
    uint32_t count = 3;

    if (type == NULL || type->width > 64)
        return put(r, at->words, at->count);
    if (type->opcode != OP_TYPE_BOOL)
        count += type->width > 32 ? 2 : 1;
    zero[0] = HEAD(count == 3 ? OP_CONSTANT_FALSE : OP_CONSTANT, count);
    zero[1] = at->words[1];
    zero[2] = at->words[2];
    return put(r, zero, count);
}

static int rewrite(rewriting *r, kiln__spirv_walk *walk)
{
    kiln__spirv_instruction at;
    int fits = put(r, walk->words, KILN__SPIRV_HEAD_WORDS);

    while (fits && kiln__spirv_walk_next(walk, &at)) {
        if (at.opcode >= OP_TYPE_BOOL && at.opcode <= OP_TYPE_FLOAT)
            fits = note_type(r, &at);
        if (fits && at.opcode != OP_MEMORY_BARRIER)
            fits = at.opcode == OP_CONSTANT_NULL ? put_null(r, &at)
                                                 : put(r, at.words, at.count);
    }
    return fits;
}

kiln_status kiln__spirv_legalise(kiln_blob *out, const kiln_alloc *alloc,
                                 const void *bytes, size_t size,
                                 kiln_error **error)
{
    rewriting r = {.alloc = alloc};
    kiln__spirv_walk walk;
    kiln_status status;

    KILN_TRY(kiln__spirv_walk_init(&walk, bytes, size, error));
    if (!rewrite(&r, &walk))
        status = kiln__error_no_memory(error);
    else if (walk.failed)
        status = kiln__error_set(error, KILN_ECORRUPT,
                                 "SPIR-V: an instruction goes beyond the end "
                                 "of the module");
    else if (kiln__blob_copy(out, alloc, r.words.items,
                             r.words.count * sizeof *r.words.items) != KILN_OK)
        status = kiln__error_no_memory(error);
    else
        status = KILN_OK;
    kiln__array_dispose(alloc, &r.scalars);
    kiln__array_dispose(alloc, &r.words);
    return status;
}
