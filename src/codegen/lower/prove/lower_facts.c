/* lower_facts.c - what the faster entry of a device's kernel assumes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/facts_abi.h"
#include "base/error.h"
#include "codegen/lower/prove/lower_prove.h"
#include "codegen/module/codegen_stages.h"

/*
 * A launch knows its grid and the sizes of its arrays. A kernel's second entry
 * is for launches that are small, so that indices fit into 32 bits, and in
 * which no check of bounds can fail that depends on ids, sizes and arguments
 * alone. What cannot be told before the launch stays checked.
 *
 * The facts are the proof of lower_prove.h with the whole grid as the tile,
 * and:
 *
 * - ids, and sizes of the grid and of arrays, are at most KILN__SMALL_MOST
 * - no two elements of an array are further apart than KILN__SMALL_EXTENT
 */

/* ---- small arrays ---- */

static LLVMValueRef is_at_most(const kiln__prover *p, LLVMValueRef value,
                               uint64_t most)
{
    return LLVMBuildICmp(p->l->builder, LLVMIntULE, value,
                         kiln__prove_number(p, (int64_t)most), "");
}

/* The product of sizes; each factor is small, and so is the product of those
   before it, or something before has failed already. */
static LLVMValueRef is_small_dense(kiln__prover *p, const LLVMValueRef *sizes,
                                   uint32_t rank, LLVMValueRef all)
{
    LLVMValueRef product = sizes[0];

    for (uint32_t i = 1; i < rank; i++) {
        product = LLVMBuildMul(p->l->builder, product, sizes[i], "");
        all =
            kiln__prove_and(p, all, is_at_most(p, product, KILN__SMALL_EXTENT));
    }
    return all;
}

/* The sum of what each dimension may add or subtract. */
static LLVMValueRef is_small_strided(kiln__prover *p, const LLVMValueRef *sizes,
                                     uint32_t rank, LLVMValueRef all)
{
    const LLVMBuilderRef builder = p->l->builder;
    const LLVMValueRef zero = kiln__prove_number(p, 0);
    LLVMValueRef sum = zero;

    for (uint32_t i = 0; i < rank; i++) {
        const LLVMValueRef stride = sizes[rank + i];
        const LLVMValueRef last = kiln__prove_select(
            p, LLVMBuildICmp(builder, LLVMIntEQ, sizes[i], zero, ""), zero,
            kiln__prove_plus(p, sizes[i], -1));
        const LLVMValueRef step = kiln__prove_select(
            p, LLVMBuildICmp(builder, LLVMIntSLT, stride, zero, ""),
            LLVMBuildSub(builder, zero, stride, ""), stride);
        const LLVMValueRef part = LLVMBuildMul(builder, step, last, "");

        all = kiln__prove_and(p, all, is_at_most(p, step, KILN__SMALL_EXTENT));
        all = kiln__prove_and(p, all, is_at_most(p, part, KILN__SMALL_EXTENT));
        sum = LLVMBuildAdd(builder, sum, part, "");
    }
    return kiln__prove_and(p, all, is_at_most(p, sum, KILN__SMALL_EXTENT));
}

/* The array's words begin at the parameter `at`. */
static LLVMValueRef is_small_array(kiln__prover *p, LLVMValueRef function,
                                   unsigned at,
                                   const kiln__parameter *parameter)
{
    LLVMValueRef sizes[2 * KILN_RANK_MAX];
    LLVMValueRef all = kiln__prove_truth(p, 1);

    for (unsigned i = 0; i + 1 < kiln__lower_flat_count(parameter); i++)
        sizes[i] = LLVMGetParam(function, at + 1 + i);
    for (uint32_t i = 0; i < parameter->rank; i++)
        all =
            kiln__prove_and(p, all, is_at_most(p, sizes[i], KILN__SMALL_MOST));
    return parameter->strided != 0
               ? is_small_strided(p, sizes, parameter->rank, all)
               : is_small_dense(p, sizes, parameter->rank, all);
}

