#!/bin/sh
# Packs what gpu-test.sh needs on a machine with a driver and no LLVM: the
# release build, stripped, the driver's test and libclc. gpu-pack.sh OUT.tar.xz
set -eu
out=$(realpath "${1:?usage: gpu-pack.sh OUT.tar.xz}")
cd "$(dirname "$0")/.."
clc=${KILN_LIBCLC:-/usr/lib/clc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --preset release -DKILN_TESTS=ON >/dev/null
cmake --build --preset release >/dev/null
mkdir "$folder/bin" "$folder/lib" "$folder/tests" "$folder/clc"
cp build/release/bin/kiln build/release/bin/tgv build/release/bin/saxpy \
    build/release/bin/kiln-bench "$folder/bin"
cp -P build/release/lib/libkiln*.so* "$folder/lib"
cp build/release/tests/test_cuda_device "$folder/tests"
cp "$clc/nvptx64--.bc" "$folder/clc"
for file in "$folder"/bin/* "$folder"/tests/test_* "$folder"/lib/*.so*; do
    test -L "$file" || strip --strip-unneeded "$file"
done
# What Debian's base does not have.
for file in "$folder"/bin/kiln "$folder"/lib/libkiln-codegen.so \
    "$folder"/tests/test_cuda_device; do
    ldd "$file"
done | awk '$3 ~ /^\// { print $3 }' | sort -u | grep -v 'libkiln' |
    grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    while read -r library; do
        cp -L "$library" "$folder/lib"
    done
cp scripts/gpu-test.sh "$folder"
tar -C "$folder" -cJf "$out" .
echo "$out: $(du -h "$out" | cut -f1)"
