/* neutral_relative.c - tables of distances between addresses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * For processors, LLVM makes of a table of addresses one of their distances
 * from the table, and llvm.load.relative(table, offset) gives the address. A
 * target whose initialisers cannot compute with addresses has no such tables.
 * There the address is chosen by comparing the offset.
 */

static const char prefix[] = "llvm.load.relative.";

/* Addresses that one load may choose from: each is a comparison. */
#define CHOICES_MAX 256u

#define DISTANCE_BYTES 4u

static LLVMValueRef operand_of(LLVMValueRef constant, LLVMOpcode opcode,
                               unsigned at)
{
    return constant != NULL && LLVMIsAConstantExpr(constant) != NULL &&
                   LLVMGetConstOpcode(constant) == opcode
               ? LLVMGetOperand(constant, at)
               : NULL;
}

/* Returns the address whose distance from the table an element is, or NULL. */
static LLVMValueRef address_of(LLVMValueRef table, LLVMValueRef element)
{
    const LLVMValueRef distance = operand_of(element, LLVMTrunc, 0);

    if (operand_of(operand_of(distance, LLVMSub, 1), LLVMPtrToInt, 0) != table)
        return NULL;
    return operand_of(operand_of(distance, LLVMSub, 0), LLVMPtrToInt, 0);
}

/* Returns the number of the table's distances; 0: it is no such table. */
static unsigned count_of(LLVMValueRef table)
{
    LLVMValueRef initial;
    uint64_t count;

    if (LLVMIsAGlobalVariable(table) == NULL || !LLVMIsGlobalConstant(table))
        return 0;
    initial = LLVMGetInitializer(table);
    if (initial == NULL || LLVMIsAConstantArray(initial) == NULL)
        return 0;
    count = LLVMGetArrayLength2(LLVMTypeOf(initial));
    if (count > CHOICES_MAX)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (address_of(table, LLVMGetAggregateElement(initial, i)) == NULL)
            return 0;
    return (unsigned)count;
}

static void choose(const kiln__codegen_job *job, LLVMValueRef call,
                   LLVMValueRef table, unsigned count)
{
    const LLVMValueRef initial = LLVMGetInitializer(table);
    const LLVMValueRef offset = LLVMGetOperand(call, 1);
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef made =
        address_of(table, LLVMGetAggregateElement(initial, count - 1));

    LLVMPositionBuilderBefore(builder, call);
    for (unsigned i = count - 1; i-- > 0;) {
        const LLVMValueRef place =
            LLVMConstInt(LLVMTypeOf(offset), (uint64_t)DISTANCE_BYTES * i, 0);

        made = LLVMBuildSelect(
            builder, LLVMBuildICmp(builder, LLVMIntEQ, offset, place, ""),
            address_of(table, LLVMGetAggregateElement(initial, i)), made, "");
    }
    LLVMDisposeBuilder(builder);
    LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
}

/* True if nothing but the table's own initialiser refers to the constant. */
static int is_of_table(LLVMValueRef table, LLVMValueRef constant)
{
    for (LLVMUseRef use = LLVMGetFirstUse(constant); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (user != table &&
            (LLVMIsAConstant(user) == NULL ||
             LLVMIsAGlobalValue(user) != NULL || !is_of_table(table, user)))
            return 0;
    }
    return 1;
}

static void delete_unused(LLVMValueRef table)
{
    if (!is_of_table(table, table))
        return;
    LLVMReplaceAllUsesWith(table, LLVMGetPoison(LLVMTypeOf(table)));
    LLVMDeleteGlobal(table);
}

static kiln_status replace_call(kiln__codegen_job *job, LLVMValueRef call)
{
    const LLVMValueRef table = LLVMGetOperand(call, 0);
    const unsigned count = count_of(table);

    if (count == 0)
        return kiln__foreign_refuse(
            job, "function",
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)),
            "it reads distances between addresses that are not in a table of "
            "256 at most");
    choose(job, call, table, count);
    delete_unused(table);
    return KILN_OK;
}

kiln_status kiln__neutral_choose_addresses(kiln__codegen_job *job)
{
    LLVMValueRef f, next;
    LLVMUseRef use;
    size_t size;

    if (job->backend->foreign->has_address_numbers)
        return KILN_OK;
    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        if (strncmp(LLVMGetValueName2(f, &size), prefix, sizeof prefix - 1) !=
            0)
            continue;
        while ((use = LLVMGetFirstUse(f)) != NULL)
            KILN_TRY(replace_call(job, LLVMGetUser(use)));
        LLVMDeleteFunction(f);
    }
    return KILN_OK;
}
