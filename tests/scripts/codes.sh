#!/bin/sh
# Holds the table of codes in docs/language.md against the codes of the
# diagnostics that the sources make: codes.sh SOURCE-FOLDER
# A code is a literal of words and `-` in the folders that make diagnostics, or a
# single word where it becomes the code of one.
set -eu
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Literals of this form that are no codes.
others='sub-group'

find src/frontend src/ir src/context/targets -name '*.[ch]' | sort | xargs cat |
    tr -s ' \n' '  ' >"$folder/text"
{
    grep -oE '"[a-z]+(-[a-z]+)+"' "$folder/text"
    grep -oE '(kiln__(infer|parser)_error|kiln__diagnose|add_finding)\([^"]*"[a-z]+"' \
        "$folder/text"
    grep -oE 'code = "[a-z]+"' "$folder/text"
} | sed 's/.*"\([^"]*\)"$/\1/' | grep -vxE "$others" | sort -u >"$folder/made"
test "$(wc -l <"$folder/made")" -ge 70 || { echo "few codes in src"; exit 1; }

sed -n '/^### The codes/,/^## /s/^| `\([a-z-]*\)` | .*|$/\1/p' docs/language.md \
    >"$folder/listed"
sort -u "$folder/listed" | cmp -s - "$folder/listed" || {
    echo "docs/language.md: the codes are not in the order of the alphabet"
    exit 1
}
diff "$folder/listed" "$folder/made" || {
    echo "docs/language.md (<) lists other codes than src makes (>)"
    exit 1
}
