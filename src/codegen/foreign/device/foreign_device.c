/* foreign_device.c - device functions that a foreign module may call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/foreign_findings.h"
#include "codegen/module/codegen_values.h"
#include "codegen/module/device_queries.h"
#include "ir/ir.h"

/*
 * These are no real functions: each call is replaced by code that the backend
 * builds at that place. So they must be called directly, and what describes an
 * exception must be constant.
 *
 * A *family* is what names before the first dot stand for. The form of a family
 * describes the type of its functions: the result, a colon, and the parameters
 * after the item, each as one letter.
 *
 *   v  void     b  i1      i  i32     l  i64     p  ptr
 *   s  ptr addrspace(3), to the memory of a group
 *   T  the type that the name ends in: kiln_shuffle.f32
 *   .  any number of arguments of any types
 */

kiln_status kiln__foreign_refuse_call(kiln__codegen_job *job, const char *name,
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

/* The value for a dimension above 2: sizes are 1, ids 0. */
static uint64_t beyond(uint32_t query)
{
    return query == KILN__QUERY_GLOBAL_SIZE ||
           query == KILN__QUERY_LOCAL_SIZE || query == KILN__QUERY_GROUP_COUNT;
}

LLVMValueRef kiln__foreign_ask(const kiln__device_call *c, uint32_t query,
                               uint32_t dimension)
{
    return c->job->backend->item->query(c->job, c->builder, c->item, query,
                                        dimension);
}

static LLVMValueRef ask(const kiln__device_call *c, uint32_t dimension)
{
    return kiln__foreign_ask(c, c->family->number, dimension);
}

static LLVMValueRef bind_query(const kiln__device_call *c)
{
    LLVMValueRef dimension = c->arguments[0];
    LLVMValueRef value = kiln__job_number64(c->job, beyond(c->family->number));

    if (LLVMIsAConstantInt(dimension)) {
        const uint64_t d = LLVMConstIntGetZExtValue(dimension);

        return d <= 2 ? ask(c, (uint32_t)d) : value;
    }
    for (uint32_t d = 0; d <= 2; d++)
        value = choose(c->job, c->builder, dimension, d, ask(c, d), value);
    return value;
}

/* Queries without a dimension, whose answers are i32. */
static LLVMValueRef bind_lane(const kiln__device_call *c)
{
    return LLVMBuildTrunc(c->builder, ask(c, 0), kiln__job_i32(c->job), "");
}

static LLVMValueRef bind_sub_group_count(const kiln__device_call *c)
{
    return kiln__foreign_sub_group_count(c);
}

/* ---- dynamic group memory ---- */

static LLVMValueRef bind_local_memory(const kiln__device_call *c)
{
    return c->job->backend->item->local_memory(c->job, c->builder, c->item);
}

static LLVMValueRef bind_local_size(const kiln__device_call *c)
{
    return c->job->backend->item->local_size(c->job, c->builder, c->item);
}

/* ---- the clock ---- */

static LLVMValueRef bind_clock(const kiln__device_call *c)
{
    const char *name = c->job->backend->foreign->clock;
    const LLVMTypeRef type =
        LLVMFunctionType(kiln__job_i64(c->job), NULL, 0, 0);
    LLVMValueRef function = LLVMGetNamedFunction(c->job->module, name);

    if (function == NULL)
        function = LLVMAddFunction(c->job->module, name, type);
    return LLVMBuildCall2(c->builder, type, function, NULL, 0, "");
}

/* ---- exceptions ---- */

/* True for a pointer into one address space made of one into another. */
static int is_cast(LLVMValueRef value)
{
    return LLVMIsAAddrSpaceCastInst(value) != NULL ||
           (LLVMIsAConstantExpr(value) != NULL &&
            LLVMGetConstOpcode(value) == LLVMAddrSpaceCast);
}

const char *kiln__foreign_text(kiln__codegen_job *job, LLVMValueRef value)
{
    LLVMValueRef initial;
    const char *text;
    size_t size;

    while (is_cast(value))
        value = LLVMGetOperand(value, 0);
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
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind = kiln__attribute_kind("noreturn");

    return LLVMGetCallSiteEnumAttribute(call, self, kind) != NULL ||
           LLVMGetEnumAttributeAtIndex(LLVMGetCalledValue(call), self, kind) !=
               NULL;
}

static LLVMValueRef fail_raise(const kiln__device_call *c, const char *why)
{
    (void)kiln__foreign_refuse_call(c->job, "kiln_raise", why);
    return NULL;
}

static LLVMValueRef bind_raise(const kiln__device_call *c)
{
    LLVMValueRef kind = c->arguments[0], ordinal = c->arguments[2];
    const char *method = kiln__foreign_text(c->job, c->arguments[1]);
    const char *message = kiln__foreign_text(c->job, c->arguments[3]);

    if (is_noreturn(c->call))
        return fail_raise(c, "it returns, and is said to be noreturn");
    if (!LLVMIsAConstantInt(kind) || !LLVMIsAConstantInt(ordinal))
        return fail_raise(c, "kind and ordinal must be constants");
    if (method == NULL || message == NULL)
        return fail_raise(c, "method and message must be constant strings");
    c->job->backend->item->raise(
        c->job, c->builder, c->item,
        &(kiln__codegen_exception){
            .kind = (uint32_t)LLVMConstIntGetZExtValue(kind),
            .ordinal = (uint32_t)LLVMConstIntGetZExtValue(ordinal),
            .method = method,
            .message = message,
            .values = {c->arguments[4], c->arguments[5]}});
    return NULL;
}

/* ---- families ---- */

#define QUERY(name, form, number, answer, differs) \
    {name, form, number, bind_##answer, KILN__DEVICE_ASKS},

static const kiln__device_family families[] = {
    {"kiln_barrier", "v:ii", 0, kiln__foreign_barrier, KILN__DEVICE_TOGETHER},
    {"kiln_shuffle", "T:Ti", KILN__GROUP_SHUFFLE, kiln__foreign_shuffle,
     KILN__DEVICE_TOGETHER},
    {"kiln_shuffle_xor", "T:Ti", KILN__GROUP_SHUFFLE_XOR, kiln__foreign_shuffle,
     KILN__DEVICE_TOGETHER},
    {"kiln_shuffle_up", "T:Ti", KILN__GROUP_SHUFFLE_UP, kiln__foreign_shuffle,
     KILN__DEVICE_TOGETHER},
    {"kiln_shuffle_down", "T:Ti", KILN__GROUP_SHUFFLE_DOWN,
     kiln__foreign_shuffle, KILN__DEVICE_TOGETHER},
    {"kiln_broadcast", "T:iTi", 0, kiln__foreign_broadcast,
     KILN__DEVICE_TOGETHER},
    {"kiln_ballot", "l:b", 0, kiln__foreign_ballot, KILN__DEVICE_TOGETHER},
    {"kiln_any", "b:ib", KILN__GROUP_SUB_ANY, kiln__foreign_vote,
     KILN__DEVICE_TOGETHER},
    {"kiln_all", "b:ib", KILN__GROUP_SUB_ALL, kiln__foreign_vote,
     KILN__DEVICE_TOGETHER},
    {"kiln_reduce", "T:iT", KILN__SCAN_ALL, kiln__foreign_scan,
     KILN__DEVICE_TOGETHER},
    {"kiln_scan", "T:iT", KILN__SCAN_WITH, kiln__foreign_scan,
     KILN__DEVICE_TOGETHER},
    {"kiln_exscan", "T:iT", KILN__SCAN_WITHOUT, kiln__foreign_scan,
     KILN__DEVICE_TOGETHER},
    {"kiln_raise", "v:ipipll", 0, bind_raise, KILN__DEVICE_ALONE},
    {"kiln_clock", "l:", 0, bind_clock, KILN__DEVICE_ALONE},
    {KILN__DEVICE_MEET, "b:", 0, kiln__foreign_meet, KILN__DEVICE_TOGETHER},
    {KILN__DEVICE_RAISED, "v:", 0, kiln__foreign_raised, KILN__DEVICE_ALONE},
    {"kiln_print", "i:p.", 0, kiln__foreign_print, KILN__DEVICE_ALONE},
    {"kiln_allocate", "p:ll", 0, kiln__foreign_allocate, KILN__DEVICE_HEAP},
    {"kiln_free", "v:p", 0, kiln__foreign_free, KILN__DEVICE_HEAP},
    KILN__DEVICE_QUERIES(QUERY)};

#define FAMILY_COUNT (sizeof families / sizeof families[0])

/* Returns the family of a function's name; NULL: it has none. */
static const kiln__device_family *find_family(const char *name)
{
    const size_t size = strcspn(name, ".");

    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strlen(families[i].name) == size &&
            memcmp(families[i].name, name, size) == 0)
            return &families[i];
    return NULL;
}

int kiln__foreign_is_collective(const char *name)
{
    const kiln__device_family *family = find_family(name);

    return family != NULL && family->use == KILN__DEVICE_TOGETHER;
}

int kiln__foreign_allocates(const char *name)
{
    const kiln__device_family *family = find_family(name);

    return family != NULL && family->use == KILN__DEVICE_HEAP;
}

int kiln__foreign_asks_for_memory(const char *name)
{
    const kiln__device_family *family = find_family(name);

    return family != NULL && (family->bind == bind_local_memory ||
                              family->bind == bind_local_size);
}

/* ---- names and types ---- */

static int32_t kind_named(const char *name)
{
    static const int32_t kinds[] = {KILN_TYPE_I32, KILN_TYPE_I64, KILN_TYPE_F32,
                                    KILN_TYPE_F64};
    const int32_t kind = kiln__scalar_named(name, strlen(name));

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i] == kind)
            return kind;
    return KILN_TYPE_NONE;
}

