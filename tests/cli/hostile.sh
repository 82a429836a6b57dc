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
for name in 1bad a-b; do
    printf 'kernel set(y)\n    y[0] = 1\nend\n' | source_is $name 1
    says err "'$name' cannot name a package"
    says err "letters, digits and '_', and begins with no digit"
done
printf 'kernel set(y)\n    a = allocate(i64, -1)\nend\n' | source_is negative 1
says err "negative.kiln:2:23: error: the size -1 is not from 0 to 9223372036854775807"
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
expect 2 run set.kiln set 'f32[9223372036854775808]' --grid 1
says err "a size is at most 9223372036854775807"
expect 2 run set.kiln set 'f32[4294967296,4294967296]' --grid 1
says err "an array has at most 9223372036854775807 bytes"
expect 1 run set.kiln set 'f32[1152921504606846976]' --grid 1
says err "out of memory for its 4611686018427387904 bytes"
for heap in 0 8388609 99999999999999999999; do
    expect 2 run set.kiln set 'f32[4]' --grid 1 --heap $heap
    says err "--heap wants a number of KiB from 1 to 8388608, not \"$heap\""
done
expect 0 run set.kiln set 'f32[4]' --grid 1 --heap 8388608
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
# Nobody writes to the pipe, and a device may have no end.
mkfifo pipe.kiln pipe.npy
for name in pipe.kiln /dev/zero /dev/null; do
    expect 1 run $name set 'f32[4]' --grid 1
    says err "cannot read $name: it is no regular file"
done
printf 'import pipe\n' | source_is imports 1
says err "pipe.kiln: it is no regular file"
for name in pipe.npy /dev/zero; do
    expect 1 run set.kiln set @$name --grid 1
    says err "$name: it is no regular file"
done
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
    export KILN_CACHE=rw KILN_CACHE_DIR="$PWD/some cache"
    expect 0 run set.kiln set 'f32[4]' --grid 1
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
    export KILN_CACHE=off
    unset KILN_CACHE_DIR
fi

# So little stack that nothing could be compiled; the system's own loader needs
# some 14 KiB of it.
(
    ulimit -s 32
    expect 1 run set.kiln set 'f32[4]' --grid 1
    says err "a stack of 32 KiB is too small: 64 KiB are needed (ulimit -s)"
) || exit 1
# Frames of a sanitizer's are several times as large.
grep -q __tsan_init "$kiln" || (
    ulimit -s 64
    expect 0 run set.kiln set 'f32[4]' --grid 1
) || exit 1

# A file that is opened does not get the number of a stream that is closed.
"$kiln" run set.kiln set 'f32[4]' --grid 1 --save 0=a.npy --print 0 >out 2>err
"$kiln" run set.kiln set 'f32[4]' --grid 1 --save 0=b.npy --print 0 >&- 2>&- <&-
[ $? = 1 ] || fail "printing to a closed stream"
cmp -s a.npy b.npy || fail "something else was written into the array's file"

# Half of a pair of UTF-16, in UTF-8, is no text, nor is a character cut off.
mkdir "$(printf 'a\355\240\200b\303')"
KILN_CACHE=rw KILN_CACHE_DIR="$PWD/$(printf 'a\355\240\200b\303')" \
    "$kiln" cache doctor --json >out 2>err || true
grep -q 'a\\ufffd\\ufffd\\ufffdb\\ufffd' out || fail "JSON of bytes that are no text"
if iconv -f UTF-8 -t UTF-16 <out >/dev/null 2>&1; then :; else
    fail "JSON that is not UTF-8"
fi

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
