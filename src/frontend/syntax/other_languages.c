/* other_languages.c - what names of other languages are called here. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/array.h"
#include "frontend/syntax/ast.h"
#include "ir/ir_tables.h"

/*
 * Kernels are ported from CUDA C, OpenCL C, Python and Julia. A name of theirs
 * that means nothing here is often far from ours by its letters, so the nearest
 * name would be a wrong guess; this table comes first.
 */

typedef struct equivalent {
    const char *name;
    const char *ours; /* a type, or a hint */
} equivalent;

static const equivalent types[] = {
    {"int", "i32"},       {"int8_t", "i8"},
    {"int16_t", "i16"},   {"int32_t", "i32"},
    {"int64_t", "i64"},   {"uint8_t", "u8"},
    {"uint16_t", "u16"},  {"uint32_t", "u32"},
    {"uint64_t", "u64"},  {"int8", "i8"},
    {"int16", "i16"},     {"int32", "i32"},
    {"int64", "i64"},     {"uint8", "u8"},
    {"uint16", "u16"},    {"uint32", "u32"},
    {"uint64", "u64"},    {"Int8", "i8"},
    {"Int16", "i16"},     {"Int32", "i32"},
    {"Int64", "i64"},     {"UInt8", "u8"},
    {"UInt16", "u16"},    {"UInt32", "u32"},
    {"UInt64", "u64"},    {"unsigned", "u32"},
    {"uint", "u32"},      {"short", "i16"},
    {"ushort", "u16"},    {"long", "i64"},
    {"ulong", "u64"},     {"char", "i8"},
    {"uchar", "u8"},      {"size_t", "u64"},
    {"usize", "u64"},     {"half", "f16"},
    {"float", "f32"},     {"double", "f64"},
    {"float16", "f16"},   {"float32", "f32"},
    {"float64", "f64"},   {"Float16", "f16"},
    {"Float32", "f32"},   {"Float64", "f64"},
    {"bfloat16", "bf16"}, {"bool", "Bool"},
    {"ptrdiff_t", "i64"}, {"signed", "i32"},
    {"Int", "i64"},       {"UInt", "u64"},
    {"isize", "i64"},     {"int_", "i64"},
    {"bool_", "Bool"},    {"boolean", "Bool"},
    {"__half", "f16"},    {"__nv_bfloat16", "bf16"},
    {"BFloat16", "bf16"}, {"cl_int", "i32"},
    {"cl_float", "f32"},
};

/* Vectors of other languages are an element type and a length, as in float4. */
static const equivalent elements[] = {
    {"char", "i8"},  {"uchar", "u8"},  {"short", "i16"},  {"ushort", "u16"},
    {"int", "i32"},  {"uint", "u32"},  {"long", "i64"},   {"ulong", "u64"},
    {"half", "f16"}, {"float", "f32"}, {"double", "f64"}, {"longlong", "i64"},
};

