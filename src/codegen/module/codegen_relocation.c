/* codegen_relocation.c - finds out whether an optimised module holds an
   address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/float_bits.h"
#include "codegen/module/codegen_stages.h"

/*
 * Typed IR has no pointers made of numbers, and its numbers are those of the
 * program's text, which the key has. So only other frontends' modules are
 * searched.
 *
 * Only those addresses of a process count that the frontend wrote into the
 * module. What comes with a launch, in arguments and in the memory that they
 * lead to, is no constant of the code; and pointers to what the module defines
 * are the loader's business. The search looks for two things.
 *
 * First, a number in the ranges where systems put programs, heaps, libraries
 * and stacks is taken for an address wherever the whole of it stands in code or
 * data: stored, compared, passed to a function, in a table, in the bits of a
 * double. Numbers that programs compute with are hardly ever in these ranges.
 *
 * Second, a number that becomes a pointer (inttoptr, an offset from null) is
 * followed back to what it is made of. A sum of constants is an address, unless
 * it is below everything that a system maps. Added to an argument, or to
 * anything else that is known only at a launch, a constant is a distance,
 * unless it is too large for one. Added to an index it is not a distance, since
 * then it is where a table begins.
 *
 * When the search exceeds its budget, the answer is SESSION: such an artifact
 * is correct, but is not stored.
 */

#define LOWEST_ADDRESS UINT64_C(0x10000) /* Linux maps nothing below it */
/* the farthest that a field is from its object */
#define FARTHEST (UINT64_C(1) << 32)
#define BUDGET 200000 /* how many values are looked at */
/* values on the way back from a number to its origin */
#define ON_THE_WAY_MAX 512
#define DEPTH_MAX 64

typedef struct search {
    unsigned budget;
    kiln__codegen_job *job;
    kiln__arena *messages; /* the job's */
    LLVMValueRef on_the_way[ON_THE_WAY_MAX];
    unsigned count;
} search;

/* ---- numbers that look like addresses ---- */

/* True in the ranges of Linux on x86-64: where it puts position-independent
   programs with their heap, and where it puts libraries, mappings and
   stacks. */
static int is_in_layout(uint64_t number)
{
    return (number >= UINT64_C(0x550000000000) &&
            number < UINT64_C(0x570000000000)) ||
           (number >= UINT64_C(0x7e0000000000) &&
            number < UINT64_C(0x7ffffffff000));
}

/* True for a single run of ones, which is a mask. */
static int is_mask(uint64_t number)
{
    const uint64_t end = number + (number & (~number + 1));

    return (end & (end - 1)) == 0;
}

static int looks_like_address(uint64_t number)
{
    const uint64_t negative = ~number + 1;

    return (is_in_layout(number) && !is_mask(number)) ||
           (is_in_layout(negative) && !is_mask(negative));
}

/* True for a pointer in the bits of a double whose exponent is all ones or
   zero, as in a NaN: programs do not compute with such doubles. */
static int is_boxed(uint64_t bits)
{
    const uint64_t exponent = bits & UINT64_C(0x7ff0000000000000);

    return (exponent == 0 || exponent == UINT64_C(0x7ff0000000000000)) &&
           looks_like_address(bits & UINT64_C(0xffffffffffff));
}

static int integer_looks_so(LLVMValueRef integer)
{
    const unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(integer));

    if (width < 48)
        return 0;
    if (width <= 64)
        return looks_like_address(
                   (uint64_t)LLVMConstIntGetSExtValue(integer)) ||
               is_boxed(LLVMConstIntGetZExtValue(integer));
    return !LLVMIsNull(integer); /* too wide to be taken apart here */
}

static int real_looks_so(LLVMValueRef real)
{
    LLVMBool loses;
    uint64_t bits;

    if (LLVMGetTypeKind(LLVMTypeOf(real)) != LLVMDoubleTypeKind)
        return 0;
    bits = kiln__f64_bits(LLVMConstRealGetDouble(real, &loses));
    return looks_like_address(bits) || is_boxed(bits);
}

/* True for a table of one number, again and again, that is too narrow for an
   address. */
static int is_narrow_splat(LLVMValueRef data, const char *bytes, size_t size)
{
    const LLVMTypeRef type = LLVMTypeOf(data);
    const uint64_t count = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                               ? LLVMGetVectorSize(type)
                               : LLVMGetArrayLength2(type);
    const size_t element = size / (size_t)count;

    return element < sizeof(uint64_t) &&
           memcmp(bytes, bytes + element, size - element) == 0;
}

