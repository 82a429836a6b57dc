#!/bin/sh
# kernels.sh - kernels that others wrote, on the host and on another OpenCL:
# kernels.sh PROGRAM SOURCE-FOLDER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/../../scripts/skip.sh"

for folder in "$2/../shared/kernels" "$2/../../shared/kernels"; do
    [ -f "$folder/cases.txt" ] || continue
    KILN_CACHE=off "$1" "$folder/cases.txt" --check
    status=$?
    [ "$status" = 2 ] || exit "$status"
    skip device "an OpenCL to compare with"
done
skip package "the kernels, which lie beside the repository"
