/* foreign_builtin_half.c - built-in functions of half, made of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_values.h"

/*
 * The library that the host and cuda take functions from, libclc's for NVIDIA,
 * has hardly any of half. Those that compute become the same function of float,
 * which holds each half; the result is rounded. Those that only move bits
 * become the same function of ushort.
 *
 * What is declared for that is then defined like any other built-in function.
 */

typedef enum way {
    WAY_NONE,
    WAY_FLOAT,
    WAY_BITS,
    WAY_TO_HALF, /* a conversion */
    WAY_NAN,
    WAY_NORMAL,
    WAY_SIGN
} way;

static const char *const of_floats[] = {
    "acospi",   "asinpi", "atan2pi", "atanpi", "cross",     "degrees",
    "distance", "dot",    "fract",   "frexp",  "length",    "lgamma_r",
    "maxmag",   "minmag", "mix",     "modf",   "normalize", "powr",
    "radians",  "remquo", "rootn",   "sign",   "sincos",    "smoothstep",
    "step",     "tanpi"};

static const char *const of_bits[] = {
    "bitselect", "select",  "shuffle", "shuffle2", "vload16",
    "vload2",    "vload3",  "vload4",  "vload8",   "vstore16",
    "vstore2",   "vstore3", "vstore4", "vstore8"};

typedef struct making {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    const kiln__mangled_name *name;
} making;

static int lists(const char *const *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i], name) == 0)
            return 1;
    return 0;
}
#define LISTS(all, name) lists((all), sizeof(all) / sizeof(all)[0], (name))

static int is_half(const kiln__mangled_type *type)
{
    return strcmp(type->element, "Dh") == 0;
}

static int takes_half(const kiln__mangled_name *name)
{
    for (unsigned i = 0; i < name->count; i++)
        if (is_half(&name->parameters[i]))
            return 1;
    return 0;
}

static way way_of(const kiln__mangled_name *name)
{
    if (strcmp(name->base, "nan") == 0 && name->count == 1 &&
        strcmp(name->parameters[0].element, "t") == 0)
        return WAY_NAN;
    if (strncmp(name->base, "convert_half", 12) == 0 && name->count == 1)
        return WAY_TO_HALF;
    if (!takes_half(name))
        return WAY_NONE;
    if (strncmp(name->base, "convert_", 8) == 0 || LISTS(of_floats, name->base))
        return WAY_FLOAT;
    if (LISTS(of_bits, name->base))
        return WAY_BITS;
    if (name->count != 1)
        return WAY_NONE;
    return strcmp(name->base, "isnormal") == 0  ? WAY_NORMAL
           : strcmp(name->base, "signbit") == 0 ? WAY_SIGN
                                                : WAY_NONE;
}

/* ---- types and constants ---- */

static LLVMTypeRef shaped(LLVMTypeRef like, LLVMTypeRef lane)
{
    return LLVMGetTypeKind(like) == LLVMVectorTypeKind
               ? LLVMVectorType(lane, LLVMGetVectorSize(like))
               : lane;
}

static LLVMTypeRef bits_of(const making *m, LLVMTypeRef like)
{
    return shaped(like, LLVMInt16TypeInContext(m->job->context));
}

static LLVMTypeRef floats_of(const making *m, LLVMTypeRef like)
{
    return shaped(like, LLVMFloatTypeInContext(m->job->context));
}

static int has_halves(LLVMTypeRef type)
{
    return LLVMGetTypeKind(kiln__lane_type(type)) == LLVMHalfTypeKind;
}

static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
    return kiln__spread_constant(type,
                                 LLVMConstInt(kiln__lane_type(type), value, 0));
}

/* ---- calls of another function ---- */

/* Types that a name has: float's or ushort's for half. */
static LLVMTypeRef other_type(const making *m, LLVMTypeRef type, way how)
{
    if (!has_halves(type))
        return type;
    return how == WAY_BITS ? bits_of(m, type) : floats_of(m, type);
}

static LLVMValueRef pass(const making *m, LLVMValueRef value, way how)
{
    const LLVMTypeRef type = other_type(m, LLVMTypeOf(value), how);

    if (type == LLVMTypeOf(value))
        return value;
    return how == WAY_BITS ? LLVMBuildBitCast(m->builder, value, type, "")
                           : LLVMBuildFPExt(m->builder, value, type, "");
}

static LLVMValueRef take_back(const making *m, LLVMValueRef value,
                              LLVMTypeRef type, way how)
{
    if (LLVMTypeOf(value) == type)
        return value;
    return how == WAY_BITS ? LLVMBuildBitCast(m->builder, value, type, "")
                           : LLVMBuildFPTrunc(m->builder, value, type, "");
}

/* The half, or vector of halves, that a pointer points to. */
static LLVMTypeRef pointed_to(const making *m, const kiln__mangled_type *type)
{
    const LLVMTypeRef half = LLVMHalfTypeInContext(m->job->context);

    return type->lanes > 0 ? LLVMVectorType(half, type->lanes) : half;
}

