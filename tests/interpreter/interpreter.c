/* interpreter.c - interprets a kernel with all that it calls, and its
   launches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "interpreter.h"

#include <stdlib.h>

#include "base/data/memory.h"
#include "machine.h"

/* ---- the call closure ---- */

static size_t index_of(const interpreter *in, const kiln_code *code)
{
    size_t i = 0;

    while (i < in->function_count && in->codes[i] != code)
        i++;
    return i;
}

static size_t add_code(interpreter *in, const kiln_code *code)
{
    const size_t index = index_of(in, code);

    if (index < in->function_count)
        return index;
    in->codes = realloc(in->codes, (index + 1) * sizeof *in->codes);
    in->functions = realloc(in->functions, (index + 1) * sizeof *in->functions);
    if (in->codes == NULL || in->functions == NULL)
        abort();
    in->codes[index] = code;
    in->functions[index] = (function){0};
    in->function_count++;
    return index;
}

/* Decodes function `index` and lists what it calls. */
static int read_code(interpreter *in, size_t index)
{
    const kiln_code *code = in->codes[index], *callee;
    size_t *callees = NULL;
    size_t size, count = 0;
    const void *bytes = kiln_code_ir(code, &size);
    kiln__ir ir;

    if (kiln__ir_decode(&ir, &kiln__malloc, bytes, size, NULL) != KILN_OK)
        return 0;
    callees = machine_allocate(ir.callees.count, sizeof *callees);
    while (count < ir.callees.count &&
           (callee = kiln_code_callee(code, count)) != NULL)
        callees[count++] = add_code(in, callee);
    in->functions[index].ir = ir;
    in->functions[index].callees = callees;
    machine_translate(&in->functions[index]);
    return count == ir.callees.count;
}

interpreter *interpreter_new(const kiln_code *root)
{
    interpreter *in = machine_allocate(1, sizeof *in);

    (void)add_code(in, root);
    for (size_t i = 0; i < in->function_count; i++)
        if (!read_code(in, i)) {
            in->function_count = i + (in->functions[i].callees != NULL);
            interpreter_free(in);
            return NULL;
        }
    return in;
}

void interpreter_free(interpreter *in)
{
    if (in == NULL)
        return;
    for (size_t i = 0; i < in->function_count; i++)
        machine_dispose(&in->functions[i]);
    for (size_t i = 0; i < in->item_capacity; i++) {
        free(in->items[i].cells);
        free(in->items[i].frames);
    }
    for (size_t i = 0; i < in->shared_count; i++)
        free(in->shared[i].bytes);
    free(in->exceptions);
    free(in->functions);
    free(in->codes);
    free(in->items);
    free(in->shared);
    free(in);
}

/* ---- launches ---- */

void interpreter_run(interpreter *in, const interpreter_launch *launch,
                     interpreter_result *out)
{
    uint64_t count[3];

    for (int d = 0; d < 3; d++)
        count[d] = (launch->grid[d] - 1) / launch->block[d] + 1;
    *out = (interpreter_result){.exceptions = in->exceptions};
    in->launch = launch;
    in->result = out;
    in->steps_left = launch->steps;
    for (in->group_id[2] = 0; in->group_id[2] < count[2]; in->group_id[2]++)
        for (in->group_id[1] = 0; in->group_id[1] < count[1]; in->group_id[1]++)
            for (in->group_id[0] = 0;
                 in->group_id[0] < count[0] && out->ending == INTERPRETER_DONE;
                 in->group_id[0]++)
                machine_run_group(in);
    in->exceptions = out->exceptions;
}
