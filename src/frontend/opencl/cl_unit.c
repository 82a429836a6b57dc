/* cl_unit.c - what a text was translated to, in memory and in stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/array.h"
#include "base/data/decoder.h"
#include "base/error.h"
#include "frontend/opencl/cl_program.h"

/*
 * Meta, after a version: the compiler's build; the functions that the text only
 * declares; and for each function that it defines, declaration, numbers of the
 * declared functions that it calls, and size of the module. The payload is the
 * modules, one after the other.
 */

/* ---- encoding ---- */

static void encode_value(kiln__encoder *out, const kiln__source_value *value)
{
    kiln__encode_text(out, value->name);
    kiln__encode_text(out, value->type);
    kiln__encode_u64(out, (uint64_t)value->kind);
    kiln__encode_u64(out, (uint64_t)value->element);
    kiln__encode_u64(out, value->lanes);
    kiln__encode_u64(out, value->space);
    kiln__encode_u64(out, value->is_read_only != 0);
    kiln__encode_u64(out, value->is_restrict != 0);
    kiln__encode_u64(out, value->size);
    kiln__encode_u64(out, value->alignment);
}

static void encode_function(kiln__encoder *out,
                            const kiln__source_function *function)
{
    kiln__encode_text(out, function->name);
    kiln__encode_u64(out, function->is_kernel != 0);
    for (size_t i = 0; i < 3; i++)
        kiln__encode_u64(out, function->required_group_size[i]);
    for (size_t i = 0; i < 3; i++)
        kiln__encode_u64(out, function->group_size_hint[i]);
    encode_value(out, &function->result);
    kiln__encode_u64(out, function->parameter_count);
    for (size_t i = 0; i < function->parameter_count; i++)
        encode_value(out, &function->parameters[i]);
    kiln__encode_u64(out, function->need_count);
    for (size_t i = 0; i < function->need_count; i++)
        kiln__encode_u64(out, function->needs[i]);
}

/* The digest of everything that a kernel consists of. */
static kiln_digest digest_of(kiln__encoder *encoder, const kiln__cl_unit *unit,
                             const kiln__source_function *function)
{
    encoder->size = 0;
    encode_function(encoder, function);
    for (size_t i = 0; i < function->need_count; i++)
        encode_function(encoder, &unit->declared[function->needs[i]]);
    kiln__encode_bytes(encoder, function->bitcode, function->bitcode_size);
    return kiln__encoder_digest(encoder);
}

/* Computes the digests, once everything else is there. */
static kiln_status finish(kiln__cl_unit *unit)
{
    kiln__encoder encoder;

    if (unit->arena.failed)
        return KILN_ENOMEM;
    unit->digests = kiln__arena_allocate_array(&unit->arena, unit->count + 1,
                                               sizeof *unit->digests);
    if (unit->digests == NULL)
        return KILN_ENOMEM;
    kiln__encoder_init(&encoder, unit->arena.alloc);
    for (size_t i = 0; i < unit->count; i++)
        unit->digests[i] = digest_of(&encoder, unit, &unit->functions[i]);
    unit->arena.failed |= encoder.failed;
    kiln__encoder_dispose(&encoder);
    return unit->arena.failed ? KILN_ENOMEM : KILN_OK;
}

/* ---- decoding ---- */

typedef struct decoding {
    kiln__reader reader;
    kiln__arena *arena;
} decoding;

static const char *decode_text(decoding *d)
{
    const kiln__span_of_bytes text = kiln__read_text(&d->reader);

    return text.data != NULL
               ? kiln__arena_string(d->arena, text.data, text.size)
               : "";
}

static uint32_t decode_u32(decoding *d)
{
    const uint64_t number = kiln__read_u64(&d->reader);

    d->reader.failed |= number > UINT32_MAX;
    return (uint32_t)number;
}

static void decode_value(kiln__source_value *out, decoding *d)
{
    out->name = decode_text(d);
    out->type = decode_text(d);
    out->kind = (int32_t)decode_u32(d);
    out->element = (int32_t)decode_u32(d);
    out->lanes = decode_u32(d);
    out->space = decode_u32(d);
    out->is_read_only = kiln__read_u64(&d->reader) != 0;
    out->is_restrict = kiln__read_u64(&d->reader) != 0;
    out->size = kiln__read_u64(&d->reader);
    out->alignment = kiln__read_u64(&d->reader);
    d->reader.failed |= out->kind < 0 || out->kind > KILN__SOURCE_LOCAL ||
                        out->element < 0 ||
                        out->element >= KILN_TYPE_KIND_COUNT;
}

