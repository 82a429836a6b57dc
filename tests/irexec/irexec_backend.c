/* irexec_backend.c - CUDA and ROCm as backends of many, over IR execution. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "conformance/backend_suite.h"
#include "support/devices/kernels.h"

int main(void)
{
    static const backend_subject cuda = {"cuda", "cuda:sm_90"};
    static const backend_subject rocm = {"rocm", "rocm:gfx90a"};

    return backend_suite_run(strcmp(kernels_backend(), "rocm") == 0 ? &rocm
                                                                    : &cuda);
}
