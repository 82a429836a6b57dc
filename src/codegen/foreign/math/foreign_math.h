/* foreign_math.h - mathematical functions that foreign modules call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_FOREIGN_MATH_H
#define KILN_CODEGEN_FOREIGN_FOREIGN_MATH_H

#include "codegen/module/codegen_job.h"
#include "codegen/module/codegen_mangled.h"

/* What a function takes and returns: T is its float, P a pointer to a T or to
   an i32. */
typedef enum kiln__math_form {
    KILN__FORM_1,       /* T f(T) */
    KILN__FORM_2,       /* T f(T, T) */
    KILN__FORM_3,       /* T f(T, T, T) */
    KILN__FORM_SCALE,   /* T f(T, integer) */
    KILN__FORM_ROUND,   /* integer f(T) */
    KILN__FORM_SPLIT,   /* {T, T} or {T, i32} f(T); in C T f(T, P) */
    KILN__FORM_PAIR,    /* {T, T} f(T); in C void f(T, P, P) */
    KILN__FORM_QUOTIENT /* T f(T, T, P), in C only */
} kiln__math_form;

/* Functions that are made of others, or of instructions. */
typedef enum kiln__math_recipe {
    KILN__RECIPE_NONE,
    KILN__RECIPE_CANONICAL,
    KILN__RECIPE_FDIM,
    KILN__RECIPE_FMOD,
    KILN__RECIPE_FREXP,
    KILN__RECIPE_MODF,
    KILN__RECIPE_LGAMMA_R,
    KILN__RECIPE_POWI,
    KILN__RECIPE_REMQUO,
    KILN__RECIPE_RINT,  /* to an integer */
    KILN__RECIPE_ROUND, /* the same, halves away from zero */
    KILN__RECIPE_SCALE,
    KILN__RECIPE_SINCOS,
    KILN__RECIPE_SINCOSPI
} kiln__math_recipe;

typedef struct kiln__math_function {
    const char *name;      /* C's, for f64 */
    const char *intrinsic; /* LLVM's without "llvm." and types, or NULL */
    kiln__math_form form;
    kiln__math_recipe recipe;
    double (*fold)(double x);            /* of C, or NULL */
    double (*fold2)(double x, double y); /* the same */
    unsigned char is_c;                  /* C has it */
} kiln__math_function;

/* A call of a function. */
typedef struct kiln__math_call {
    const kiln__math_function *function;
    LLVMTypeRef type; /* T: a float or a vector of floats */
    int is_rough;     /* it may be approximate: native_sin, half_sin */
} kiln__math_call;

/* ---- foreign_math_table.c ---- */
/* Finds what the call of a declared function means. Returns false if it is no
   mathematical function or has other types. */
int kiln__math_recognise(kiln__math_call *out, LLVMValueRef call);
const kiln__math_function *kiln__math_named(const char *name);
/* Writes the name that the target's library has for the function on f32 or f64;
   "" where it has none. */
#define KILN__MATH_SYMBOL_SIZE 40
void kiln__math_symbol(char out[KILN__MATH_SYMBOL_SIZE],
                       const kiln__codegen_job *job,
                       const kiln__math_function *function, int is_f64);

/* ---- foreign_math.c ---- */
/* Replaces calls of mathematical functions by what the target has: LLVM's
   intrinsics, functions of libraries, or several instructions. */
kiln_status kiln__foreign_math(kiln__codegen_job *job);
/* The passes may make one function of another, a power of a whole number for
   example. On the host that is replaced, too; elsewhere it is too late to take
   anything from a library. */
kiln_status kiln__foreign_math_again(kiln__codegen_job *job);
/* True for a function that the embedder's own library gives. */
int kiln__math_is_given(const kiln__codegen_job *job, LLVMValueRef callee);
/* Tells the request what of these functions must come from a library. */
kiln_status kiln__foreign_need(kiln__codegen_job *job);

/* Builds a call of a function before the builder's place, and returns its
   value; NULL: the job has failed. `arguments` has as many as the form has,
   without pointers. */
typedef struct kiln__math_place {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef call; /* that is replaced: its flags count */
} kiln__math_place;
LLVMValueRef kiln__math_build(const kiln__math_place *at,
                              const kiln__math_function *function,
                              LLVMValueRef *arguments);

/* ---- foreign_math_recipes.c ---- */
/* Returns the value of a function with a recipe, and for SPLIT, PAIR and
   QUOTIENT the second one. */
LLVMValueRef kiln__math_cook(const kiln__math_place *at,
                             const kiln__math_call *call,
                             LLVMValueRef *arguments, LLVMValueRef *second);

/* ---- foreign_builtins.c ---- */
/* Connects functions that have OpenCL's mangled names with the library. */
kiln_status kiln__foreign_builtins(kiln__codegen_job *job);

/* ---- foreign_builtin_atomics.c ---- */
/* True for a function of that name that is an atomic operation. */
int kiln__foreign_is_atomic(LLVMValueRef function,
                            const kiln__mangled_name *name);
/* Builds the operation on the function's parameters, and returns its result. */
LLVMValueRef kiln__foreign_build_atomic(const kiln__codegen_job *job,
                                        LLVMBuilderRef builder,
                                        LLVMValueRef function,
                                        const kiln__mangled_name *name);

/* ---- foreign_builtin_half.c ---- */
/* True if the target's library has hardly any functions of half. */
int kiln__foreign_lacks_halves(const kiln__codegen_job *job);
/* Defines a declared function of half by others, which it declares; other
   functions stay as they are. */
void kiln__foreign_define_half(kiln__codegen_job *job, LLVMValueRef function,
                               const kiln__mangled_name *name);

/* ---- foreign_builtin_memory.c ---- */
/* True for vload and vstore of a pointer to any memory. */
int kiln__foreign_is_memory(LLVMValueRef function,
                            const kiln__mangled_name *name);
/* Builds it on the function's parameters, and returns what vload does. */
LLVMValueRef kiln__foreign_build_memory(const kiln__codegen_job *job,
                                        LLVMBuilderRef builder,
                                        LLVMValueRef function,
                                        const kiln__mangled_name *name);

/* ---- foreign_builtin_convert.c ---- */
/* True for a conversion that instructions do. */
int kiln__foreign_is_conversion(LLVMValueRef function,
                                const kiln__mangled_name *name);
/* Builds it of the function's parameter, and returns its result. */
LLVMValueRef kiln__foreign_build_conversion(const kiln__codegen_job *job,
                                            LLVMBuilderRef builder,
                                            LLVMValueRef function,
                                            const kiln__mangled_name *name);

#endif /* KILN_CODEGEN_FOREIGN_FOREIGN_MATH_H */
