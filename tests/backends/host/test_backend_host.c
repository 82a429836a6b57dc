/* test_backend_host.c - the host backend as one backend of many. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance backends host */
#include "conformance/backend_suite.h"

int main(void)
{
    static const backend_subject host = {"host", "host:x86-64-v2"};

    return backend_suite_run(&host);
}
