#!/bin/sh
# Runs the program of "Ten minutes" in two processes with one cache, and
# compares what each prints with the page: ten.sh AWK TEN.AWK PAGE PROGRAM
set -eu
awk=$1 fenced=$2 page=$3 program=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KILN_CACHE=rw KILN_CACHE_DIR="$folder/cache"

for process in 1 2; do
    "$awk" -v kind=output -v only=$process -f "$fenced" "$page" \
        >"$folder/told"
    test -s "$folder/told"
    "$program" >"$folder/printed"
    diff "$folder/told" "$folder/printed" || {
        echo "docs/embedding.md: process $process prints something else"
        exit 1
    }
done
