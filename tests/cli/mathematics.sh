#!/bin/sh
# mathematics.sh - every mathematical function has code on every target, and is
# told of.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"
source=$OLDPWD/$(dirname "$0")/../..
case $0 in /*) source=$(dirname "$0")/../.. ;; esac

# "NAME OPERANDS DOMAIN", from the table that all of Kiln uses.
awk '
    /^#define KILN__MATH_MAP/ { inside = 1; next }
    inside && match($0, /X\([A-Z0-9]+, "[a-z0-9]+", [123], [A-Z]+, [A-Z]+\)/) {
        line = substr($0, RSTART + 2, RLENGTH - 3)
        gsub(/[",]/, "", line)
        split(line, part, " ")
        print part[2], part[3], part[4]
    }
    inside && !/\\$/ { exit }' "$source/src/ir/ir_ops.h" >functions
[ "$(wc -l <functions)" -ge 45 ] || fail "ir_ops.h has another form now"

while read -r name operands domain; do
    grep -E '^\|' "$source/docs/language.md" | grep -qw -- "$name" ||
        fail "docs/language.md has no $name in its tables"
done <functions

# A kernel with all of them, for each type: floats, and integers.
awk '
    function each(type, domain,    i, arguments) {
        print "    " type "_x = " type "(length(a))"
        print "    " type "_y = " type "(size(a, 0) + 1)"
        print "    " type "_b: Bool = false"
        for (i = 1; i <= count; i++) {
            if (of[i] != domain && of[i] != "BOTH")
                continue
            arguments = type "_x"
            if (operands[i] > 1)
                arguments = arguments ", " type "_y"
            if (operands[i] > 2)
                arguments = arguments ", " type "_x"
            if (name[i] ~ /^is/)
                print "    " type "_b = " type "_b || " name[i] "(" arguments ")"
            else
                print "    a[0] += f32(" name[i] "(" arguments "))"
        }
        print "    a[1] += f32(i32(" type "_b))"
    }
    { name[++count] = $1; operands[count] = $2; of[count] = $3 }
    END {
        print "kernel all(a: f32[:])"
        each("f32", "FLOAT")
        each("bf16", "FLOAT")
        each("f16", "FLOAT")
        each("f64", "FLOAT")
        each("i8", "INTEGER")
        each("u32", "INTEGER")
        each("i64", "INTEGER")
        print "end"
    }' functions >all.kiln

expect 0 targets
cp out targets
for target in host cuda:sm_80 rocm:gfx90a spirv:1.4+fp16+fp64; do
    backend=${target%%:*}
    row=$(grep "^$backend " targets)
    case $row in *' yes '*) ;; *)
        echo "no code generation for $backend here"
        continue
        ;;
    esac
    expect 0 compile all.kiln all 'f32[:]' --emit binary --target $target \
        -o all.bin
    [ -s all.bin ] || fail "no binary for $target"
done
exit 0
