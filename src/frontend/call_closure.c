/* call_closure.c - the typed IR of everything that a kernel calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/call_closure.h"

#include "base/error.h"
#include "frontend/external_ir.h"
#include "frontend/language.h"
#include "ir/ir_tables.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/*
 * The code instances of the closure are decoded once, and each becomes a
 * kiln__uniform_function whose callees are indices in the same array. The
 * checks before compilation (collective_report.c, target_report.c) walk that
 * array and ask kiln__closure_find() where in a text a node comes from.
 */

static size_t index_of(const kiln__closure *c, const kiln_code *code)
{
    size_t i = 0;

    while (i < c->count && !kiln__codes_are_one(c->codes[i], code))
        i++;
    return i;
}

static kiln_status connect(kiln__closure *c, size_t index)
{
    size_t count;
    const kiln_code *const *callees =
        kiln__code_callees(c->codes[index], &count);
    uint32_t *indices =
        kiln__arena_allocate_array(&c->arena, count + 1, sizeof *indices);

    if (indices == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        indices[i] = (uint32_t)index_of(c, callees[i]);
    c->functions[index] = (kiln__uniform_function){
        .ir = &c->irs[index], .callees = indices, .callee_count = count};
    return KILN_OK;
}

kiln_status kiln__closure_read(kiln__closure *c, const kiln_code *root,
                               const kiln_alloc *alloc, kiln_error **error)
{
    *c = (kiln__closure){.alloc = alloc};
    kiln__arena_init(&c->arena, alloc);
    if (kiln__code_closure(&c->codes, &c->count, root) != KILN_OK)
        return kiln__error_no_memory(error);
    c->irs = kiln__arena_allocate_array(&c->arena, c->count, sizeof *c->irs);
    c->functions =
        kiln__arena_allocate_array(&c->arena, c->count, sizeof *c->functions);
    if (c->irs == NULL || c->functions == NULL)
        return kiln__error_no_memory(error);
    for (; c->decoded < c->count; c->decoded++)
        KILN_TRY(kiln__code_read_ir(&c->irs[c->decoded], c->alloc,
                                    c->codes[c->decoded], error));
    for (size_t i = 0; i < c->count; i++)
        if (connect(c, i) != KILN_OK)
            return kiln__error_no_memory(error);
    return KILN_OK;
}

void kiln__closure_dispose(kiln__closure *c)
{
    for (size_t i = 0; i < c->decoded; i++)
        kiln__ir_dispose(&c->irs[i]);
    kiln__deallocate(c->alloc, c->codes, c->count * sizeof *c->codes);
    kiln__arena_dispose(&c->arena);
}

void kiln__closure_find(const kiln__closure *c, size_t function, uint32_t node,
                        kiln__closure_place *out)
{
    const kiln__ir *ir = c->functions[function].ir;
    const uint32_t ordinal =
        node == 0 ? 0 : kiln__ir_node_at(ir, node)->ordinal;

    *out = (kiln__closure_place){.source = NULL};
    if (kiln__language_span(kiln__code_frontend(c->codes[function]), ir->method,
                            ordinal, &out->source, &out->span))
        kiln__source_locate(out->source, out->span, &out->location);
}
