#!/bin/sh
# Packs what gpu-test.sh needs on a machine with a driver and no LLVM: programs
# and tests of a build, stripped, the libraries that they need, and libclc.
# gpu-pack.sh OUT.tar.xz [BUILD-FOLDER]: without a folder, it makes and packs
# the release build.
set -eu
out=$(realpath "${1:?usage: gpu-pack.sh OUT.tar.xz [BUILD-FOLDER]}")
cd "$(dirname "$0")/.."
build=${2:-build/release}
clc=${KILN_LIBCLC:-/usr/lib/clc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ $# -lt 2 ]; then
    cmake --preset release -DKILN_TESTS=ON >/dev/null
    cmake --build --preset release >/dev/null
fi
mkdir "$folder/bin" "$folder/lib" "$folder/tests" "$folder/clc"
for name in kiln tgv saxpy kiln-bench; do
    cp "$build/bin/$name" "$folder/bin"
done
cp -P "$build"/lib/libkiln*.so* "$folder/lib"
# The test of the driver, then all language tests.
for name in test_cuda_device test_checked test_grids test_group_loops \
    test_groups test_groups_errors test_language test_language_data \
    test_language_numbers test_math_accuracy test_random test_reduce \
    test_scans; do
    cp "$build/tests/$name" "$folder/tests"
done
cp "$clc/nvptx64--.bc" "$folder/clc"
for file in "$folder"/bin/* "$folder"/tests/test_* "$folder"/lib/*.so*; do
    test -L "$file" || strip --strip-unneeded "$file"
done
# Libraries that a minimal Debian system does not have.
for file in "$folder"/bin/* "$folder"/tests/* \
    "$folder"/lib/libkiln-codegen.so; do
    ldd "$file"
done | awk '$3 ~ /^\// { print $3 }' | sort -u | grep -v 'libkiln' |
    grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    while read -r library; do
        cp -L "$library" "$folder/lib"
    done
cp scripts/gpu-test.sh "$folder"
cp -r examples/tgv "$folder/tgv"
cp tests/irexec/tgv_step.sh "$folder/tests"
tar -C "$folder" -cJf "$out" .
echo "$out: $(du -h "$out" | cut -f1)"