/* Reads ".OPERATION" and ".TYPE", as far as the family has them; false: the
   name ends otherwise. */
static int read_name(kiln__device_call *c)
{
    const char *rest = c->name + strlen(c->family->name);

    c->kind = KILN_TYPE_NONE;
    if (c->family->bind == kiln__foreign_scan &&
        !kiln__foreign_read_operation(&c->operation, &rest))
        return 0;
    if (strchr(c->family->form, 'T') == NULL)
        return *rest == '\0';
    if (*rest != '.')
        return 0;
    c->kind = kind_named(rest + 1);
    return c->kind != KILN_TYPE_NONE && kiln__foreign_can_combine(c);
}

static LLVMTypeRef type_of(const kiln__device_call *c, char letter)
{
    const LLVMContextRef context = c->job->context;

    switch (letter) {
    case 'v':
        return LLVMVoidTypeInContext(context);
    case 'b':
        return LLVMInt1TypeInContext(context);
    case 'i':
        return kiln__job_i32(c->job);
    case 'l':
        return kiln__job_i64(c->job);
    case 's':
        return LLVMPointerTypeInContext(context, KILN__SHARED_SPACE);
    default:
        return kiln__job_scalar(c->job, c->kind);
    }
}

/* Pointers may be into any space. */
static int is_of(const kiln__device_call *c, char letter, LLVMTypeRef type)
{
    return letter == 'p' ? LLVMGetTypeKind(type) == LLVMPointerTypeKind
                         : type == type_of(c, letter);
}

