/* codegen_relocation.c - whether an optimised module holds an address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <string.h>

#include "codegen_parts.h"

/*
 * An address of this process can be in a module only as a number: an integer
 * that becomes a pointer (inttoptr, an offset from null), be it at once, after
 * some arithmetic, or after it was kept in a constant or, where optimisation
 * did not see through it, in a variable, an argument or a result. What is below
 * the lowest address that a system maps is no address. When in doubt, or when
 * the search grows beyond its budget, the answer is SESSION: such an artifact
 * is right, but stays in the process.
 *
 * What comes from outside, in the memory of the kernel's arguments or of a host
 * object, is nobody's constant. What the module keeps in memory of its own is
 * followed in one step only: if any number that may be an address is kept
 * anywhere, then whatever is read from such memory may be one. Kiln's own
 * lowering keeps none.
 */

#define LOWEST_ADDRESS 65536 /* Linux maps nothing below it */
#define DEPTH_MAX 12
#define BUDGET 200000 /* values looked at */

typedef struct search {
    unsigned budget;
    const kiln__codegen_job *job;
    enum { UNKNOWN, NONE, SOME } kept; /* numbers in memory, calls, results */
} search;

static int may_be_address(search *s, LLVMValueRef number, unsigned depth);
static int keeps_numbers(search *s);

/* False when the search is over. */
static int go_on(search *s, unsigned depth)
{
    if (s->budget == 0 || depth > DEPTH_MAX)
        return 0;
    s->budget--;
    return 1;
}

static int any_operand(search *s, LLVMValueRef value, unsigned depth)
{
    const int count = LLVMGetNumOperands(value);

    for (int i = 0; i < count; i++)
        if (may_be_address(s, LLVMGetOperand(value, (unsigned)i), depth))
            return 1;
    return 0;
}

/* ---- constants ---- */

static int is_large(LLVMValueRef integer)
{
    long long value;

    if (LLVMGetIntTypeWidth(LLVMTypeOf(integer)) > 64)
        return !LLVMIsNull(integer);
    value = LLVMConstIntGetSExtValue(integer);
    return value >= LOWEST_ADDRESS || value <= -LOWEST_ADDRESS;
}

/* A pointer that was put into the bits of a double: what is left is no number
   that anybody computes with. */
static int is_boxed(LLVMValueRef real)
{
    LLVMBool loses;
    uint64_t bits;
    double value;

    if (LLVMGetTypeKind(LLVMTypeOf(real)) != LLVMDoubleTypeKind)
        return 0;
    value = LLVMConstRealGetDouble(real, &loses);
    memcpy(&bits, &value, sizeof bits);
    return fpclassify(value) == FP_SUBNORMAL ||
           (isnan(value) && (bits & 0x7ffffffffffffu) != 0);
}

/* The elements of a constant array or vector, or the type itself. */
static LLVMTypeRef element_type(LLVMTypeRef type)
{
    while (LLVMGetTypeKind(type) == LLVMVectorTypeKind ||
           LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        type = LLVMGetElementType(type);
    return type;
}

/* Wide enough for an address. */
static int is_wide(LLVMTypeRef type)
{
    type = element_type(type);
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) >= 64;
    case LLVMDoubleTypeKind:
    case LLVMStructTypeKind:
        return 1;
    default:
        return 0;
    }
}

static int has_number(search *s, LLVMValueRef constant, int any,
                      unsigned depth);

static int element_is_number(search *s, LLVMValueRef constant, unsigned depth)
{
    LLVMTypeRef type = LLVMTypeOf(constant);
    const uint64_t size = LLVMGetTypeKind(type) == LLVMArrayTypeKind
                              ? LLVMGetArrayLength2(type)
                              : LLVMGetVectorSize(type);

    for (uint64_t i = 0; i < size && is_wide(type); i++)
        if (has_number(s, LLVMGetAggregateElement(constant, (unsigned)i), 0,
                       depth + 1))
            return 1;
    return 0;
}

/* Whether a constant has a number that may be an address. `any`: every number
   that is not 0 counts, since it may be a part of one. */
