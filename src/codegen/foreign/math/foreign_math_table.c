/* foreign_math_table.c - names of mathematical functions, and what they
   mean. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir_math_names.h"

/*
 * One function has many names: C's (sin, sinf), LLVM's (llvm.sin.f32), OpenCL's
 * (_Z3sinf), those of libdevice (__nv_sinf) and of ocml (__ocml_sin_f32). A
 * module may use any of them on any target.
 */

#define C 1

#define ONE(name) \
    { \
#name, #name, KILN__FORM_1, KILN__RECIPE_NONE, name, NULL, C \
    }
/* LLVM has no intrinsic for it. */
#define ONE_OF_C(name) \
    { \
#name, NULL, KILN__FORM_1, KILN__RECIPE_NONE, name, NULL, C \
    }
#define TWO(name, intrinsic, recipe) \
    { \
#name, intrinsic, KILN__FORM_2, recipe, NULL, name, C \
    }
#define ROUND(name, recipe) \
    { \
#name, #name, KILN__FORM_ROUND, recipe, NULL, NULL, C \
    }

static const kiln__math_function functions[] = {
    ONE(acos),
    ONE(asin),
    ONE(atan),
    ONE(ceil),
    ONE(cos),
    ONE(cosh),
    ONE(exp),
    ONE(exp2),
    ONE(fabs),
    ONE(floor),
    ONE(log),
    ONE(log10),
    ONE(log2),
    ONE(nearbyint),
    ONE(rint),
    ONE(round),
    ONE(sin),
    ONE(sinh),
    ONE(sqrt),
    ONE(tan),
    ONE(tanh),
    ONE(trunc),
    ONE_OF_C(acosh),
    ONE_OF_C(asinh),
    ONE_OF_C(atanh),
    ONE_OF_C(cbrt),
    ONE_OF_C(erf),
    ONE_OF_C(erfc),
    ONE_OF_C(expm1),
    ONE_OF_C(log1p),
    ONE_OF_C(logb),
    ONE_OF_C(tgamma),
    {"lgamma", NULL, KILN__FORM_1, .is_c = C},
    {"exp10", "exp10", KILN__FORM_1, .is_c = C},
    {"roundeven", "roundeven", KILN__FORM_1, .is_c = C},
    {"canonicalize", "canonicalize", KILN__FORM_1, KILN__RECIPE_CANONICAL,
     .is_c = 0},
    {"cospi", NULL, KILN__FORM_1, .is_c = 0},
    {"rsqrt", NULL, KILN__FORM_1, .is_c = 0},
    {"sinpi", NULL, KILN__FORM_1, .is_c = 0},
    TWO(atan2, "atan2", KILN__RECIPE_NONE),
    TWO(copysign, "copysign", KILN__RECIPE_NONE),
    TWO(fdim, NULL, KILN__RECIPE_FDIM),
    TWO(fmax, "maxnum", KILN__RECIPE_NONE),
    TWO(fmin, "minnum", KILN__RECIPE_NONE),
    TWO(fmod, NULL, KILN__RECIPE_FMOD),
    TWO(hypot, NULL, KILN__RECIPE_NONE),
    TWO(nextafter, NULL, KILN__RECIPE_NONE),
    TWO(pow, "pow", KILN__RECIPE_NONE),
    TWO(remainder, NULL, KILN__RECIPE_NONE),
    {"fma", "fma", KILN__FORM_3, .is_c = C},
    {"mad", "fmuladd", KILN__FORM_3, .is_c = 0},
    {"ldexp", "ldexp", KILN__FORM_SCALE, .is_c = C},
    {"scalbn", NULL, KILN__FORM_SCALE, KILN__RECIPE_SCALE, .is_c = C},
    {"scalbln", NULL, KILN__FORM_SCALE, KILN__RECIPE_SCALE, .is_c = C},
    {"pown", "powi", KILN__FORM_SCALE, KILN__RECIPE_POWI, .is_c = 0},
    {"ilogb", NULL, KILN__FORM_ROUND, .is_c = C},
    ROUND(llrint, KILN__RECIPE_RINT),
    ROUND(llround, KILN__RECIPE_ROUND),
    ROUND(lrint, KILN__RECIPE_RINT),
    ROUND(lround, KILN__RECIPE_ROUND),
    {"frexp", "frexp", KILN__FORM_SPLIT, KILN__RECIPE_FREXP, .is_c = C},
    {"lgamma_r", NULL, KILN__FORM_SPLIT, KILN__RECIPE_LGAMMA_R, .is_c = C},
    {"modf", "modf", KILN__FORM_SPLIT, KILN__RECIPE_MODF, .is_c = C},
    {"sincos", "sincos", KILN__FORM_PAIR, KILN__RECIPE_SINCOS, .is_c = C},
    {"sincospi", "sincospi", KILN__FORM_PAIR, KILN__RECIPE_SINCOSPI, .is_c = C},
    {"remquo", NULL, KILN__FORM_QUOTIENT, KILN__RECIPE_REMQUO, .is_c = C},
};

