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
says err "outside.kiln:3"

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
