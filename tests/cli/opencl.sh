#!/bin/sh
# opencl.sh - the commands on files of OpenCL C.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

KILN_CACHE=rw KILN_CACHE_DIR=$folder/cache
export KILN_CACHE KILN_CACHE_DIR

mkdir include
cat >include/factor.h <<'CL'
#define FACTOR 2
CL
cat >programs.cl <<'CL'
#include "factor.h"

kernel void scale(global float *y, float a)
{
    size_t i = get_global_id(0);

    y[i] = FACTOR * a * y[i];
}

#ifdef MORE
kernel void more(global int *y)
{
    y[get_global_id(0)] += MORE;
}
#endif
CL

run()
{
    expect 0 run programs.cl scale 'f32[8]=iota' 3:f32 --grid 8 --print 0 \
        --stats "$@"
}

"$kiln" run programs.cl scale 'f32[8]=iota' 3:f32 --grid 8 -I include \
    >out 2>err || {
    grep -q "no clang" err || fail "the first run"
    . "$(dirname "$0")/../scripts/skip.sh"
    skip package "clang 22's library"
}

# ---- which files there are ----

value()
{
    expect 0 run value.cl value 'i32[1]=zeros' --grid 1 --print 0 "$@"
}

mkdir inner
echo 'kernel void value(global int *y) { y[0] = V; }' >define
echo '#include <v.h>' | cat - define >value.cl
echo '#define V 1' >v.h
echo '#define V 2' >inner/v.h
value -I . -I inner
line 1 1
value -I inner -I .
line 1 2
{
    echo '#if __has_include("file")'
    printf '#define V 1\n#else\n#define V 2\n#endif\n'
    cat define
} >value.cl
: >file
value
line 1 1
rm file && mkdir file
value
line 1 2
{
    echo '#if __has_embed("embedded") == __STDC_EMBED_EMPTY__'
    printf '#define V 1\n#else\n#define V 2\n#endif\n'
    cat define
} >value.cl
: >embedded
value
line 1 1
echo >embedded
value
line 1 2
# Two names of one file, and a folder that is called like a compiler's.
printf '#pragma once\n#ifdef V\n#undef V\n#define V 2\n#else\n#define V 1\n#endif\n' >once.h
ln -s once.h again.h
printf '#include "once.h"\n#include "again.h"\n' | cat - define >value.cl
value
line 1 1
rm again.h && cp once.h again.h
value
line 1 2
mkdir -p lib/clang
echo '#include <own.h>' | cat - define >value.cl
echo '#define V 1' >lib/clang/own.h
value -I lib/clang
line 1 1
echo '#define V 2' >lib/clang/own.h
value -I lib/clang
line 1 2
# A file that is embedded again, in part.
{
    printf 'constant uchar a[] = {\n#embed "embedded"\n};\n'
    printf 'constant uchar b[] = {\n#embed "embedded" limit(1)\n};\n'
    echo '#define V (int)(sizeof a + sizeof b)'
    cat define
} >value.cl
printf 'two' >embedded
value
line 1 4
printf 't' >embedded
value
line 1 2

# ---- run ----

rm -r cache
run -I include
line 1 "0 6 12 18 24 30 36 42"
says out '"built": 1'
# A process after it needs neither clang nor LLVM, nor the worker's program.
KILN_CODEGEN_PATH=/absent KILN_CODEGEN_WORKER=/absent
export KILN_CODEGEN_PATH KILN_CODEGEN_WORKER
run -Iinclude
line 1 "0 6 12 18 24 30 36 42"
says out '"parse": 0'
unset KILN_CODEGEN_PATH KILN_CODEGEN_WORKER
expect 0 run programs.cl more 'i32[4]=iota' --grid 4 --print 0 -I include \
    -D MORE=7
line 1 "7 8 9 10"
# An edit of a comment compiles nothing.
sed 's/float a)/float a) \/\/ times two/' programs.cl >edited && mv edited programs.cl
run -I include
line 1 "0 6 12 18 24 30 36 42"
says out '"lower": 0'
# A header that comes first is another program.
mkdir first && echo '#define FACTOR 3' >first/factor.h
run -I first -I include
line 1 "0 9 18 27 36 45 54 63"