static int has_number(search *s, LLVMValueRef constant, int any, unsigned depth)
{
    const int count = LLVMGetNumOperands(constant);

    if (!go_on(s, depth))
        return 1;
    if (LLVMIsAGlobalValue(constant) || LLVMIsNull(constant))
        return 0;
    if (LLVMIsAConstantInt(constant))
        return any || (is_wide(LLVMTypeOf(constant)) && is_large(constant));
    if (LLVMIsAConstantFP(constant))
        return any || is_boxed(constant);
    if (LLVMIsAConstantDataSequential(constant))
        return any || element_is_number(s, constant, depth);
    for (int i = 0; i < count; i++)
        if (has_number(s, LLVMGetOperand(constant, (unsigned)i), any,
                       depth + 1))
            return 1;
    return 0;
}

/* ---- memory ---- */

static int is_of_kernel(const search *s, LLVMValueRef parameter)
{
    size_t size;
    const char *name = LLVMGetValueName2(LLVMGetParamParent(parameter), &size);

    return strcmp(name, s->job->request->entry) == 0;
}

static int reads_number(search *s, LLVMValueRef pointer, unsigned depth);

/* Whether some caller passes a pointer to such memory. */
static int argument_reads_number(search *s, LLVMValueRef parameter,
                                 unsigned depth)
{
    LLVMValueRef function = LLVMGetParamParent(parameter);
    unsigned index = 0;
    LLVMUseRef use;

    if (is_of_kernel(s, parameter))
        return 0;
    while (LLVMGetParam(function, index) != parameter)
        index++;
    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use), argument;

        if (LLVMIsACallInst(call) == NULL ||
            LLVMGetCalledValue(call) != function ||
            LLVMGetNumArgOperands(call) <= index)
            return keeps_numbers(s);
        argument = LLVMGetOperand(call, index);
        if (argument != parameter && reads_number(s, argument, depth + 1))
            return 1;
    }
    return 0;
}

/* The backend's own variable for the item that runs. */
static int is_item(const search *s, LLVMValueRef made)
{
    return LLVMIsAAllocaInst(made) != NULL &&
           LLVMGetMetadata(made, LLVMGetMDKindIDInContext(
                                     s->job->context, KILN__ITEM_MARK,
                                     sizeof KILN__ITEM_MARK - 1)) != NULL;
}

static int is_variable_with_number(search *s, LLVMValueRef variable)
{
    LLVMValueRef initial = LLVMGetInitializer(variable);

    if (initial == NULL || has_number(s, initial, 1, 0))
        return 1;
    return !LLVMIsGlobalConstant(variable) && keeps_numbers(s);
}

static int reads_number_at(search *s, LLVMValueRef made, LLVMOpcode opcode,
                           unsigned depth)
{
    switch ((int)opcode) {
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
    case LLVMLoad: /* what it leads to came with it */
        return reads_number(s, LLVMGetOperand(made, 0), depth + 1);
    case LLVMSelect:
        return reads_number(s, LLVMGetOperand(made, 1), depth + 1) ||
               reads_number(s, LLVMGetOperand(made, 2), depth + 1);
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(made); i++)
            if (reads_number(s, LLVMGetIncomingValue(made, i), depth + 1))
                return 1;
        return 0;
    case LLVMIntToPtr: /* is looked at where it stands */
        return 0;
    default:
        return !is_item(s, made) && keeps_numbers(s);
    }
}

/* Whether memory at the pointer may hold a number of the module's own. */
static int reads_number(search *s, LLVMValueRef pointer, unsigned depth)
{
    if (!go_on(s, 0) || depth > DEPTH_MAX)
        return keeps_numbers(s);
    if (LLVMIsAGlobalVariable(pointer))
        return is_variable_with_number(s, pointer);
    if (LLVMIsAConstantExpr(pointer))
        return reads_number_at(s, pointer, LLVMGetConstOpcode(pointer), depth);
    if (LLVMIsAConstant(pointer))
        return 0;
    if (LLVMIsAArgument(pointer))
        return argument_reads_number(s, pointer, depth);
    return reads_number_at(s, pointer, LLVMGetInstructionOpcode(pointer),
                           depth);
}

