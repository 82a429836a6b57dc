#!/bin/sh
# Looks for public declarations without a comment, and for functions that
# docs/reference.md lacks: documented.sh SOURCE-FOLDER
# Each declaration stands right behind a doc comment, or behind one that the
# comment is for as well. The page lists the functions of each header in the
# header's order.
set -eu
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0
awk '
    FNR == 1 { ready = 0 }
    /^$/ { ready = 0 }
    /^\/\*\*/ { comment = 1 }
    /\*\/$/ && comment { comment = 0; ready = 1; next }
    /^[^ /*#].*KILN_API/ || /^KILN_API/ {
        count++
        if (!ready) { print FILENAME ":" FNR ": " $0; bad = 1 }
    }
    END {
        if (count < 100) { print "only " count + 0 " declarations"; bad = 1 }
        exit bad
    }' include/kiln/*.h include/kiln/sys/*.h || found=1

# "HEADER FUNCTION", in the order of the headers' names. A name that ends in _
# is behind a macro of the name without it.
for header in include/kiln/*.h include/kiln/sys/*.h; do
    tr '\n' ' ' <"$header" |
        sed 's|/\*|\n/*|g; s|\*/|*/\n|g' | grep -v '^/\*' | tr '\n' ' ' |
        grep -oE '(KILN_API|static inline) [^;{}()]*kiln_[a-z0-9_]*\(' |
        sed "s|.*[ *]\(kiln_[a-z0-9_]*\)(\$|${header#include/} \1|; s|_\$||"
done >"$folder/declared"
awk '
    /^## `/ { header = $2; gsub(/`/, "", header) }
    /^\| `kiln_/ { name = $2; gsub(/`/, "", name); print header, name }
    ' docs/reference.md | sort -s -k 1,1 >"$folder/listed"
sort -s -k 1,1 "$folder/declared" | diff "$folder/listed" - || {
    echo "docs/reference.md (<) lists other functions than the headers (>)"
    found=1
}
exit $found
