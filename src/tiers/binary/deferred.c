/* deferred.c - encodes and decodes what an artifact deferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/binary/deferred.h"

#include <stdio.h>
#include <string.h>

#include "codegen_client/wire_settings.h"
#include "tiers/frontends.h"

void kiln__deferred_encode(kiln__encoder *out, const kiln__deferred *deferred)
{
    kiln__encode_u64(out, deferred->is_image != 0);
    kiln__encode_u64(out, deferred->stack_bytes);
    kiln__encode_u64(out, deferred->unproved);
    kiln__wire_put_settings(out, deferred->settings);
    kiln__wire_put_checks(out, deferred->checks, deferred->check_count);
    kiln__encode_bytes(out, deferred->code, deferred->code_size);
}

kiln_status kiln__deferred_read(kiln__deferred *out, kiln__arena *arena,
                                const kiln_artifact *artifact)
{
    kiln__span_of_bytes code;
    kiln__wire_reading r;

    *out = (kiln__deferred){0};
    kiln__wire_begin(&r, arena, artifact->deferred, artifact->deferred_size);
    out->is_image = kiln__wire_get_at_most(&r, 1) != 0;
    out->stack_bytes = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->unproved = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->settings = kiln__wire_get_settings(&r);
    out->checks = kiln__wire_get_checks(&r, &out->check_count);
    code = kiln__read_bytes(&r.reader);
    out->code = code.data;
    out->code_size = code.size;
    r.reader.failed |= code.size == 0 || out->unproved > out->check_count;
    return kiln__wire_end(&r);
}

/* Says what does not hold, where `place` is known. */
static void describe(char *out, size_t size, const kiln__codegen_check *check,
                     const kiln_location *place)
{
    const int length = (int)strcspn(check->method, "#");
    char where[512] = "";

    if (place->file != NULL)
        (void)snprintf(where, sizeof where, "%s:%u:%u: ", place->file,
                       (unsigned)place->line, (unsigned)place->column);
    if (check->is_apart)
        (void)snprintf(out, size,
                       "%sthe array that this loop of %.*s writes overlaps "
                       "another one",
                       where, length, check->method);
    else
        (void)snprintf(out, size,
                       "%s%s check in %.*s cannot be proved for all items of a "
                       "group",
                       where, place->file != NULL ? "this" : "a", length,
                       check->method);
}

void kiln__deferred_reason(char *out, size_t size,
                           const kiln__deferred *deferred, uint32_t unproved,
                           const kiln_frontend *frontend)
{
    const kiln__codegen_check *check;
    kiln_location place = {0};

    (void)snprintf(out, size, "a check cannot be proved");
    if (unproved == 0 || unproved > deferred->check_count)
        return;
    check = &deferred->checks[unproved - 1];
    if (check->method[0] == '\0' || check->method[0] == '#') {
        (void)snprintf(out, size, "an id or a size of an array is beyond 2^40");
        return;
    }
    if (frontend != NULL)
        kiln__frontends_locate(&place, frontend, check->method,
                               (uint32_t)check->ordinal);
    describe(out, size, check, &place);
}

int kiln__deferred_is_open(const kiln_artifact *artifact)
{
    kiln__reader reader;

    if (artifact->deferred_size == 0)
        return 0;
    kiln__reader_init(&reader, artifact->deferred, artifact->deferred_size);
    return kiln__read_u64(&reader) == 0 && !reader.failed;
}
