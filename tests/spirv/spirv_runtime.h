/* spirv_runtime.h - what a runtime has of OpenCL or of Level Zero. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SPIRV_RUNTIME_H
#define KILN_TESTS_SPIRV_RUNTIME_H

#include "backends/spirv/level_zero/level_zero.h"
#include "backends/spirv/opencl/opencl.h"

/* A context and two queues that the runtime made with the driver itself. */
typedef struct spirv_runtime {
    int is_zero; /* Level Zero, else OpenCL */
    kiln__opencl_api cl;
    kiln__level_zero_api ze;
    kiln_spirv_native native;
    void *streams[2];
} spirv_runtime;

/* Opens the driver that KILN_SPIRV_DRIVER names; false: it is not there. */
int spirv_runtime_open(spirv_runtime *runtime);
/* Makes the context and the queues of an open driver; false: there is no
   device. */
int spirv_runtime_begin(spirv_runtime *runtime);
void spirv_runtime_end(const spirv_runtime *runtime);

#endif /* KILN_TESTS_SPIRV_RUNTIME_H */
