#!/bin/sh
# Runs the tests of backend spirv, the language tests and a step of the vortex
# on Intel's OpenCL for processors, which takes SPIR-V directly and has
# sub-groups. It is installed from a Python package index into a folder of the
# build. If that fails, the script says so and tests nothing.
#
#     intel-cpu-test.sh [BUILD]        default: build/dev
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/dev}
place=$(cd "$build" && pwd)/intel-opencl

skip()
{
    echo "intel-cpu-test: skipped: $*"
    exit 77
}

test -x "$build/tests/spirv_run" || skip "$build has no tests of spirv"
if ! test -e "$place/done"; then
    python3 -m venv "$place" >/dev/null 2>&1 || skip "no python3 with venv"
    "$place/bin/pip" install --quiet --no-deps intel-opencl-rt \
        intel-cmplr-lib-rt tbb tcmlib >"$place/log" 2>&1 ||
        skip "no package intel-opencl-rt can be had ($place/log)"
    mkdir -p "$place/vendors"
    echo "$place/lib/libintelocl.so" >"$place/vendors/intel.icd"
    touch "$place/done"
fi

export LD_LIBRARY_PATH="$place/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OCL_ICD_VENDORS="$place/vendors" KILN_SPIRV_DRIVER=opencl
export KILN_REQUIRE_DEVICE=spirv
"$build/tests/spirv_native"
export KILN_CACHE=off
"$build/tests/spirv_run"
"$build/tests/spirv_faults"

for name in checked frames grids group_failures group_loops groups groups_errors heap \
    language language_data language_manual language_numbers math_accuracy \
    random reduce runtime_devices runtime_package scans; do
    KILN_TEST_BACKEND=spirv "$build/tests/test_$name"
done
KILN_TEST_BACKEND=spirv KILN_TEST_LANES=16 "$build/tests/random_kernels" \
    --count 200
for type in f32 f64; do
    sh tests/irexec/tgv_step.sh "$build/bin/tgv" examples/tgv 4 "$type" 1 spirv
done
