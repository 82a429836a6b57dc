/* codegen_values.h - attributes by their names, and the elements of vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_CODEGEN_VALUES_H
#define KILN_CODEGEN_MODULE_CODEGEN_VALUES_H

#include <llvm-c/Core.h>

/* ---- attributes without a value ---- */

/* Returns LLVM's number for the attribute, or 0 if it has none. */
unsigned kiln__attribute_kind(const char *name);
/* These three are about the function itself, not about its parameters. */
int kiln__has_attribute(LLVMValueRef function, const char *name);
void kiln__add_attribute(LLVMValueRef function, const char *name);
void kiln__remove_attribute(LLVMValueRef function, const char *name);
/* Adds alwaysinline, and removes what contradicts it. */
void kiln__inline_always(LLVMValueRef function);
/* The same, unless the function calls itself directly: then it cannot be
   inlined everywhere. The inliner notices indirect recursion. */
void kiln__inline_unless_recursive(LLVMValueRef function);

/* ---- calls ---- */

/* True for a user of the function that is a call of it, and does not have it as
   an argument, too. */
int kiln__is_call_of(LLVMValueRef user, LLVMValueRef function);

/* Calls an intrinsic of LLVM. `type` is what the intrinsic is overloaded for;
   NULL: for nothing. */
LLVMValueRef kiln__call_intrinsic(LLVMBuilderRef builder, const char *name,
                                  LLVMTypeRef type, LLVMValueRef *arguments,
                                  unsigned count);

/* ---- vectors ---- */

/* Returns the type of a vector's elements, or the type itself. */
LLVMTypeRef kiln__lane_type(LLVMTypeRef type);
/* Returns how many elements a vector has; 1 for any other type. */
unsigned kiln__lane_count(LLVMTypeRef type);
/* Returns the constant in every element of the type, which may be no vector. */
LLVMValueRef kiln__spread_constant(LLVMTypeRef type, LLVMValueRef one);

#endif /* KILN_CODEGEN_MODULE_CODEGEN_VALUES_H */
