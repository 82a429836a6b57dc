#!/bin/sh
# Builds and runs every test that needs no GPU.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
sh scripts/build.sh dev
ctest --test-dir build/dev --no-tests=error --output-on-failure \
    --label-exclude device --parallel "$(nproc)"
