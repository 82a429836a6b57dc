/* spirv_backend.c - the SPIR-V backend as one backend of many. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "conformance/backend_suite.h"

int main(void)
{
    static const backend_subject spirv = {"spirv",
                                          "spirv:1.4+fp64+int64_atomics"};

    return backend_suite_run(&spirv);
}
