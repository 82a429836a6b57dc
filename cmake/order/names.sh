#!/bin/sh
# names.sh TOOL LIST OUTPUT ARCHIVE...: the archives' functions that the list
# has, in its order.
set -e
tool=$1 list=$2 output=$3
shift 3
nm --quiet --defined-only --no-sort --format=just-symbols "$@" |
    "$tool" names "$list" > "$output"
