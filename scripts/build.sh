#!/bin/sh
# Configures and builds: build.sh [PRESET]. The default preset is "dev".
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