static const struct {
    const char *other;
    const char *name;
} aliases[] = {
    {"drem", "remainder"},
    {"lgammaf_r", "lgamma_r"},
    {"pow10", "exp10"},
    {"powi", "pown"},
};

const kiln__math_function *kiln__math_named(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].other, name) == 0)
            name = aliases[i].name;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static const kiln__math_function *by_intrinsic(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (functions[i].intrinsic != NULL &&
            strcmp(functions[i].intrinsic, name) == 0)
            return &functions[i];
    return NULL;
}

/* ---- names ---- */

typedef struct named {
    const kiln__math_function *function;
    LLVMTypeKind kind; /* of T's elements; void: any */
    int is_rough;
} named;

static int is_c_name(named *out, const char *name)
{
    char base[32];
    const size_t size = strlen(name);

    if (size == 0 || size >= sizeof base)
        return 0;
    out->kind = LLVMDoubleTypeKind;
    if (strcmp(name, "lgammaf_r") == 0)
        out->kind = LLVMFloatTypeKind;
    out->function = kiln__math_named(name);
    if (out->function == NULL && name[size - 1] == 'f') {
        memcpy(base, name, size - 1);
        base[size - 1] = '\0';
        out->kind = LLVMFloatTypeKind;
        out->function = kiln__math_named(base);
    }
    return out->function != NULL;
}

/* NAME_f16, NAME_f32 or NAME_f64. */
static int is_ocml_name(named *out, const char *name)
{
    char base[32];
    const char *mark = strrchr(name, '_');

    if (mark == NULL || (size_t)(mark - name) >= sizeof base)
        return 0;
    memcpy(base, name, (size_t)(mark - name));
    base[mark - name] = '\0';
    out->kind = strcmp(mark, "_f32") == 0   ? LLVMFloatTypeKind
                : strcmp(mark, "_f64") == 0 ? LLVMDoubleTypeKind
                : strcmp(mark, "_f16") == 0 ? LLVMHalfTypeKind
                                            : LLVMVoidTypeKind;
    out->function = kiln__math_named(base);
    return out->function != NULL && out->kind != LLVMVoidTypeKind;
}

/* OpenCL's functions with pointers are in the library: that knows the address
   spaces. */
static int is_opencl_name(named *out, const char *symbol)
{
    kiln__mangled_name name;
    const char *element, *base;

    if (!kiln__mangled_read(&name, symbol) || name.count == 0)
        return 0;
    for (unsigned i = 0; i < name.count; i++)
        if (name.parameters[i].is_pointer)
            return 0;
    element = name.parameters[0].element;
    out->kind = strcmp(element, "f") == 0    ? LLVMFloatTypeKind
                : strcmp(element, "d") == 0  ? LLVMDoubleTypeKind
                : strcmp(element, "Dh") == 0 ? LLVMHalfTypeKind
                                             : LLVMVoidTypeKind;
    base = name.base;
    if (strncmp(base, "native_", 7) == 0)
        base += 7;
    else if (strncmp(base, "half_", 5) == 0)
        base += 5;
    out->is_rough = base != name.base;
    /* What powr() says of numbers below zero does not count where it may be
       rough, and not all libraries have that. */
    if (out->is_rough && strcmp(base, "powr") == 0)
        base = "pow";
    out->function = kiln__math_named(base);
    return out->function != NULL && out->kind != LLVMVoidTypeKind;
}

static int find_name(named *out, LLVMValueRef callee)
{
    const unsigned id = LLVMGetIntrinsicID(callee);
    size_t size;
    const char *name;

    out->is_rough = 0;
    if (id != 0) {
        name = LLVMIntrinsicGetName(id, &size);
        out->kind = LLVMVoidTypeKind;
        out->function = by_intrinsic(name + sizeof "llvm." - 1);
        return out->function != NULL;
    }
    name = LLVMGetValueName2(callee, &size);
    if (strncmp(name, "_Z", 2) == 0)
        return is_opencl_name(out, name);
    if (strncmp(name, "__nv_", 5) == 0)
        return is_c_name(out, name + 5);
    if (strncmp(name, "__ocml_", 7) == 0)
        return is_ocml_name(out, name + 7);
    return is_c_name(out, name) &&
           (out->function->is_c || strcmp(name, "pow10") == 0);
}

/* ---- types ---- */

static int is_integer(LLVMTypeRef type)
{
    return LLVMGetTypeKind(kiln__lane_type(type)) == LLVMIntegerTypeKind;
}

