#!/bin/sh
# Runs the contents of a pack of gpu-pack.sh on a machine with an NVIDIA GPU and
# its driver, and writes the results: gpu-test.sh PACK OUT-FOLDER
set -eu
pack=$(realpath "${1:?usage: gpu-test.sh PACK OUT-FOLDER}")
out=${2:?usage: gpu-test.sh PACK OUT-FOLDER}
mkdir -p "$out"
out=$(realpath "$out")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xJf "$pack"
cd "$folder"
export LD_LIBRARY_PATH="$folder/lib" KILN_LIBCLC="$folder/clc"
export KILN_REQUIRE_DEVICE=cuda KILN_CACHE_DIR="$folder/cache"
# The driver's own cache would make cold runs look warm.
export CUDA_CACHE_DISABLE=1
failed=0

# part NAME COMMAND...: runs the command with its output in NAME.txt, and goes
# on if it fails.
part()
{
    name=$1
    shift
    if "$@" >"$out/$name.txt" 2>&1; then
        echo "passed $name"
    else
        echo "FAILED $name (see $name.txt)"
        failed=1
    fi
}

checked() { # under compute-sanitizer where it is installed
    if command -v compute-sanitizer >/dev/null; then
        compute-sanitizer --error-exitcode 9 "$@"
    else
        echo "compute-sanitizer is not here"
    fi
}

cat >saxpy.kiln <<'END'
kernel saxpy(y, a, x)
    i = global_id(0)
    y[i] = a * x[i] + y[i]
end
END
bin/kiln targets
part driver tests/test_cuda_device
for test in tests/test_*; do
    name=${test#tests/test_}
    test "$name" = cuda_device ||
        part "$name" env KILN_TEST_BACKEND=cuda KILN_CACHE=off "$test"
done
part saxpy bin/kiln run saxpy.kiln saxpy 'f32[8]=iota' 2.0:f32 'f32[8]=ones' \
    --grid 8 --target cuda --print 0
for type in f32 f64; do
    part "tgv_${type}_equal" sh tests/tgv_step.sh bin/tgv tgv 4 $type 2 cuda
    rm -rf "$KILN_CACHE_DIR"
    part "tgv_${type}_cold" bin/tgv --target cuda --type $type --steps 3
    part "tgv_${type}_warm" bin/tgv --target cuda --type $type --steps 3
done
part sanitizer checked bin/tgv --target cuda --log2n 4 --steps 1
bin/kiln-bench --json >"$out/bench.json" || failed=1

ask() { # ask WHAT: prints a property of the first GPU
    nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -1
}

lines() { # prints the lines of a file as a JSON array of strings
    awk 'BEGIN { printf "[" }
        { gsub(/["\\]/, "\\\\&"); printf "%s\"%s\"", (NR > 1 ? ",\n  " : ""), $0 }
        END { print "]" }' "$1"
}

name=$(ask name)
{
    printf '{"device": "%s", "driver": "%s", "date": "%s", "failed": %s,\n' \
        "$name" "$(ask driver_version)" "$(date -u +%F)" "$failed"
    for type in f32 f64; do
        for start in cold warm; do
            printf ' "tgv_%s_%s": ' $type $start
            lines "$out/tgv_${type}_$start.txt"
            echo ,
        done
    done
    printf ' "bench": '
    awk 'BEGIN { printf "[" } { printf "%s%s", (NR > 1 ? ",\n  " : ""), $0 }
        END { print "]" }' "$out/bench.json"
    printf '}\n'
} >"$out/$(echo "${name:-unknown}" | tr -c 'A-Za-z0-9\n' '_').json"
exit "$failed"