/* Looks at eight bytes of a table from every offset. */
static int data_looks_so(LLVMValueRef data)
{
    size_t size;
    const char *bytes = LLVMGetRawDataValues(data, &size);
    const LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(data));
    const int is_double = LLVMGetTypeKind(element) == LLVMDoubleTypeKind;
    uint64_t word;

    if (is_narrow_splat(data, bytes, size))
        return 0;
    for (size_t i = 0; i + sizeof word <= size; i++) {
        memcpy(&word, bytes + i, sizeof word);
        if (is_in_layout(word) && !is_mask(word))
            return 1;
        if (is_double && i % sizeof word == 0 && is_boxed(word))
            return 1;
    }
    return 0;
}

static int go_on(search *s, unsigned depth)
{
    if (s->budget == 0 || depth > DEPTH_MAX)
        return 0;
    s->budget--;
    return 1;
}

/* ---- what a number is made of ----
 *
 * A number may be made in several ways. In some of them (`is_dynamic`) a part
 * is known only at a launch; `offset` is the most that constants add to it. In
 * others (`is_static`) it is made only of constants and of indices, which count
 * as 0; `magnitude` is the most that the constants make.
 */

typedef struct number {
    int is_dynamic, is_static;
    uint64_t offset, magnitude;
} number;

static const number dynamic = {1, 0, 0, 0};
static const number zero = {0, 1, 0, 0}; /* also stands for an index */
static const number unknown = {1, 1, UINT64_MAX, UINT64_MAX};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static number either(number a, number b)
{
    return (number){a.is_dynamic | b.is_dynamic, a.is_static | b.is_static,
                    greater(a.offset, b.offset),
                    greater(a.magnitude, b.magnitude)};
}

static number both(number a, number b)
{
    const uint64_t most =
        sum(greater(a.offset, a.magnitude), greater(b.offset, b.magnitude));

    return (number){
        a.is_dynamic | b.is_dynamic, a.is_static & b.is_static, most,
        a.is_static & b.is_static ? sum(a.magnitude, b.magnitude) : 0};
}

static number constant(uint64_t value)
{
    const uint64_t negative = ~value + 1;

    if ((value & UINT64_C(0xffffffffffff)) == 0)
        return zero; /* a tag above an address */
    return (number){0, 1, 0, value < negative ? value : negative};
}

/* The result of such an operation is an index: what is known only at a launch
   counts as 0 in it. */
static number as_index(number n, unsigned shift)
{
    const uint64_t most = greater(n.is_dynamic ? n.offset : 0, n.magnitude);

    if (shift >= 64 || most > UINT64_MAX >> shift)
        return (number){0, 1, 0, most == 0 ? 0 : UINT64_MAX};
    return (number){0, 1, 0, most << shift};
}

static number number_of(search *s, LLVMValueRef value);

static int is_of_kernel(const search *s, LLVMValueRef parameter)
{
    size_t size;
    const char *name = LLVMGetValueName2(LLVMGetParamParent(parameter), &size);

    return strcmp(name, s->job->request->entry) == 0;
}

/* Looks at what the callers pass. */
static number argument_number(search *s, LLVMValueRef parameter)
{
    LLVMValueRef function = LLVMGetParamParent(parameter);
    number n = {0};
    unsigned index = 0;
    LLVMUseRef use;

    if (is_of_kernel(s, parameter))
        return dynamic;
    while (LLVMGetParam(function, index) != parameter)
        index++;
    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);

        if (LLVMIsACallInst(call) == NULL ||
            LLVMGetCalledValue(call) != function ||
            LLVMGetNumArgOperands(call) <= index)
            n = either(n, dynamic);
        else
            n = either(n, number_of(s, LLVMGetOperand(call, index)));
    }
    return n;
}

static number all_operands(search *s, LLVMValueRef value, unsigned count)
{
    number n = zero;

    for (unsigned i = 0; i < count; i++)
        n = both(n, number_of(s, LLVMGetOperand(value, i)));
    return n;
}

/* Looks at what the called function of the module returns. */
static number result_number(search *s, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    LLVMBasicBlockRef block;
    number n = {0};

    if (LLVMIsAFunction(callee) == NULL)
        return dynamic;
    if (LLVMGetIntrinsicID(callee) != 0)
        return all_operands(s, call, LLVMGetNumArgOperands(call));
    if (LLVMIsDeclaration(callee))
        return dynamic;
    for (block = LLVMGetFirstBasicBlock(callee); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

        if (LLVMIsAReturnInst(end) != NULL && LLVMGetNumOperands(end) == 1)
            n = either(n, number_of(s, LLVMGetOperand(end, 0)));
    }
    return n;
}

static number any_incoming(search *s, LLVMValueRef phi)
{
    const unsigned count = LLVMCountIncoming(phi);
    number n = {0};

    for (unsigned i = 0; i < count; i++)
        n = either(n, number_of(s, LLVMGetIncomingValue(phi, i)));
    return n;
}