/* The least bytes of a field, and of a function. */
#define FIELD_SIZE 9
#define FUNCTION_SIZE (20 * FIELD_SIZE)

static void decode_parameters(kiln__source_function *out, decoding *d)
{
    const size_t count = kiln__read_count(&d->reader, 10 * FIELD_SIZE);
    kiln__source_value *values =
        kiln__arena_allocate_array(d->arena, count + 1, sizeof *values);

    if (values == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        decode_value(&values[i], d);
    out->parameters = values;
    out->parameter_count = count;
}

static void decode_needs(kiln__source_function *out, decoding *d,
                         size_t declared)
{
    const size_t count = kiln__read_count(&d->reader, FIELD_SIZE);
    uint32_t *needs =
        kiln__arena_allocate_array(d->arena, count + 1, sizeof *needs);

    if (needs == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        needs[i] = decode_u32(d);
        d->reader.failed |= needs[i] >= declared;
    }
    out->needs = needs;
    out->need_count = count;
}

static void decode_function(kiln__source_function *out, decoding *d,
                            size_t declared)
{
    out->name = decode_text(d);
    out->is_kernel = kiln__read_u64(&d->reader) != 0;
    for (size_t i = 0; i < 3; i++)
        out->required_group_size[i] = decode_u32(d);
    for (size_t i = 0; i < 3; i++)
        out->group_size_hint[i] = decode_u32(d);
    decode_value(&out->result, d);
    decode_parameters(out, d);
    decode_needs(out, d, declared);
}

static void decode_declared(kiln__cl_unit *out, decoding *d)
{
    out->declared_count = kiln__read_count(&d->reader, FUNCTION_SIZE);
    out->declared = kiln__arena_allocate_array(
        d->arena, out->declared_count + 1, sizeof *out->declared);
    for (size_t i = 0; out->declared != NULL && i < out->declared_count; i++)
        decode_function(&out->declared[i], d, 0);
}

static int decode(kiln__cl_unit *out, decoding *d, const kiln__entry *entry)
{
    const char *module =
        kiln__arena_copy(d->arena, entry->payload, entry->payload_size);
    size_t left = entry->payload_size;

    decode_declared(out, d);
    out->count = kiln__read_count(&d->reader, FUNCTION_SIZE);
    out->functions = kiln__arena_allocate_array(d->arena, out->count + 1,
                                                sizeof *out->functions);
    for (size_t i = 0; !d->arena->failed && i < out->count; i++) {
        kiln__source_function *function = &out->functions[i];

        decode_function(function, d, out->declared_count);
        function->bitcode_size = (size_t)kiln__read_u64(&d->reader);
        if (d->reader.failed || function->bitcode_size > left)
            return 0;
        function->bitcode = module;
        module += function->bitcode_size;
        left -= function->bitcode_size;
    }
    return kiln__reader_is_done(&d->reader) && left == 0;
}

/* ---- in memory ---- */

static kiln__cl_unit *allocate(const kiln_alloc *alloc)
{
    kiln__cl_unit *unit = kiln__allocate(alloc, sizeof *unit);

    if (unit != NULL)
        kiln__arena_init(&unit->arena, alloc);
    return unit;
}

void kiln__cl_unit_free(const kiln__cl_unit *unit)
{
    kiln__cl_unit *own = (kiln__cl_unit *)(uintptr_t)unit;

    if (own == NULL)
        return;
    kiln__arena_dispose(&own->arena);
    kiln__deallocate(own->arena.alloc, own, sizeof *own);
}

static void copy_value(kiln__source_value *out, kiln__arena *arena,
                       const kiln__source_value *from)
{
    *out = *from;
    /* Never NULL, as in what is decoded: the digests must be the same. */
    out->name = kiln__arena_text(arena, from->name != NULL ? from->name : "");
    out->type = kiln__arena_text(arena, from->type != NULL ? from->type : "");
}

static void copy_function(kiln__source_function *out, kiln__arena *arena,
                          const kiln__source_function *from)
{
    kiln__source_value *parameters = kiln__arena_allocate_array(
        arena, from->parameter_count + 1, sizeof *parameters);

    *out = *from;
    out->name = kiln__arena_text(arena, from->name);
    copy_value(&out->result, arena, &from->result);
    for (size_t i = 0; parameters != NULL && i < from->parameter_count; i++)
        copy_value(&parameters[i], arena, &from->parameters[i]);
    out->parameters = parameters;
    out->bitcode = kiln__arena_copy(arena, from->bitcode, from->bitcode_size);
    out->needs = kiln__arena_copy(arena, from->needs,
                                  from->need_count * sizeof *from->needs);
}

kiln_status kiln__cl_unit_make(kiln__cl_unit **out, const kiln_alloc *alloc,
                               const kiln__source_result *result)
{
    kiln__cl_unit *unit = allocate(alloc);
    kiln_status status = KILN_ENOMEM;

    if (unit == NULL)
        return KILN_ENOMEM;
    unit->functions = kiln__arena_allocate_array(
        &unit->arena, result->function_count + 1, sizeof *unit->functions);
    unit->declared = kiln__arena_allocate_array(
        &unit->arena, result->declaration_count + 1, sizeof *unit->declared);
    if (!unit->arena.failed) {
        unit->count = result->function_count;
        unit->declared_count = result->declaration_count;
        for (size_t i = 0; i < unit->count; i++)
            copy_function(&unit->functions[i], &unit->arena,
                          &result->functions[i]);
        for (size_t i = 0; i < unit->declared_count; i++)
            copy_function(&unit->declared[i], &unit->arena,
                          &result->declarations[i]);
        status = finish(unit);
    }
    if (status == KILN_OK)
        *out = unit;
    else
        kiln__cl_unit_free(unit);
    return status;
}

size_t kiln__cl_unit_kernel(const kiln__cl_unit *unit, const char *name)
{
    size_t i = 0;

    while (i < unit->count && (!unit->functions[i].is_kernel ||
                               strcmp(unit->functions[i].name, name) != 0))
        i++;
    return i;
}

/* ---- in the stores ---- */

/* Changes with the form of the meta. */
#define UNIT "unit 2"

typedef struct reading {
    kiln__cl *cl;
    kiln__cl_unit *unit;
} reading;

/* KILN_ENOTFOUND: it is of another compiler, or not well-formed. */
static kiln_status read_unit(const kiln__entry *entry, void *env)
{
    reading *r = env;
    kiln_status status = KILN_ENOTFOUND;
    decoding d;

    r->unit = allocate(r->cl->alloc);
    if (r->unit == NULL)
        return KILN_ENOMEM;
    d.arena = &r->unit->arena;
    kiln__reader_init(&d.reader, entry->meta, entry->meta_size);
    if (kiln__cl_meta_read(&d.reader, r->cl) && decode(r->unit, &d, entry))
        status = finish(r->unit);
    if (d.arena->failed)
        status = KILN_ENOMEM;
    if (status != KILN_OK)
        kiln__cl_unit_free(r->unit);
    return status;
}

kiln_status kiln__cl_unit_find(kiln__cl_unit **out, kiln__cl *cl,
                               kiln_digest tokens)
{
    reading r = {.cl = cl};

    KILN_TRY(kiln__cl_get(cl, UNIT, tokens, read_unit, &r));
    *out = r.unit;
    return KILN_OK;
}

static void encode_unit(kiln__encoder *meta, kiln__text *modules,
                        const kiln__cl_unit *unit)
{
    kiln__encode_u64(meta, unit->declared_count);
    for (size_t i = 0; i < unit->declared_count; i++)
        encode_function(meta, &unit->declared[i]);
    kiln__encode_u64(meta, unit->count);
    for (size_t i = 0; i < unit->count; i++) {
        const kiln__source_function *function = &unit->functions[i];

        encode_function(meta, function);
        kiln__encode_u64(meta, function->bitcode_size);
        kiln__text_add_n(modules, function->bitcode, function->bitcode_size);
    }
}

void kiln__cl_unit_keep(kiln__cl *cl, const kiln__cl_unit *unit,
                        kiln_digest tokens, uint64_t make_ns)
{
    kiln__entry entry = {.build_ns = make_ns};
    kiln__encoder meta;
    kiln__text modules;

    kiln__text_init(&modules, cl->alloc);
    kiln__cl_meta_begin(&meta, cl);
    encode_unit(&meta, &modules, unit);
    entry.meta = meta.bytes;
    entry.meta_size = meta.size;
    entry.payload = modules.bytes;
    entry.payload_size = modules.size;
    if (!meta.failed && !modules.failed)
        kiln__cl_put(cl, UNIT, tokens, &entry);
    kiln__encoder_dispose(&meta);
    kiln__text_dispose(&modules);
}
