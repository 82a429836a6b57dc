#!/bin/sh
# Holds tgv's figures on a device against the host's:
# tgv_step.sh TGV EXAMPLE-FOLDER LOG2N TYPE STEPS BACKEND
set -eu
tgv=$1 folder=$2 log2n=$3 type=$4 steps=$5 backend=$6

host=$(mktemp)
device=$(mktemp)
trap 'rm -f "$host" "$device"' EXIT
"$tgv" --quiet --log2n "$log2n" --type "$type" --steps "$steps" >"$host"
"$tgv" --quiet --log2n "$log2n" --type "$type" --steps "$steps" \
    --target "$backend" >"$device"
awk -v type="$type" -f "$folder/compare.awk" "$host" "$device"
