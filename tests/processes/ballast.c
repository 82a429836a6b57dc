/* ballast.c - loaded first: moves addresses and thread-local storage. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln/common.h"

/* Exported, so that nothing is left out. */
KILN_API __thread char process_ballast[200000]
    __attribute__((tls_model("initial-exec"))) = {1};
KILN_API char process_ballast_data[3000017] = {1};