static number masked(number a, number b)
{
    const number n = both(a, b);
    const uint64_t most =
        a.is_dynamic || b.is_dynamic
            ? 0
            : (a.magnitude < b.magnitude ? a.magnitude : b.magnitude);

    return (number){n.is_dynamic, n.is_static, 0, most};
}

static number shifted(search *s, LLVMValueRef value)
{
    LLVMValueRef by = LLVMGetOperand(value, 1);
    const number n = number_of(s, LLVMGetOperand(value, 0));

    if (LLVMIsAConstantInt(by) == NULL)
        return as_index(n, 63);
    return as_index(n, (unsigned)LLVMConstIntGetZExtValue(by) & 127);
}

static int is_narrow(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) < 64;
}

static number product(number a, number b)
{
    if (a.is_dynamic || b.is_dynamic || a.magnitude == 0 || b.magnitude == 0)
        return zero;
    return (number){0, 1, 0,
                    a.magnitude > UINT64_MAX / b.magnitude
                        ? UINT64_MAX
                        : a.magnitude * b.magnitude};
}

/* Returns what an operation makes of the numbers that it is applied to. */
static number operation_number(search *s, LLVMValueRef value, LLVMOpcode opcode)
{
    number a, b;

    switch ((int)opcode) {
    case LLVMPtrToInt:
        return dynamic; /* the pointer is examined where it is made */
    case LLVMLoad:      /* so are numbers in the module's own memory */
        return is_narrow(value) ? zero : dynamic;
    case LLVMCall:
        return result_number(s, value);
    case LLVMPHI:
        return any_incoming(s, value);
    case LLVMSelect:
        return either(number_of(s, LLVMGetOperand(value, 1)),
                      number_of(s, LLVMGetOperand(value, 2)));
    case LLVMAnd:
    case LLVMMul:
        a = number_of(s, LLVMGetOperand(value, 0));
        b = number_of(s, LLVMGetOperand(value, 1));
        return opcode == LLVMAnd ? masked(a, b) : product(a, b);
    case LLVMShl:
        return shifted(s, value);
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMURem:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFreeze:
    case LLVMBitCast:
        a = number_of(s, LLVMGetOperand(value, 0));
        return is_narrow(LLVMGetOperand(value, 0)) ? as_index(a, 0) : a;
    default:
        return all_operands(s, value, (unsigned)LLVMGetNumOperands(value));
    }
}

static number made_number(search *s, LLVMValueRef value)
{
    number n;

    for (unsigned i = 0; i < s->count; i++)
        if (s->on_the_way[i] == value)
            return (number){0}; /* what comes round again adds nothing */
    if (s->count == ON_THE_WAY_MAX)
        return unknown;
    s->on_the_way[s->count++] = value;
    if (LLVMIsAArgument(value))
        n = argument_number(s, value);
    else if (LLVMIsAConstantExpr(value))
        n = operation_number(s, value, LLVMGetConstOpcode(value));
    else
        n = operation_number(s, value, LLVMGetInstructionOpcode(value));
    s->count--;
    return n;
}

/* Returns what a value is made of; `unknown` when the budget is exhausted. */
static number number_of(search *s, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    number n = zero;

    if (!go_on(s, 0))
        return unknown;
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return dynamic;
    if (LLVMIsAConstantInt(value))
        return LLVMGetIntTypeWidth(type) > 64
                   ? unknown
                   : constant((uint64_t)LLVMConstIntGetSExtValue(value));
    if (LLVMIsAArgument(value) || LLVMIsAInstruction(value) ||
        LLVMIsAConstantExpr(value))
        return made_number(s, value);
    if (LLVMIsAConstantDataSequential(value)) {
        const unsigned size = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                                  ? LLVMGetVectorSize(type)
                                  : (unsigned)LLVMGetArrayLength2(type);

        for (unsigned i = 0; i < size; i++)
            n = either(n, number_of(s, LLVMGetAggregateElement(value, i)));
        return n;
    }
    if (LLVMIsAConstant(value) && !LLVMIsAGlobalValue(value))
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            n = either(n, number_of(s, LLVMGetOperand(value, (unsigned)i)));
    return n;
}

static int may_be_address(search *s, LLVMValueRef value)
{
    const number n = number_of(s, value);

    return (n.is_static && n.magnitude >= LOWEST_ADDRESS) ||
           (n.is_dynamic && n.offset >= FARTHEST);
}

/* ---- where pointers are made ---- */