static const equivalent values[] = {
    /* ids and sizes */
    {"threadIdx", "write `local_id(0)` for threadIdx.x, `local_id(1)` for .y"},
    {"blockIdx", "write `group_id(0)` for blockIdx.x, `group_id(1)` for .y"},
    {"blockDim",
     "write `local_size(0)` for blockDim.x, `local_size(1)` for .y"},
    {"gridDim",
     "write `group_count(0)` for gridDim.x, `group_count(1)` for .y"},
    {"warpSize", "write `sub_group_size()`"},
    {"laneid", "write `lane_id()`"},
    {"get_global_id", "write `global_id(0)`"},
    {"get_local_id", "write `local_id(0)`"},
    {"get_group_id", "write `group_id(0)`"},
    {"get_global_size", "write `global_size(0)`"},
    {"get_local_size", "write `local_size(0)`"},
    {"get_num_groups", "write `group_count(0)`"},
    {"get_sub_group_local_id", "write `lane_id()`"},
    {"get_sub_group_size", "write `sub_group_size()`"},
    {"get_global_linear_id", "write `global_id(0)`"},
    {"get_local_linear_id", "write `group_rank()`"},
    {"get_global_offset", "a grid begins at 0"},
    /* what items do together */
    {"__syncthreads", "write `barrier()`"},
    {"syncthreads", "write `barrier()`"},
    {"sync_threads", "write `barrier()`"},
    {"work_group_barrier", "write `barrier()`"},
    {"threadgroup_barrier", "write `barrier()`"},
    {"__syncwarp", "leave it out: a sub-group's operations wait by themselves"},
    {"CLK_LOCAL_MEM_FENCE", "write `barrier()`; it takes no flags"},
    {"CLK_GLOBAL_MEM_FENCE", "write `barrier()`; it takes no flags"},
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
    {"__ffs", "write `ctz(x) + 1`"},
    {"__ballot_sync", "write `sub_group_any(c)` or `sub_group_all(c)`"},
    {"work_group_reduce_add", "write `group_add(x)`"},
    {"sub_group_reduce_add", "write `sub_group_add(x)`"},
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
    {"calloc", "write `allocate(f32, n)`"},
    {"zeros", "write `local t = f32[16]`, or `allocate(f32, n)`"},
    {"ones", "write `local t = f32[16]`, or `allocate(f32, n)`"},
    {"empty", "write `local t = f32[16]`, or `allocate(f32, n)`"},
    {"numel", "write `length(a)`"},
    {"ndims", "write `rank(a)`"},
    {"eltype", "write `typeof(a[0])`"},
    {"sum", "`import reduce` has kernels that sum arrays"},
    {"map", "write a loop over `a[i]`"},
    {"memcpy", "write a loop over `a[i]`"},
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
    {"mad", "write `a * b + c`, or `fma(a, b, c)`"},
    {"mod", "write `a % b`"},
    {"div", "write `a // b`"},
    {"ifelse", "write `select(c, a, b)`, or `c ? a : b`"},
    {"not", "write `!c`"},
    {"sincos", "write `sin(x)` and `cos(x)`"},
    {"reinterpret", "write `bitcast(u32, x)`"},
    {"static_cast", "a conversion is `f32(x)`"},
    {"reinterpret_cast", "write `bitcast(u32, x)`"},
    {"__float_as_int", "write `bitcast(i32, x)`"},
    {"__float_as_uint", "write `bitcast(u32, x)`"},
    {"__int_as_float", "write `bitcast(f32, x)`"},
    {"__uint_as_float", "write `bitcast(f32, x)`"},
    {"__float2int_rz", "write `trunc(i32, x)`"},
    {"__float2int_rn", "write `trunc(i32, rint(x))`"},
    {"__float2int_rd", "write `trunc(i32, floor(x))`"},
    {"__float2int_ru", "write `trunc(i32, ceil(x))`"},
    {"__int2float_rn", "write `f32(x)`"},
    {"__ldg", "write `a[i]`"},
    {"pi", "write `const PI = 3.141592653589793`"},
    {"M_PI", "write `const PI = 3.141592653589793`"},
    {"Inf", "write `typemax(f32)`"},
    {"NaN", "write `zero(f32) / zero(f32)`"},
    {"NAN", "write `zero(f32) / zero(f32)`"},
    {"INFINITY", "write `typemax(f32)`"},
    {"FLT_MAX", "the greatest float is the infinity `typemax(f32)`"},
    {"INT_MAX", "write `typemax(i32)`"},
    {"NULL", "there are no pointers; pass an array and its length"},
    {"nullptr", "there are no pointers; pass an array and its length"},
    {"null", "there are no pointers; pass an array and its length"},
    {"nil", "there are no pointers; pass an array and its length"},
    {"nothing", "a function without a result just ends, or has `return`"},
    {"undef", "a variable begins with a value: `x = 0`"},
    {"None", "there are no pointers; pass an array and its length"},
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"printf", "write `print(\"x = \", x, \"\\n\")`"},
    {"println", "write `print(x, \"\\n\")`"},
    {"cuprintf", "write `print(\"x = \", x, \"\\n\")`"},
    {"range", "write `for i in 0..n`"},
    {"np", "functions stand alone: `sqrt(x)`"},
    {"math", "functions stand alone: `sqrt(x)`"},
    {"Math", "functions stand alone: `sqrt(x)`"},
    {"std", "functions stand alone: `sqrt(x)`"},
    {"numpy", "functions stand alone: `sqrt(x)`"},
    {"ti", "ids are `global_id(0)`, functions stand alone: `sqrt(x)`"},
    {"cuda", "ids are `global_id(0)`, a barrier is `barrier()`"},
};

static const equivalent members[] = {
    {"length", "write `length(a)`"},
    {"len", "write `length(a)`"},
    {"size", "write `length(a)`, or `size(a, 0)`"},
    {"shape", "write `size(a, 0)`"},
    {"ndim", "write `rank(a)`"},
    {"dtype", "write `typeof(a[0])`"},
    {"astype", "a conversion is `f32(x)`"},
    {"to", "a conversion is `f32(x)`"},
    {"view", "write `bitcast(u32, x)`"},
    {"sum", "`import reduce` has kernels that sum arrays"},
    {"x", "an element is `v[0]`"},
    {"y", "an element is `v[1]`"},
    {"z", "an element is `v[2]`"},
    {"w", "an element is `v[3]`"},
    {"xy", "write `Vec(v[0], v[1])`"},
    {"xyz", "write `Vec(v[0], v[1], v[2])`"},
    {"lo", "elements are `v[0]`, `v[1]` and so on"},
    {"hi", "elements are `v[0]`, `v[1]` and so on"},
    {"s0", "an element is `v[0]`"},
    {"s1", "an element is `v[1]`"},
    {"s2", "an element is `v[2]`"},
    {"s3", "an element is `v[3]`"},
};

