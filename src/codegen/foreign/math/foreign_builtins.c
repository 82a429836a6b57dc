/* foreign_builtins.c - OpenCL's built-in functions in foreign modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A module names these functions as compilers for SPIR do: 1 is global memory,
 * 2 constant, 3 local, 4 generic, and none private. A library has its own
 * target's numbers. So a function with pointers is defined here: it converts
 * them and calls the library's.
 *
 * Functions that LLVM has intrinsics for become these. LLVM then knows what
 * they compute, and vectorises loops with them.
 */

/* ---- intrinsics ---- */

typedef enum way {
    WAY_ABS,
    WAY_CLAMP,
    WAY_COUNT,    /* of bits */
    WAY_COUNT_OF, /* of zeros on one side; a zero has all of them */
    WAY_PAIR,
    WAY_PRODUCT, /* of 24 bits: what lies above them may be anything */
    WAY_ROTATE
} way;

/* For signed numbers, unsigned ones, and floats. */
static const struct builtin {
    const char *name;
    const char *intrinsics[3];
    way way;
} builtins[] = {
    {"abs", {"llvm.abs", "", NULL}, WAY_ABS},
    {"add_sat", {"llvm.sadd.sat", "llvm.uadd.sat", NULL}, WAY_PAIR},
    {"clamp", {"llvm.smin", "llvm.umin", "llvm.minnum"}, WAY_CLAMP},
    {"clz", {"llvm.ctlz", "llvm.ctlz", NULL}, WAY_COUNT_OF},
    {"ctz", {"llvm.cttz", "llvm.cttz", NULL}, WAY_COUNT_OF},
    {"mad24", {"", "", NULL}, WAY_PRODUCT},
    {"max", {"llvm.smax", "llvm.umax", "llvm.maxnum"}, WAY_PAIR},
    {"min", {"llvm.smin", "llvm.umin", "llvm.minnum"}, WAY_PAIR},
    {"mul24", {"", "", NULL}, WAY_PRODUCT},
    {"popcount", {"llvm.ctpop", "llvm.ctpop", NULL}, WAY_COUNT},
    {"rotate", {"llvm.fshl", "llvm.fshl", NULL}, WAY_ROTATE},
    {"sub_sat", {"llvm.ssub.sat", "llvm.usub.sat", NULL}, WAY_PAIR},
};

typedef struct building {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMTypeRef type;
    LLVMValueRef values[3];
    unsigned count;
} building;

/* Returns the place of the element's class in `intrinsics`, or -1. */
static int class_of(const char *element)
{
    if (element[0] == '\0' || (element[1] != '\0' && element[0] != 'D'))
        return -1;
    if (strchr("acsilx", element[0]) != NULL)
        return 0;
    if (strchr("htjmy", element[0]) != NULL)
        return 1;
    return strchr("fdD", element[0]) != NULL ? 2 : -1;
}

static const struct builtin *find(const kiln__mangled_name *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i].name, name->base) == 0)
            return &builtins[i];
    return NULL;
}

static LLVMValueRef intrinsic(const building *b, const char *name,
                              LLVMValueRef *values, unsigned count)
{
    return kiln__call_intrinsic(b->builder, name, b->type, values, count);
}

static LLVMValueRef with_flag(const building *b, const char *name)
{
    LLVMValueRef both[2] = {
        b->values[0],
        LLVMConstInt(LLVMInt1TypeInContext(b->job->context), 0, 0)};

    return intrinsic(b, name, both, 2);
}

/* Not a number is neither more nor less: then the result may be anything. */
static LLVMValueRef clamp(const building *b, int class, const char *least)
{
    static const char *const greatest[] = {"llvm.smax", "llvm.umax",
                                           "llvm.maxnum"};
    LLVMValueRef both[2] = {b->values[0], b->values[1]};

    both[0] = intrinsic(b, greatest[class], both, 2);
    both[1] = b->values[2];
    return intrinsic(b, least, both, 2);
}

static LLVMValueRef product(const building *b)
{
    LLVMValueRef value =
        LLVMBuildMul(b->builder, b->values[0], b->values[1], "");

    return b->count == 3 ? LLVMBuildAdd(b->builder, value, b->values[2], "")
                         : value;
}

