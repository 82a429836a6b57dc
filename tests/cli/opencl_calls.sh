#!/bin/sh
# opencl_calls.sh - kernels of the language that call functions of OpenCL C.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

KILN_CACHE=rw KILN_CACHE_DIR=$folder/cache
export KILN_CACHE KILN_CACHE_DIR

mkdir include
cat >include/factor.h <<'CL'
#define FACTOR 2
#define OTHER 5
CL
cat >include/unused.h <<'CL'
#define UNUSED 1
CL
cat >filters.cl <<'CL'
#include "factor.h"
#include "unused.h"

float soften(global const float *x, ulong size, ulong at, float weight)
{
    return x[at] + weight * FACTOR * (at + 1 < size ? x[at + 1] : 0);
}

float other(float x) { return x + OTHER; }
CL
cat >smooth.kiln <<'KILN'
import filters

kernel smooth(y, x)
    i = global_id(0)
    y[i] = filters.soften(x, u64(length(x)), u64(i), 0.5)
end

kernel shift(y)
    y[global_id(0)] = filters.other(y[global_id(0)])
end
KILN

run()
{
    expect 0 run smooth.kiln smooth 'f32[4]=zeros' 'f32[4]=iota' --grid 4 \
        --print 0 --stats --with filters.cl -I include "$@"
}
shift_run()
{
    expect 0 run smooth.kiln shift 'f32[4]=iota' --grid 4 --print 0 --stats \
        --with filters.cl -I include "$@"
}

"$kiln" run smooth.kiln smooth 'f32[4]=zeros' 'f32[4]=iota' --grid 4 \
    --with filters.cl -I include >out 2>err || {
    grep -q "no clang" err || fail "the first run"
    . "$(dirname "$0")/../scripts/skip.sh"
    skip package "clang 22's library"
}

# ---- a later process ----

rm -r cache
run
line 1 "1 3 5 3"
says out '"built": 1'
shift_run
line 1 "5 6 7 8"
# It needs neither clang nor LLVM, nor the worker's program.
alone()
{
    KILN_CODEGEN_PATH=/absent KILN_CODEGEN_WORKER=/absent
    export KILN_CODEGEN_PATH KILN_CODEGEN_WORKER
    "$@"
    unset KILN_CODEGEN_PATH KILN_CODEGEN_WORKER
}
alone run
line 1 "1 3 5 3"
says out '"built": 0'
alone shift_run
line 1 "5 6 7 8"

# ---- edits between processes ----

# A comment, a header that nothing needs, and another function: no code is made.
sed 's/^float other.*/float other(float x) { return x + OTHER + 1; } \/\/ 1/' \
    filters.cl >edited && mv edited filters.cl
echo "#define UNUSED 2" >include/unused.h
run
line 1 "1 3 5 3"
says out '"built": 0'
shift_run
line 1 "6 7 8 9"
says out '"built": 1'
# A header that the function needs, there and back.
sed 's/FACTOR 2/FACTOR 4/' include/factor.h >edited && mv edited include/factor.h
run
line 1 "2 5 8 3"
says out '"built": 1'
alone shift_run
line 1 "6 7 8 9"
sed 's/FACTOR 4/FACTOR 2/' include/factor.h >edited && mv edited include/factor.h
alone run
line 1 "1 3 5 3"
# The caller alone.
sed 's/0\.5)/1.5)/' smooth.kiln >edited && mv edited smooth.kiln
run
line 1 "3 7 11 3"
sed 's/1\.5)/0.5)/' smooth.kiln >edited && mv edited smooth.kiln
alone run
line 1 "1 3 5 3"
# A package of the language with the program's name is another program.
mkdir beside
cat >beside/filters.kiln <<'KILN'
fn soften(x, size, at, weight) = x[at]
fn other(x) = x
KILN
cp smooth.kiln beside
expect 0 run beside/smooth.kiln smooth 'f32[4]=zeros' 'f32[4]=iota' --grid 4 \
    --print 0 --with beside/filters.kiln
line 1 "0 1 2 3"
alone run
line 1 "1 3 5 3"

# ---- two programs of OpenCL C ----

cat >first.cl <<'CL'
float f(float x) __asm__("second.f");
kernel void k(global float *x) { x[get_global_id(0)] = f(x[get_global_id(0)]); }
kernel void plain(global float *x) { x[get_global_id(0)] += 1; }
CL
cat >second.cl <<'CL'
float f(float x) { return x + 1; }
CL
pair()
{
    expect 0 run first.cl k 'f32[4]=iota' --grid 4 --print 0 --stats \
        --with second.cl -I include "$@"
}
pair
line 1 "1 2 3 4"
alone pair
line 1 "1 2 3 4"
echo "float f(float x) { return x + 2; }" >second.cl
pair
line 1 "2 3 4 5"
echo "/* one */ float f(float x) { return x + 1; }" >second.cl
pair
line 1 "1 2 3 4"
says out '"built": 0'

# ---- debug information ----

# With it, a declaration describes itself, and modules say what it is in.
for level in 0 1 2; do
    run -g --set debug=$level
    line 1 "1 3 5 3"
    pair -g --set debug=$level
    line 1 "1 2 3 4"
done

# What the kernel calls, and what Kiln made of a loop with a barrier, is in the
# lines of the source.
cat >lines.cl <<'CL'
float twice(float v)
{
    return v * 2;
}
kernel void lines(global float *x, local float *t, int n)
{
    size_t l = get_local_id(0);
    for (int i = 0; i < n; i++) {
        t[l] = x[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = twice(t[l ^ 1]);
    }
}
CL
for target in host cuda:sm_90 rocm:gfx90a; do
    for level in 1 2; do
        expect 0 compile lines.cl lines 'f32[:]' u64 i32 --target $target \
            --emit asm -g --set debug=$level
        says out "lines.cl"
        for at in 3 9 11; do
            grep -q "\.loc.1 $at " out || fail "$target: no line $at"
        done
    done
    expect 0 compile lines.cl lines 'f32[:]' u64 i32 --target $target \
        --emit asm -g
    grep -q "\.loc.[0-9]" out && fail "$target: lines that nobody asked for"
done

# ---- other commands ----

expect 0 compile smooth.kiln smooth 'f32[:]' 'f32[:]' --emit llvm \
    --with filters.cl -I include
says out "define"
expect 0 compile smooth.kiln smooth 'f32[:]' 'f32[:]' --emit typed \
    --with filters.cl -I include
says out "external"
expect 0 cache explain smooth.kiln smooth 'f32[:]' 'f32[:]' --with filters.cl \
    -I include
case $(grep ^binary out) in *": found") ;; *) fail "binary: not found" ;; esac
expect 1 run smooth.kiln smooth 'f32[4]=zeros' 'f32[4]=iota' --grid 4
says err "there is no package \`filters\`"

# ---- packs ----

cat >list <<'LIST'
smooth.smooth(f32[:], f32[:])
first.k(f32[:])
LIST
expect 0 precompile filters.cl smooth.kiln second.cl first.cl --workload list \
    --target host -o calls.pack -I include
says err "verify 2/2"
KILN_CACHE_PATH=$folder/calls.pack
export KILN_CACHE_PATH
rm -r cache
alone run
line 1 "1 3 5 3"
alone pair
line 1 "1 2 3 4"
# The pack knows nothing of an edited function.
sed 's/FACTOR \*/3 */' filters.cl >edited && mv edited filters.cl
run
line 1 "1.5 4 6.5 3"
says out '"built": 1'
echo "float f(float x) { return x + 3; }" >second.cl
pair
line 1 "3 4 5 6"
