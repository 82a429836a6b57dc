#!/bin/sh
# errors.sh - errors of the user's program are status 1 and name the place.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >bad.kiln <<'KILN'
kernel broken(y
    y[0] = 1
end
KILN
expect 1 run bad.kiln broken 'f32[1]' --grid 1
says err "bad.kiln:"
quiet out

expect 1 run missing.kiln copy 'f32[1]' --grid 1
says err "missing.kiln"

cat >type.kiln <<'KILN'
kernel add(y, x)
    y[0] = x +
        nonsense
end
KILN
expect 1 run type.kiln add 'f32[1]' 1:f32 --grid 1
says err "type.kiln:3"
says err "nonsense"
expect 1 run type.kiln subtract 'f32[1]' 1:f32 --grid 1
says err "subtract"

cat >outside.kiln <<'KILN'
kernel outside(y)
    i = global_id(0)
    y[i + 3] = 1
end
KILN
expect 1 run outside.kiln outside 'f32[4]' --grid 4 --print 0
says err "index out of bounds"
says err "outside.kiln:3:5: error: "
says err "    3 |     y[i + 3] = 1"
says err "      |     ^~~~~~~~"

# Every exception shows the line that raised it, as errors of compilation do.
cat >raise.kiln <<'KILN'
fn half(n) = 7 // n
kernel divide(y, n)
    y[0] = half(n)
end
kernel claim(y, n)
    assert(n > 3, "too small")
    y[0] = n
end
kernel narrow(y, n)
    y[0] = i16(i8(n))
end
kernel overflow(y, n)
    y[0] = checked_mul(n, n)
end
kernel grab(y, n)
    a = allocate(f32, n - 9)
    free(a)
end
KILN
# raises KERNEL N TYPE TEXT LINE MARK
raises()
{
    expect 1 run raise.kiln "$1" "$3[1]" "$2:$3" --grid 1
    says err "$4"
    says err " | $5"
    says err " | $6"
    quiet out
}
raises divide 0 i32 'raise.kiln:1:14: error: division by zero' \
    'fn half(n) = 7 // n' '             ^~~~~~'
raises claim 2 i64 'raise.kiln:6:5: error: assertion failed: too small' \
    '    assert(n > 3, "too small")' '    ^~~~~~~~'
raises narrow 300 i16 'raise.kiln:10:16: error: inexact conversion' \
    '    y[0] = i16(i8(n))' '               ^~~~~'
raises grab 3 i64 'error: out of device memory: a size is negative' \
    '    a = allocate(f32, n - 9)' '        ^~~~~~'
expect 1 run raise.kiln overflow 'i32[1]' 2147483647:i32 --grid 1
says err "integer overflow"
says err "hint: --set debug=2 shows the calls"
expect 1 run raise.kiln overflow 'i32[1]' 2147483647:i32 --grid 1 --set debug=2
says err "in raise.overflow at raise.kiln:13:12"

expect 1 run outside.kiln outside 'f32[4]' 3 --grid 1
says err "outside"

# No colour in a file.
if grep -q "$(printf '\033')" err; then
    fail "colour in a file"
fi

expect 1 run outside.kiln outside @bad.kiln --grid 4
says err "not a .npy file"
expect 1 run outside.kiln outside 'f32[9]' --grid 4 --save 0=/nowhere/x.npy
says err "/nowhere/x.npy"
expect 2 run outside.kiln outside 'f32[9]' --grid 4 --save 0=outside.kiln
says err "outside.kiln: it is an input of the command"
exit 0
