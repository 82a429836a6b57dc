/* foreign_builtin_convert.c - conversions of OpenCL C that LLVM has
   instructions for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ctype.h>
#include <string.h>

#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * convert_TYPE[_sat][_rte, _rtz, _rtp or _rtn]: between whole numbers there is
 * nothing to round; whole numbers become floats, and floats become others, as
 * LLVM's instructions do it, which round to the nearest; floats become whole
 * numbers by dropping the fraction. Other ways of rounding, and floats that
 * saturate, are of a library.
 */

typedef struct conversion {
    LLVMBuilderRef builder;
    LLVMModuleRef module;
    LLVMTypeRef from, to;
    int is_from_signed, is_to_signed;
    int saturates;
    char rounding; /* 'e', 'z', 'p', 'n'; 0: none is given */
} conversion;

static int is_whole(LLVMTypeRef type)
{
    return LLVMGetTypeKind(kiln__lane_type(type)) == LLVMIntegerTypeKind;
}

static int is_float(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(kiln__lane_type(type));

    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

static unsigned width_of(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(kiln__lane_type(type));

    return kind == LLVMFloatTypeKind ? 32
           : kind == LLVMDoubleTypeKind
               ? 64
               : LLVMGetIntTypeWidth(kiln__lane_type(type));
}

/* ---- reading the name ---- */

static int read_ending(conversion *c, const char *at)
{
    if (strncmp(at, "_sat", 4) == 0) {
        c->saturates = 1;
        at += 4;
    }
    if (*at == '\0')
        return 1;
    if (strncmp(at, "_rt", 3) != 0 || at[3] == '\0' || at[4] != '\0' ||
        strchr("ezpn", at[3]) == NULL)
        return 0;
    c->rounding = at[3];
    return 1;
}

static int is_signed_word(const char *word, size_t size)
{
    static const char *const words[] = {"char", "short", "int", "long"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == size && strncmp(words[i], word, size) == 0)
            return 1;
    return 0;
}

static int read_name(conversion *c, LLVMValueRef function,
                     const kiln__mangled_name *name)
{
    static const char prefix[] = "convert_";
    const char *word = name->base + sizeof prefix - 1;
    size_t size = 0;

    if (strncmp(name->base, prefix, sizeof prefix - 1) != 0 ||
        name->count != 1 || LLVMCountParams(function) != 1)
        return 0;
    while (islower((unsigned char)word[size]))
        size++;
    c->is_to_signed = is_signed_word(word, size);
    c->is_from_signed =
        strlen(name->parameters[0].element) == 1 &&
        strchr("acsilx", name->parameters[0].element[0]) != NULL;
    while (isdigit((unsigned char)word[size]))
        size++;
    c->from = LLVMTypeOf(LLVMGetParam(function, 0));
    c->to = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    return read_ending(c, word + size) &&
           (LLVMGetTypeKind(c->from) == LLVMVectorTypeKind) ==
               (LLVMGetTypeKind(c->to) == LLVMVectorTypeKind);
}

/* True if an instruction does what the name says. */
static int has_instruction(const conversion *c)
{
    if (is_whole(c->from))
        return is_whole(c->to) ||
               (is_float(c->to) && (c->rounding == 0 || c->rounding == 'e'));
    if (!is_float(c->from))
        return 0;
    if (is_float(c->to))
        return width_of(c->to) >= width_of(c->from) || c->rounding == 0 ||
               c->rounding == 'e';
    return is_whole(c->to) && !c->saturates &&
           (c->rounding == 0 || c->rounding == 'z');
}

/* ---- building ---- */

/* The number in every element. */
static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
    return kiln__spread_constant(type,
                                 LLVMConstInt(kiln__lane_type(type), value, 0));
}

static LLVMValueRef bound(const conversion *c, const char *name,
                          LLVMValueRef value, uint64_t by)
{
    LLVMValueRef both[2] = {value, number(c->from, by)};

    return kiln__call_intrinsic(c->builder, name, c->from, both, 2);
}

/* How many bits the greatest number has. */
static unsigned bits_of(LLVMTypeRef type, int is_signed)
{
    return width_of(type) - (unsigned)is_signed;
}

/* Bounds the number, as one of its own type, by what the other type holds. */
static LLVMValueRef saturate(const conversion *c, LLVMValueRef value)
{
    const unsigned bits = bits_of(c->to, c->is_to_signed);

    if (c->is_from_signed && !c->is_to_signed)
        value = bound(c, "llvm.smax", value, 0);
    else if (c->is_from_signed && width_of(c->to) < width_of(c->from))
        value = bound(c, "llvm.smax", value, ~(uint64_t)0 << bits);
    if (bits < bits_of(c->from, c->is_from_signed))
        value = bound(c, c->is_from_signed ? "llvm.smin" : "llvm.umin", value,
                      ((uint64_t)1 << bits) - 1);
    return value;
}

static LLVMValueRef convert(const conversion *c, LLVMValueRef value)
{
    if (is_whole(c->from) && is_whole(c->to)) {
        if (c->saturates)
            value = saturate(c, value);
        return LLVMBuildIntCast2(c->builder, value, c->to, c->is_from_signed,
                                 "");
    }
    if (is_whole(c->from))
        return c->is_from_signed
                   ? LLVMBuildSIToFP(c->builder, value, c->to, "")
                   : LLVMBuildUIToFP(c->builder, value, c->to, "");
    if (is_float(c->to))
        return LLVMBuildFPCast(c->builder, value, c->to, "");
    value = c->is_to_signed ? LLVMBuildFPToSI(c->builder, value, c->to, "")
                            : LLVMBuildFPToUI(c->builder, value, c->to, "");
    /* What does not fit is any number, but not poison. */
    return LLVMBuildFreeze(c->builder, value, "");
}

int kiln__foreign_is_conversion(LLVMValueRef function,
                                const kiln__mangled_name *name)
{
    conversion c = {.saturates = 0};

    return read_name(&c, function, name) && has_instruction(&c);
}

LLVMValueRef kiln__foreign_build_conversion(const kiln__codegen_job *job,
                                            LLVMBuilderRef builder,
                                            LLVMValueRef function,
                                            const kiln__mangled_name *name)
{
    conversion c = {.builder = builder, .module = job->module};

    (void)read_name(&c, function, name);
    return convert(&c, LLVMGetParam(function, 0));
}
