#!/bin/sh
# compile.sh - kiln compile and kiln targets.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >saxpy.kiln <<'KILN'
kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = a * x[i] + y[i]
    end
end
KILN

for form in typed llvm llvm-opt asm; do
    expect 0 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit $form \
        --target host:x86-64-v3
    quiet err
    says out saxpy
    expect 0 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit $form \
        --target host:x86-64-v3 -o $form.txt
    quiet out
    cp $form.txt out
    says out saxpy
done
for form in llvm llvm-opt; do
    [ "$(grep -c '^source_filename' $form.txt)" = 1 ] ||
        fail "$form is not one module"
done
cp llvm-opt.txt out
says out "define"
says out "checked"
cp asm.txt out
says out "vfmadd"

expect 0 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit binary \
    --target host:x86-64-v4 -o one.bin
expect 0 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit binary \
    --target host:x86-64-v4 -o two.bin
[ "$(head -c 4 one.bin | tail -c 3)" = ELF ] || fail "no ELF image"
cmp -s one.bin two.bin || fail "two processes give different bytes"

expect 1 compile saxpy.kiln saxpy 'f32[:]' f32 --emit asm
says err "saxpy"
expect 1 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit asm \
    -o /nowhere/out.s
says err "/nowhere/out.s"
cp saxpy.kiln kept.kiln
expect 2 compile saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --emit asm \
    -o ./saxpy.kiln
says err "./saxpy.kiln: it is an input of the command"
cmp saxpy.kiln kept.kiln || fail "the program was overwritten"

expect 0 targets
says out "DEFAULT TARGET"
grep -q '^host  *host:x86-64[^ ]* *yes *1 *-$' out || fail "no host"
grep -q '^cuda ' out || fail "no cuda"
grep -q '^spirv ' out || fail "no spirv"
exit 0
