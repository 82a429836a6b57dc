#!/bin/sh
# Configures and builds: build.sh [PRESET], "dev" unless told otherwise.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