# Arguments in group memory.
cat >local.cl <<'CL'
kernel void scale(global float *x, float a, local float *part,
                  local double *rest)
{
    size_t i = get_global_id(0), l = get_local_id(0);

    part[l] = x[i];
    rest[l] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    l = get_local_size(0) - 1 - l;
    x[i] = a * part[l] + rest[l];
}
CL
expect 0 run local.cl scale 'f32[8]=iota' 2:f32 local:16 local:32 --grid 8 \
    --block 4 --print 0
line 1 "9 6 3 0 21 18 15 12"
# What a kernel prints, between barriers too.
cat >print.cl <<'CL'
kernel void show(global float *x)
{
    int i = get_global_id(0);
    float4 f = (float4)(1, -2, x[i], 0.5f);
    uchar4 b = (uchar4)(0xFA, 0, 7, i);

    printf("%d: %5.2v4hlf|%#v4hhx|%-4s|%c\n", i, f, b, "ab", 'x');
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 1)
        printf("100%% %v2hd %*u %ld\n", (short2)(-1, 2), 5, i, -1L);
}
CL
expect 0 run print.cl show 'f32[2]=iota' --grid 2 --block 2
line 1 "0:  1.00,-2.00, 0.00, 0.50|0xfa,0,0x7,0|ab  |x"
line 2 "1:  1.00,-2.00, 1.00, 0.50|0xfa,0,0x7,0x1|ab  |x"
line 3 "100% -1,2     1 -1"
# A name may begin with a digit, which no assembler's symbol may.
cp programs.cl 2programs.cl
expect 0 compile 2programs.cl scale 'f32[:]' f32 --target cuda:sm_80 \
    --emit asm -I include
says out ".entry _2programs_scale"
rm 2programs.cl

# ---- groups that the grid cuts ----

cat >sizes.cl <<'CL'
kernel void sizes(global int *y)
{
    int i = get_global_id(1) * 5 + get_global_id(0);

    y[i] = get_local_size(0) * 10 + get_local_size(1);
}
CL
sizes()
{
    expect 0 run sizes.cl sizes 'i32[5,3]=zeros' --grid 5,3 --block 2,2 \
        --print 0 "$@"
}
sizes -cl-std=CL3.0
[ "$(tr '\n' ' ' <out)" = "22 22 22 22 12 22 22 22 22 12 21 21 21 21 11 " ] ||
    fail "cut groups: $(cat out)"
sizes -cl-std=CL3.0 -cl-uniform-work-group-size
! grep -q 1 out || fail "full groups: $(cat out)"
sizes
! grep -q 1 out || fail "full groups of 1.2: $(cat out)"

# ---- errors ----

expect 1 run programs.cl scale 'f32[8]=iota' 3 --grid 8 -I include
says err "programs.cl:3:13: error: parameter 2 of scale"
says err "takes f32 and was given i64"
says err "kernel void scale(global float *y, float a)"
expect 1 run programs.cl scal 'f32[8]=iota' 3:f32 --grid 8 -I include
says err "programs.cl has no kernel or function 'scal'; it has scale"
expect 1 run programs.cl scale 'f32[8]=iota' 3:f32 --grid 8
says err "programs.cl:1:10"
says err "'factor.h' file not found"
expect 2 run programs.cl scale 'f32[8]=iota' 3:f32 --grid 8 -I
says err "-I wants a value"
expect 1 run programs.cl scale 'f32[8]=iota' 3:f32 --grid 8 -cl-std=CL9
says err "-cl-std=CL9"
expect 2 targets -I include
expect 1 run programs.cl scale 'f32[8]=iota' fn:scale --grid 8 -I include
says err "fn:scale: kernels of OpenCL C take no functions"
KILN_CODEGEN_PATH=/absent/code.so
export KILN_CODEGEN_PATH
echo "kernel void k(global int *x) {}" >new.cl
expect 1 run new.cl k 'i32[1]' --grid 1
says err "new.cl: there is no clang for OpenCL C: /absent/libkiln-clang.so is "
says err "not there; KILN_CODEGEN_PATH says to look there"
unset KILN_CODEGEN_PATH

