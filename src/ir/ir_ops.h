/* ir_ops.h - the operations of typed IR, as tables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_OPS_H
#define KILN_IR_OPS_H

/*
 * X(NAME, text, kind, least, most, immediate)
 *   text       in the text form: (add f32 %x %y)
 *   kind       VALUE (an expression) or STATEMENT
 *   least/most operands; most -1: any number
 *   immediate  what imm holds: NONE, BITS (a constant of the node's type),
 *              LOCAL, CALLEE, FIELD, DIMENSION, STRING, MATH, QUERY, ATOMIC,
 *              GROUP
 */
#define KILN__IR_OP_MAP(X) \
    /* Leaves. */ \
    X(CONST, "const", VALUE, 0, 0, BITS) \
    X(UNIT, "unit", VALUE, 0, 0, NONE) /* the value of a type of size 0 */ \
    X(LOCAL, "local", VALUE, 0, 0, LOCAL) \
    /* Arithmetic on scalars and, element by element, on vectors. Integers \
       wrap. IDIV and IREM truncate, and raise for a zero divisor; for MIN \
       by -1 they return MIN and 0. Shift counts are modulo the width. */ \
    X(NEG, "neg", VALUE, 1, 1, NONE) \
    X(ADD, "add", VALUE, 2, 2, NONE) \
    X(SUB, "sub", VALUE, 2, 2, NONE) \
    X(MUL, "mul", VALUE, 2, 2, NONE) \
    X(DIV, "div", VALUE, 2, 2, NONE) /* floats */ \
    X(IDIV, "idiv", VALUE, 2, 2, NONE) \
    X(IREM, "irem", VALUE, 2, 2, NONE) \
    X(AND, "and", VALUE, 2, 2, NONE) /* integers and Bool */ \
    X(OR, "or", VALUE, 2, 2, NONE) \
    X(XOR, "xor", VALUE, 2, 2, NONE) \
    X(SHL, "shl", VALUE, 2, 2, NONE)       /* both operands of one type */ \
    X(SHR, "shr", VALUE, 2, 2, NONE)       /* arithmetic for signed types */ \
    X(INVERT, "invert", VALUE, 1, 1, NONE) /* every bit; Bool: not */ \
    /* Comparisons of two scalars of one type give Bool. */ \
    X(EQ, "eq", VALUE, 2, 2, NONE) \
    X(NE, "ne", VALUE, 2, 2, NONE) \
    X(LT, "lt", VALUE, 2, 2, NONE) \
    X(LE, "le", VALUE, 2, 2, NONE) \
    X(GT, "gt", VALUE, 2, 2, NONE) \
    X(GE, "ge", VALUE, 2, 2, NONE) \
    /* The right operands are evaluated only when needed. */ \
    X(ANDALSO, "andalso", VALUE, 2, 2, NONE) \
    X(ORELSE, "orelse", VALUE, 2, 2, NONE) \
    X(CHOOSE, "choose", VALUE, 3, 3, NONE) /* condition, then, else */ \
    X(SELECT, "select", VALUE, 3, 3, NONE) /* evaluates both */ \
    /* Conversions between scalars, to the node's type. CONVERT rounds floats \
       to nearest. It is for conversions that lose no bits of an integer, \
       and of Bool to 0 and 1. */ \
    X(CONVERT, "convert", VALUE, 1, 1, NONE) \
    X(CHECKED, "checked", VALUE, 1, 1, NONE)   /* raises inexact conversion */ \
    X(SATURATE, "saturate", VALUE, 1, 1, NONE) /* NaN gives 0 */ \
    X(WRAP, "wrap", VALUE, 1, 1, NONE)         /* keeps the low bits */ \
    X(BITCAST, "bitcast", VALUE, 1, 1, NONE)   /* scalars of one size */ \
    X(MATH, "math", VALUE, 1, 3, MATH) \
    /* Aggregates are values: tuples, structs, vectors. */ \
    X(TUPLE, "tuple", VALUE, 0, -1, NONE) /* every field, in order */ \
    X(SPLAT, "splat", VALUE, 1, 1, NONE)  /* scalar to vector */ \
    X(FIELD, "field", VALUE, 1, 1, FIELD) \
    X(WITH_FIELD, "with_field", VALUE, 2, 2, FIELD) /* aggregate, value */ \
    X(ELEMENT, "element", VALUE, 2, 2, NONE) /* vector, i64; bounds-checked */ \
    X(WITH_ELEMENT, "with_element", VALUE, 3, 3, NONE) /* + value */ \
    /* Arrays. Indices are i64, as many as the rank. */ \
    X(LENGTH, "length", VALUE, 1, 1, NONE)  /* i64: of all dimensions */ \
    X(SIZE, "size", VALUE, 1, 1, DIMENSION) /* i64 */ \
    X(LOAD, "load", VALUE, 2, 5, NONE) /* array, indices; bounds-checked */ \
    X(LOCAL_ARRAY, "local_array", VALUE, 1, 4, NONE) /* constant sizes */ \
    X(ATOMIC, "atomic", VALUE, 3, 7, ATOMIC) /* array, indices, values; \
       returns the old value; bounds-checked; cas takes expected, desired */ \
    /* The heap of a launch. HEAP is its words, u32[:]. HEAP_OFFSET is where \
       an array begins, in bytes from the heap's beginning. HEAP_ARRAY is \
       the dense array for a tuple of that number and the sizes; it raises \
       for a negative number. */ \
    X(HEAP, "heap", VALUE, 0, 0, NONE) \
    X(HEAP_OFFSET, "heap_offset", VALUE, 1, 1, NONE) /* i64 */ \
    X(HEAP_ARRAY, "heap_array", VALUE, 1, 1, NONE) \
    X(CALL, "call", VALUE, 0, -1, CALLEE) \
    X(QUERY, "query", VALUE, 0, 0, QUERY) /* i64; imm = query * 4 + dim */ \
    X(GROUP, "group", VALUE, 1, 2, GROUP) /* sub-group and group operations */ \
    /* Statements. */ \
    X(BLOCK, "block", STATEMENT, 0, -1, NONE) \
    X(SET, "set", STATEMENT, 1, 1, LOCAL) \
    X(STORE, "store", STATEMENT, 3, 6, NONE) /* array, indices, value */ \
    X(EVAL, "eval", STATEMENT, 1, 1, NONE)   /* for its effect */ \
    X(IF, "if", STATEMENT, 2, 3, NONE)       /* condition, block[, block] */ \
    X(WHILE, "while", STATEMENT, 2, 2, NONE) /* condition, block */ \
    X(FOR, "for", STATEMENT, 4, 4, LOCAL)    /* low, high, step (a non-zero \
          CONST), block; half-open; the three have the local's integer type */ \
    X(UNROLLED, "unrolled", STATEMENT, 0, -1, NONE) /* the blocks, one after \
       the other; continue goes to the next block, break after the last */ \
    X(BREAK, "break", STATEMENT, 0, 0, NONE) \
    X(CONTINUE, "continue", STATEMENT, 0, 0, NONE) \
    X(RETURN, "return", STATEMENT, 0, 1, NONE) \
    X(ASSERT, "assert", STATEMENT, 1, 1, STRING) /* condition; message */ \
    X(PRINT, "print", STATEMENT, 0, -1, NONE)    /* TEXT nodes and scalars */ \
    X(TEXT, "text", VALUE, 0, 0, STRING) /* only in PRINT; type none */ \
    X(BARRIER, "barrier", STATEMENT, 0, 0, NONE) \
    X(FENCE, "fence", STATEMENT, 0, 0, NONE) /* between items of a launch */ \
    /* What a function returns whose code is a module of another frontend. It \
       gets the parameters; the function is RETURN or EVAL of it. */ \
    X(EXTERNAL, "external", VALUE, 0, 0, NONE)

