/* builtins.c - the table of built-in functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/program/builtins.h"

/* X(name, rule, least, most, data): the built-in functions that are no
   operators. */
#define BUILTIN_MAP(X) \
    X("global_id", QUERY, 1, 1, KILN__QUERY_GLOBAL_ID) \
    X("local_id", QUERY, 1, 1, KILN__QUERY_LOCAL_ID) \
    X("group_id", QUERY, 1, 1, KILN__QUERY_GROUP_ID) \
    X("global_size", QUERY, 1, 1, KILN__QUERY_GLOBAL_SIZE) \
    X("local_size", QUERY, 1, 1, KILN__QUERY_LOCAL_SIZE) \
    X("group_count", QUERY, 1, 1, KILN__QUERY_GROUP_COUNT) \
    X("sub_group_size", QUERY, 0, 0, KILN__QUERY_SUB_GROUP_SIZE) \
    X("sub_group_id", QUERY, 0, 0, KILN__QUERY_SUB_GROUP_ID) \
    X("lane_id", QUERY, 0, 0, KILN__QUERY_LANE_ID) \
    X("length", LENGTH, 1, 1, 0) \
    X("size", SIZE, 2, 2, 0) \
    X("rank", RANK, 1, 1, 0) \
    X("abs", MATH, 1, 1, KILN__MATH_ABS) \
    X("min", MATH, 2, 2, KILN__MATH_MIN) \
    X("max", MATH, 2, 2, KILN__MATH_MAX) \
    X("clamp", CLAMP, 3, 3, 0) \
    X("sign", SIGN, 1, 1, 0) \
    X("copysign", MATH, 2, 2, KILN__MATH_COPYSIGN) \
    X("sqrt", MATH, 1, 1, KILN__MATH_SQRT) \
    X("rsqrt", MATH, 1, 1, KILN__MATH_RSQRT) \
    X("cbrt", MATH, 1, 1, KILN__MATH_CBRT) \
    X("exp", MATH, 1, 1, KILN__MATH_EXP) \
    X("exp2", MATH, 1, 1, KILN__MATH_EXP2) \
    X("exp10", MATH, 1, 1, KILN__MATH_EXP10) \
    X("expm1", MATH, 1, 1, KILN__MATH_EXPM1) \
    X("log", MATH, 1, 1, KILN__MATH_LOG) \
    X("log2", MATH, 1, 1, KILN__MATH_LOG2) \
    X("log10", MATH, 1, 1, KILN__MATH_LOG10) \
    X("log1p", MATH, 1, 1, KILN__MATH_LOG1P) \
    X("sin", MATH, 1, 1, KILN__MATH_SIN) \
    X("cos", MATH, 1, 1, KILN__MATH_COS) \
    X("tan", MATH, 1, 1, KILN__MATH_TAN) \
    X("asin", MATH, 1, 1, KILN__MATH_ASIN) \
    X("acos", MATH, 1, 1, KILN__MATH_ACOS) \
    X("atan", MATH, 1, 1, KILN__MATH_ATAN) \
    X("atan2", MATH, 2, 2, KILN__MATH_ATAN2) \
    X("sinh", MATH, 1, 1, KILN__MATH_SINH) \
    X("cosh", MATH, 1, 1, KILN__MATH_COSH) \
    X("tanh", MATH, 1, 1, KILN__MATH_TANH) \
    X("asinh", MATH, 1, 1, KILN__MATH_ASINH) \
    X("acosh", MATH, 1, 1, KILN__MATH_ACOSH) \
    X("atanh", MATH, 1, 1, KILN__MATH_ATANH) \
    X("erf", MATH, 1, 1, KILN__MATH_ERF) \
    X("erfc", MATH, 1, 1, KILN__MATH_ERFC) \
    X("tgamma", MATH, 1, 1, KILN__MATH_TGAMMA) \
    X("lgamma", MATH, 1, 1, KILN__MATH_LGAMMA) \
    X("pow", MATH, 2, 2, KILN__MATH_POW) \
    X("hypot", MATH, 2, 2, KILN__MATH_HYPOT) \
    X("fma", MATH, 3, 3, KILN__MATH_FMA) \
    X("fmod", MATH, 2, 2, KILN__MATH_FMOD) \
    X("floor", MATH, 1, 1, KILN__MATH_FLOOR) \
    X("ceil", MATH, 1, 1, KILN__MATH_CEIL) \
    X("round", MATH, 1, 1, KILN__MATH_ROUND) \
    X("rint", MATH, 1, 1, KILN__MATH_RINT) \
    X("trunc", TRUNC, 1, 2, KILN__MATH_TRUNC) \
    X("isnan", TEST, 1, 1, KILN__MATH_ISNAN) \
    X("isinf", TEST, 1, 1, KILN__MATH_ISINF) \
    X("isfinite", TEST, 1, 1, KILN__MATH_ISFINITE) \
    X("popcount", MATH, 1, 1, KILN__MATH_POPCOUNT) \
    X("clz", MATH, 1, 1, KILN__MATH_CLZ) \
    X("ctz", MATH, 1, 1, KILN__MATH_CTZ) \
    X("bitreverse", MATH, 1, 1, KILN__MATH_BITREVERSE) \
    X("byteswap", MATH, 1, 1, KILN__MATH_BYTESWAP) \
    X("select", SELECT, 3, 3, 0) \
    X("zero", LIMIT, 1, 1, KILN__LIMIT_ZERO) \
    X("one", LIMIT, 1, 1, KILN__LIMIT_ONE) \
    X("typemin", LIMIT, 1, 1, KILN__LIMIT_LEAST) \
    X("typemax", LIMIT, 1, 1, KILN__LIMIT_MOST) \
    X("eps", LIMIT, 1, 1, KILN__LIMIT_EPS) \
    X("wrap", CONVERT, 2, 2, KILN__IR_WRAP) \
    X("bitcast", CONVERT, 2, 2, KILN__IR_BITCAST) \
    X("typeof", TYPEOF, 1, 1, 0) \
    X("static", STATIC, 1, 1, 0) \
    X("value", VALUE, 1, 1, 0) \
    X("atomic_add", ATOMIC, 3, 3, KILN__ATOMIC_ADD) \
    X("atomic_sub", ATOMIC, 3, 3, KILN__ATOMIC_SUB) \
    X("atomic_min", ATOMIC, 3, 3, KILN__ATOMIC_MIN) \
    X("atomic_max", ATOMIC, 3, 3, KILN__ATOMIC_MAX) \
    X("atomic_and", ATOMIC, 3, 3, KILN__ATOMIC_AND) \
    X("atomic_or", ATOMIC, 3, 3, KILN__ATOMIC_OR) \
    X("atomic_xor", ATOMIC, 3, 3, KILN__ATOMIC_XOR) \
    X("atomic_exchange", ATOMIC, 3, 3, KILN__ATOMIC_EXCHANGE) \
    X("atomic_cas", ATOMIC, 4, 4, KILN__ATOMIC_CAS) \
    X("barrier", BARRIER, 0, 0, 0) \
    X("shuffle", GROUP, 2, 2, KILN__GROUP_SHUFFLE) \
    X("shuffle_xor", GROUP, 2, 2, KILN__GROUP_SHUFFLE_XOR) \
    X("shuffle_up", GROUP, 2, 2, KILN__GROUP_SHUFFLE_UP) \
    X("shuffle_down", GROUP, 2, 2, KILN__GROUP_SHUFFLE_DOWN) \
    X("sub_group_add", GROUP, 1, 1, KILN__GROUP_SUB_ADD) \
    X("sub_group_min", GROUP, 1, 1, KILN__GROUP_SUB_MIN) \
    X("sub_group_max", GROUP, 1, 1, KILN__GROUP_SUB_MAX) \
    X("sub_group_any", GROUP, 1, 1, KILN__GROUP_SUB_ANY) \
    X("sub_group_all", GROUP, 1, 1, KILN__GROUP_SUB_ALL) \
    X("sub_group_broadcast", GROUP, 2, 2, KILN__GROUP_SUB_BROADCAST) \
    X("group_add", GROUP, 1, 1, KILN__GROUP_GROUP_ADD) \
    X("group_min", GROUP, 1, 1, KILN__GROUP_GROUP_MIN) \
    X("group_max", GROUP, 1, 1, KILN__GROUP_GROUP_MAX) \
    X("group_broadcast", GROUP, 2, 2, KILN__GROUP_GROUP_BROADCAST) \
    X("allocate", ALLOCATE, 2, 1 + KILN_RANK_MAX, 0) \
    X("free", FREE, 1, 1, 0) \
    X("memory_fence", FENCE, 0, 0, 0) \
    X("heap_words", HEAP, 0, 0, 0) \
    X("heap_offset", HEAP, 1, 1, 0)

#define BUILTIN_NAME(name, rule, least, most, data) name,
#define BUILTIN_ROW(name, rule, least, most, data) \
    {name, KILN__RULE_##rule, least, most, data},
#define OPERATOR_NAME(text, least, most, operation, class) text,
#define OPERATOR_ROW(text, least, most, operation, class) \
    {text, KILN__RULE_OPERATOR, least, most, 0},

const char *const kiln__builtins[] = {NULL, KILN__OPERATOR_MAP(OPERATOR_NAME)
                                                BUILTIN_MAP(BUILTIN_NAME)};
const uint32_t kiln__builtin_count =
    sizeof kiln__builtins / sizeof *kiln__builtins;

static const kiln__builtin rows[] = {{NULL, KILN__RULE_NONE, 0, 0, 0},
                                     KILN__OPERATOR_MAP(OPERATOR_ROW)
                                         BUILTIN_MAP(BUILTIN_ROW)};

const kiln__builtin *kiln__builtin_at(uint32_t index)
{
    return index > 0 && index < kiln__builtin_count ? &rows[index] : NULL;
}
