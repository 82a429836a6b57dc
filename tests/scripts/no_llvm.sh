#!/bin/sh
# A warm start opens no LLVM: no_llvm.sh LIBRARY
set -eu
needed=$(readelf -d "$1" | grep NEEDED)
test -n "$needed"
if echo "$needed" | grep -iE 'llvm|stdc\+\+'; then
    echo "are needed by $1, and should not be"
    exit 1
fi