/* Names that are made of one of ours, or of another language's type. */
typedef struct form {
    const char *before;
    const char *after;
    const char *hint; /* `%s` is what stands between them */
} form;

static const form type_forms[] = {
    {"make_", "", "write `%s(...)`, with each element"},
    {"convert_", "", "write `%s(x)`, or `trunc(%s, x)`"},
    {"as_", "", "write `bitcast(%s, x)`"},
};

static const form function_forms[] = {
    {"", "f", "write `%s(x)`"},
    {"native_", "", "write `%s(x)`, in `fastmath ... end`"},
    {"half_", "", "write `%s(x)`, in `fastmath ... end`"},
    {"__", "f", "write `%s(x)`, in `fastmath ... end`"},
    {"__f", "_rn", "write `%s(x)`"},
};

/* ---- looking up ---- */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LONGEST 32 /* of a name in these tables, with its NUL */

static const char *find(const equivalent *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].ours;
    return NULL;
}

/* Returns "Vec{f32, 4}" for float4, or NULL. */
static const char *vector_of(kiln__arena *arena, const char *name)
{
    const size_t size = strcspn(name, "0123456789");
    const char *digits = name + size, *element;
    char text[LONGEST];

    if (size >= sizeof text ||
        (strcmp(digits, "16") != 0 && (strchr("2348", digits[0]) == NULL ||
                                       digits[0] == '\0' || digits[1] != '\0')))
        return NULL;
    memcpy(text, name, size);
    text[size] = '\0';
    element = find(elements, COUNT(elements), text);
    return element == NULL
               ? NULL
               : kiln__arena_format(arena, "Vec{%s, %s}", element, digits);
}

const char *kiln__other_type(kiln__arena *arena, const char *name)
{
    const char *type = find(types, COUNT(types), name);

    return type != NULL ? type : vector_of(arena, name);
}

const char *kiln__other_type_hint(kiln__arena *arena, const char *name)
{
    const char *type = kiln__other_type(arena, name);

    if (type == NULL)
        return NULL;
    return kiln__arena_format(
        arena, "the type is `%s`%s", type,
        strcmp(name, "size_t") == 0 ? "; sizes and ids are `i64` here" : "");
}

/* Returns what stands between the two parts of the form, in `text`, or NULL. */
static const char *inside(char text[LONGEST], const form *f, const char *name)
{
    const size_t before = strlen(f->before), after = strlen(f->after);
    const size_t size = strlen(name);

    if (size <= before + after || size - before - after >= LONGEST ||
        memcmp(name, f->before, before) != 0 ||
        strcmp(name + size - after, f->after) != 0)
        return NULL;
    memcpy(text, name + before, size - before - after);
    text[size - before - after] = '\0';
    return text;
}

/* Fills in the form's hint, whose `%s` may stand twice. */
static const char *fill(kiln__arena *arena, const char *hint, const char *word)
{
    const char *first = strstr(hint, "%s");
    const char *second = strstr(first + 2, "%s");

    if (second == NULL)
        return kiln__arena_format(arena, "%.*s%s%s", (int)(first - hint), hint,
                                  word, first + 2);
    return kiln__arena_format(arena, "%.*s%s%.*s%s%s", (int)(first - hint),
                              hint, word, (int)(second - first) - 2, first + 2,
                              word, second + 2);
}

static int is_function(const char *name)
{
    for (size_t i = 0; i < KILN__MATH_COUNT; i++)
        if (strcmp(kiln__ir_math[i].text, name) == 0)
            return 1;
    return 0;
}

static const char *find_form(kiln__arena *arena, const char *name)
{
    char text[LONGEST];
    const char *word, *type;

    for (size_t i = 0; i < COUNT(type_forms); i++) {
        word = inside(text, &type_forms[i], name);
        type = word == NULL ? NULL : kiln__other_type(arena, word);
        if (type != NULL)
            return fill(arena, type_forms[i].hint, type);
    }
    for (size_t i = 0; i < COUNT(function_forms); i++) {
        word = inside(text, &function_forms[i], name);
        if (word != NULL && is_function(word))
            return fill(arena, function_forms[i].hint, word);
    }
    return NULL;
}

const char *kiln__other_name_hint(kiln__arena *arena, const char *name)
{
    const char *hint = find(values, COUNT(values), name);

    if (hint == NULL)
        hint = find_form(arena, name);
    return hint != NULL ? hint : kiln__other_type_hint(arena, name);
}

const char *kiln__other_member_hint(const char *name)
{
    return find(members, COUNT(members), name);
}
