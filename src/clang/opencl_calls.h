/* opencl_calls.h - built-in functions of OpenCL C, and what they become. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPENCL_CALLS_H
#define KILN_OPENCL_CALLS_H

#include <llvm-c/Core.h>

#include "clang/clang_job.h"

/*
 * A call of a built-in function. Its name is mangled (Itanium C++ ABI), so the
 * letters behind the name tell signed from unsigned arguments; all else is in
 * LLVM's types.
 */
typedef struct kiln__opencl_call {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder; /* before the call */
    LLVMValueRef call;
    const char *letters; /* the encoding of the parameters */
    LLVMValueRef arguments[16];
    unsigned count;
    LLVMTypeRef type;  /* of the result */
    int groups_differ; /* kiln__clang_groups_differ() */
} kiln__opencl_call;

typedef struct kiln__opencl_row kiln__opencl_row;

/* Gives what the call's value is replaced by, and any value where it has none;
   NULL: the call stays as it is. */
typedef LLVMValueRef (*kiln__opencl_make)(const kiln__opencl_call *call,
                                          const kiln__opencl_row *row);

struct kiln__opencl_row {
    const char *name; /* not mangled */
    kiln__opencl_make make;
    const char *target; /* the function or intrinsic that it becomes */
    int number;         /* what make() needs beside */
    /* How many arguments the function takes. A program may declare others under
       its name. */
    unsigned least;
    unsigned most;
};

typedef struct kiln__opencl_table {
    const kiln__opencl_row *rows;
    size_t count;
} kiln__opencl_table;

extern const kiln__opencl_table kiln__opencl_items;   /* opencl_items.c */
extern const kiln__opencl_table kiln__opencl_groups;  /* opencl_groups.c */
extern const kiln__opencl_table kiln__opencl_atomics; /* opencl_atomics.c */
extern const kiln__opencl_table kiln__opencl_math;    /* opencl_math.c */

/* ---- opencl_calls.c ---- */
/* Replaces the calls that the tables know. */
void kiln__opencl_replace_calls(const kiln__clang_job *job);

/* The rest is for the files of the tables. */
LLVMTypeRef kiln__opencl_i32(const kiln__opencl_call *call);
LLVMTypeRef kiln__opencl_i64(const kiln__opencl_call *call);
LLVMValueRef kiln__opencl_number(const kiln__opencl_call *call, uint64_t value);
/* Calls one of the neutral form's kiln_* functions, which it declares. */
LLVMValueRef kiln__opencl_call_kiln(const kiln__opencl_call *call,
                                    const char *name, LLVMTypeRef result,
                                    LLVMValueRef *arguments, unsigned count);
/* Calls an intrinsic that is overloaded on one type. */
LLVMValueRef kiln__opencl_call_intrinsic(const kiln__opencl_call *call,
                                         const char *name, LLVMTypeRef type,
                                         LLVMValueRef *arguments,
                                         unsigned count);
/* Whether the number is not 0. */
LLVMValueRef kiln__opencl_truth(const kiln__opencl_call *call,
                                LLVMValueRef value);
/* Whether the first argument, or what it points to, is an unsigned integer. */
int kiln__opencl_is_unsigned(const kiln__opencl_call *call);
/* The value's type if it is a scalar, else that of its elements. */
LLVMTypeRef kiln__opencl_scalar(LLVMTypeRef type);
int kiln__opencl_is_float(LLVMTypeRef type);

/* ---- opencl_items.c ---- */
/* Makes the result of a query with a dimension: an id or a size. */
typedef LLVMValueRef (*kiln__opencl_query)(const kiln__opencl_call *call,
                                           LLVMValueRef dimension);
/* What a group was asked to have. */
LLVMValueRef kiln__opencl_full_size(const kiln__opencl_call *call,
                                    LLVMValueRef dimension);
/* The number of an item among all whose places are below the sizes; that of
   dimension 0 counts fastest. */
LLVMValueRef kiln__opencl_linear(const kiln__opencl_call *call,
                                 kiln__opencl_query size, LLVMValueRef *places,
                                 unsigned count);

/* ---- opencl_print.c ---- */
/* Replaces calls of printf() by calls of kiln_print(). KILN_EUNSUPPORTED if a
   format is no constant. */
kiln_status kiln__opencl_replace_prints(kiln__clang_job *job);

/* ---- opencl_kernels.c ---- */
/* Gives kernels and other functions the form of source_compile.h. */
kiln_status kiln__opencl_shape_functions(kiln__clang_job *job);

#endif /* KILN_OPENCL_CALLS_H */
