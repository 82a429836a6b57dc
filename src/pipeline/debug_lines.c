/* debug_lines.c - source lines of code, for debug levels that need them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/debug_lines.h"

#include <string.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "context/keys/settings.h"
#include "ir/ir.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/* The name without folders, so that the bytes are the same on every machine. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return *path == '/' && slash != NULL ? slash + 1 : path;
}

/* Later expressions get no place, because typed IR from elsewhere may have any
   number of them. */
#define PLACES_MAX (1u << 20)

static uint32_t last_ordinal(const kiln__ir *ir)
{
    uint32_t last = 0;

    for (size_t i = 1; i < ir->nodes.count; i++)
        if (ir->nodes.items[i].ordinal > last)
            last = ir->nodes.items[i].ordinal;
    return last;
}

static void locate(kiln_location *out, const kiln_frontend *frontend,
                   const char *method, uint32_t ordinal)
{
    *out = (kiln_location){0};
    if (frontend->ops.locate(frontend->self, method, ordinal, out) != KILN_OK)
        *out = (kiln_location){0};
}

static kiln_status fill_places(kiln__codegen_function *out, kiln__arena *arena,
                               const kiln_frontend *frontend,
                               const kiln__ir *ir)
{
    const uint32_t last = last_ordinal(ir);
    const size_t count = last < PLACES_MAX ? (size_t)last + 1 : PLACES_MAX;
    kiln__codegen_place *places =
        kiln__arena_allocate_array(arena, count, sizeof *places);
    kiln_location at;

    locate(&at, frontend, ir->method, 0);
    if (at.file == NULL)
        return arena->failed ? KILN_ENOMEM : KILN_OK;
    out->file = kiln__arena_text(arena, name_of(at.file));
    for (size_t i = 0; places != NULL && i < count; i++) {
        locate(&at, frontend, ir->method, (uint32_t)i);
        places[i] = (kiln__codegen_place){at.line, at.column};
    }
    out->places = places;
    out->place_count = count;
    return arena->failed ? KILN_ENOMEM : KILN_OK;
}

kiln_status kiln__debug_lines(kiln__codegen_function *out, kiln__arena *arena,
                              const kiln_code *code)
{
    const kiln_frontend *frontend = kiln__code_frontend(code);
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_status status;
    kiln__ir ir;

    if (frontend->ops.locate == NULL || frontend->ops.lower != NULL ||
        bytes == NULL)
        return KILN_OK;
    status = kiln__ir_decode(&ir, arena->alloc, bytes, size, NULL);
    if (status != KILN_OK) /* lowering reports what is wrong */
        return status == KILN_ENOMEM ? status : KILN_OK;
    status = fill_places(out, arena, frontend, &ir);
    kiln__ir_dispose(&ir);
    return status;
}

/* ---- the digest ---- */

static void encode(kiln__encoder *out, const kiln__codegen_function *lines)
{
    kiln__encode_text(out, lines->file);
    kiln__encode_u64(out, lines->place_count);
    for (size_t i = 0; i < lines->place_count; i++) {
        kiln__encode_u64(out, lines->places[i].line);
        kiln__encode_u64(out, lines->places[i].column);
    }
}

kiln_status kiln__lines_digest(kiln_digest *out, const kiln_code *code,
                               const kiln__codegen_function *functions,
                               size_t count, const kiln_alloc *alloc)
{
    kiln__encoder encoder;
    kiln_status status;

    kiln__encoder_init(&encoder, alloc);
    for (size_t i = 0; i < count; i++)
        encode(&encoder, &functions[i]);
    status = encoder.failed ? KILN_ENOMEM : KILN_OK;
    *out = kiln__digest_combine(kiln_code_digest(code),
                                kiln__encoder_digest(&encoder));
    kiln__encoder_dispose(&encoder);
    return status;
}

static kiln_status find_lines(kiln__codegen_function **out, kiln__arena *arena,
                              const kiln_code *const *closure, size_t count)
{
    kiln_status status = KILN_OK;

    *out = kiln__arena_allocate_array(arena, count, sizeof **out);
    if (*out == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = kiln__debug_lines(&(*out)[i], arena, closure[i]);
    return status;
}

kiln_status kiln__job_digest(kiln_digest *out, const kiln_code *code,
                             const kiln_config *config)
{
    const kiln_alloc *alloc = &config->context->alloc;
    kiln__codegen_function *functions = NULL;
    const kiln_code **closure = NULL;
    size_t count = 0;
    kiln_status status;
    kiln__arena arena;

    *out = kiln_code_digest(code);
    if (config->debug_level == KILN_DEBUG_NONE)
        return KILN_OK;
    KILN_TRY(kiln__code_closure(&closure, &count, code));
    kiln__arena_init(&arena, alloc);
    status = find_lines(&functions, &arena, closure, count);
    if (status == KILN_OK)
        status = kiln__lines_digest(out, code, functions, count, alloc);
    kiln__arena_dispose(&arena);
    kiln__deallocate(alloc, closure, count * sizeof *closure);
    return status;
}
