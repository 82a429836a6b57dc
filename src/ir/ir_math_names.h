/* ir_math_names.h - what devices' libraries call mathematical functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_IR_MATH_NAMES_H
#define KILN_IR_IR_MATH_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * libkiln plans what a kernel takes from a library, libkiln-codegen declares
 * and calls it: both ask here. Names are those of OpenCL C's functions, mangled
 * as C++ is (libclc; the built-ins of SPIR-V for OpenCL), of libdevice, and of
 * ROCm's ocml.
 */

#define KILN__MATH_NAME_SIZE 32

#define KILN__NAMES_NONE 0 /* the host's */
#define KILN__NAMES_OPENCL 1
#define KILN__NAMES_LIBDEVICE 2
#define KILN__NAMES_OCML 3

/* Writes the name of the function for KILN__MATH_... on f32 or f64. Returns 0
   where every device has an instruction, or LLVM a short way, instead. */
int kiln__device_math_name(char out[KILN__MATH_NAME_SIZE], int names,
                           uint32_t operation, int32_t kind);

#endif /* KILN_IR_IR_MATH_NAMES_H */
