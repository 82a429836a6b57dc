#!/bin/sh
# hostile.sh - what no program should be given: bytes, sizes, files, streams.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >set.kiln <<'KILN'
kernel set(y)
    y[0] = 1
end
KILN

# source_is NAME STATUS: runs what stands on standard input.
source_is()
{
    cat >"$1.kiln"
    expect "$2" run "$1.kiln" set 'f32[4]' --grid 1 --print 0
}

# ---- texts ----

: | source_is empty 1
says err "package empty has no function"
printf 'kernel set(y)\n    y[0] = 1\0\nend\n' | source_is nul 1
says err "nul.kiln:2:13: error: NUL byte in the text"
printf 'kernel set(y)\n    # \351\n    y[0] = 1\nend\n' | source_is latin 1
says err "latin.kiln:2:7: error: the byte 0xE9 is not UTF-8"
printf 'kernel set(y)\r\n    y[0] = 1\r\nend\r\n' | source_is crlf 0
line 1 "1 0 0 0"
printf 'kernel set(y)\r\n    y[0] = zz\r\nend\r\n' | source_is crlf 1
says err "crlf.kiln:2:12: error: unknown name"
printf '\357\273\277kernel set(y)\n    y[0] = 1\nend' | source_is mark 0
line 1 "1 0 0 0"
head -c 17000000 /dev/zero | tr '\0' ' ' | source_is huge 1
says err "huge.kiln: more than 16777216 bytes"
{ printf 'kernel set(y)\n    y[0] = '; head -c 100000 /dev/zero | tr '\0' '('; } |
    source_is deep 1
says err "nested more than 256 levels deep"
expect 1 run /dev/zero set 'f32[4]' --grid 1
says err "more than 16777216 bytes"
mkdir folder.kiln
expect 1 run folder.kiln set 'f32[4]' --grid 1
says err "folder.kiln: Is a directory"
printf 'import folder\n' | source_is imports 1
says err "folder.kiln: Is a directory"

# ---- sizes ----

for size in 1e30 -1 '' ' 4' 0x10 99999999999999999999 9223372036854775807; do
    expect 2 run set.kiln set "f32[$size]" --grid 1
    says err "argument \"f32[$size]\""
done
expect 1 run set.kiln set 'f32[1152921504606846976]' --grid 1
says err "out of memory"
expect 2 run set.kiln set 'f32[4]' --grid 9223372036854775807,2
says err "a grid of 9223372036854775807,2,1 items; a grid has at most 9223372036854775807"
expect 2 run set.kiln set 'f32[4]' --grid 4 --block 4294967295
says err "a group of 4294967295,1,1 items; a group has at most 2147483647"
expect 2 compile set.kiln set 'Vec{f32,1099511627776}' --emit typed
says err "a vector's length expected"
type=f32
for depth in 1 2 3 4 5 6 7 8 9 10 11 12; do
    type="($type,$type)"
done
expect 2 compile set.kiln set "$type" --emit typed
says err "a tuple would have more than 2048 parts"

# ---- files and streams ----

mkdir folder.npy
expect 1 run set.kiln set @folder.npy --grid 1
says err "folder.npy: Is a directory"
expect 1 run set.kiln set @/dev/zero --grid 1
says err "/dev/zero: not a .npy file"
printf '\223NUMPY\002\0\377\377\377\377{}' >long.npy
expect 1 run set.kiln set @long.npy --grid 1
says err "long.npy: the header is too long"
expect 1 run set.kiln set 'f32[4]' --grid 1 --save 0=folder.npy
says err "folder.npy: Is a directory"

for form in typed asm binary; do
    "$kiln" compile set.kiln set 'f32[:]' --emit $form >/dev/full 2>err
    [ $? = 1 ] || fail "--emit $form on a full device"
    says err "cannot write standard output"
    "$kiln" compile set.kiln set 'f32[:]' --emit $form >&- 2>err
    [ $? = 1 ] || fail "--emit $form on a closed stream"
done
if [ -e /dev/full ]; then
    for words in --version --help targets 'cache stat' 'cache ls' \
        'cache doctor' 'cache verify' 'cache locate --json' \
        'run set.kiln set f32[4] --grid 1 --print 0' \
        'run set.kiln set f32[4] --grid 1 --stats'; do
        # shellcheck disable=SC2086
        "$kiln" $words >/dev/full 2>err
        [ $? = 1 ] || fail "$words on a full device"
        says err "cannot write standard output"
    done
    expect 1 compile set.kiln set 'f32[:]' --emit asm -o /dev/full
    says err "/dev/full: cannot be written"
    expect 1 run set.kiln set 'f32[4]' --grid 1 --save 0=/dev/full
    says err "/dev/full: cannot be written"
fi

# A file that is opened does not get the number of a stream that is closed.
"$kiln" run set.kiln set 'f32[4]' --grid 1 --save 0=a.npy --print 0 >out 2>err
"$kiln" run set.kiln set 'f32[4]' --grid 1 --save 0=b.npy --print 0 >&- 2>&- <&-
[ $? = 1 ] || fail "printing to a closed stream"
cmp -s a.npy b.npy || fail "something else was written into the array's file"

# ---- variables ----

for number in 0 -1 x 1x 1025 99999999999999999999; do
    for name in KILN_WORKERS KILN_THREADS; do
        export $name="$number"
        expect 1 run set.kiln set 'f32[4]' --grid 1
        says err "$name is '$number'; it takes a number from 1 to 1024"
        unset $name
    done
done
# Without a home there is no cache, and all else is as it was.
(
    unset HOME XDG_CACHE_HOME KILN_CACHE_DIR
    export KILN_CACHE=rw
    expect 0 run set.kiln set 'f32[4]' --grid 1 --save 0=c.npy
    quiet err
    cmp -s a.npy c.npy || fail "another result without HOME"
    expect 0 cache doctor
    says out "none: HOME is not set"
) || exit 1
export KILN_CODEGEN=elsewhere
expect 1 run set.kiln set 'f32[4]' --grid 1
says err "KILN_CODEGEN is 'elsewhere'"
unset KILN_CODEGEN
(
    export KILN_CODEGEN_PATH=/dev/null
    expect 1 run set.kiln set 'f32[4]' --grid 1
    says err "the code generator, /dev/null, cannot be opened"
) || exit 1
(
    export KILN_PATH=:/nowhere::/dev/null
    printf 'import absent\n' | source_is path 1
    says err "there is no package \`absent\`"
) || exit 1
exit 0
