/* vecmath_build.c - what bodies of mathematical functions are made of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_build.h"

#include <math.h>
#include <string.h>

static LLVMTypeRef shaped(LLVMTypeRef like, LLVMTypeRef lane)
{
    return LLVMGetTypeKind(like) == LLVMVectorTypeKind
               ? LLVMVectorType(lane, LLVMGetVectorSize(like))
               : lane;
}

void kiln__vm_init(kiln__vm *m, LLVMModuleRef module, LLVMBuilderRef builder,
                   LLVMTypeRef type)
{
    const LLVMContextRef context = LLVMGetModuleContext(module);
    const int is_f64 =
        LLVMGetTypeKind(kiln__lane_type(type)) == LLVMDoubleTypeKind;

    *m = (kiln__vm){
        .module = module,
        .builder = builder,
        .type = type,
        .bits = shaped(type, is_f64 ? LLVMInt64TypeInContext(context)
                                    : LLVMInt32TypeInContext(context)),
        .truth = shaped(type, LLVMInt1TypeInContext(context)),
        .is_f64 = is_f64,
    };
}

LLVMValueRef kiln__vm_call(const kiln__vm *m, const char *name,
                           LLVMValueRef *arguments, unsigned count)
{
    return kiln__call_intrinsic(m->builder, name, m->type, arguments, count);
}

LLVMValueRef kiln__vm_sum(const kiln__vm *m, LLVMValueRef x, const double *c,
                          size_t count)
{
    LLVMValueRef sum = vm_number(m, c[--count]);

    while (count-- > 0)
        sum = vm_fma(m, sum, x, vm_number(m, c[count]));
    return sum;
}

/* Numbers of this size have no bits after the point, so adding one rounds. */
static double rounder(const kiln__vm *m)
{
    return m->is_f64 ? 6755399441055744.0 : 12582912.0; /* 1.5 * 2^52, 2^23 */
}

LLVMValueRef kiln__vm_whole(const kiln__vm *m, LLVMValueRef x, double factor,
                            double offset, LLVMValueRef *k)
{
    LLVMValueRef large;

    if (offset != 0)
        large = vm_plus(m, vm_scaled(m, x, factor, vm_number(m, offset)),
                        rounder(m));
    else
        large = vm_scaled(m, x, factor, vm_number(m, rounder(m)));
    *k = vm_to_bits(m, large);
    return vm_plus(m, large, -rounder(m));
}

LLVMValueRef kiln__vm_power(const kiln__vm *m, LLVMValueRef k)
{
    const unsigned places = m->is_f64 ? 52 : 23;
    const uint64_t bias = m->is_f64 ? 1023 : 127;
    LLVMValueRef bits = LLVMBuildShl(m->builder, k, vm_integer(m, places), "");

    bits = LLVMBuildAdd(m->builder, bits, vm_integer(m, bias << places), "");
    return vm_from_bits(m, bits);
}

/* In two steps, since 2^k may be no normal number. */
LLVMValueRef kiln__vm_scale(const kiln__vm *m, LLVMValueRef value,
                            LLVMValueRef k)
{
    const LLVMValueRef n = LLVMBuildSub(
        m->builder, k, vm_to_bits(m, vm_number(m, rounder(m))), "");
    const LLVMValueRef half =
        LLVMBuildAShr(m->builder, n, vm_integer(m, 1), "");
    const LLVMValueRef rest = LLVMBuildSub(m->builder, n, half, "");

    value = vm_mul(m, value, kiln__vm_power(m, half));
    return vm_mul(m, value, kiln__vm_power(m, rest));
}

LLVMValueRef kiln__vm_log_rest(const kiln__vm *m, LLVMValueRef x,
                               LLVMValueRef value)
{
    const LLVMValueRef other = vm_choose(
        m, vm_is(m, x, 0), vm_number(m, -HUGE_VAL), vm_number(m, (double)NAN));

    value = vm_choose(m, vm_is(m, x, HUGE_VAL), x, value);
    return vm_choose(m, vm_is_greater(m, x, 0), value, other);
}

static kiln__vm_body find(const kiln__vm_function *list, const char *name,
                          unsigned *operands)
{
    for (; list->name != NULL; list++)
        if (strcmp(list->name, name) == 0) {
            *operands = list->operands;
            return list->body;
        }
    return NULL;
}

kiln__vm_body kiln__vm_find(const char *name, int is_f64, unsigned *operands)
{
    kiln__vm_body body;

    if (is_f64)
        return find(kiln__vm_doubles, name, operands);
    body = find(kiln__vm_singles, name, operands);
    return body != NULL ? body : find(kiln__vm_wide_singles, name, operands);
}
