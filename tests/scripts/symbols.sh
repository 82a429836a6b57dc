#!/bin/sh
# Checks what a library exports: symbols.sh LIBRARY PATTERN
set -eu
names=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
    sed 's/@.*//')
test -n "$names"
if echo "$names" | grep -vE "^$2"; then
    echo "are exported by $1, and should not be"
    exit 1
fi
