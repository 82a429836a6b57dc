/* build_math.c - lists the library's mathematical functions that a kernel
   calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/settings.h"
#include "context/targets/target_traits.h"
#include "frontend/external_ir.h"
#include "ir/ir.h"
#include "ir/ir_math_names.h"
#include "ir/ir_tables.h"
#include "pipeline/build.h"
#include "pipeline/math_library.h"
#include "tiers/typed/code_instance.h"

/*
 * They are found in typed IR, in the form in which lowering declares them: an
 * f16 is computed in f32, a vector element by element.
 */

typedef struct planning {
    kiln__build *build;
    const struct kiln__library *library;
    int names;
    /* By operation, then for f32 and f64. */
    unsigned char seen[KILN__MATH_COUNT][2];
    size_t count;
} planning;

/* The names by which lowering looks for the node's function. */
static int names_of(const planning *p, const kiln__ir_node *node)
{
    const int contracts = (node->flags & KILN__IR_CONTRACT_ON) != 0 ||
                          ((node->flags & KILN__IR_CONTRACT_OFF) == 0 &&
                           p->build->config->contract == KILN_SWITCH_ON);

    return contracts ? p->names : kiln__strict_math_names(p->names);
}

static void note(planning *p, const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t kind =
        kiln__ir_lane_kind(ir, kiln__ir_operand_at(ir, node, 0)->type);
    const int is_f64 = kind == KILN_TYPE_F64;
    char name[KILN__MATH_NAME_SIZE];

    if (!kiln__kind_is_float(kind) || p->seen[node->imm][is_f64] ||
        kiln__device_math_name(name, names_of(p, node), (uint32_t)node->imm,
                               is_f64 ? KILN_TYPE_F64 : KILN_TYPE_F32) !=
            KILN__FROM_LIBRARY)
        return;
    p->seen[node->imm][is_f64] = 1;
    p->count++;
}

static kiln_status look_at(planning *p, const kiln_code *code)
{
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_status status;
    kiln__ir ir;

    if (kiln__code_is_external(code)) /* the code generator finds out */
        return KILN_OK;
    status = kiln__ir_decode(&ir, &p->build->context->alloc, bytes, size, NULL);
    if (status != KILN_OK) /* lowering reports what is wrong */
        return status == KILN_ENOMEM ? status : KILN_OK;
    for (size_t i = 1; i < ir.nodes.count; i++)
        if (ir.nodes.items[i].op == KILN__IR_MATH)
            note(p, &ir, &ir.nodes.items[i]);
    kiln__ir_dispose(&ir);
    return KILN_OK;
}

static kiln_status list(kiln__library_use **out, const planning *p)
{
    kiln__arena *arena = &p->build->arena;
    kiln__library_use *uses =
        kiln__arena_allocate_array(arena, p->count, sizeof *uses);
    size_t used = 0;

    for (uint32_t i = 0; uses != NULL && i < KILN__MATH_COUNT; i++)
        for (int is_f64 = 0; is_f64 < 2; is_f64++) {
            char name[KILN__MATH_NAME_SIZE];

            if (!p->seen[i][is_f64])
                continue;
            (void)kiln__device_math_name(
                name, kiln__strict_math_names(p->names), i,
                is_f64 ? KILN_TYPE_F64 : KILN_TYPE_F32);
            uses[used].library = p->library;
            uses[used++].symbol = kiln__arena_text(arena, name);
        }
    *out = uses;
    return arena->failed ? KILN_ENOMEM : KILN_OK;
}

kiln_status kiln__build_plan_math(const kiln__library_use **out, size_t *count,
                                  kiln__build *build, kiln_error **error)
{
    const kiln_config *config = build->config;
    const kiln__math_source source = kiln__target_math(config);
    planning p = {
        .build = build,
        .names = source.names,
    };
    kiln__library_use *uses = NULL;

    *count = 0;
    if (!source.links)
        return KILN_OK;
    for (size_t i = 0; i < build->closure_count; i++)
        if (look_at(&p, build->closure[i]) != KILN_OK)
            return kiln__error_no_memory(error);
    if (p.count == 0)
        return KILN_OK;
    KILN_TRY(kiln__math_library(&p.library, build->context, config, error));
    if (list(&uses, &p) != KILN_OK)
        return kiln__error_no_memory(error);
    build->libraries[KILN__LIBRARY_MATH] = p.library;
    *out = uses;
    *count = p.count;
    return KILN_OK;
}
