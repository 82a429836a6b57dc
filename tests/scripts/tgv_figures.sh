#!/bin/sh
# Holds tgv's figures against the reference: tgv_figures.sh TGV EXAMPLE-FOLDER
# LOG2N TYPE STEPS [OPTION...]
set -eu
tgv=$1 folder=$2 log2n=$3 type=$4 steps=$5
shift 5

run=$(mktemp)
trap 'rm -f "$run"' EXIT
"$tgv" --quiet --log2n "$log2n" --type "$type" --steps "$steps" "$@" >"$run"
awk -v type="$type" -f "$folder/compare.awk" \
    "$folder/reference/log2n${log2n}_$type.txt" "$run"
