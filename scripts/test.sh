#!/bin/sh
# Builds and runs every test that needs no GPU. Tests that this machine cannot
# run are listed with the reason before the summary. A missing package is a
# failure on systems where setup.sh installs packages.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
if test -z "${CUDA_PATH:-}"; then
    toolkit=$(sh scripts/cuda-tools.sh build/cuda-tools)
    test -z "$toolkit" || export CUDA_PATH="$toolkit"
fi
sh scripts/build.sh dev
TEST_SKIPS=$PWD/build/dev/skips.txt
export TEST_SKIPS
: >"$TEST_SKIPS"
failed=build/dev/failed
rm -f "$failed"
{
    ctest --test-dir build/dev --no-tests=error --output-on-failure \
        --label-exclude device --parallel "$(nproc)" || touch "$failed"
} | sh scripts/skips.sh "$TEST_SKIPS"
test ! -e "$failed"
if command -v dpkg-query >/dev/null 2>&1; then
    ! grep '^package: ' "$TEST_SKIPS"
fi
