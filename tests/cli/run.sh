#!/bin/sh
# run.sh - kiln run: arguments, results, statistics.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >programs.kiln <<'KILN'
kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = a * x[i] + y[i]
    end
end

kernel transpose(b, a)
    i = global_id(0)
    j = global_id(1)
    b[j, i] = a[i, j]
end

fn square(x) = x * x

kernel apply(y, f, x)
    i = global_id(0)
    y[i] = f(x[i])
end

kernel choose(y, c)
    if c
        y[global_id(0)] = 1
    end
end

kernel tell(x)
    print("item ", global_id(0), ": ", x, "\n")
end
KILN

expect 0 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
    --print 0
line 1 "1 3 5 7 9 11 13 15"
quiet err

expect 0 run programs.kiln saxpy 'f64[4]' 0.1:f64 'f64[4]=ones' --grid 4 \
    --print 1 --print 0
line 1 "0.1"
line 2 "0.1 0.1 0.1 0.1"

# Two dimensions, one line for each row of the first index; a group given.
expect 0 run programs.kiln transpose 'i32[3,2]' 'i32[2,3]=iota' --grid 2,3 \
    --block 2,1 --print 1 --print 0
line 1 "0 1"
line 3 "4 5"
line 4 "0 2 4"
line 5 "1 3 5"

# Functions and truth values.
expect 0 run programs.kiln apply 'i64[5]' fn:square 'i64[5]=iota' --grid 5 \
    --print 0
line 1 "0 1 4 9 16"
expect 0 run programs.kiln choose 'u8[3]' true --grid 3 --print 0
line 1 "1 1 1"
expect 0 run programs.kiln choose 'u8[3]' false --grid 3 --print 0
line 1 "0 0 0"

# Random numbers are a function of the seed.
expect 0 run programs.kiln saxpy 'f32[4]=random:7' 0:f32 'f32[4]' --grid 4 \
    --print 0
cp out first
expect 0 run programs.kiln saxpy 'f32[4]=random:7' 0:f32 'f32[4]' --grid 4 \
    --print 0
cmp -s first out || fail "random:7 differs"
expect 0 run programs.kiln saxpy 'f32[4]=random:8' 0:f32 'f32[4]' --grid 4 \
    --print 0
cmp -s first out && fail "random:8 is random:7"

# Files go out and come back; C order reverses the shape twice.
expect 0 run programs.kiln transpose 'f32[3,2]' 'f32[2,3]=iota' --grid 2,3 \
    --save 0=b.npy --save 1=a.npy
expect 0 run programs.kiln transpose 'f32[2,3]' @b.npy --grid 3,2 \
    --save 0=c.npy --print 0
line 1 "0 1"
cmp -s a.npy c.npy || fail "twice transposed is not the same"

expect 0 run programs.kiln saxpy 'bf16[4]=ones' 0.1:bf16 'bf16[4]=iota' \
    --grid 4 --print 0 --save 0=d.npy
line 1 "1 1.1 1.2 1.3"
head -c 128 d.npy | grep -q "'<V2'" || fail "a file of bf16 is not of '<V2'"
expect 0 run programs.kiln saxpy @d.npy 1:bf16 'bf16[4]=random:7' --grid 4 \
    --print 0
expect 1 run programs.kiln saxpy 'bf16[4]' 0.1:f16 'bf16[4]' --grid 4
says err "f16 and bf16 do not hold each other's values"
expect 1 run programs.kiln transpose 'f32[2,3]' @none.npy --grid 3,2
says err "none.npy: No such file"

# A kernel prints a value as --print does, whatever its type.
for type in f16 bf16 f32 f64; do
    expect 0 run programs.kiln tell 0.1:$type --grid 1
    line 1 "item 0: 0.1"
    expect 0 run programs.kiln saxpy "$type[1]" 0.1:$type "$type[1]=ones" \
        --grid 1 --print 0
    line 1 "0.1"
done

# Structs, tuples and vectors.
cat >records.kiln <<'KILN'
struct Inner
    a: i8
    b: f64
