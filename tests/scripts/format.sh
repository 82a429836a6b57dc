#!/bin/sh
# Checks the layout of the code: format.sh SOURCE-FOLDER
set -eu
. "$(dirname "$0")/skip.sh"
cd "$1"
clang_format=
for name in clang-format-14 clang-format; do
    if command -v $name >/dev/null 2>&1; then
        clang_format=$name
        break
    fi
done
test -n "$clang_format" || skip package "no clang-format"
find include src tests tools examples bench \
    -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.cpp' |
    sort | xargs "$clang_format" --dry-run --Werror