static int is_pointer(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

/* A vector's functions may take one number for all elements. */
static int is_float_like(LLVMTypeRef type, LLVMTypeRef wanted)
{
    return type == wanted || type == kiln__lane_type(wanted);
}

/* The type of parameter `i`, or NULL. */
static LLVMTypeRef parameter(LLVMValueRef call, unsigned i)
{
    return i < LLVMGetNumArgOperands(call) ? LLVMTypeOf(LLVMGetOperand(call, i))
                                           : NULL;
}

static int has_types(const kiln__math_call *call, LLVMValueRef of)
{
    const kiln__math_form form = call->function->form;
    const unsigned floats = form == KILN__FORM_3          ? 3
                            : form == KILN__FORM_2        ? 2
                            : form == KILN__FORM_QUOTIENT ? 2
                                                          : 1;
    const unsigned count = LLVMGetNumArgOperands(of);
    const LLVMTypeRef result = LLVMTypeOf(of);
    const int is_struct = LLVMGetTypeKind(result) == LLVMStructTypeKind;

    if (count < floats)
        return 0;
    for (unsigned i = 0; i < floats; i++)
        if (!is_float_like(parameter(of, i), call->type))
            return 0;
    switch (form) {
    case KILN__FORM_1:
    case KILN__FORM_2:
    case KILN__FORM_3:
        return count == floats && result == call->type;
    case KILN__FORM_SCALE:
        return count == 2 && result == call->type &&
               is_integer(parameter(of, 1));
    case KILN__FORM_ROUND:
        return count == 1 && is_integer(result);
    case KILN__FORM_SPLIT:
        return is_struct ? count == 1
                         : count == 2 && result == call->type &&
                               is_pointer(parameter(of, 1));
    case KILN__FORM_PAIR:
        return is_struct ? count == 1
                         : count == 3 && is_pointer(parameter(of, 1)) &&
                               is_pointer(parameter(of, 2));
    case KILN__FORM_QUOTIENT:
        return count == 3 && result == call->type &&
               is_pointer(parameter(of, 2));
    }
    return 0;
}

static int is_float_kind(LLVMTypeKind kind)
{
    return kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ||
           kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

int kiln__math_recognise(kiln__math_call *out, LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    LLVMTypeRef type;
    LLVMTypeKind kind;
    named name;

    if (callee == NULL || !LLVMIsDeclaration(callee) ||
        LLVMGetNumArgOperands(call) == 0 || !find_name(&name, callee))
        return 0;
    type = LLVMTypeOf(LLVMGetOperand(call, 0));
    if (name.function->form <= KILN__FORM_3)
        type = LLVMTypeOf(call);
    kind = LLVMGetTypeKind(kiln__lane_type(type));
    if (!is_float_kind(kind) ||
        (name.kind != LLVMVoidTypeKind && name.kind != kind))
        return 0;
    *out = (kiln__math_call){name.function, type, name.is_rough};
    return has_types(out, call);
}

/* ---- names in libraries ---- */

static const char *letters_of(kiln__math_form form, int is_f64)
{
    switch ((int)form) {
    case KILN__FORM_2:
        return is_f64 ? "dd" : "ff";
    case KILN__FORM_3:
        return is_f64 ? "ddd" : "fff";
    case KILN__FORM_SCALE:
        return is_f64 ? "di" : "fi";
    default:
        return is_f64 ? "d" : "f";
    }
}

static void opencl_name(char out[KILN__MATH_SYMBOL_SIZE],
                        const kiln__math_function *f, int is_f64)
{
    snprintf(out, KILN__MATH_SYMBOL_SIZE, "_Z%zu%s%s", strlen(f->name), f->name,
             letters_of(f->form, is_f64));
}

void kiln__math_symbol(char out[KILN__MATH_SYMBOL_SIZE],
                       const kiln__codegen_job *job,
                       const kiln__math_function *f, int is_f64)
{
    const char *name = f->name;

    switch (job->settings->math_names) {
    case KILN__NAMES_OWN:
        if (job->settings->contract && kiln__math_is_own(name, is_f64))
            snprintf(out, KILN__MATH_SYMBOL_SIZE, KILN__OWN_PREFIX "%s.f%d",
                     name, is_f64 ? 64 : 32);
        else
            opencl_name(out, f, is_f64);
        break;
    case KILN__NAMES_LIBDEVICE:
        if (f == kiln__math_named("pown"))
            name = "powi";
        snprintf(out, KILN__MATH_SYMBOL_SIZE, "__nv_%s%s", name,
                 is_f64 ? "" : "f");
        break;
    case KILN__NAMES_OCML:
        snprintf(out, KILN__MATH_SYMBOL_SIZE, "__ocml_%s_f%d", name,
                 is_f64 ? 64 : 32);
        break;
    case KILN__NAMES_NONE:
        if (f->is_c) {
            snprintf(out, KILN__MATH_SYMBOL_SIZE, "%s%s", name,
                     is_f64 ? "" : "f");
            break;
        }
        /* fall through */
    default:
        opencl_name(out, f, is_f64);
    }
}
