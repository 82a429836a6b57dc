/* wire_settings.c - encodes and decodes settings of code generation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/wire_settings.h"

#include <stddef.h>

/* A new member must be added here and to this number; the numbers among the
   settings are covered by their map. */
_Static_assert(offsetof(kiln__codegen_settings, opt_level) ==
                   5 * sizeof(void *) + 3 * sizeof(uint32_t),
               "settings");

void kiln__wire_put_settings(kiln__encoder *out,
                             const kiln__codegen_settings *settings)
{
    kiln__encode_text(out, settings->backend);
    kiln__encode_text(out, settings->triple);
    kiln__encode_text(out, settings->processor);
    kiln__encode_text(out, settings->features);
    kiln__encode_text(out, settings->options);
    for (int i = 0; i < 3; i++)
        kiln__encode_u64(out, settings->required_group_size[i]);
#define PUT(type, member, most) kiln__encode_u64(out, settings->member);
    KILN__CODEGEN_NUMBER_MAP(PUT)
#undef PUT
}

const kiln__codegen_settings *kiln__wire_get_settings(kiln__wire_reading *r)
{
    kiln__codegen_settings *out = kiln__arena_allocate(r->arena, sizeof *out);

    if (out == NULL) {
        r->no_memory = 1;
        return NULL;
    }
    out->backend = kiln__wire_get_text(r);
    out->triple = kiln__wire_get_text(r);
    out->processor = kiln__wire_get_text(r);
    out->features = kiln__wire_get_text(r);
    out->options = kiln__wire_get_text_or_none(r);
    if (out->options == NULL)
        out->options = "";
    for (int i = 0; i < 3; i++)
        out->required_group_size[i] =
            (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
#define GET(type, member, most) \
    out->member = (type)kiln__wire_get_at_most(r, most);
    KILN__CODEGEN_NUMBER_MAP(GET)
#undef GET
    return out;
}

void kiln__wire_put_checks(kiln__encoder *out,
                           const kiln__codegen_check *checks, size_t count)
{
    kiln__encode_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        kiln__encode_text(out, checks[i].method);
        kiln__encode_u64(out, checks[i].ordinal);
        kiln__encode_u64(out, checks[i].is_apart != 0);
    }
}

const kiln__codegen_check *kiln__wire_get_checks(kiln__wire_reading *r,
                                                 size_t *count)
{
    kiln__codegen_check *checks = kiln__wire_get_array(
        r, count, KILN__WIRE_FIELD + 2 * KILN__WIRE_NUMBER, sizeof *checks);

    for (size_t i = 0; i < *count; i++) {
        checks[i].method = kiln__wire_get_text(r);
        checks[i].ordinal = kiln__read_u64(&r->reader);
        checks[i].is_apart = kiln__wire_get_at_most(r, 1) != 0;
    }
    return checks;
}
