#!/bin/sh
# Builds both libraries as archives, installs them, and a consumer with them:
# consumer_static.sh SOURCE-FOLDER BUILD-FOLDER CC CXX
set -eu
here=$(dirname "$0")
rm -rf "$2"
cmake -S "$1" -B "$2/kiln" -G Ninja -DBUILD_SHARED_LIBS=OFF \
    -DKILN_TESTS=OFF -DKILN_BENCH=OFF -DCMAKE_C_COMPILER="$3" \
    -DCMAKE_CXX_COMPILER="$4" >/dev/null
cmake --build "$2/kiln" >/dev/null
sh "$here/install.sh" cmake "$2/kiln" "$2/prefix"
sh "$here/consumer_cmake.sh" "$here/../consumer" "$2/prefix" \
    "$2/consumer" "$3" "$4"
if ldd "$2/consumer/consumer_c" | grep -q libkiln; then
    echo "consumer_c is not linked statically"
    exit 1
fi
