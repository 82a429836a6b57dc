#!/bin/sh
# text.sh - what kiln compile prints as LLVM IR is one module that LLVM's tools
# take, also where a kernel has a second, checked body.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
assembler=$2
optimiser=$3
. "$(dirname "$0")/../../scripts/skip.sh"
. "$(dirname "$0")/../support.sh"

for tool in "$assembler" "$optimiser"; do
    [ -x "$tool" ] || skip package "this LLVM has no $(basename "$tool")"
done

cat >kernels.kiln <<'KILN'
fn fact(x) = x < 1 ? 1.0 : x * fact(x - 1)
kernel scale(y: f32[:], n)
    i = global_id(0)
    if i < length(y)
        y[i] = y[i] * f32(n) + 1
    end
end
kernel loop(y: f32[:], n)
    for i in 0..n
        y[i + n] = 1 / y[i]
    end
end
kernel group(y: f32[:], n)
    local t = f32[64]
    l = local_id(0) % 64
    t[l] = y[global_id(0)]
    barrier()
    y[global_id(0)] = t[63 - l] + group_add(f32(n))
end
kernel effects(y: f32[:], n)
    a = allocate(f32, n)
    a[0] = sin(y[n])
    print("a = ", a[0], "\n")
    assert(a[0] > 0, "positive")
    free(a)
end
kernel recursive(y: f32[:], n)
    y[n] = f32(fact(f64(y[0])))
end
KILN

takes() # KERNEL TARGET FORM
{
    expect 0 compile kernels.kiln "$1" 'f32[:]' i64 --target "$2" --emit "$3" \
        -o module.ll
    "$assembler" module.ll -o module.bc 2>err ||
        fail "no assembly of $3 of $1 for $2"
    "$optimiser" -passes=verify module.bc -o module.out 2>err ||
        fail "$3 of $1 for $2 does not pass the verifier"
}

for form in llvm llvm-opt; do
    for kernel in scale loop group effects recursive; do
        takes $kernel host:x86-64-v3 $form
        takes $kernel cuda:sm_90 $form
        takes $kernel rocm:gfx90a $form
    done
    takes group spirv $form
done
exit 0
