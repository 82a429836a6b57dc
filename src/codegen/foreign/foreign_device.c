/* foreign_device.c - device functions that a foreign module may call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"
#include "ir/ir.h"

/*
 * These are no real functions: each call is replaced by code that the backend
 * builds at that place. So they must be called directly, and what describes an
 * exception must be constant.
 *
 * A frontend may declare that asking for an id reads no memory, and its
 * optimiser then says the same of every function that asks for one. But the
 * code built here reads the item, which the host changes from item to item. So
 * all functions that reach such a call lose what was said of their memory
 * accesses, and LLVM infers again what is true.
 */

typedef struct device_function {
    const char *name;
    uint32_t query;
    uint64_t beyond; /* the value for a dimension above 2 */
} device_function;

static const device_function queries[] = {
    {"kiln_global_id", KILN__QUERY_GLOBAL_ID, 0},
    {"kiln_local_id", KILN__QUERY_LOCAL_ID, 0},
    {"kiln_group_id", KILN__QUERY_GROUP_ID, 0},
    {"kiln_global_size", KILN__QUERY_GLOBAL_SIZE, 1},
    {"kiln_local_size", KILN__QUERY_LOCAL_SIZE, 1},
    {"kiln_group_count", KILN__QUERY_GROUP_COUNT, 1},
};

static kiln_status refuse_call(kiln__codegen_job *job, const char *name,
                               const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "device function '%s': %s", name,
                          why);
}

/* ---- queries ---- */

static LLVMValueRef choose(kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef dimension, uint32_t wanted,
                           LLVMValueRef value, LLVMValueRef otherwise)
{
    LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMValueRef is = LLVMBuildICmp(builder, LLVMIntEQ, dimension,
                                    LLVMConstInt(i32, wanted, 0), "");

    return LLVMBuildSelect(builder, is, value, otherwise, "");
}

static kiln_status bind_query(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef call, const device_function *to)
{
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMValueRef item = LLVMGetOperand(call, 0);
    LLVMValueRef dimension = LLVMGetOperand(call, 1);
    LLVMValueRef value = LLVMConstInt(i64, to->beyond, 0);

    if (LLVMIsAConstantInt(dimension)) {
        const uint64_t d = LLVMConstIntGetZExtValue(dimension);

        if (d <= 2)
            value = job->backend->item->query(job, builder, item, to->query,
                                              (uint32_t)d);
    } else {
        for (uint32_t d = 0; d <= 2; d++)
            value = choose(
                job, builder, dimension, d,
                job->backend->item->query(job, builder, item, to->query, d),
                value);
    }
    LLVMReplaceAllUsesWith(call, value);
    return KILN_OK;
}

/* ---- exceptions ---- */

/* Returns the characters of a constant, NUL-terminated string, or NULL. */
static const char *constant_text(kiln__codegen_job *job, LLVMValueRef value)
{
    LLVMValueRef initial;
    const char *text;
    size_t size;

    if (LLVMIsAConstantPointerNull(value))
        return "";
    if (!LLVMIsAGlobalVariable(value) || !LLVMIsGlobalConstant(value))
        return NULL;
    initial = LLVMGetInitializer(value);
    if (initial != NULL && LLVMIsNull(initial))
        return "";
    if (initial == NULL || !LLVMIsAConstantDataSequential(initial) ||
        !LLVMIsConstantString(initial))
        return NULL;
    text = LLVMGetAsString(initial, &size);
    if (memchr(text, '\0', size) == NULL)
        return NULL;
    return kiln__arena_text(&job->arena, text);
}

/* True for a call after which the module expects no code. But raising returns,
   and the function has to return then. */
static int is_noreturn(LLVMValueRef call)
{
    static const char name[] = "noreturn";
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind =
        LLVMGetEnumAttributeKindForName(name, sizeof name - 1);

    return LLVMGetCallSiteEnumAttribute(call, self, kind) != NULL ||
           LLVMGetEnumAttributeAtIndex(LLVMGetCalledValue(call), self, kind) !=
               NULL;
}

static kiln_status bind_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef call)
{
    LLVMValueRef kind = LLVMGetOperand(call, 1);
    LLVMValueRef ordinal = LLVMGetOperand(call, 3);
    const char *method = constant_text(job, LLVMGetOperand(call, 2));
    const char *message = constant_text(job, LLVMGetOperand(call, 4));

    if (is_noreturn(call))
        return refuse_call(job, "kiln_raise",
                           "it returns, and is said to be noreturn");
    if (!LLVMIsAConstantInt(kind) || !LLVMIsAConstantInt(ordinal))
        return refuse_call(job, "kiln_raise",
                           "kind and ordinal must be constants");
    if (method == NULL || message == NULL)
        return refuse_call(job, "kiln_raise",
                           "method and message must be constant strings");
    job->backend->item->raise(
        job, builder, LLVMGetOperand(call, 0),
        &(kiln__codegen_exception){
            .kind = (uint32_t)LLVMConstIntGetZExtValue(kind),
            .ordinal = (uint32_t)LLVMConstIntGetZExtValue(ordinal),
            .method = method,
            .message = message,
            .values = {LLVMGetOperand(call, 5), LLVMGetOperand(call, 6)}});
    return KILN_OK;
}

/* ---- attributes of memory accesses ---- */