end
struct Outer
    inner: Inner
    c: f32
end
kernel add(o: Outer, t: (i64, f32), v: Vec{f32, 4}, y: f32[:])
    y[0] = f32(o.inner.a) + f32(o.inner.b) + o.c + f32(t[0]) + t[1] + v[3]
end
KILN
expect 0 run records.kiln add '((-1, 2.5), 0.25):Outer' '(3, 0.5):(i64, f32)' \
    '(10, 20, 30, 40):Vec{f32, 4}' 'f32[1]' --grid 1 --print 3 --print 0 \
    --print 2
line 1 "45.25"
line 2 "((-1, 2.5), 0.25)"
line 3 "(10, 20, 30, 40)"
cat >one.kiln <<'KILN'
kernel lonely(y: f32[:], t: (f32,))
    y[0] = t[0]
end
KILN
for value in '(0.5,)' '(0.5)' '( 0.5 , )'; do
    expect 0 run one.kiln lonely 'f32[1]' "$value:(f32,)" --grid 1 --print 0
    line 1 "0.5"
done
expect 2 run one.kiln lonely 'f32[1]' '(0.5,,):(f32,)' --grid 1
expect 2 run one.kiln lonely 'f32[1]' '(,):(f32,)' --grid 1
expect 2 run one.kiln lonely 'f32[1]' '(0.5, 1):(f32,)' --grid 1
says err "more elements than its type"
# As the language writes values: made by their type, and tuples of literals.
cat >made.kiln <<'KILN'
struct Pair{T: Real}
    a: T
    b: T
end
struct Flags
    on: Bool
    parts: (i8, (u16,))
end
kernel add(y: f64[:], p: Pair{f32}, v: Vec{i32, 2}, t, e, g: Flags)
    assert(typeof(t[0]) == i64 && typeof(t[1][0]) == f64 && length(e) == 0)
    y[0] = f64(p.a - p.b) + f64(v[1]) + f64(t[0]) + t[1][0] + f64(g.on) +
        f64(g.parts[0]) + f64(g.parts[1][0])
end
KILN
expect 0 run made.kiln add 'f64[1]' 'Pair{f32}(1.5, 0.25)' \
    'Vec{i32, 2}(3, -4)' '(7, (-0.5,), true)' '()' \
    '(true, (-3, (300,))):Flags' --grid 1 --print 0 --print 1 --print 2 \
    --print 3 --print 4 --print 5
line 1 "301.75"
line 2 "(1.5, 0.25)"
line 3 "(3, -4)"
line 4 "(7, (-0.5,), true)"
line 5 "()"
line 6 "(true, (-3, (300,)))"
made() # VALUE MESSAGE
{
    expect 2 run made.kiln add 'f64[1]' "$1" --grid 1
    says err "$2"
}
made 'Pair{f32}(1.5)' "fewer elements than its type"
made 'Pair(1.5, 2)' "Pair has 1 type parameters"
made 'Pear{f32}(1.5, 2)' "there is no type 'Pear'"
made 'f32(1)' "values in parentheses are those of"
made 'Vec{i32, 2}(3, 4' "TYPE(VALUES)"
made 'Vec{i32, 2}(3, x)' "not an integer"
made '(7)' "not a tuple of numbers"
made '(7, x)' "not a number"
made '(7, , 8)' "not a tuple of numbers"

record() # VALUE MESSAGE
{
    expect 2 run records.kiln add "$1" '(3, 0.5):(i64, f32)' \
        '(10, 20, 30, 40):Vec{f32, 4}' 'f32[1]' --grid 1
    says err "$2"
}
record '((1, 2)):Outer' "fewer elements than its type"
record '((1, 2), 3, 4):Outer' "more elements than its type"
record '((1, 2), 3' "VALUES:TYPE"
record '((1, 2, 3):Outer' "VALUES:TYPE"
record '(1, 2):f32' "values in parentheses are those of"
record '(1, 2):Outer' "are in parentheses"
record '((1, 2), x):Outer' "not a number"
record '((300, 2), 1):Outer' "range"

