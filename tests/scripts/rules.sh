#!/bin/sh
# Holds that scripts which look for offences see them wherever they stand:
# rules.sh SOURCE-FOLDER
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0

# refuses SCRIPT FILE: the script must fail and name the file.
refuses()
{
    if sh "$scripts/$1" "$folder" >"$folder/said" 2>&1; then
        echo "$1 accepts $2"
        found=1
    elif ! grep -qF "$2:" "$folder/said"; then
        cat "$folder/said"
        found=1
    fi
}

# ---- functions that are too long ----

mkdir "$folder/include" "$folder/src" "$folder/tools" "$folder/examples" \
    "$folder/tests" "$folder/bench"
cat >"$folder/src/short.c" <<'C'
int kiln__short(void)
{
    return 0;
}
C
sh "$scripts/function_length.sh" "$folder" >"$folder/said" || {
    echo "function_length.sh refuses a short function"
    found=1
}
for file in include/long.h src/long.h src/long.c src/long.cc tests/long.h; do
    awk 'BEGIN {
        print "static inline int kiln__long(int x)\n{"
        for (i = 0; i < 61; i++)
            print "    x++;"
        print "}"
    }' >"$folder/$file"
    refuses function_length.sh "$file"
    rm "$folder/$file"
done

# ---- a library that prints ----

sh "$scripts/silent.sh" "$source" || found=1
while read -r statement; do
    echo "$statement" >"$folder/src/loud.cc"
    refuses silent.sh src/loud.cc
done <<'C'
fprintf(stderr, "here");
fputs("here", stdout);
llvm::errs() << "here";
if (getenv("KILN_DEBUG")) return;
C
rm "$folder/src/loud.cc"

# ---- public functions without a comment ----

cp -R "$source/include/kiln" "$folder/include"
mkdir "$folder/docs"
cp "$source/docs/reference.md" "$folder/docs"
sh "$scripts/documented.sh" "$folder" >"$folder/said" 2>&1 || {
    cat "$folder/said"
    found=1
}
while read -r declaration; do
    printf '\n%s\n' "$declaration" |
        cat "$source/include/kiln/error.h" - >"$folder/include/kiln/error.h"
    refuses documented.sh include/kiln/error.h
done <<'C'
KILN_API int kiln_undocumented(void);
KILN_NODISCARD KILN_API int kiln_undocumented(void);
extern KILN_API int kiln_undocumented(void);
C
exit $found
