/* cl_unit.c - what a text was translated to, in memory and in stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen_client/source_wire.h"
#include "frontend/opencl/cl_program.h"

/*
 * The meta of an entry is the compiler's build. The payload has the functions
 * that the text defines, with their modules, and those that it only declares,
 * as the translator sends them.
 */

/* ---- in memory ---- */

/* Encodes everything that a function consists of. */
static void encode_function(kiln__encoder *out, const kiln__cl_unit *unit,
                            const kiln__source_function *function)
{
    kiln__source_function alone = *function;
    kiln__source_result part = {.functions = &alone, .function_count = 1};

    alone.needs = NULL;
    alone.need_count = 0;
    kiln__wire_put_source_functions(out, &part);
    part = (kiln__source_result){.declaration_count = 1};
    for (size_t i = 0; i < function->need_count; i++) {
        part.declarations = &unit->declared[function->needs[i]];
        kiln__wire_put_source_functions(out, &part);
    }
}

/* Computes the digests, once everything else is there. */
static kiln_status finish(kiln__cl_unit *unit)
{
    kiln__encoder encoder;

    unit->digests = kiln__arena_allocate_array(&unit->arena, unit->count + 1,
                                               sizeof *unit->digests);
    if (unit->digests == NULL)
        return KILN_ENOMEM;
    kiln__encoder_init(&encoder, unit->arena.alloc);
    for (size_t i = 0; i < unit->count; i++) {
        encoder.size = 0;
        encode_function(&encoder, unit, &unit->functions[i]);
        unit->digests[i] = kiln__encoder_digest(&encoder);
    }
    unit->arena.failed |= encoder.failed;
    kiln__encoder_dispose(&encoder);
    return unit->arena.failed ? KILN_ENOMEM : KILN_OK;
}

void kiln__cl_unit_free(const kiln__cl_unit *unit)
{
    kiln__cl_unit *own = (kiln__cl_unit *)(uintptr_t)unit;

    if (own == NULL)
        return;
    kiln__arena_dispose(&own->arena);
    kiln__deallocate(own->arena.alloc, own, sizeof *own);
}

/* Makes a unit of a payload, which is copied. KILN_ECORRUPT, KILN_ENOMEM. */
static kiln_status decode(kiln__cl_unit **out, const kiln_alloc *alloc,
                          const void *payload, size_t size)
{
    kiln__cl_unit *unit = kiln__allocate(alloc, sizeof *unit);
    kiln__source_result functions = {0};
    kiln__wire_reading reading;
    kiln_status status;

    if (unit == NULL)
        return KILN_ENOMEM;
    kiln__arena_init(&unit->arena, alloc);
    kiln__wire_begin(&reading, &unit->arena,
                     kiln__arena_copy(&unit->arena, payload, size), size);
    if (!unit->arena.failed)
        kiln__wire_get_source_functions(&reading, &functions);
    status = unit->arena.failed ? KILN_ENOMEM : kiln__wire_end(&reading);
    unit->functions = functions.functions;
    unit->count = functions.function_count;
    unit->declared = functions.declarations;
    unit->declared_count = functions.declaration_count;
    if (status == KILN_OK)
        status = finish(unit);
    if (status == KILN_OK)
        *out = unit;
    else
        kiln__cl_unit_free(unit);
    return status;
}

/* What was made is read as what was stored is: the digests must be the same. */
kiln_status kiln__cl_unit_make(kiln__cl_unit **out, const kiln_alloc *alloc,
                               const kiln__source_result *result)
{
    kiln__encoder payload;
    kiln_status status = KILN_ENOMEM;

    kiln__encoder_init(&payload, alloc);
    kiln__wire_put_source_functions(&payload, result);
    if (!payload.failed)
        status = decode(out, alloc, payload.bytes, payload.size);
    kiln__encoder_dispose(&payload);
    return status;
}

size_t kiln__cl_unit_function(const kiln__cl_unit *unit, const char *name)
{
    size_t i = 0;

    while (i < unit->count && strcmp(unit->functions[i].name, name) != 0)
        i++;
    return i;
}

/* ---- in the stores ---- */

/* Changes with the form of an entry. */
#define UNIT "unit 5"

typedef struct reading {
    kiln__cl *cl;
    kiln__cl_unit *unit;
} reading;

/* KILN_ENOTFOUND: it is of another compiler, or not well-formed. */
static kiln_status read_unit(const kiln__entry *entry, void *env)
{
    reading *r = env;
    kiln__reader meta;
    kiln_status status;

    kiln__reader_init(&meta, entry->meta, entry->meta_size);
    if (!kiln__cl_meta_read(&meta, r->cl) || !kiln__reader_is_done(&meta))
        return KILN_ENOTFOUND;
    status =
        decode(&r->unit, r->cl->alloc, entry->payload, entry->payload_size);
    return status == KILN_ECORRUPT ? KILN_ENOTFOUND : status;
}

kiln_status kiln__cl_unit_find(kiln__cl_unit **out, kiln__cl *cl,
                               kiln_digest tokens)
{
    reading r = {.cl = cl};

    KILN_TRY(kiln__cl_get(cl, UNIT, tokens, read_unit, &r));
    *out = r.unit;
    return KILN_OK;
}

void kiln__cl_unit_keep(kiln__cl *cl, const kiln__cl_unit *unit,
                        kiln_digest tokens, uint64_t make_ns)
{
    const kiln__source_result functions = {.functions = unit->functions,
                                           .function_count = unit->count,
                                           .declarations = unit->declared,
                                           .declaration_count =
                                               unit->declared_count};
    kiln__entry entry = {.build_ns = make_ns};
    kiln__encoder meta, payload;

    kiln__cl_meta_begin(&meta, cl);
    kiln__encoder_init(&payload, cl->alloc);
    kiln__wire_put_source_functions(&payload, &functions);
    entry.meta = meta.bytes;
    entry.meta_size = meta.size;
    entry.payload = payload.bytes;
    entry.payload_size = payload.size;
    if (!meta.failed && !payload.failed)
        kiln__cl_put(cl, UNIT, tokens, &entry);
    kiln__encoder_dispose(&meta);
    kiln__encoder_dispose(&payload);
}