static const char *const said_of_memory[] = {"memory", "readnone", "readonly",
                                             "speculatable", "writeonly"};
#define SAID (sizeof said_of_memory / sizeof said_of_memory[0])

static void forget_memory(LLVMValueRef of, unsigned count)
{
    const int is_function = LLVMIsAFunction(of) != NULL;
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (size_t i = 0; i < SAID; i++) {
        const unsigned kind = LLVMGetEnumAttributeKindForName(
            said_of_memory[i], strlen(said_of_memory[i]));

        for (unsigned at = 0; at <= count + 1; at++) {
            const LLVMAttributeIndex index = at <= count ? at : self;

            if (is_function)
                LLVMRemoveEnumAttributeAtIndex(of, index, kind);
            else
                LLVMRemoveCallSiteEnumAttribute(of, index, kind);
        }
    }
}

typedef struct reaching {
    kiln__codegen_job *job;
    LLVMValueRef *functions; /* functions that reach a device function */
    size_t count;
    int is_address_taken; /* the address of one of them is taken */
} reaching;

static void add_reaching(reaching *r, LLVMValueRef function)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->functions[i] == function)
            return;
    r->functions[r->count++] = function;
}

/* Adds the functions that use the function; calls of it lose their
   attributes. */
static void add_users(reaching *r, LLVMValueRef function)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function)
            forget_memory(user, LLVMGetNumArgOperands(user));
        else
            r->is_address_taken = 1;
        if (LLVMIsAInstruction(user))
            add_reaching(
                r, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
}

static void forget_all(const kiln__codegen_job *job)
{
    LLVMValueRef f, i;
    LLVMBasicBlockRef b;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        forget_memory(f, LLVMCountParams(f));
        for (b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (i = LLVMGetFirstInstruction(b); i != NULL;
                 i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) &&
                    !LLVMIsAFunction(LLVMGetCalledValue(i)))
                    forget_memory(i, LLVMGetNumArgOperands(i));
    }
}

static size_t count_functions(const kiln__codegen_job *job)
{
    size_t count = 0;
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        count++;
    return count;
}

/* Removes the attributes of all functions that reach a call of `function`, a
   device function. */
static kiln_status forget_of_callers(kiln__codegen_job *job,
                                     LLVMValueRef function)
{
    reaching r = {.job = job};

    r.functions = kiln__arena_allocate_array(
        &job->arena, count_functions(job) + 1, sizeof *r.functions);
    if (r.functions == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    add_users(&r, function);
    for (size_t i = 0; i < r.count; i++) {
        forget_memory(r.functions[i], LLVMCountParams(r.functions[i]));
        add_users(&r, r.functions[i]);
    }
    if (r.is_address_taken)
        forget_all(job);
    return KILN_OK;
}

/* ---- calls ---- */

static LLVMTypeRef query_type(kiln__codegen_job *job)
{
    LLVMTypeRef parameters[] = {kiln__job_item_pointer(job),
                                kiln__job_i32(job)};

    return LLVMFunctionType(kiln__job_i64(job), parameters, 2, 0);
}

static LLVMTypeRef raise_type(kiln__codegen_job *job)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);
    LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef parameters[] = {
        kiln__job_item_pointer(job), i32, pointer, i32, pointer, i64, i64};

    return LLVMFunctionType(LLVMVoidTypeInContext(job->context), parameters, 7,
                            0);
}

/* True when the use is a plain call of the function. */
static int is_call_of(LLVMValueRef user, LLVMValueRef function)
{
    unsigned count;

    if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function ||
        LLVMGetCalledFunctionType(user) != LLVMGlobalGetValueType(function))
        return 0;
    count = LLVMGetNumArgOperands(user);
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetOperand(user, i) == function)
            return 0;
    return 1;
}

static kiln_status replace_call(kiln__codegen_job *job, LLVMValueRef call,
                                const device_function *query)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    kiln_status status;

    LLVMPositionBuilderBefore(builder, call);
    status = query != NULL ? bind_query(job, builder, call, query)
                           : bind_raise(job, builder, call);
    LLVMDisposeBuilder(builder);
    if (status == KILN_OK)
        LLVMInstructionEraseFromParent(call);
    return status;
}

/* Replaces all calls of a device function. `query` is NULL for kiln_raise. */
static kiln_status bind(kiln__codegen_job *job, const char *name,
                        LLVMTypeRef type, const device_function *query)
{
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);
    LLVMUseRef use;

    if (function == NULL)
        return KILN_OK;
    if (!LLVMIsDeclaration(function))
        return refuse_call(job, name, "the module may not define it");
    if (LLVMGlobalGetValueType(function) != type)
        return refuse_call(job, name, "it is declared with another type");
    KILN_TRY(forget_of_callers(job, function));
    while ((use = LLVMGetFirstUse(function)) != NULL) {
        LLVMValueRef user = LLVMGetUser(use);

        if (!is_call_of(user, function))
            return refuse_call(job, name, "it may be called only");
        KILN_TRY(replace_call(job, user, query));
    }
    LLVMDeleteFunction(function);
    return KILN_OK;
}

kiln_status kiln__foreign_bind(kiln__codegen_job *job)
{
    LLVMTypeRef type = query_type(job);

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        KILN_TRY(bind(job, queries[i].name, type, &queries[i]));
    return bind(job, "kiln_raise", raise_type(job), NULL);
}
