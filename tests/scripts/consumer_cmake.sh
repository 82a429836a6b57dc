#!/bin/sh
# Builds the consumer with the CMake package:
# consumer_cmake.sh CONSUMER-FOLDER PREFIX BUILD-FOLDER CC CXX
set -eu
rm -rf "$3"
cmake -S "$1" -B "$3" -DCMAKE_PREFIX_PATH="$2" -DCMAKE_C_COMPILER="$4" \
    -DCMAKE_CXX_COMPILER="$5" >/dev/null
cmake --build "$3"
"$3/consumer_c"
"$3/consumer_cpp"