# A kernel that needs what Kiln lacks is told when it is asked for, and others
# of its file are not concerned.
cat >images.cl <<'CL'
kernel void two(global int *y) { y[get_global_id(0)] *= 2; }
/* kernel void picture() {} */
kernel void picture(global float4 *y, read_only image2d_t i)
{
    y[0] = read_imagef(i, (int2)(0, 0));
}
CL
expect 0 run images.cl two 'i32[4]=iota' --grid 4 --print 0
line 1 "0 2 4 6"
expect 1 run images.cl picture 'f32[4]=zeros' 0:u64 --grid 1
says err "images.cl:3:13: error: picture: "
says err "image2d_t: images and samplers are not supported"
sed 's/^kernel/\n&/' images.cl >moved && mv moved images.cl
expect 1 run images.cl picture 'f32[4]=zeros' 0:u64 --grid 1
says err "images.cl:5:13: error: picture: "

# ---- compile, explain, precompile ----

expect 0 compile programs.cl scale 'f32[:]' f32 --emit llvm -I include
says out "define"
expect 0 cache explain programs.cl scale 'f32[:]' f32 -I include
case $(grep ^binary out) in *": found") ;; *) fail "binary: not found" ;; esac

# A division that has no value ends no process.
cat >divide.cl <<'CL'
kernel void quotient(global int *a, global const int *b)
{
    size_t i = get_global_id(0);

    a[i] = a[i] / b[i];
}
kernel void least(global int *a, int b, global uint *c, uint d)
{
    a[0] = (a[0] - 2147483647 - 1) / b;
    a[1] = (a[1] - 2147483647 - 2) % b;
    c[0] = c[0] / d;
    c[1] = c[1] % d;
}
kernel void vectors(global int4 *a, global const int4 *b)
{
    a[0] %= b[0];
}
CL
for level in 0 2; do
    expect 0 run divide.cl quotient 'i32[4]=iota' 'i32[4]=zeros' --grid 4 \
        --print 0 --set opt=$level
    line 1 "0 1 2 3"
    expect 0 run divide.cl least 'i32[2]=iota' -1:i32 'u32[2]=ones' 0:u32 \
        --grid 1 --print 0 --print 2 --set opt=$level
    line 1 "-2147483648 0"
    line 2 "1 0"
    expect 0 run divide.cl vectors 'i32[4]=iota' 'i32[4]=zeros' --grid 1 \
        --print 0 --set opt=$level
    line 1 "0 0 0 0"
done

# (1 + 2^-12)^2 - (1 + 2^-11) is 0 where the square is rounded.
cat >contract.cl <<'CL'
kernel void f(global float *x, float a, float b)
{
    x[0] = a * a - b;
}
CL
for level in 0 2; do
    expect 0 run contract.cl f 'f32[1]=ones' 1.000244140625:f32 \
        1.00048828125:f32 --grid 1 --print 0 --set contract=off \
        --set opt=$level
    line 1 0
done
expect 0 compile contract.cl f 'f32[:]' f32 f32 --emit llvm
says out fmuladd
expect 0 compile contract.cl f 'f32[:]' f32 f32 --emit llvm --set contract=off
grep -q fmuladd out && fail "a product that may not be rounded"

cat >list <<'LIST'
programs.scale(f32[:], f32)
programs.more(i32[:])
LIST
expect 0 precompile programs.cl --workload list --target host -o cl.pack \
    -I include -DMORE=1
says err "verify 2/2"
KILN_CACHE_PATH=$folder/cl.pack
KILN_CODEGEN_PATH=/absent KILN_CODEGEN_WORKER=/absent
export KILN_CACHE_PATH KILN_CODEGEN_PATH KILN_CODEGEN_WORKER
rm -r cache
mkdir elsewhere && mv programs.cl include elsewhere && cd elsewhere || exit 1
run -I include -DMORE=1
line 1 "0 6 12 18 24 30 36 42"
