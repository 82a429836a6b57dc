#!/bin/sh
# The example with its pack: packed.sh PROGRAM FOLDER-WITH-PACK SOURCE-FOLDER
# Without a code generator and with no cache it has every kernel; a package
# whose text is other than the pack's is compiled; and what it launches is what
# the list says.
set -eu
program=$1 folder=$2 source=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export KILN_CACHE_DIR="$here/none"
results="0 0 0 0 2 2 2 0"

complain()
{
    echo "packed: $*"
    cat "$here/out" "$here/err"
    exit 1
}

# runs FOLDER: the program has the right results.
runs()
{
    "$program" "$1" >"$here/out" 2>"$here/err" || complain "it fails"
    test "$(tail -n 1 "$here/out")" = "$results" || complain "other results"
}

(
    export KILN_CACHE=must-hit KILN_CODEGEN_PATH=/nowhere
    runs "$folder"
    test "$(grep -c 'from a store' "$here/out")" = 2 || complain "no hits"

    # A comment on top of the text changes nothing.
    mkdir "$here/moved"
    cp "$folder/filters.kilnpack" "$here/moved"
    { echo '# new'; cat "$folder/filters.kiln"; } >"$here/moved/filters.kiln"
    runs "$here/moved"
    test "$(grep -c 'from a store' "$here/out")" = 2 || complain "moved lines"
) || exit 1

# Another function that one kernel calls: that one is compiled.
export KILN_CACHE=rw
mkdir "$here/changed"
cp "$folder/filters.kilnpack" "$here/changed"
sed 's|/ 3$|* 1 / 3|' "$folder/filters.kiln" >"$here/changed/filters.kiln"
runs "$here/changed"
grep -q 'smooth: compiled' "$here/out" || complain "what changed is not compiled"
grep -q 'excess: from a store' "$here/out" || complain "more than what changed"

# A pack that is cut is none.
mkdir "$here/cut"
cp "$folder/filters.kiln" "$here/cut"
head -c 1000 "$folder/filters.kilnpack" >"$here/cut/filters.kilnpack"
runs "$here/cut"
grep -q 'without a pack' "$here/err" || complain "a cut pack"

"$program" "$folder" --record >"$here/out" 2>"$here/err" || complain "recording"
grep -v '^#' "$here/out" >"$here/recorded"
grep -v '^#' "$source/filters.jobs" >"$here/listed"
cmp "$here/recorded" "$here/listed" || complain "another workload"