static LLVMValueRef rotate(const building *b, const char *name)
{
    LLVMValueRef all[3] = {b->values[0], b->values[0], b->values[1]};

    return intrinsic(b, name, all, 3);
}

static LLVMValueRef build(building *b, const struct builtin *to, int class)
{
    const char *name = to->intrinsics[class];

    switch (to->way) {
    case WAY_ABS:
        return class == 1 ? b->values[0] : with_flag(b, name);
    case WAY_CLAMP:
        return clamp(b, class, name);
    case WAY_COUNT:
        return intrinsic(b, name, b->values, 1);
    case WAY_COUNT_OF:
        return with_flag(b, name);
    case WAY_PAIR:
        return intrinsic(b, name, b->values, 2);
    case WAY_PRODUCT:
        return product(b);
    case WAY_ROTATE:
        return rotate(b, name);
    }
    return NULL;
}

/* How many operands it takes. */
static unsigned count_of(const struct builtin *to)
{
    switch ((int)to->way) {
    case WAY_CLAMP:
        return 3;
    case WAY_PAIR:
    case WAY_ROTATE:
        return 2;
    case WAY_PRODUCT:
        return to->name[1] == 'a' ? 3 : 2;
    default:
        return 1;
    }
}

/* Repeats a number for the elements of a vector. */
static LLVMValueRef spread(const building *b, LLVMValueRef value)
{
    LLVMValueRef all = LLVMGetPoison(b->type);

    if (LLVMTypeOf(value) == b->type)
        return value;
    for (unsigned i = 0; i < LLVMGetVectorSize(b->type); i++)
        all = LLVMBuildInsertElement(b->builder, all, value,
                                     LLVMConstInt(kiln__job_i32(b->job), i, 0),
                                     "");
    return all;
}

static int fits(const building *b, LLVMValueRef function, unsigned count)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(function);
    const int is_vector = LLVMGetTypeKind(b->type) == LLVMVectorTypeKind;

    if (LLVMCountParams(function) != count ||
        LLVMGetReturnType(type) != b->type)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        const LLVMTypeRef given = LLVMTypeOf(LLVMGetParam(function, i));

        if (given != b->type &&
            !(is_vector && given == LLVMGetElementType(b->type)))
            return 0;
    }
    return 1;
}

static LLVMValueRef begin_body(building *b, LLVMValueRef function)
{
    LLVMBasicBlockRef block =
        LLVMAppendBasicBlockInContext(b->job->context, function, "");

    b->builder = LLVMCreateBuilderInContext(b->job->context);
    LLVMPositionBuilderAtEnd(b->builder, block);
    return function;
}

/* The function becomes one of the module's own. */
static void end_body(const building *b, LLVMValueRef function,
                     LLVMValueRef result)
{
    if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(function))) ==
        LLVMVoidTypeKind)
        LLVMBuildRetVoid(b->builder);
    else
        LLVMBuildRet(b->builder, result);
    LLVMDisposeBuilder(b->builder);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__inline_always(function);
}

/* Defines the function by an intrinsic. Returns false if LLVM has none. */
static int define_by_intrinsic(kiln__codegen_job *job, LLVMValueRef function,
                               const kiln__mangled_name *name)
{
    const struct builtin *to = find(name);
    building b = {.job = job};
    LLVMValueRef value;
    int class;

    if (to == NULL || name->count != count_of(to))
        return 0;
    class = class_of(name->parameters[0].element);
    b.count = name->count;
    b.type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    if (class < 0 || to->intrinsics[class] == NULL ||
        !fits(&b, function, b.count))
        return 0;
    begin_body(&b, function);
    for (unsigned i = 0; i < b.count; i++)
        b.values[i] = spread(&b, LLVMGetParam(function, i));
    value = build(&b, to, class);
    end_body(&b, function, value);
    return 1;
}

/* True for all() and any(), which ask for the highest bits of whole numbers. */
static int is_question(LLVMValueRef function, const kiln__mangled_name *name)
{
    return (strcmp(name->base, "all") == 0 || strcmp(name->base, "any") == 0) &&
           name->count == 1 && LLVMCountParams(function) == 1 &&
           class_of(name->parameters[0].element) == 0 &&
           !name->parameters[0].is_pointer &&
           LLVMGetTypeKind(LLVMGetReturnType(
               LLVMGlobalGetValueType(function))) == LLVMIntegerTypeKind;
}