# Print reaches the output.
expect 0 run programs.kiln tell 2.5:f32 --grid 1
line 1 "item 0: 2.5"

# The counters are the last line, alone, and times go elsewhere.
expect 0 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
    --stats --time --print 0
line 1 "1 3 5 7 9 11 13 15"
tail -n 1 out | grep -q '^{"tiers": {"typed_ir": {.*"requests": .*}, "stages_ns": {"parse": .*}}$' ||
    fail "no statistics"
says err "compile "
says err "launch "

# Launches that are timed find the same data, and the result is that of one.
for count in 1 2 5; do
    expect 0 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' \
        --grid 8 --time=$count --print 0
    line 1 "1 3 5 7 9 11 13 15"
    says err "launch "
done
grep -Eqx 'launch  median [0-9.]+ ms, minimum [0-9.]+ ms, of 5 launches' err ||
    fail "--time=5 tells no median"
expect 0 run programs.kiln tell 0.5:f32 --grid 1 --time=3
[ "$(grep -c '^item 0: 0.5$' out)" = 3 ] || fail "--time=3 is not 3 launches"
for count in 0 x -1 1.5 ''; do
    expect 2 run programs.kiln tell 0.5:f32 --grid 1 "--time=$count"
    says err "--time wants a number of launches"
done
expect 2 run programs.kiln tell 0.5:f32 --grid 1 --stats=2
says err "--stats takes no value"

# Another target is the same to the program.
expect 0 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
    --target host:x86-64 --print 0
line 1 "1 3 5 7 9 11 13 15"

# A cache that others may write to is not used, and that is said.
mkdir -m 777 shared
with KILN_CACHE=rw with KILN_CACHE_DIR="$folder/shared" \
    expect 0 run programs.kiln choose 'u8[3]' true --grid 3 --print 0
line 1 "1 1 1"
says err "kiln: cache: does not use $folder/shared: "
with KILN_CACHE=rw with KILN_CACHE_DIR="$folder/shared" \
    expect 0 compile programs.kiln choose 'u8[:]' Bool --emit asm
says err "kiln: cache: does not use $folder/shared: "

# A kernel that would not end.
cat >endless.kiln <<'KILN'
kernel endless(y)
    while true
        y[0] += 1
    end
end
KILN
expect 1 run endless.kiln endless 'i64[1]' --grid 1 --time-limit 1
says err "was stopped at the launch's time limit"
expect 2 run endless.kiln endless 'i64[1]' --grid 1 --time-limit 0
expect 2 run endless.kiln endless 'i64[1]' --grid 1 --time-limit 0.2
says err '--time-limit wants whole seconds from 1'

# Dynamic group memory is for kernels that use it.
expect 2 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
    --local 64
says err '64 bytes of dynamic group memory, and the kernel uses none'
expect 2 run programs.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
    --local 1,1
says err '--local wants bytes, not "1,1"'

expect 2 run endless.kiln endless 'i64[1]' --grid 1 --set entry=9a
says err 'begins with a letter or _'

# A number is rounded once, to the type: these are just beside a middle.
cat >bits.kiln <<'KILN'
kernel half(a: u16[:], x: f16)
    a[0] = bitcast(u16, x)
end
kernel single(a: u32[:], x: f32)
    a[0] = bitcast(u32, x)
end
KILN
for pair in 1.00048828125:15360 1.0004882812500000000000001:15361 \
    -1.0004882812500000000000001:48129 1.0014648437499999999999999:15361 \
    65519.99999999999999999999:31743 0.5:14336; do
    expect 0 run bits.kiln half 'u16[1]' "${pair%:*}:f16" --grid 1 --print 0
    line 1 "${pair#*:}"
done
expect 0 run bits.kiln single 'u32[1]' \
    1.00000005960464477539062500000001:f32 --grid 1 --print 0
line 1 1065353217
expect 2 run bits.kiln single 'u32[1]' 1e60:f32 --grid 1
expect 2 run bits.kiln half 'u16[1]' 1e6:f16 --grid 1
exit 0