/* The function of float or ushort. A result that is given by a pointer to half
   is given by one to the item's own memory. */
static LLVMValueRef declare(const making *m, LLVMValueRef *arguments, way how)
{
    static const unsigned char spaces[KILN__MANGLED_SPACES] = {0, 1, 2, 3, 4};
    kiln__mangled_name name = *m->name;
    LLVMTypeRef types[KILN__MANGLED_PARAMETERS], type;
    char symbol[KILN__MANGLED_NAME_SIZE];
    LLVMValueRef made;

    for (unsigned i = 0; i < name.count; i++) {
        types[i] = LLVMTypeOf(arguments[i]);
        if (!is_half(&name.parameters[i]))
            continue;
        strcpy(name.parameters[i].element, how == WAY_BITS ? "t" : "f");
        if (name.parameters[i].is_pointer && how == WAY_FLOAT)
            name.parameters[i].space = 0;
    }
    if (!kiln__mangled_write(symbol, sizeof symbol, &name, spaces))
        return NULL;
    type = LLVMGetReturnType(LLVMGlobalGetValueType(m->function));
    type = LLVMFunctionType(other_type(m, type, how), types, name.count, 0);
    made = LLVMGetNamedFunction(m->job->module, symbol);
    if (made != NULL)
        return LLVMGlobalGetValueType(made) == type ? made : NULL;
    made = LLVMAddFunction(m->job->module, symbol, type);
    kiln__add_attribute(made, "nounwind");
    return made;
}

/* Returns the result; NULL: the function is declared otherwise. */
static LLVMValueRef call_other(const making *m, way how)
{
    LLVMValueRef arguments[KILN__MANGLED_PARAMETERS], other, value;

    for (unsigned i = 0; i < m->name->count; i++) {
        const kiln__mangled_type *type = &m->name->parameters[i];

        arguments[i] = LLVMGetParam(m->function, i);
        if (!type->is_pointer)
            arguments[i] = pass(m, arguments[i], how);
        else if (is_half(type) && how == WAY_FLOAT)
            arguments[i] = LLVMBuildAlloca(
                m->builder, floats_of(m, pointed_to(m, type)), "");
    }
    other = declare(m, arguments, how);
    if (other == NULL)
        return NULL;
    value = LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(other), other,
                           arguments, m->name->count, "");
    for (unsigned i = 0; i < m->name->count; i++) {
        const kiln__mangled_type *type = &m->name->parameters[i];

        if (!type->is_pointer || !is_half(type) || how != WAY_FLOAT)
            continue;
        LLVMBuildStore(
            m->builder,
            LLVMBuildFPTrunc(m->builder,
                             LLVMBuildLoad2(m->builder,
                                            floats_of(m, pointed_to(m, type)),
                                            arguments[i], ""),
                             pointed_to(m, type), ""),
            LLVMGetParam(m->function, i));
    }
    return take_back(
        m, value, LLVMGetReturnType(LLVMGlobalGetValueType(m->function)), how);
}

/* ---- conversions to half ---- */

/* Whole numbers that f64 does not hold are far beyond all halves. */
static LLVMValueRef as_float(const making *m, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeRef wide =
        shaped(type, LLVMDoubleTypeInContext(m->job->context));

    if (LLVMGetTypeKind(kiln__lane_type(type)) != LLVMIntegerTypeKind)
        return value;
    return strchr("acsilx", m->name->parameters[0].element[0]) != NULL
               ? LLVMBuildSIToFP(m->builder, value, wide, "")
               : LLVMBuildUIToFP(m->builder, value, wide, "");
}

/* Whether the half next to the nearest one is meant; `back` is the nearest. */
static LLVMValueRef is_beyond(const making *m, LLVMValueRef value,
                              LLVMValueRef back, char rounding)
{
    if (rounding != 'z')
        return LLVMBuildFCmp(m->builder,
                             rounding == 'p' ? LLVMRealOLT : LLVMRealOGT, back,
                             value, "");
    value = kiln__call_intrinsic(m->builder, "llvm.fabs", LLVMTypeOf(value),
                                 &value, 1);
    back = kiln__call_intrinsic(m->builder, "llvm.fabs", LLVMTypeOf(back),
                                &back, 1);
    return LLVMBuildFCmp(m->builder, LLVMRealOGT, back, value, "");
}

/* The nearest half, or the one next to it: as a number, the bits of a half
   count its distance from zero. */
