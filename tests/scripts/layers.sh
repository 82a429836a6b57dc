#!/bin/sh
# Looks for includes across layers: layers.sh SOURCE-FOLDER
# ir, frontend, lower, tiers, stores and backends never include each other; the core
# does not include them, but for compile.c; nobody reaches LLVM outside code generation,
# uthash outside map.c, xxHash outside sum.c. libkiln has BLAKE3 of LLVM: blake3.h.
# Inference does not see the program's tables.
set -eu
cd "$1/src"
found=0

# Prints each include of FILE as the path it would be found at in src.
includes()
{
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"
}

complain()
{
    echo "$1 must not include $2"
    found=1
}

for file in $(find . -name '*.[ch]' -o -name '*.cc' | sed 's|^\./||' | sort); do
    layer=$(dirname "$file")
    for included in $(includes "$file"); do
        target=${included%%/*}
        case $included in ../*) target=$(basename "$(dirname "$included")") ;; esac
        case $target in
        ir | frontend | lower | tiers | stores | backends | codegen)
            case $layer in
            "$target") ;;
            .) test "$file" = compile.c || complain "$file" "$included" ;;
            *) complain "$file" "$included" ;;
            esac
            ;;
        esac
    done
done

# forbid PATTERN ALLOWED-FILES-REGEX
forbid()
{
    for file in $(grep -rlE "#[ ]*include[ ]*[<\"]$1" . | sed 's|^\./||' |
        grep -vE "$2"); do
        complain "$file" "$1"
    done
}
forbid 'uthash' '^map\.c$'
forbid 'xxh' '^sum\.c$'
forbid '(llvm|llvm-c|lld)/' \
    '^(blake3\.h|codegen[_a-z]*\.h|codegen/.*|lower/.*|backends/(codegen.*|.*_codegen\.[ch]|llvm_gap.*))$'
# Inference reads the program through facts.h, where each reading is a question
# that is recorded; behind these the tables are open.
for file in frontend/infer*.[ch]; do
    for included in $(includes "$file"); do
        case $included in
        tables.h | definitions.h | deferred.h) complain "$file" "$included" ;;
        esac
    done
done
exit $found