/* Parameters after the item, without those that may be of any type. */
static unsigned parameters_of(const kiln__device_family *family)
{
    return (unsigned)strcspn(family->form + 2, ".");
}

static int has_type(const kiln__device_call *c, LLVMValueRef function)
{
    const char *letters = c->family->form + 2;
    const unsigned count = parameters_of(c->family);
    const LLVMTypeRef type = LLVMGlobalGetValueType(function);

    if (LLVMCountParams(function) != 1 + count ||
        LLVMIsFunctionVarArg(type) != (letters[count] == '.') ||
        !is_of(c, c->family->form[0], LLVMGetReturnType(type)) ||
        LLVMTypeOf(LLVMGetParam(function, 0)) != kiln__job_item_pointer(c->job))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (!is_of(c, letters[i], LLVMTypeOf(LLVMGetParam(function, 1 + i))))
            return 0;
    return 1;
}

/* ---- calls ---- */

static kiln_status replace_call(kiln__device_call *c, LLVMValueRef call)
{
    const unsigned count = parameters_of(c->family);
    LLVMValueRef value;

    c->call = call;
    c->item = LLVMGetOperand(call, 0);
    for (unsigned i = 0; i < count; i++)
        c->arguments[i] = LLVMGetOperand(call, 1 + i);
    c->builder = LLVMCreateBuilderInContext(c->job->context);
    LLVMPositionBuilderBefore(c->builder, call);
    LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(call));
    value = c->family->bind(c);
    LLVMDisposeBuilder(c->builder);
    KILN_TRY(c->job->status);
    if (value != NULL)
        LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
    return KILN_OK;
}

