#!/bin/sh
# Compiles each public header alone: headers.sh SOURCE-FOLDER CC CXX
set -eu
cd "$1"
cc=$2
cxx=$3
count=0
warnings="-Wall -Wextra -Wpedantic -Werror"
for header in $(find include -name '*.h' | sort); do
    name=${header#include/}
    for standard in c99 c11; do
        echo "#include \"$name\"" |
            "$cc" -std=$standard $warnings -Wundef -Wstrict-prototypes \
                -Iinclude -fsyntax-only -x c -
        count=$((count + 1))
    done
    echo "#include \"$name\"" |
        "$cxx" -std=c++17 $warnings -Iinclude -fsyntax-only -x c++ -
    count=$((count + 1))
done
echo "$count compilations"
test "$count" -gt 0
