/* other_languages.c - what names of other languages are called here. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/syntax/ast.h"

/*
 * Kernels are ported from CUDA C, OpenCL C, Python and Julia. A name of theirs
 * that means nothing here is often far from ours by its letters, so the nearest
 * name would be a wrong guess; this table comes first.
 */

typedef struct equivalent {
    const char *name;
    const char *hint;
} equivalent;

static const equivalent types[] = {
    {"int", "the type is `i32`"},
    {"int8_t", "the type is `i8`"},
    {"int16_t", "the type is `i16`"},
    {"int32_t", "the type is `i32`"},
    {"int64_t", "the type is `i64`"},
    {"uint8_t", "the type is `u8`"},
    {"uint16_t", "the type is `u16`"},
    {"uint32_t", "the type is `u32`"},
    {"uint64_t", "the type is `u64`"},
    {"int8", "the type is `i8`"},
    {"int16", "the type is `i16`"},
    {"int32", "the type is `i32`"},
    {"int64", "the type is `i64`"},
    {"uint8", "the type is `u8`"},
    {"uint16", "the type is `u16`"},
    {"uint32", "the type is `u32`"},
    {"uint64", "the type is `u64`"},
    {"Int8", "the type is `i8`"},
    {"Int16", "the type is `i16`"},
    {"Int32", "the type is `i32`"},
    {"Int64", "the type is `i64`"},
    {"UInt8", "the type is `u8`"},
    {"UInt16", "the type is `u16`"},
    {"UInt32", "the type is `u32`"},
    {"UInt64", "the type is `u64`"},
    {"unsigned", "the type is `u32`"},
    {"uint", "the type is `u32`"},
    {"short", "the type is `i16`"},
    {"ushort", "the type is `u16`"},
    {"long", "the type is `i64`"},
    {"ulong", "the type is `u64`"},
    {"char", "the type is `i8`"},
    {"uchar", "the type is `u8`"},
    {"size_t", "the type is `u64`; sizes and ids are `i64` here"},
    {"usize", "the type is `u64`; sizes and ids are `i64` here"},
    {"half", "the type is `f16`"},
    {"float", "the type is `f32`"},
    {"double", "the type is `f64`"},
    {"float16", "the type is `f16`"},
    {"float32", "the type is `f32`"},
    {"float64", "the type is `f64`"},
    {"Float16", "the type is `f16`"},
    {"Float32", "the type is `f32`"},
    {"Float64", "the type is `f64`"},
    {"bfloat16", "the type is `bf16`"},
    {"bool", "the type is `Bool`"},
    {"float2", "the type is `Vec{f32, 2}`"},
    {"float3", "the type is `Vec{f32, 3}`"},
    {"float4", "the type is `Vec{f32, 4}`"},
    {"float8", "the type is `Vec{f32, 8}`"},
    {"double2", "the type is `Vec{f64, 2}`"},
    {"double4", "the type is `Vec{f64, 4}`"},
    {"int2", "the type is `Vec{i32, 2}`"},
    {"int4", "the type is `Vec{i32, 4}`"},
};

