/* spirv_limits.h - how many arguments a SPIR-V kernel may take. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SPIRV_LIMITS_H
#define KILN_SPIRV_LIMITS_H

/*
 * OpenCL guarantees that CL_DEVICE_MAX_PARAMETER_SIZE is at least 1024; with
 * that value a kernel has at most 128 parameters. Every device takes these.
 * Many take more, and a target may ask for more. No function of SPIR-V has more
 * than 255 parameters (its universal limits). An array is several parameters:
 * its address, its sizes and its strides.
 */
#define KILN__SPIRV_ARGUMENT_BYTES 1024u
#define KILN__SPIRV_PARAMETERS 128u

/* For targets with this option. */
#define KILN__SPIRV_LARGE "large_arguments"
#define KILN__SPIRV_LARGE_BYTES 2048u
#define KILN__SPIRV_LARGE_PARAMETERS 255u

#endif /* KILN_SPIRV_LIMITS_H */