static LLVMValueRef answer(const building *b, LLVMValueRef function, int of_all)
{
    const LLVMValueRef given = LLVMGetParam(function, 0);
    const LLVMTypeRef type = LLVMTypeOf(given);
    const LLVMValueRef high =
        LLVMBuildICmp(b->builder, LLVMIntSLT, given, LLVMConstNull(type), "");
    LLVMValueRef all = high;

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        all = NULL;
        for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
            const LLVMValueRef one = LLVMBuildExtractElement(
                b->builder, high, LLVMConstInt(kiln__job_i32(b->job), i, 0),
                "");

            if (all == NULL)
                all = one;
            else
                all = of_all ? LLVMBuildAnd(b->builder, all, one, "")
                             : LLVMBuildOr(b->builder, all, one, "");
        }
    }
    return LLVMBuildZExt(b->builder, all,
                         LLVMGetReturnType(LLVMGlobalGetValueType(function)),
                         "");
}

/* Defines the function by instructions. Returns false if it takes more. */
static int define_by_instruction(kiln__codegen_job *job, LLVMValueRef function,
                                 const kiln__mangled_name *name)
{
    const int is_atomic = kiln__foreign_is_atomic(function, name);
    const int is_memory = kiln__foreign_is_memory(function, name);
    const int asks = is_question(function, name);
    building b = {.job = job};
    LLVMValueRef value;

    if (!is_atomic && !is_memory && !asks &&
        !kiln__foreign_is_conversion(function, name))
        return 0;
    begin_body(&b, function);
    if (is_atomic)
        value = kiln__foreign_build_atomic(job, b.builder, function, name);
    else if (is_memory)
        value = kiln__foreign_build_memory(job, b.builder, function, name);
    else if (asks)
        value = answer(&b, function, name->base[1] == 'l');
    else
        value = kiln__foreign_build_conversion(job, b.builder, function, name);
    end_body(&b, function, value);
    return 1;
}

/* ---- pointers ---- */

static LLVMTypeRef library_type(const kiln__codegen_job *job,
                                LLVMValueRef function,
                                const kiln__mangled_name *name)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(function);
    LLVMTypeRef parameters[KILN__MANGLED_PARAMETERS];

    for (unsigned i = 0; i < name->count; i++) {
        const kiln__mangled_type *wanted = &name->parameters[i];
        const LLVMTypeRef given = LLVMTypeOf(LLVMGetParam(function, i));

        parameters[i] = given;
        if (wanted->is_pointer !=
            (LLVMGetTypeKind(given) == LLVMPointerTypeKind))
            return NULL;
        if (wanted->is_pointer)
            parameters[i] = LLVMPointerTypeInContext(
                job->context,
                job->backend->foreign->named_spaces[wanted->space]);
    }
    return LLVMFunctionType(LLVMGetReturnType(type), parameters, name->count,
                            0);
}

static void copy_attribute(const kiln__codegen_job *job, LLVMValueRef to,
                           LLVMValueRef from, const char *name)
{
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind = kiln__attribute_kind(name);
    const LLVMAttributeRef given =
        LLVMGetEnumAttributeAtIndex(from, self, kind);

    if (given != NULL)
        LLVMAddAttributeAtIndex(
            to, self,
            LLVMCreateEnumAttribute(job->context, kind,
                                    LLVMGetEnumAttributeValue(given)));
}

/* Converts a pointer. Targets can do that from and to generic memory only. */
static LLVMValueRef cast_pointer(const building *b, LLVMValueRef pointer,
                                 LLVMTypeRef wanted)
{
    const unsigned generic = b->job->backend->foreign->named_spaces[4];
    const LLVMTypeRef given = LLVMTypeOf(pointer);
    LLVMTypeRef between;

    if (given == wanted)
        return pointer;
    between = LLVMPointerTypeInContext(b->job->context, generic);
    if (given != between && wanted != between)
        pointer = LLVMBuildAddrSpaceCast(b->builder, pointer, between, "");
    return LLVMBuildAddrSpaceCast(b->builder, pointer, wanted, "");
}

