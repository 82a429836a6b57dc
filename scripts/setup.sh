#!/bin/sh
# Installs the Debian packages that are needed to build and test Kiln, and those
# that bench/run.sh compares it with, as far as they are missing. It needs no
# network if none is missing.
set -eu

packages="gcc g++ cmake ninja-build pkg-config llvm-22-dev llvm-22-tools
    liblld-22-dev lld-22 libclang-22-dev libclang-cpp22 clang-22 zlib1g-dev
    libzstd-dev uthash-dev libxxhash-dev libcmocka-dev clang-format-14 libclc-22
    rocm-device-libs opencl-headers ocl-icd-libopencl1 ocl-icd-opencl-dev
    pocl-opencl-icd libze-dev libze1 llvm-spirv-15 spirv-tools spin valgrind
    libopenmpi-dev openmpi-bin python3 python3-venv"

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: not a Debian system, please install:" $packages >&2
    exit 0
fi

missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null ||
        true)
    test "$state" = installed || missing="$missing $package"
done
test -n "$missing" || exit 0

sudo=
test "$(id -u)" -eq 0 || sudo=sudo
echo "setup: installing$missing"
# The package lists may be missing or old; they are fetched only if that fails.
install()
{
    $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends $missing >/dev/null
}
install 2>/dev/null || {
    $sudo apt-get update -qq
    install
}
