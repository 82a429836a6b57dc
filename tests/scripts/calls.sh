#!/bin/sh
# Holds that layers.sh sees calls in disguise: calls.sh SOURCE-FOLDER CC
# Each line of `calls` is a function of base/ that uses one of frontend/, which
# is above it. The objects are compiled into the shape of a build folder.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
source=$1
cc=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/copy/src/base" "$folder/copy/src/frontend" \
    "$folder/copy/include"
cp "$source/src/layers.txt" "$folder/copy/src"
objects=$folder/build/kiln-objects.dir/src
mkdir -p "$objects/base" "$objects/frontend"
cd "$folder/copy"
echo 'int kiln__above(void) { return 1; }' >src/frontend/above.c
echo 'int kiln__beside(void) { return 1; }' >src/base/beside.c
cat >>src/frontend/above.c <<'C'
int above(void) { return 1; }
__attribute__((visibility("hidden"))) int hidden(void) { return 1; }
__attribute__((weak)) int kiln__weak(void) { return 1; }
const int above_data[2] = {1, 2};
C
found=0

# compile FOLDER/NAME
compile()
{
    "$cc" -std=gnu11 -fPIC -fcommon -c "src/$1.c" -o "$objects/$1.c.o"
}

compile frontend/above
compile base/beside
cat >src/base/below.c <<'C'
int kiln__beside(void);
int kiln__below(void);
int kiln__below(void) { return kiln__beside(); }
C
compile base/below
sh "$scripts/layers.sh" "$PWD" "$folder/build" || {
    echo "honest calls are refused"
    exit 1
}

# DECLARATION; EXPRESSION
cat >"$folder/calls" <<'CALLS'
int kiln__above(void); kiln__above()
int above(void); above()
int hidden(void) __attribute__((visibility("hidden"))); hidden()
int kiln__weak(void); kiln__weak()
int kiln__above(void) __attribute__((weak)); kiln__above != 0
extern const int above_data[2] __attribute__((weak)); above_data != 0
extern const int above_data[2]; above_data[1]
int other(void) __asm__("kiln__above"); other()
CALLS
while read -r line; do
    printf '%s;\nint kiln__below(void);\nint kiln__below(void) { return %s; }\n' \
        "${line%;*}" "${line##*; }" >src/base/below.c
    compile base/below
    if sh "$scripts/layers.sh" "$PWD" "$folder/build" >"$folder/said"; then
        echo "accepted: $line"
        found=1
    elif ! grep -q '^src/base/below.c must not use src/frontend/above.c: ' \
        "$folder/said"; then
        cat "$folder/said"
        found=1
    fi
done <"$folder/calls"
exit $found
