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
 * OpenCL), of libdevice, and of ROCm's ocml.
 */

#define KILN__MATH_NAME_SIZE 32

#define KILN__NAMES_NONE 0 /* the host has no such library */
#define KILN__NAMES_OPENCL 1
#define KILN__NAMES_LIBDEVICE 2
#define KILN__NAMES_OCML 3

/* Writes the name of the function for KILN__MATH_... on f32 or f64. Returns 0
   where every device has an instruction instead, or LLVM a short sequence. */
int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind);

#endif /* KILN_IR_IR_MATH_NAMES_H */