/* True for an offset from null, or from a pointer that is made of a number. */
static int is_offset_from_number(search *s, LLVMValueRef value)
{
    LLVMValueRef base = LLVMGetOperand(value, 0);
    const int count = LLVMGetNumOperands(value);

    if (!LLVMIsNull(base) && LLVMIsAIntToPtrInst(base) == NULL &&
        (LLVMIsAConstantExpr(base) == NULL ||
         LLVMGetConstOpcode(base) != LLVMIntToPtr))
        return 0;
    for (int i = 1; i < count; i++)
        if (may_be_address(s, LLVMGetOperand(value, (unsigned)i)))
            return 1;
    return 0;
}

/* True for an instruction or constant expression that may make a pointer of
   numbers. */
static int makes_address(search *s, LLVMValueRef value, LLVMOpcode opcode)
{
    if (opcode == LLVMIntToPtr)
        return may_be_address(s, LLVMGetOperand(value, 0));
    if (opcode == LLVMGetElementPtr)
        return is_offset_from_number(s, value);
    return 0;
}

/* ---- the whole module ---- */

/* True when the constant holds an address, or may hold one. */
static int holds_address(search *s, LLVMValueRef value, unsigned depth)
{
    const int count = LLVMGetNumOperands(value);

    if (!go_on(s, depth))
        return 1;
    if (LLVMIsAGlobalValue(value))
        return 0;
    if (LLVMIsAConstantInt(value))
        return integer_looks_so(value);
    if (LLVMIsAConstantFP(value))
        return real_looks_so(value);
    if (LLVMIsAConstantDataSequential(value))
        return data_looks_so(value);
    if (LLVMIsAConstantExpr(value) &&
        makes_address(s, value, LLVMGetConstOpcode(value)))
        return 1;
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);

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

/* Returns one line, for people, that says what was found. */
static const char *describe_address(const search *s, LLVMValueRef function,
                                    LLVMValueRef found)
{
    char *text = LLVMPrintValueToString(found);
    const char *line, *begin = text + strspn(text, " ");

    kiln__join_lines(text);
    line = function == NULL
               ? kiln__arena_format(s->messages, "a number in variable %.200s",
                                    begin)
               : kiln__arena_format(s->messages,
                                    "a number in function '%s': %.200s",
                                    kiln__plain_name(s->job, function), begin);
    LLVMDisposeMessage(text);
    return line != NULL ? line : "a number";
}

static const char *function_holds_address(search *s, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (instruction_holds_address(s, at))
                return describe_address(s, function, at);
    return NULL;
}

/* True for what the loader finds and no frontend can name. */
static int is_own(const search *s, LLVMValueRef variable)
{
    const char *own = s->job->backend->own_variable;
    size_t size;

    return own != NULL && strcmp(LLVMGetValueName2(variable, &size), own) == 0;
}

/* The memory of a group has no bytes before a launch, so it is defined without
   an initializer, or by the driver. */
static int is_group_memory(const search *s, LLVMValueRef variable)
{
    return s->job->backend->device != NULL &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) ==
               KILN__SHARED_SPACE;
}

static const char *module_holds_address(search *s, LLVMModuleRef module)
{
    const char *found;
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(module); at != NULL;
         at = LLVMGetNextGlobal(at)) {
        LLVMValueRef initial = LLVMGetInitializer(at);

        if (is_own(s, at) || is_group_memory(s, at))
            continue;
        if (initial == NULL || LLVMIsThreadLocal(at) ||
            holds_address(s, initial, 0))
            return describe_address(s, NULL, at);
    }
    for (at = LLVMGetFirstGlobalAlias(module); at != NULL;
         at = LLVMGetNextGlobalAlias(at))
        if (holds_address(s, LLVMAliasGetAliasee(at), 0))
            return describe_address(s, NULL, at);
    for (at = LLVMGetFirstFunction(module); at != NULL;
         at = LLVMGetNextFunction(at)) {
        found = function_holds_address(s, at);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static int32_t session_class(kiln__codegen_job *job, const char *why)
{
    job->session_reason = why;
    kiln__job_log(job, "stays in this process: %s", why);
    return KILN_RELOCATION_SESSION;
}

int32_t kiln__relocation_class(kiln__codegen_job *job)
{
    search s = {.budget = BUDGET, .job = job, .messages = &job->arena};
    const int is_patched = job->settings->sites == KILN_SITES_PATCH;
    const int is_foreign = kiln__job_has_foreign(job);
    const char *why = NULL;

    /* Resolved sites stand for addresses that may have shaped the code, even
       where they do not appear in it any more. */
    if (job->site_count > 0 && !is_patched)
        return session_class(job, "its sites are resolved (the setting sites)");
    if (is_foreign)
        why = module_holds_address(&s, job->module);
    if (why != NULL && s.budget == 0)
        why = "it is too large to be searched for addresses";
    if (why != NULL)
        return session_class(job, why);
    return job->site_count > 0 ? KILN_RELOCATION_RELOCATABLE
                               : KILN_RELOCATION_PORTABLE;
}