/* Defines the function by a call of the library's, with its pointers. */
static void define_by_call(kiln__codegen_job *job, LLVMValueRef function,
                           LLVMValueRef library)
{
    const unsigned count = LLVMCountParams(function);
    LLVMValueRef values[KILN__MANGLED_PARAMETERS], call;
    building b = {.job = job};

    begin_body(&b, function);
    for (unsigned i = 0; i < count; i++) {
        values[i] = LLVMGetParam(function, i);
        if (LLVMGetTypeKind(LLVMTypeOf(values[i])) == LLVMPointerTypeKind)
            values[i] = cast_pointer(&b, values[i],
                                     LLVMTypeOf(LLVMGetParam(library, i)));
    }
    call = LLVMBuildCall2(b.builder, LLVMGlobalGetValueType(library), library,
                          values, count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(library));
    end_body(&b, function, call);
}

static kiln_status connect(kiln__codegen_job *job, LLVMValueRef function,
                           const kiln__mangled_name *name)
{
    const kiln__foreign_rules *rules = job->backend->foreign;
    char symbol[KILN__MANGLED_NAME_SIZE];
    LLVMTypeRef type;
    LLVMValueRef library;
    const char *own;
    size_t size;

    if (LLVMCountParams(function) != name->count ||
        !kiln__mangled_write(symbol, sizeof symbol, name, rules->named_spaces))
        return KILN_OK; /* nobody defines it */
    type = library_type(job, function, name);
    if (type == NULL ||
        (type == LLVMGlobalGetValueType(function) &&
         strcmp(symbol, LLVMGetValueName2(function, &size)) == 0))
        return KILN_OK;
    own = kiln__arena_format(&job->arena, "%s.own",
                             LLVMGetValueName2(function, &size));
    if (own == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(function, own, strlen(own));
    library = LLVMGetNamedFunction(job->module, symbol);
    if (library != NULL && (!LLVMIsDeclaration(library) ||
                            LLVMGlobalGetValueType(library) != type)) {
        LLVMSetValueName2(library, "", 0); /* the module means another one */
        library = NULL;
    }
    if (library == NULL)
        library = LLVMAddFunction(job->module, symbol, type);
    LLVMSetFunctionCallConv(library, LLVMGetFunctionCallConv(function));
    copy_attribute(job, library, function, "convergent");
    copy_attribute(job, library, function, "nounwind");
    define_by_call(job, function, library);
    return KILN_OK;
}

/* What a function calls global memory may be a group's where typed IR calls it,
   so a library's function for any memory is called. */
static void name_generic(kiln__mangled_name *name)
{
    for (unsigned i = 0; i < name->count; i++)
        if (name->parameters[i].is_pointer && name->parameters[i].space == 1)
            name->parameters[i].space = 4;
}

/* True for a function of the module that a library has to define; `*name` is
   what its name says. */
static int is_wanted(const kiln__codegen_job *job, LLVMValueRef function,
                     kiln__mangled_name *name)
{
    size_t size;

    return LLVMIsDeclaration(function) && LLVMGetFirstUse(function) != NULL &&
           LLVMGetIntrinsicID(function) == 0 &&
           !kiln__math_is_given(job, function) &&
           kiln__mangled_read(name, LLVMGetValueName2(function, &size));
}

/* What these are made of comes behind them. */
static void define_halves(kiln__codegen_job *job)
{
    const LLVMValueRef last = LLVMGetLastFunction(job->module);
    LLVMValueRef function, next = LLVMGetFirstFunction(job->module);
    kiln__mangled_name name;

    while (next != NULL) {
        function = next;
        next = function != last ? LLVMGetNextFunction(function) : NULL;
        if (is_wanted(job, function, &name))
            kiln__foreign_define_half(job, function, &name);
    }
}

kiln_status kiln__foreign_builtins(kiln__codegen_job *job)
{
    LLVMValueRef function, next, last;
    kiln__mangled_name name;

    if (kiln__foreign_lacks_halves(job))
        define_halves(job);
    last = LLVMGetLastFunction(job->module);
    next = LLVMGetFirstFunction(job->module);
    while (next != NULL) {
        function = next;
        next = function != last ? LLVMGetNextFunction(function) : NULL;
        if (!is_wanted(job, function, &name))
            continue;
        if (job->is_external)
            name_generic(&name);
        if (!define_by_intrinsic(job, function, &name) &&
            !define_by_instruction(job, function, &name))
            KILN_TRY(connect(job, function, &name));
    }
    return KILN_OK;
}