/* A call that could not be replaced is removed: there may be more findings. */
static void drop_call(LLVMValueRef call)
{
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(call, LLVMGetPoison(LLVMTypeOf(call)));
    LLVMInstructionEraseFromParent(call);
}

static kiln_status bind_call(kiln__foreign_findings *found,
                             kiln__device_call *c, LLVMValueRef call)
{
    const kiln_status status = replace_call(c, call);

    if (status == KILN_OK)
        return KILN_OK;
    KILN_TRY(kiln__foreign_finding_of_call(found, status, call));
    drop_call(call);
    return KILN_OK;
}

static kiln_status check_declaration(kiln__device_call *c,
                                     LLVMValueRef function)
{
    if (!LLVMIsDeclaration(function))
        return kiln__foreign_refuse_call(c->job, c->name,
                                         "the module may not define it");
    if (!read_name(c))
        return kiln__foreign_refuse_call(
            c->job, c->name,
            "it has no such operation or type; types are i32, i64, "
            "f32 and f64");
    if (!has_type(c, function))
        return kiln__foreign_refuse_call(c->job, c->name,
                                         "it is declared with another type");
    return KILN_OK;
}

/* Replaces all calls of a device function. */
static kiln_status bind(kiln__foreign_findings *found, LLVMValueRef function,
                        kiln__device_call c)
{
    kiln__codegen_job *job = c.job;
    LLVMUseRef use;

    if (check_declaration(&c, function) != KILN_OK)
        return kiln__foreign_finding(found, job->status, NULL, NULL);
    KILN_TRY(kiln__foreign_forget_memory(job, function));
    while ((use = LLVMGetFirstUse(function)) != NULL) {
        LLVMValueRef user = LLVMGetUser(use);

        if (!kiln__is_call_of(user, function) ||
            LLVMGetCalledFunctionType(user) != LLVMGlobalGetValueType(function))
            return kiln__foreign_finding(
                found,
                kiln__foreign_refuse_call(job, c.name, "it may be called only"),
                NULL, NULL);
        KILN_TRY(bind_call(found, &c, user));
    }
    LLVMDeleteFunction(function);
    return KILN_OK;
}

/* True when the module uses dynamic group memory. */
static int asks_for_memory(const kiln__codegen_job *job)
{
    size_t size;

    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMGetFirstUse(f) != NULL &&
            kiln__foreign_asks_for_memory(LLVMGetValueName2(f, &size)))
            return 1;
    return 0;
}

static int is_together(const kiln__codegen_job *job, LLVMValueRef call)
{
    return LLVMIsAInstruction(call) != NULL &&
           LLVMGetMetadata(call, LLVMGetMDKindIDInContext(
                                     job->context, KILN__TOGETHER,
                                     sizeof KILN__TOGETHER - 1)) != NULL;
}

int kiln__foreign_raises(const kiln__codegen_job *job)
{
    const LLVMValueRef raise = LLVMGetNamedFunction(job->module, "kiln_raise");
    LLVMUseRef use;

    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (kiln__foreign_is_call(f))
            return 1;
    for (use = raise != NULL ? LLVMGetFirstUse(raise) : NULL; use != NULL;
         use = LLVMGetNextUse(use))
        if (!is_together(job, LLVMGetUser(use)))
            return 1;
    return 0;
}

static kiln_status bind_all(kiln__codegen_job *job, int only_collective)
{
    kiln__foreign_findings found = {
        .job = job,
        .entry = LLVMGetNamedFunction(job->module, job->request->entry)};
    const int raises = kiln__foreign_raises(job);
    LLVMValueRef f, next;
    size_t size;

    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        const char *name = LLVMGetValueName2(f, &size);
        kiln__device_call c = {
            .job = job, .family = find_family(name), .raises = raises};

        next = LLVMGetNextFunction(f);
        if (c.family == NULL ||
            (only_collective && !kiln__foreign_is_collective(name)))
            continue;
        c.name = kiln__arena_text(&job->arena, name);
        if (c.name == NULL)
            return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        KILN_TRY(bind(&found, f, c));
    }
    return kiln__foreign_tell(&found);
}

kiln_status kiln__foreign_bind_collectives(kiln__codegen_job *job)
{
    return job->backend->groups != NULL ? bind_all(job, 1) : KILN_OK;
}

kiln_status kiln__foreign_bind(kiln__codegen_job *job)
{
    job->dynamic_local = asks_for_memory(job);
    return bind_all(job, 0);
}