/* X(NAME, text, operands, domain, home): domain is FLOAT, INTEGER or BOTH. On
   devices, home is LIBRARY for a function of their library of mathematics, and
   CODE where LLVM has code for it. Operands are scalars, or vectors element by
   element. The result has the operands' type, except that ISNAN, ISINF and
   ISFINITE return Bool. If one operand of min or max is a NaN, the result is
   the other. */
#define KILN__MATH_MAP(X) \
    X(SQRT, "sqrt", 1, FLOAT, CODE) \
    X(RSQRT, "rsqrt", 1, FLOAT, CODE) \
    X(CBRT, "cbrt", 1, FLOAT, LIBRARY) \
    X(EXP, "exp", 1, FLOAT, LIBRARY) \
    X(EXP2, "exp2", 1, FLOAT, LIBRARY) \
    X(EXP10, "exp10", 1, FLOAT, LIBRARY) \
    X(EXPM1, "expm1", 1, FLOAT, LIBRARY) \
    X(LOG, "log", 1, FLOAT, LIBRARY) \
    X(LOG2, "log2", 1, FLOAT, LIBRARY) \
    X(LOG10, "log10", 1, FLOAT, LIBRARY) \
    X(LOG1P, "log1p", 1, FLOAT, LIBRARY) \
    X(SIN, "sin", 1, FLOAT, LIBRARY) \
    X(COS, "cos", 1, FLOAT, LIBRARY) \
    X(TAN, "tan", 1, FLOAT, LIBRARY) \
    X(ASIN, "asin", 1, FLOAT, LIBRARY) \
    X(ACOS, "acos", 1, FLOAT, LIBRARY) \
    X(ATAN, "atan", 1, FLOAT, LIBRARY) \
    X(ATAN2, "atan2", 2, FLOAT, LIBRARY) \
    X(SINH, "sinh", 1, FLOAT, LIBRARY) \
    X(COSH, "cosh", 1, FLOAT, LIBRARY) \
    X(TANH, "tanh", 1, FLOAT, LIBRARY) \
    X(ASINH, "asinh", 1, FLOAT, LIBRARY) \
    X(ACOSH, "acosh", 1, FLOAT, LIBRARY) \
    X(ATANH, "atanh", 1, FLOAT, LIBRARY) \
    X(ERF, "erf", 1, FLOAT, LIBRARY) \
    X(ERFC, "erfc", 1, FLOAT, LIBRARY) \
    X(TGAMMA, "tgamma", 1, FLOAT, LIBRARY) \
    X(LGAMMA, "lgamma", 1, FLOAT, LIBRARY) \
    X(POW, "pow", 2, FLOAT, LIBRARY) \
    X(HYPOT, "hypot", 2, FLOAT, LIBRARY) \
    X(FMOD, "fmod", 2, FLOAT, LIBRARY) \
    X(FMA, "fma", 3, FLOAT, CODE) \
    X(FLOOR, "floor", 1, FLOAT, CODE) \
    X(CEIL, "ceil", 1, FLOAT, CODE) \
    X(ROUND, "round", 1, FLOAT, CODE) /* halves away from zero */ \
    X(RINT, "rint", 1, FLOAT, CODE)   /* halves to even */ \
    X(TRUNC, "trunc", 1, FLOAT, CODE) \
    X(COPYSIGN, "copysign", 2, FLOAT, CODE) \
    X(ISNAN, "isnan", 1, FLOAT, CODE) \
    X(ISINF, "isinf", 1, FLOAT, CODE) \
    X(ISFINITE, "isfinite", 1, FLOAT, CODE) \
    X(ABS, "abs", 1, BOTH, CODE) \
    X(MIN, "min", 2, BOTH, CODE) \
    X(MAX, "max", 2, BOTH, CODE) \
    X(POPCOUNT, "popcount", 1, INTEGER, CODE) \
    X(CLZ, "clz", 1, INTEGER, CODE) /* the width for 0 */ \
    X(CTZ, "ctz", 1, INTEGER, CODE) /* the width for 0 */ \
    X(BITREVERSE, "bitreverse", 1, INTEGER, CODE) \
    X(BYTESWAP, "byteswap", 1, INTEGER, CODE)