static LLVMValueRef is_small(kiln__prover *p, LLVMValueRef function)
{
    const kiln__codegen_job *job = p->l->job;
    LLVMValueRef all = kiln__prove_truth(p, 1);
    unsigned at = 1;

    for (unsigned d = 0; d < 3; d++)
        all = kiln__prove_and(p, all,
                              is_at_most(p, p->last[d], KILN__SMALL_MOST - 1));
    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *parameter = &job->parameters[i];

        if (parameter->passing == KILN__PARAMETER_ARRAY)
            all = kiln__prove_and(p, all,
                                  is_small_array(p, function, at, parameter));
        at += (unsigned)kiln__lower_flat_count(parameter);
    }
    return all;
}

/* ---- where the numbers come from ---- */

/* Notes the offsets of the entry's flat arguments in the packed block. */
static unsigned find_arguments(const kiln__codegen_job *job,
                               kiln__fact_input *out)
{
    uint64_t offset = 0;
    unsigned at = 1;

    for (size_t i = 0; i < job->parameter_count; i++) {
        const kiln__parameter *parameter = &job->parameters[i];
        const size_t words = kiln__lower_flat_count(parameter);

        if (words == 0)
            continue;
        offset = (offset + parameter->alignment - 1) &
                 ~((uint64_t)parameter->alignment - 1);
        for (size_t w = 0; w < words; w++)
            out[at++].at = (uint32_t)(offset + 8 * w);
        offset += parameter->size;
    }
    return at;
}

/* The function has the first ids replaced by 0, and the last by the sizes of
   the grid less 1. */
static kiln__fact_input *find_inputs(kiln__codegen_job *job,
                                     LLVMValueRef function)
{
    const unsigned count = LLVMCountParams(function);
    kiln__fact_input *inputs =
        kiln__arena_allocate_array(&job->arena, count, sizeof *inputs);
    unsigned at;

    if (inputs == NULL)
        return NULL;
    at = find_arguments(job, inputs);
    for (unsigned i = 3; i < 12; i++)
        inputs[at + i] = (kiln__fact_input){1, i - 3};
    return inputs;
}

/* ---- the facts ---- */

/* Builds the function's numbers for a grid: its ids begin at 0. The parameters
   of the last ids are sizes of the grid. */
static void begin_grid(kiln__prover *p)
{
    for (unsigned d = 0; d < 3; d++) {
        p->first[d] = kiln__prove_number(p, 0);
        p->last[d] = kiln__prove_plus(p, p->last[d], -1);
    }
}

static kiln_status attempt(kiln__prover *p)
{
    kiln__codegen_job *job = p->l->job;
    LLVMValueRef function, all;
    kiln__fact_input *inputs;

    p->begin = begin_grid;
    KILN_TRY(kiln__prove_interpret(p, "facts", p->i1, &function));
    if (p->budget < 0 || p->motion_failed) {
        LLVMDeleteFunction(function);
        return KILN_OK;
    }
    all = kiln__prove_and(p, is_small(p, function), kiln__prove_conclude(p));
    LLVMBuildRet(p->l->builder, all);
    inputs = find_inputs(job, function);
    if (inputs == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return kiln__facts_take(job, function, inputs);
}

kiln_status kiln__lower_facts(kiln__lowering *l)
{
    kiln_status status = KILN_OK;

    for (int assumes_motion = 2; assumes_motion >= 0; assumes_motion--) {
        kiln__prover p = {.l = l,
                          .arena = &l->job->arena,
                          .i1 = LLVMInt1TypeInContext(l->context),
                          .is_grid = 1,
                          .top = KILN__PROVE_HERE,
                          .budget = KILN__PROVE_STEPS_MAX,
                          .size_most = (int64_t)KILN__SMALL_MOST,
                          .assumes_motion = assumes_motion,
                          .refines = 1};

        status = attempt(&p);
        if (status != KILN_OK || !p.motion_failed)
            break;
    }
    return status;
}