/* Copies of a constant's bytes. */
static int copies_number(search *s, LLVMValueRef call)
{
    LLVMValueRef from;

    if (LLVMGetNumArgOperands(call) != 4)
        return 0;
    from = LLVMGetOperand(call, 1);
    while (LLVMIsAConstantExpr(from) || LLVMIsAGetElementPtrInst(from))
        from = LLVMGetOperand(from, 0);
    return LLVMIsAGlobalVariable(from) != NULL &&
           (LLVMGetInitializer(from) == NULL ||
            has_number(s, LLVMGetInitializer(from), 1, 0));
}

/* Whether the value may carry an address away. A double that is computed is a
   number of the program's. */
static int carries_number(search *s, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    if (!is_wide(type))
        return 0;
    if (LLVMIsAConstant(value) && LLVMIsAConstantExpr(value) == NULL)
        return has_number(s, value, 0, 0);
    return LLVMGetTypeKind(element_type(type)) != LLVMDoubleTypeKind &&
           may_be_address(s, value, 0);
}

static int any_carries_number(search *s, LLVMValueRef user, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (carries_number(s, LLVMGetOperand(user, i)))
            return 1;
    return 0;
}

/* Whether the instruction puts a number where this search loses it. */
static int keeps_number(search *s, LLVMValueRef instruction)
{
    LLVMValueRef callee;

    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMStore:
        return carries_number(s, LLVMGetOperand(instruction, 0));
    case LLVMRet:
    case LLVMInsertValue:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return any_carries_number(s, instruction,
                                  (unsigned)LLVMGetNumOperands(instruction));
    case LLVMCall:
        callee = LLVMGetCalledValue(instruction);
        if (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) != 0)
            return copies_number(s, instruction);
        return any_carries_number(s, instruction,
                                  LLVMGetNumArgOperands(instruction));
    default:
        return 0;
    }
}

/* ---- looking at all of a module ---- */

static int any_instruction(search *s, LLVMModuleRef module,
                           int (*look)(search *s, LLVMValueRef instruction))
{
    LLVMValueRef f, i;
    LLVMBasicBlockRef b;

    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f))
        for (b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (i = LLVMGetFirstInstruction(b); i != NULL;
                 i = LLVMGetNextInstruction(i))
                if (look(s, i))
                    return 1;
    return 0;
}

/* Asked for where a foreign module reads from memory of its own. While the
   answer is looked for it is "none": what is read again was kept before. */
static int keeps_numbers(search *s)
{
    LLVMValueRef v;

    if (s->job->request->module == NULL)
        return 0;
    if (s->kept != UNKNOWN)
        return s->kept == SOME || s->budget == 0;
    s->kept = NONE;
    if (any_instruction(s, s->job->module, keeps_number))
        s->kept = SOME;
    for (v = LLVMGetFirstGlobal(s->job->module); v != NULL;
         v = LLVMGetNextGlobal(v))
        if (LLVMGetInitializer(v) == NULL ||
            has_number(s, LLVMGetInitializer(v), 0, 0))
            s->kept = SOME;
    return s->kept == SOME || s->budget == 0;
}

/* ---- numbers ---- */

static int any_incoming(search *s, LLVMValueRef phi, unsigned depth)
{
    const unsigned count = LLVMCountIncoming(phi);

    for (unsigned i = 0; i < count; i++)
        if (may_be_address(s, LLVMGetIncomingValue(phi, i), depth))
            return 1;
    return 0;
}

/* Whatever a pointer leads to is decided where the pointer is made. */
static int operation_hides_address(search *s, LLVMValueRef value,
                                   LLVMOpcode opcode, unsigned depth)
{
    switch ((int)opcode) {
    case LLVMPtrToInt:
        return 0;
    case LLVMCall:
        return keeps_numbers(s);
    case LLVMLoad:
        return reads_number(s, LLVMGetOperand(value, 0), 0);
    case LLVMPHI:
        return any_incoming(s, value, depth);
    default:
        return any_operand(s, value, depth);
    }
}