/* X(NAME, text, has a dimension). The texts are the language's function
   names. */
#define KILN__QUERY_MAP(X) \
    X(GLOBAL_ID, "global_id", 1) \
    X(LOCAL_ID, "local_id", 1) \
    X(GROUP_ID, "group_id", 1) \
    X(GLOBAL_SIZE, "global_size", 1) \
    X(LOCAL_SIZE, "local_size", 1) \
    X(GROUP_COUNT, "group_count", 1) \
    X(SUB_GROUP_SIZE, "sub_group_size", 0) \
    X(SUB_GROUP_ID, "sub_group_id", 0) \
    X(LANE_ID, "lane_id", 0)

/* X(NAME, text, values): what ATOMIC does with the old element. */
#define KILN__ATOMIC_MAP(X) \
    X(ADD, "atomic_add", 1) \
    X(SUB, "atomic_sub", 1) \
    X(MIN, "atomic_min", 1) \
    X(MAX, "atomic_max", 1) \
    X(AND, "atomic_and", 1) \
    X(OR, "atomic_or", 1) \
    X(XOR, "atomic_xor", 1) \
    X(EXCHANGE, "atomic_exchange", 1) \
    X(CAS, "atomic_cas", 2)

/* X(NAME, text, operands): the second operand is an i64 (lane, mask, delta). */
#define KILN__GROUP_MAP(X) \
    X(SHUFFLE, "shuffle", 2) \
    X(SHUFFLE_XOR, "shuffle_xor", 2) \
    X(SHUFFLE_UP, "shuffle_up", 2) \
    X(SHUFFLE_DOWN, "shuffle_down", 2) \
    X(SUB_ADD, "sub_group_add", 1) \
    X(SUB_MIN, "sub_group_min", 1) \
    X(SUB_MAX, "sub_group_max", 1) \
    X(SUB_ANY, "sub_group_any", 1) /* Bool */ \
    X(SUB_ALL, "sub_group_all", 1) \
    X(SUB_BROADCAST, "sub_group_broadcast", 2) \
    X(GROUP_ADD, "group_add", 1) \
    X(GROUP_MIN, "group_min", 1) \
    X(GROUP_MAX, "group_max", 1) \
    X(GROUP_BROADCAST, "group_broadcast", 2) /* from local id in dim 0 */

#endif /* KILN_IR_OPS_H */