static LLVMValueRef to_half(const making *m)
{
    const LLVMTypeRef type =
        LLVMGetReturnType(LLVMGlobalGetValueType(m->function));
    const LLVMTypeRef bits = bits_of(m, type);
    const char *ending = strstr(m->name->base, "_rt");
    const char rounding = ending != NULL ? ending[3] : 'e';
    LLVMValueRef value = as_float(m, LLVMGetParam(m->function, 0));
    LLVMValueRef near, step, back;

    if (has_halves(LLVMTypeOf(value)))
        return value;
    near = LLVMBuildFPTrunc(m->builder, value, type, "");
    if (rounding == 'e')
        return near;
    back = LLVMBuildFPExt(m->builder, near, LLVMTypeOf(value), "");
    step = number(bits, UINT64_MAX);
    near = LLVMBuildBitCast(m->builder, near, bits, "");
    if (rounding != 'z')
        step = LLVMBuildSelect(
            m->builder,
            LLVMBuildICmp(m->builder, rounding == 'p' ? LLVMIntSLT : LLVMIntSGE,
                          near, number(bits, 0), ""),
            step, number(bits, 1), "");
    step = LLVMBuildSelect(m->builder, is_beyond(m, value, back, rounding),
                           step, number(bits, 0), "");
    return LLVMBuildBitCast(m->builder,
                            LLVMBuildAdd(m->builder, near, step, ""), type, "");
}

/* ---- bits ---- */

/* The answer of a relational function: 1 of a number, -1 of an element. */
static LLVMValueRef answer(const making *m, LLVMValueRef condition)
{
    const LLVMTypeRef type =
        LLVMGetReturnType(LLVMGlobalGetValueType(m->function));

    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMBuildSExt(m->builder, condition, type, "")
               : LLVMBuildZExt(m->builder, condition, type, "");
}

static LLVMValueRef ask(const making *m, way how)
{
    const LLVMValueRef given = LLVMGetParam(m->function, 0);
    const LLVMTypeRef type = bits_of(m, LLVMTypeOf(given));
    LLVMValueRef bits = LLVMBuildBitCast(m->builder, given, type, "");

    if (how == WAY_SIGN)
        return answer(m, LLVMBuildICmp(m->builder, LLVMIntSLT, bits,
                                       number(type, 0), ""));
    bits = LLVMBuildAnd(m->builder, bits, number(type, 0x7fff), "");
    bits = LLVMBuildSub(m->builder, bits, number(type, 0x400), "");
    return answer(m, LLVMBuildICmp(m->builder, LLVMIntULT, bits,
                                   number(type, 0x7800), ""));
}

static LLVMValueRef make_nan(const making *m)
{
    const LLVMValueRef code = LLVMGetParam(m->function, 0);
    const LLVMTypeRef type = LLVMTypeOf(code);

    return LLVMBuildBitCast(
        m->builder,
        LLVMBuildOr(m->builder,
                    LLVMBuildAnd(m->builder, code, number(type, 0x3ff), ""),
                    number(type, 0x7e00), ""),
        LLVMGetReturnType(LLVMGlobalGetValueType(m->function)), "");
}

/* ---- one function ---- */

/* True if the declaration has the types that its name says. */
static int fits(const making *m, way how)
{
    const LLVMTypeRef result =
        LLVMGetReturnType(LLVMGlobalGetValueType(m->function));

    if (LLVMCountParams(m->function) != m->name->count)
        return 0;
    for (unsigned i = 0; i < m->name->count; i++) {
        const kiln__mangled_type *type = &m->name->parameters[i];
        const LLVMTypeRef given = LLVMTypeOf(LLVMGetParam(m->function, i));

        if (type->is_pointer !=
                (LLVMGetTypeKind(given) == LLVMPointerTypeKind) ||
            (is_half(type) && !type->is_pointer && !has_halves(given)) ||
            kiln__lane_count(given) !=
                (type->lanes > 0 && !type->is_pointer ? type->lanes : 1))
            return 0;
    }
    if (how == WAY_NAN || how == WAY_TO_HALF)
        return has_halves(result) &&
               kiln__lane_count(result) ==
                   kiln__lane_count(LLVMTypeOf(LLVMGetParam(m->function, 0)));
    return 1;
}

static LLVMValueRef make(const making *m, way how)
{
    switch ((int)how) {
    case WAY_TO_HALF:
        return to_half(m);
    case WAY_NAN:
        return make_nan(m);
    case WAY_NORMAL:
    case WAY_SIGN:
        return ask(m, how);
    default:
        return call_other(m, how);
    }
}

int kiln__foreign_lacks_halves(const kiln__codegen_job *job)
{
    return job->backend->foreign->has_libraries &&
           strcmp(job->settings->backend, "rocm") != 0;
}

void kiln__foreign_define_half(kiln__codegen_job *job, LLVMValueRef function,
                               const kiln__mangled_name *name)
{
    const way how = way_of(name);
    making m = {.job = job, .function = function, .name = name};
    LLVMBasicBlockRef block;
    LLVMValueRef value;

    if (how == WAY_NONE || !fits(&m, how))
        return;
    block = LLVMAppendBasicBlockInContext(job->context, function, "");
    m.builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderAtEnd(m.builder, block);
    value = make(&m, how);
    if (value == NULL)
        LLVMDeleteBasicBlock(block); /* nobody defines it */
    else if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(m.builder);
    else
        LLVMBuildRet(m.builder, value);
    LLVMDisposeBuilder(m.builder);
    if (value == NULL)
        return;
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__inline_always(function);
}
