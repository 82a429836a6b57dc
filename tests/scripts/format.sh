#!/bin/sh
# Checks the layout of the code: format.sh SOURCE-FOLDER
set -eu
cd "$1"
clang_format=
for name in clang-format-14 clang-format; do
    if command -v $name >/dev/null 2>&1; then
        clang_format=$name
        break
    fi
done
if test -z "$clang_format"; then
    echo "clang-format is not installed"
    exit 77
fi
find include src tests tools examples bench \
    -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.cpp' |
    sort | xargs "$clang_format" --dry-run --Werror
