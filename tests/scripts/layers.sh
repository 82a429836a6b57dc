#!/bin/sh
# Holds src/layers.txt: layers.sh SOURCE-FOLDER BUILD-FOLDER
# Each include and each symbol that an object leaves to others is of a folder
# that the file's own may use, the table has no circle, and no files of two
# folders call each other in a ring. LLVM, uthash and xxHash are where they
# belong. Inference does not see the program's tables.
set -eu
source=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"
found=0

# ---- who uses whom: "FILE FILE REASON" ----

find src -name '*.[ch]' -o -name '*.cc' | sort >"$folder/files"
# shellcheck disable=SC2046
awk '
    FNR == NR { is_ours[$1] = 1; next }
    FNR == 1 { beside = FILENAME; sub(/[^\/]*$/, "", beside) }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, part, "\"")
        name = "src/" part[2]
        if (!(name in is_ours))
            name = beside part[2]
        if (name in is_ours)
            print FILENAME, name, "includes"
    }' "$folder/files" $(cat "$folder/files") >"$folder/uses"

# "FILE SYMBOL DEFINES|NEEDS", of the objects of both libraries and the worker.
find "$build" -path '*kiln-*.dir/src/*' -name '*.o' | grep -E \
    '/kiln-(objects|common-objects|codegen-objects|codegen-worker)\.dir/' |
    xargs nm -A | sed 's|^[^ ]*\.dir/\(src/[^ ]*\)\.o:|\1 |' | awk '
        FNR == NR { is_ours[$1] = 1; next }
        !($1 in is_ours) || $NF !~ /^_?kiln/ { next }
        NF == 4 && $3 ~ /[TDBRVW]/ { print $1, $4, "defines" }
        NF == 3 && $2 == "U" { print $1, $3, "needs" }' "$folder/files" - |
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

# forbid PATTERN ALLOWED-FILES-REGEX
forbid()
{
    for file in $(grep -rlE "#[ ]*include[ ]*[<\"]$1" src | grep -vE "$2"); do
        echo "$file must not include $1"
        found=1
    done
}
forbid 'uthash' '^src/base/data/map\.c$'
forbid 'xxh' '^src/base/data/sum\.c$'
forbid '(llvm|llvm-c|lld)/' '^src/(base/digest/blake3\.h|codegen/|backends/[a-z]*/codegen/)'
# Inference reads the program through facts.h, where each reading is a question
# that is recorded; behind these the tables are open.
for table in program_tables.h definitions.h lazy_text.h; do
    for file in $(grep -l "include \"frontend/program/$table\"" \
        src/frontend/infer/*.[ch]); do
        echo "$file must not include $table"
        found=1
    done
done
exit $found
