#!/bin/sh
# usage.sh - wrong usage is status 2 and one line on standard error.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >copy.kiln <<'KILN'
kernel copy(y, x)
    i = global_id(0)
    if i < length(y)
        y[i] = x[i]
    end
end
KILN

expect 0 --help
says out "kiln run FILE KERNEL ARG..."
says out "kiln compile"
says out "kiln targets"
quiet err
expect 0 run --help
says out "kiln run FILE KERNEL ARG..."
quiet err
expect 0 --version
grep -qx 'kiln [0-9]*\.[0-9]*\.[0-9]*' out || fail "version"
quiet err

expect 2
says err "usage: kiln run"
expect 2 fly
says err 'unknown command "fly"'
expect 2 run
says err "run wants FILE and KERNEL"
expect 2 run copy.kiln copy 'f32[4]' 'f32[4]'
says err "run wants --grid"
expect 2 run copy.kiln copy --grid 4 --fast
says err 'unknown option "--fast"'
expect 2 run copy.kiln copy --grid
says err "--grid wants a value"
expect 2 run copy.kiln copy --emit asm --grid 4
says err 'unknown option "--emit"'

for grid in 0 -1 x 4, 4,4,4,4 '' 99999999999999999999; do
    expect 2 run copy.kiln copy 'f32[4]' 'f32[4]' "--grid=$grid"
    says err "--grid wants N[,N[,N]]"
done
expect 2 run copy.kiln copy 'f32[4]' 'f32[4]' --grid 4 --block 4294967296
says err "--block wants"

for argument in 'f32[4]=twos' 'f32[4]=random:x' 'f32[]' 'f32[4' 'f32[-1]' \
    'f32[1,1,1,1,1]' 'f32[99999999999999999999]' \
    'f32[9223372036854775807,9223372036854775807]' 'float[4]' 300:u8 -1:u32 \
    1.5:i32 x:f32 '1e999:f64' abc '' 1:f31 yes:bool; do
    expect 2 run copy.kiln copy "$argument" --grid 4
    [ -s err ] || fail "'$argument' is refused without a word"
done

expect 2 run copy.kiln copy 'f32[4]' 'f32[4]' --grid 4 --print 2
says err "--print 2: no such argument"
expect 2 run copy.kiln copy 'f32[4]' 1:f32 --grid 4 --save 1=x.npy
says err "--save 1: not an array"
expect 2 run copy.kiln copy 'f32[4]' 'f32[4]' --grid 4 --save 1
says err "--save wants I=FILE.npy"
expect 2 run copy.kiln copy 'f32[4]' --grid 4 --target abacus
says err "abacus"
expect 2 run copy.kiln copy 'f32[4]' --grid 4 --target host:z80
says err "z80"

expect 2 compile copy.kiln
says err "compile wants FILE and KERNEL"
expect 2 compile copy.kiln copy 'f32[:]' 'f32[:]'
says err "compile wants --emit"
expect 2 compile copy.kiln copy 'f32[:]' 'f32[:]' --emit poem
says err 'not "poem"'
expect 2 compile copy.kiln copy 'f32[' --emit asm
expect 2 targets all
says err 'targets takes no "all"'
exit 0
