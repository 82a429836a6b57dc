#!/bin/sh
# names.sh TOOL LIST OUTPUT ARCHIVE...: writes the names of the archives'
# functions that are in the list to OUTPUT, in the list's order.
set -e
tool=$1 list=$2 output=$3
shift 3
nm --quiet --defined-only --no-sort --format=just-symbols "$@" |
    "$tool" names "$list" > "$output"
