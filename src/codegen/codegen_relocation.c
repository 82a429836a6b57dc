/* codegen_relocation.c - whether an optimised module holds an address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_parts.h"
#include "kiln/kernel.h"

/*
 * An address of this process can be in a module only as a number: an integer
 * that becomes a pointer (inttoptr, an offset from null), be it at once, after
 * some arithmetic, or after it was kept in a constant. What is below the
 * lowest address that a system maps is no address. When in doubt, or when the
 * search grows beyond its budget, the answer is SESSION: such an artifact is
 * right, but stays in the process.
 */

#define LOWEST_ADDRESS 65536 /* Linux maps nothing below it */
#define DEPTH_MAX 12
#define BUDGET 200000 /* values looked at */

typedef struct search {
    unsigned budget;
} search;

static int may_be_address(search *s, LLVMValueRef integer, unsigned depth);

static int any_operand(search *s, LLVMValueRef value, unsigned depth)
{
    const int count = LLVMGetNumOperands(value);

    for (int i = 0; i < count; i++)
        if (may_be_address(s, LLVMGetOperand(value, (unsigned)i), depth))
            return 1;
    return 0;
}

static int any_incoming(search *s, LLVMValueRef phi, unsigned depth)
{
    const unsigned count = LLVMCountIncoming(phi);

    for (unsigned i = 0; i < count; i++)
        if (may_be_address(s, LLVMGetIncomingValue(phi, i), depth))
            return 1;
    return 0;
}

static int is_large(LLVMValueRef integer)
{
    long long value;

    if (LLVMGetIntTypeWidth(LLVMTypeOf(integer)) > 64)
        return 1;
    value = LLVMConstIntGetSExtValue(integer);
    return value >= LOWEST_ADDRESS || value <= -LOWEST_ADDRESS;
}

/* Whatever a pointer leads to is decided where the pointer is made. */
static int operation_hides_address(search *s, LLVMValueRef value,
                                   LLVMOpcode opcode, unsigned depth)
{
    switch ((int)opcode) {
    case LLVMPtrToInt:
    case LLVMCall: /* of a function, which is looked at by itself */
        return 0;
    case LLVMLoad: /* the table of a constant may hold numbers */
        value = LLVMGetOperand(value, 0);
        while (LLVMIsAGetElementPtrInst(value))
            value = LLVMGetOperand(value, 0);
        return LLVMIsAConstant(value) != NULL;
    case LLVMPHI:
        return any_incoming(s, value, depth);
    default:
        return any_operand(s, value, depth);
    }
}

static int may_be_address(search *s, LLVMValueRef integer, unsigned depth)
{
    if (s->budget == 0 || depth > DEPTH_MAX)
        return 1;
    s->budget--;
    if (LLVMIsAConstantInt(integer))
        return is_large(integer);
    if (LLVMIsAConstantExpr(integer))
        return operation_hides_address(s, integer, LLVMGetConstOpcode(integer),
                                       depth + 1);
    if (LLVMIsAInstruction(integer))
        return operation_hides_address(
            s, integer, LLVMGetInstructionOpcode(integer), depth + 1);
    if (LLVMIsAConstantDataSequential(integer) ||
        LLVMIsAConstantAggregateZero(integer) ||
        LLVMIsAConstantVector(integer) || LLVMIsAConstantFP(integer))
        return !LLVMIsNull(integer);
    return 0; /* a parameter, undefined, a global's name */
}

/* An instruction or constant expression that may make a pointer of numbers. */
static int makes_address(search *s, LLVMValueRef value, LLVMOpcode opcode)
{
    LLVMValueRef base;

    if (opcode == LLVMIntToPtr)
        return may_be_address(s, LLVMGetOperand(value, 0), 0);
    if (opcode != LLVMGetElementPtr)
        return 0;
    base = LLVMGetOperand(value, 0);
    return LLVMIsNull(base) && any_operand(s, value, 0);
}

static int holds_address(search *s, LLVMValueRef constant, unsigned depth)
{
    const int count = LLVMGetNumOperands(constant);

    if (s->budget == 0 || depth > 64)
        return 1;
    s->budget--;
    if (LLVMIsAGlobalValue(constant) || LLVMIsAConstantInt(constant))
        return 0;
    if (LLVMIsAConstantExpr(constant) &&
        makes_address(s, constant, LLVMGetConstOpcode(constant)))
        return 1;
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(constant, (unsigned)i);

        if (operand != NULL && LLVMIsAConstant(operand) &&
            holds_address(s, operand, depth + 1))
            return 1;
    }
    return 0;
}

static int instruction_holds_address(search *s, LLVMValueRef instruction)
{
    const int count = LLVMGetNumOperands(instruction);

    if (makes_address(s, instruction, LLVMGetInstructionOpcode(instruction)))
        return 1;
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);

        if (operand != NULL && LLVMIsAConstant(operand) &&
            holds_address(s, operand, 0))
            return 1;
    }
    return 0;
}

static int function_holds_address(search *s, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef instruction;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction))
            if (instruction_holds_address(s, instruction))
                return 1;
    return 0;
}

static int module_holds_address(search *s, LLVMModuleRef module)
{
    LLVMValueRef value;

    for (value = LLVMGetFirstGlobal(module); value != NULL;
         value = LLVMGetNextGlobal(value)) {
        LLVMValueRef initial = LLVMGetInitializer(value);

        if (initial == NULL || holds_address(s, initial, 0))
            return 1;
    }
    for (value = LLVMGetFirstFunction(module); value != NULL;
         value = LLVMGetNextFunction(value))
        if (function_holds_address(s, value))
            return 1;
    return 0;
}

int32_t kiln__relocation_class(const kiln__codegen_job *job)
{
    search s = {BUDGET};

    if (module_holds_address(&s, job->module) ||
        (job->checked_module != NULL &&
         module_holds_address(&s, job->checked_module)))
        return KILN_RELOCATION_SESSION;
    return KILN_RELOCATION_PORTABLE;
}
