#!/bin/sh
# run.sh - builds what is measured, and measures it; README.md tells the rest.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: run.sh [--quick] [--only NAME]... [--peers] [--runs N] [--json OUT]
#               [--plot OUT.svg] [--tables]
#
# KILN_BENCH_BIN names a folder of programs that are built already.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

if test -z "${KILN_BENCH_BIN:-}"; then
    cd "$root"
    cmake --preset release >&2
    cmake --build --preset release >&2
    cd - >/dev/null
    KILN_BENCH_BIN=$root/build/release/bin
fi
exec python3 "$root/bench/harness/main.py" --bin "$KILN_BENCH_BIN" "$@"
