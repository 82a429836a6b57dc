/* build_gather.c - makes the code generator's form of a call closure. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "base/data/map.h"
#include "base/error.h"
#include "context/keys/settings.h"
#include "ir/ir.h"
#include "pipeline/build.h"
#include "pipeline/debug_lines.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

const char *kiln__build_symbol(kiln__arena *arena, const char *prefix,
                               const char *name, const char *suffix)
{
    char clean[97];
    size_t size = 0;

    /* No assembler takes a symbol that begins with a digit. */
    if (*prefix == '\0' && *name >= '0' && *name <= '9')
        clean[size++] = '_';
    for (; *name && *name != '(' && size < sizeof clean - 1; name++) {
        int keep = (*name >= 'a' && *name <= 'z') ||
                   (*name >= 'A' && *name <= 'Z') ||
                   (*name >= '0' && *name <= '9');

        if (keep || (size && clean[size - 1] != '_'))
            clean[size++] = keep ? *name : '_';
    }
    clean[size] = '\0';
    return kiln__arena_format(arena, "%s%s%s", prefix, clean, suffix);
}

const char *kiln__build_name(kiln__arena *arena, const kiln_code *code)
{
    const char *name = NULL;
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);

    if (kiln__code_frontend(code)->ops.lower == NULL)
        name = kiln__ir_name(arena, bytes, size);
    return name != NULL ? name : kiln_code_name(code);
}

/* The functions of a closure that is being converted; `places` finds them by
   their code instances. */
typedef struct gathering {
    kiln__build *build;
    kiln__codegen_function *functions;
    kiln__map places;
    int with_lines;
} gathering;

static kiln_status add_callees(const gathering *g,
                               kiln__codegen_function *function,
                               const kiln_code *code)
{
    size_t count;
    const kiln_code *const *callees = kiln__code_callees(code, &count);
    uint32_t *indices = kiln__arena_allocate_array(&g->build->arena, count + 1,
                                                   sizeof *indices);

    if (indices == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const kiln__codegen_function *callee =
            kiln__map_get(&g->places, kiln__code_key(callees[i]));

        /* A function that is left out has callees that are not listed. */
        indices[i] =
            callee != NULL ? (uint32_t)(callee - g->functions) : UINT32_MAX;
    }
    function->callees = indices;
    function->callee_count = count;
    return KILN_OK;
}

static kiln_status add_function(gathering *g, size_t index,
                                const kiln_code *code)
{
    kiln__codegen_function *function = &g->functions[index];
    const kiln__build_input *supply = kiln__build_supply_of(g->build, code);
    char prefix[24];

    snprintf(prefix, sizeof prefix, "f%zu_", index);
    function->ir = kiln_code_ir(code, &function->ir_size);
    function->symbol = kiln__build_symbol(
        &g->build->arena, prefix, kiln__build_name(&g->build->arena, code), "");
    function->runtime = supply != NULL ? supply->symbol : NULL;
    if (g->with_lines)
        KILN_TRY(kiln__debug_lines(function, &g->build->arena, code));
    if (function->symbol == NULL ||
        !kiln__map_set(&g->places, kiln__code_key(code), function))
        return KILN_ENOMEM;
    return KILN_OK;
}

kiln_status kiln__build_gather(kiln__codegen_function **out, kiln__build *build,
                               const kiln_code *const *closure, size_t count,
                               int with_lines)
{
    gathering g = {.build = build,
                   .with_lines = with_lines &&
                                 build->config->debug_level != KILN_DEBUG_NONE};
    kiln_status status = KILN_OK;

    g.functions =
        kiln__arena_allocate_array(&build->arena, count, sizeof *g.functions);
    if (g.functions == NULL)
        return KILN_ENOMEM;
    kiln__map_init(&g.places, &build->context->alloc);
    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = add_function(&g, i, closure[i]);
    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = add_callees(&g, &g.functions[i], closure[i]);
    kiln__map_dispose(&g.places);
    *out = g.functions;
    return status;
}
