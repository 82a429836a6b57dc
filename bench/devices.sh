#!/bin/sh
# devices.sh - what code for devices costs, without devices.
# usage: devices.sh BIN-FOLDER [rounds]
#
# One JSON line for each figure, in milliseconds of the wall clock: least and
# median of the rounds. Rounds of what is compared are interleaved, and a ratio
# is one of medians. NVRTC is that of the toolkit that CUDA_PATH names, or of
# /usr/local/cuda.
set -eu
bin=$1 rounds=${2:-11}
root=$(cd "$(dirname "$0")/.." && pwd)
nvrtc=${CUDA_PATH:-/usr/local/cuda}/lib64/libnvrtc.so
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KILN_CACHE=off

cat >"$folder/saxpy.kiln" <<'KILN'
kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = a * x[i] + y[i]
    end
end
KILN

timed() { # NAME COMMAND...: a line of the file NAME
    name=$1
    shift
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1 || { echo "devices.sh: $* fails" >&2; exit 1; }
    end=$(date +%s%N)
    echo $(((end - start) / 1000)) >>"$folder/$name"
}

figure() { # NAME [FILE that it is compared with]
    name=$1
    sort -n "$folder/$name" | awk -v name="$name" -v other="${2:-}" \
        -v than="$(test -z "${2:-}" || sort -n "$folder/$2" |
            awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }')" '
        { t[NR] = $1 }
        END {
            m = t[int((NR + 1) / 2)]
            printf "{\"name\": \"%s\", \"min_ms\": %.2f, ", name, t[1] / 1e3
            printf "\"median_ms\": %.2f", m / 1e3
            if (other != "")
                printf ", \"times_as_fast_as\": \"%s\", \"ratio\": %.2f",
                    other, than / m
            print "}"
        }'
}

told() { # NAME COMMAND...: the sum of the milliseconds that it tells
    name=$1
    shift
    "$@" >"$folder/said" 2>&1 || { echo "devices.sh: $* fails" >&2; exit 1; }
    awk '$NF == "ms" { sum += $(NF - 1); n++ }
        END { if (!n) exit 1; printf "%d\n", 1000 * sum }' "$folder/said" \
        >>"$folder/$name"
}

cubin() { # TARGET BOUNDS
    "$bin/kiln" compile "$folder/saxpy.kiln" saxpy 'f32[:]' f32 'f32[:]' \
        --emit binary --target "$1" --set "bounds=$2" -o "$folder/cubin"
}

# ---- a cubin of a saxpy, whole processes; then in one that goes on ----
has_nvrtc=0
test ! -e "$nvrtc" || has_nvrtc=1
for round in $(seq "$rounds"); do
    for tool in nvjitlink ptxas; do
        timed "process-$tool" cubin "cuda:sm_90:$tool" on
        timed "process-$tool-unchecked" cubin "cuda:sm_90:$tool" off
    done
    test $has_nvrtc = 0 ||
        timed process-nvrtc "$bin/nvrtc-saxpy" 0 sm_90 "$nvrtc"
done
test $has_nvrtc = 0 || figure process-nvrtc
for tool in nvjitlink ptxas; do
    for checks in "" -unchecked; do
        test $has_nvrtc = 1 && figure "process-$tool$checks" process-nvrtc ||
            figure "process-$tool$checks"
    done
done
"$bin/kiln-bench" --filter cubin/again --json
test $has_nvrtc = 0 || "$bin/nvrtc-saxpy" 21 sm_90 "$nvrtc"

# ---- the kernels of the example tgv, for each target and for all ----
tgv() { # TARGET...
    targets=
    for target; do
        targets="$targets --target $target"
    done
    "$bin/kiln" precompile "$root/examples/tgv/tgv.kiln" \
        --workload "$root/bench/tgv.jobs" $targets -o "$folder/pack" --jobs 2
}
for round in 1 2 3; do
    timed tgv-cuda tgv cuda:sm_90
    timed tgv-rocm tgv rocm:gfx90a
    timed tgv-spirv tgv spirv:1.4+fp64
    timed tgv-all tgv cuda:sm_90 rocm:gfx90a spirv:1.4+fp64
done
for name in tgv-cuda tgv-rocm tgv-spirv tgv-all; do
    figure $name
done

# ---- the first execution on PoCL, once platform and context are there ----
# By PoCL from source, and by Kiln in a process that finds what an earlier one
# kept: PoCL's own binary of the program.
pocl_kiln() {
    POCL_KERNEL_CACHE=0 KILN_CACHE=rw KILN_CACHE_DIR="$folder/cache" \
        KILN_SPIRV_DRIVER=opencl "$bin/kiln" run "$folder/saxpy.kiln" saxpy \
        'f32[1024]=ones' 2:f32 'f32[1024]=iota' --grid 1024 --target spirv \
        --time
}
pocl_source() {
    POCL_KERNEL_CACHE=0 "$bin/pocl-saxpy" 10
}
if test -x "$bin/pocl-saxpy" && pocl_kiln >"$folder/said" 2>&1; then
    for round in $(seq "$rounds"); do
        told pocl-source pocl_source
        told pocl-kiln-warm pocl_kiln
    done
    figure pocl-source
    figure pocl-kiln-warm pocl-source
else
    echo "devices.sh: no PoCL that runs SPIR-V: skipped" >&2
fi
# ---- what tgv's kernels take from tier 2 ----
"$bin/kiln-bench-runtime" --filter runtime/tgv --json
