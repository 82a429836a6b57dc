#!/bin/sh
# compare.sh - the example beside plain C, interleaved in one run.
# usage: compare.sh BIN-FOLDER [rounds] [threads] [log2n]
#
# Prints the least time of the second step of each program, and the speed of
# the example's bodies against plain C; then the same for each kernel (all
# steps), with bounds checks and without.
set -eu
bin=$1 rounds=${2:-5} threads=${3:-1} log2n=${4:-6}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS="$threads" OMP_WAIT_POLICY=active

run() { # name program arguments...
    name=$1
    shift
    "$@" --log2n "$log2n" --threads "$threads" --steps 3 \
        >>"$folder/$name.time" 2>/dev/null
    "$@" --log2n "$log2n" --threads "$threads" --steps 3 --profile --quiet \
        >>"$folder/$name.profile" 2>/dev/null
}

for type in f32 f64; do
    for round in $(seq "$rounds"); do
        run "plain-$type" "$bin/plain-tgv-$type"
        run "checked-$type" "$bin/tgv" --type "$type"
        run "unchecked-$type" "$bin/tgv" --type "$type" --unchecked
    done
done

for type in f32 f64; do
    echo "# $type, $threads threads, log2n $log2n: ms, speed against plain C"
    for what in plain checked unchecked; do
        awk -v what="$what" '$1 == "second" { print what, $2 }' \
            "$folder/$what-$type.time"
    done | awk '
        !($1 in least) || $2 < least[$1] { least[$1] = $2 }
        END {
            printf "second step: plain %.2f, checked %.2f (%.2f), unchecked" \
                " %.2f (%.2f)\n", least["plain"], least["checked"],
                least["plain"] / least["checked"], least["unchecked"],
                least["plain"] / least["unchecked"]
        }'
    for what in plain checked unchecked; do
        sed -n "s/^kernel /$what /p" "$folder/$what-$type.profile"
    done | awk '
        # The two launches of a reduction are one kernel of plain C.
        $2 ~ /^(dot|sum|max|maximum)(_|$)/ { next }
        { key = $1 " " $2; names[$2] = 1; count[$2] = $3 }
        !(key in least) || $4 < least[key] { least[key] = $4 }
        END {
            for (name in names) {
                plain = least["plain " name]
                if (plain == 0 || !(("checked " name) in least))
                    continue
                printf "%-16s %6d launches %8.3f ms  checked %5.2f" \
                    "  unchecked %5.2f\n", name, count[name], plain,
                    plain / least["checked " name],
                    plain / least["unchecked " name]
            }
        }' | sort -k4,4 -rn
done
