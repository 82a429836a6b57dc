/* spirv_limits.h - how much a kernel of SPIR-V may take. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SPIRV_LIMITS_H
#define KILN_SPIRV_LIMITS_H

/*
 * OpenCL says of CL_DEVICE_MAX_PARAMETER_SIZE that it is at least 1024, for
 * which a kernel has at most 128 parameters: any device takes that. Many take
 * more, and a target may ask for it. No function of SPIR-V has more than 255
 * parameters (its universal limits). An array is several of them: its address,
 * its sizes and its strides.
 */
#define KILN__SPIRV_ARGUMENT_BYTES 1024u
#define KILN__SPIRV_PARAMETERS 128u

/* Of targets with this option. */
#define KILN__SPIRV_LARGE "large_arguments"
#define KILN__SPIRV_LARGE_BYTES 2048u
#define KILN__SPIRV_LARGE_PARAMETERS 255u

#endif /* KILN_SPIRV_LIMITS_H */
