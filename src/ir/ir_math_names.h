/* ir_math_names.h - names of mathematical functions in devices' libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_IR_MATH_NAMES_H
#define KILN_IR_IR_MATH_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Both sides of the border use this table: libkiln plans what a kernel takes
 * from a library, and libkiln-codegen declares and calls it. Names are those of
 * OpenCL C's functions, mangled as in C++ (libclc; the built-ins of SPIR-V for
 * OpenCL), of libdevice, and of ROCm's ocml. A function of Kiln's own needs no
 * library: libkiln-codegen builds it.
 */

#define KILN__MATH_NAME_SIZE 32

#define KILN__NAMES_NONE 0 /* the host has no such library */
#define KILN__NAMES_OPENCL 1
#define KILN__NAMES_LIBDEVICE 2
#define KILN__NAMES_OCML 3
#define KILN__NAMES_OWN 4 /* Kiln's where it has one, else OpenCL C's */

/* Where a device takes a function from. */
#define KILN__FROM_CODE 0 /* an instruction, or a short sequence of LLVM's */
#define KILN__FROM_LIBRARY 1
#define KILN__FROM_KILN 2

#define KILN__OWN_PREFIX "kiln.device."

/* Returns where the function KILN__MATH_... on f32 or f64 is from, and writes
   its name unless that is KILN__FROM_CODE. */
int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind);

/* Returns the names of a call that must not contract: none is Kiln's own. */
int kiln__strict_math_names(int names);

/* True when Kiln has a function of its own, by its name in C for f64. */
int kiln__math_is_own(const char *name, int is_f64);

#endif /* KILN_IR_IR_MATH_NAMES_H */
