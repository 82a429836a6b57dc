#!/bin/sh
# Builds Kiln and runs its main job: the Taylor-Green vortex on the host.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
sh scripts/build.sh release
build/release/bin/tgv --log2n 6 --type f32 --steps 4