static const equivalent values[] = {
    /* ids and sizes */
    {"threadIdx", "write `local_id(0)` for threadIdx.x"},
    {"blockIdx", "write `group_id(0)` for blockIdx.x"},
    {"blockDim", "write `local_size(0)` for blockDim.x"},
    {"gridDim", "write `group_count(0)` for gridDim.x"},
    {"warpSize", "write `sub_group_size()`"},
    {"laneid", "write `lane_id()`"},
    {"get_global_id", "write `global_id(0)`"},
    {"get_local_id", "write `local_id(0)`"},
    {"get_group_id", "write `group_id(0)`"},
    {"get_global_size", "write `global_size(0)`"},
    {"get_local_size", "write `local_size(0)`"},
    {"get_num_groups", "write `group_count(0)`"},
    {"get_sub_group_local_id", "write `lane_id()`"},
    /* what items do together */
    {"__syncthreads", "write `barrier()`"},
    {"syncthreads", "write `barrier()`"},
    {"sync_threads", "write `barrier()`"},
    {"work_group_barrier", "write `barrier()`"},
    {"__threadfence", "write `memory_fence()`"},
    {"mem_fence", "write `memory_fence()`"},
    {"__shfl_sync", "write `shuffle(x, lane)`"},
    {"__shfl_xor_sync", "write `shuffle_xor(x, mask)`"},
    {"__shfl_up_sync", "write `shuffle_up(x, n)`"},
    {"__shfl_down_sync", "write `shuffle_down(x, n)`"},
    {"__any_sync", "write `sub_group_any(c)`"},
    {"__all_sync", "write `sub_group_all(c)`"},
    {"__popc", "write `popcount(x)`"},
    {"__clz", "write `clz(x)`"},
    {"atomicAdd", "write `atomic_add(a, i, v)`"},
    {"atomicSub", "write `atomic_sub(a, i, v)`"},
    {"atomicMin", "write `atomic_min(a, i, v)`"},
    {"atomicMax", "write `atomic_max(a, i, v)`"},
    {"atomicAnd", "write `atomic_and(a, i, v)`"},
    {"atomicOr", "write `atomic_or(a, i, v)`"},
    {"atomicXor", "write `atomic_xor(a, i, v)`"},
    {"atomicExch", "write `atomic_exchange(a, i, v)`"},
    {"atomicCAS", "write `atomic_cas(a, i, expected, desired)`"},
    {"atomic_xchg", "write `atomic_exchange(a, i, v)`"},
    {"atomic_cmpxchg", "write `atomic_cas(a, i, expected, desired)`"},
    {"atomic_inc", "write `atomic_add(a, i, 1)`"},
    {"atomic_dec", "write `atomic_sub(a, i, 1)`"},
    /* memory */
    {"shared", "write `local t = f32[256]`"},
    {"local_array", "write `local t = f32[256]`"},
    {"malloc", "write `allocate(f32, n)`"},
    {"len", "write `length(a)`, or `size(a, 0)`"},
    {"shape", "write `size(a, 0)`"},
    {"sizeof", "write `length(a)` for the elements of an array"},
    /* numbers */
    {"fabs", "write `abs(x)`"},
    {"fabsf", "write `abs(x)`"},
    {"fmin", "write `min(a, b)`"},
    {"fminf", "write `min(a, b)`"},
    {"fmax", "write `max(a, b)`"},
    {"fmaxf", "write `max(a, b)`"},
    {"powf", "write `pow(x, y)`, or `x ** y`"},
    {"sqrtf", "write `sqrt(x)`"},
    {"rsqrtf", "write `rsqrt(x)`"},
    {"expf", "write `exp(x)`"},
    {"logf", "write `log(x)`"},
    {"sinf", "write `sin(x)`"},
    {"cosf", "write `cos(x)`"},
    {"tanhf", "write `tanh(x)`"},
    {"native_exp", "write `exp(x)`, in `fastmath ... end`"},
    {"native_sqrt", "write `sqrt(x)`, in `fastmath ... end`"},
    {"mad", "write `a * b + c`, or `fma(a, b, c)`"},
    {"mod", "write `a % b`"},
    {"div", "write `a // b`"},
    {"INFINITY", "write `typemax(f32)`"},
    {"FLT_MAX", "the greatest float is the infinity `typemax(f32)`"},
    {"INT_MAX", "write `typemax(i32)`"},
    {"NULL", "there are no pointers; pass an array and its length"},
    {"nullptr", "there are no pointers; pass an array and its length"},
    {"None", "there are no pointers; pass an array and its length"},
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"printf", "write `print(\"x = \", x, \"\\n\")`"},
    {"println", "write `print(x, \"\\n\")`"},
    {"range", "write `for i in 0..n`"},
    {"np", "functions stand alone: `sqrt(x)`"},
    {"math", "functions stand alone: `sqrt(x)`"},
    {"cuda", "ids are `global_id(0)`, a barrier is `barrier()`"},
};

static const char *find_hint(const equivalent *list, size_t count,
                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].hint;
    return NULL;
}

const char *kiln__other_type_hint(const char *name)
{
    return find_hint(types, sizeof types / sizeof *types, name);
}

const char *kiln__other_name_hint(const char *name)
{
    const char *hint = find_hint(values, sizeof values / sizeof *values, name);

    return hint != NULL ? hint : kiln__other_type_hint(name);
}
