#!/bin/sh
# Holds src/layers.txt: layers.sh SOURCE-FOLDER [BUILD-FOLDER]
# Each include and each symbol that an object leaves to others is of a folder
# that the file's own may use, the table has no circle, and no files of two
# folders call each other in a ring. LLVM, uthash and xxHash are where they
# belong. Inference does not see the program's tables. An include has one of two
# forms (includes.awk), and a source has no bytes that compilers, editors and awk
# take differently. Without a build folder only includes are checked.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
source=$1
build=${2-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"
found=0

# ---- who uses whom: "FILE FILE REASON" ----

find src -name '*.[ch]' -o -name '*.cc' | sort >"$folder/files"
find src include -type f >"$folder/all"
if grep -E '^src/' "$folder/all" | grep -vE '\.(c|h|cc|kiln|md|txt)$'; then
    echo "above: files that are not checked for includes"
    found=1
fi
# Only newlines and what can be seen, so that each line is the same for everyone.
refuse_bytes()
{
    while read -r file; do
        if test "$(LC_ALL=C tr -d '\n\040-\176\200-\377' <"$file" | wc -c)" \
            -ne 0; then
            echo "$file has a control character"
            found=1
        fi
    done <"$folder/files"
}
xargs cat <"$folder/files" >"$folder/together"
if test "$(LC_ALL=C tr -d '\n\040-\176\200-\377' <"$folder/together" |
    wc -c)" -ne 0; then
    refuse_bytes
fi
if xargs grep -l "$(printf '\357\273\277')" <"$folder/files" |
    sed 's/$/ has a byte order mark/' | grep .; then
    found=1
fi
xargs awk -f "$scripts/includes.awk" "$folder/all" <"$folder/files" \
    >"$folder/includes"
sed -n 's/ refused / must not include this: /p' "$folder/includes" \
    >"$folder/refused"
if test -s "$folder/refused"; then
    cat "$folder/refused"
    found=1
fi
awk '
    FNR == NR { is_ours[$1] = 1; next }
    $2 == "quoted" && ("src/" $3) in is_ours {
        print $1, "src/" $3, "includes"
    }' "$folder/files" "$folder/includes" >"$folder/uses"

# "FILE SYMBOL DEFINES|NEEDS", of the objects of both libraries and the worker.
: >"$folder/calls"
if test -n "$build"; then
    find "$build" -path '*kiln-*.dir/src/*' -name '*.o' | grep -E \
        '/kiln-(objects|common-objects|codegen-objects|codegen-worker|clang)\.dir/' |
        xargs nm -A | sed 's|^[^ ]*\.dir/\(src/[^ ]*\)\.o:|\1 |' | awk '
            FNR == NR { is_ours[$1] = 1; next }
            # What replaces functions of LLVM is called by LLVM.
            !($1 in is_ours) || $NF ~ /^_ZN4llvm/ { next }
            NF == 4 && ($3 ~ /[TDBRSGCi]/ || ($3 ~ /[VW]/ && $4 ~ /kiln/)) {
                print $1, $4, "defines"
            }
            NF == 3 && $2 ~ /[Uwv]/ { print $1, $3, "needs" }' "$folder/files" - |
        sort -u >"$folder/symbols"
    awk '
        $3 == "defines" { at[$2] = $1; next }
        { needs[++count] = $1 " " $2 }
        END {
            for (i = 1; i <= count; i++) {
                split(needs[i], part, " ")
                if (part[2] in at && at[part[2]] != part[1])
                    print part[1], at[part[2]], part[2]
            }
        }' "$folder/symbols" >"$folder/calls"
    test -s "$folder/calls" || { echo "no objects in $build"; exit 1; }
    cat "$folder/calls" >>"$folder/uses"
fi

# ---- the table ----

awk '
    function folder_of(file) { sub(/\/[^\/]*$/, "", file); return substr(file, 5) }
    function layer_of(file,    at) {
        at = folder_of(file)
        while (at != "" && !(at in known))
            if (!sub(/\/[^\/]*$/, "", at))
                at = ""
        return at
    }
    FNR == NR {
        sub(/#.*/, "")
        if (!NF)
            next
        sub(/:/, "", $1)
        known[$1] = 1
        for (i = 2; i <= NF; i++) {
            if (!($i in known)) {
                print "layers.txt: " $1 " uses " $i ", which stands below it"
                bad = 1
            }
            may[$1, $i] = 1
        }
        next
    }
    {
        from = layer_of($1)
        to = layer_of($2)
        if (from == "" || to == "" || (from != to && !((from, to) in may))) {
            print $1 " must not use " $2 ": " $3
            bad = 1
        }
    }
    END { exit bad }' src/layers.txt "$folder/uses" || found=1

# ---- rings ----

# Tarjan: the strongly connected parts of the graph of calls between files.
awk '
    function visit(file,    i, n, next_file, list, of, rooms, other) {
        number[file] = low[file] = ++numbers
        stack[++depth] = file
        is_open[file] = 1
        n = split(calls[file], list, " ")
        for (i = 1; i <= n; i++) {
            next_file = list[i]
            if (!(next_file in number)) {
                visit(next_file)
                if (low[next_file] < low[file])
                    low[file] = low[next_file]
            } else if (is_open[next_file] && number[next_file] < low[file]) {
                low[file] = number[next_file]
            }
        }
        if (low[file] != number[file])
            return
        of = ""
        rooms = 0
        do {
            other = stack[depth--]
            is_open[other] = 0
            of = of " " other
            sub(/\/[^\/]*$/, "", other)
            if (rooms == 0)
                room = other
            rooms = rooms == 0 || (rooms == 1 && other == room) ? 1 : 2
        } while (stack[depth + 1] != file)
        if (rooms > 1) {
            print "these call each other in a ring:" of
            bad = 1
        }
    }
    !(($1, $2) in seen) { seen[$1, $2] = 1; calls[$1] = calls[$1] " " $2 }
    END {
        for (file in calls)
            if (!(file in number))
                visit(file)
        exit bad
    }' "$folder/calls" || found=1

# ---- others' headers ----

# forbid NAMES-REGEX ALLOWED-FILES-REGEX
forbid()
{
    awk -v names="^$1" -v allowed="$2" '
        $3 ~ names && $1 !~ allowed {
            print $1 " must not include " $3
            bad = 1
        }
        END { exit bad }' "$folder/includes" || found=1
}
forbid '([^ ]*/)?uthash' '^src/base/data/map[.]c$'
forbid '([^ ]*/)?xxh' '^src/base/data/sum[.]c$'
forbid '(llvm|llvm-c|lld)/' '^src/(base/digest/blake3[.]h|clang/|codegen/|backends/[a-z]*/codegen/)'
# Inference reads the program through facts.h, where each reading is a question
# that is recorded; behind these the tables are open.
awk '
    $1 ~ /^src\/frontend\/infer\// &&
    $3 ~ /^frontend\/program\/(program_tables|definitions|lazy_text)[.]h$/ {
        print $1 " must not include " $3
        bad = 1
    }
    END { exit bad }' "$folder/includes" || found=1
exit $found
