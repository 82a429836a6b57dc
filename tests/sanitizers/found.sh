#!/bin/sh
# found.sh - a sanitizer finds the fault and ends with its own status.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"$1" "$2"
status=$?
[ "$status" = 99 ] || {
    echo "the $2 ended with status $status instead of 99"
    exit 1
}