static int may_be_address(search *s, LLVMValueRef number, unsigned depth)
{
    if (!go_on(s, depth))
        return 1;
    if (LLVMGetTypeKind(LLVMTypeOf(number)) == LLVMPointerTypeKind)
        return 0; /* it has been made elsewhere */
    if (LLVMIsAConstantInt(number))
        return is_large(number);
    if (LLVMIsAConstantExpr(number))
        return operation_hides_address(s, number, LLVMGetConstOpcode(number),
                                       depth + 1);
    if (LLVMIsAInstruction(number))
        return operation_hides_address(
            s, number, LLVMGetInstructionOpcode(number), depth + 1);
    if (LLVMIsAConstant(number) && !LLVMIsAGlobalValue(number))
        return has_number(s, number, 1, 0);
    if (LLVMIsAArgument(number))
        return !is_of_kernel(s, number) && keeps_numbers(s);
    return 0; /* undefined, a global's name */
}

/* ---- where pointers are made ---- */

/* An offset from null, or from a pointer that is made of a number. */
static int is_offset_from_number(search *s, LLVMValueRef value)
{
    LLVMValueRef base = LLVMGetOperand(value, 0);
    const int count = LLVMGetNumOperands(value);

    if (!LLVMIsNull(base) && LLVMIsAIntToPtrInst(base) == NULL &&
        (LLVMIsAConstantExpr(base) == NULL ||
         LLVMGetConstOpcode(base) != LLVMIntToPtr))
        return 0;
    for (int i = 1; i < count; i++)
        if (may_be_address(s, LLVMGetOperand(value, (unsigned)i), 0))
            return 1;
    return 0;
}

/* An instruction or constant expression that may make a pointer of numbers. */
static int makes_address(search *s, LLVMValueRef value, LLVMOpcode opcode)
{
    if (opcode == LLVMIntToPtr)
        return may_be_address(s, LLVMGetOperand(value, 0), 0);
    if (opcode == LLVMGetElementPtr)
        return is_offset_from_number(s, value);
    return 0;
}

/* Reads a pointer where a number may be kept. */
static int loads_address(search *s, LLVMValueRef instruction)
{
    LLVMTypeRef type = element_type(LLVMTypeOf(instruction));

    if (s->job->request->module == NULL || !LLVMIsALoadInst(instruction) ||
        (LLVMGetTypeKind(type) != LLVMPointerTypeKind &&
         LLVMGetTypeKind(type) != LLVMStructTypeKind))
        return 0;
    return reads_number(s, LLVMGetOperand(instruction, 0), 0);
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

    if (makes_address(s, instruction, LLVMGetInstructionOpcode(instruction)) ||
        loads_address(s, instruction))
        return 1;
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);

        if (operand != NULL && LLVMIsAConstant(operand) &&
            holds_address(s, operand, 0))
            return 1;
    }
    return 0;
}

static int module_holds_address(search *s, LLVMModuleRef module)
{
    LLVMValueRef value;

    for (value = LLVMGetFirstGlobal(module); value != NULL;
         value = LLVMGetNextGlobal(value)) {
        LLVMValueRef initial = LLVMGetInitializer(value);

        if (initial == NULL || LLVMIsThreadLocal(value) ||
            holds_address(s, initial, 0))
            return 1;
    }
    for (value = LLVMGetFirstGlobalAlias(module); value != NULL;
         value = LLVMGetNextGlobalAlias(value))
        if (holds_address(s, LLVMAliasGetAliasee(value), 0))
            return 1;
    return any_instruction(s, module, instruction_holds_address);
}

int32_t kiln__relocation_class(const kiln__codegen_job *job)
{
    search s = {.budget = BUDGET, .job = job};
    const int is_patched = job->settings->sites == KILN_SITES_PATCH;

    /* Code may depend on addresses that are not in it any more. */
    if (job->site_count > 0 && !is_patched)
        return KILN_RELOCATION_SESSION;
    if (module_holds_address(&s, job->module) ||
        (job->checked_module != NULL &&
         module_holds_address(&s, job->checked_module)))
        return KILN_RELOCATION_SESSION;
    return job->site_count > 0 ? KILN_RELOCATION_RELOCATABLE
                               : KILN_RELOCATION_PORTABLE;
}
