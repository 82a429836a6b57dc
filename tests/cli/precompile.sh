#!/bin/sh
# precompile.sh - kiln precompile: a workload becomes a pack, or nothing.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

mkdir package && cd package || exit 1
cat >linear.kiln <<'KILN'
fn scaled(a, x) = a * x

kernel axpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = scaled(a, x[i]) + y[i]
    end
end

kernel outside(y)
    y[global_id(0) + 3] = 1
end
KILN
cat >list <<'LIST'
# what the package is used for
linear.axpy(f32[:], f32, f32[:])
linear.axpy( f64[:] , f64, f64[:] )   bounds=off opt=2   # faster

linear.outside(i64[:])
LIST
export HOME="$folder" KILN_CACHE=off XDG_CACHE_HOME=

# clean: nothing but the package and what is named is left in the folder.
clean()
{
    left=$(ls -A | grep -v '\.kiln$\|^list\|^out$\|^err$\|^bad$' | tr '\n' ' ')
    [ "$left" = "$1" ] || fail "left in the folder: $left"
}

# ---- a pack ----

expect 0 precompile linear.kiln --workload list --target host:x86-64-v3 \
    --target host -o one.pack --jobs 2
says err "compile 6/6"
says err "verify 6/6"
quiet out
clean "one.pack "
expect 0 precompile linear.kiln --workload list --target host:x86-64-v3 \
    --target host -o two.pack --jobs 1
cmp one.pack two.pack || fail "two processes give different bytes"
clean "one.pack two.pack "
rm two.pack
expect 0 precompile linear.kiln --workload - --target host -o two.pack <list
rm two.pack

# Another folder, another locale, another order of files: the same bytes.
mkdir ../elsewhere && cp linear.kiln list ../elsewhere
(cd ../elsewhere && LC_ALL=C.UTF-8 TZ=Asia/Tokyo "$kiln" precompile \
    linear.kiln --workload list --target host:x86-64-v3 --target host \
    -o one.pack 2>err) || fail "elsewhere"
cmp one.pack ../elsewhere/one.pack || fail "the folder is in the bytes"

# ---- a machine with neither a code generator nor a cache ----

alone()
{
    with KILN_CACHE=must-hit with KILN_CACHE_DIR="$folder/none" \
        with KILN_CACHE_PATH="$folder/package/one.pack" \
        with KILN_CODEGEN_PATH=/nowhere expect "$@"
}

alone 0 run linear.kiln axpy 'f32[4]=ones' 2:f32 'f32[4]=iota' --grid 4 \
    --print 0 --stats
line 1 "1 3 5 7"
says out '"binary": {"requests": 1, "hits": 0, "store_hits": 1,'
says out '"parse": 0, "infer": 0,'
alone 0 run linear.kiln axpy 'f32[4]=ones' 2:f32 'f32[4]=iota' --grid 4 \
    --print 0 --target host:x86-64-v3
line 1 "1 3 5 7"
alone 1 run linear.kiln axpy 'i32[4]=ones' 2:i32 'i32[4]=iota' --grid 4
alone 1 run linear.kiln outside 'i64[4]' --grid 4
says err "linear.kiln:11"

# A comment on top of the text moves every line, and nothing else.
mkdir moved && { echo '# a comment'; echo; cat linear.kiln; } >moved/linear.kiln
alone 0 run moved/linear.kiln axpy 'f32[4]=ones' 2:f32 'f32[4]=iota' \
    --grid 4 --print 0 --stats
line 1 "1 3 5 7"
says out '"binary": {"requests": 1, "hits": 0, "store_hits": 1,'
alone 1 run moved/linear.kiln outside 'i64[4]' --grid 4
says err "linear.kiln:13"
rm -r moved

# What is in it can be looked at.
with KILN_CACHE_DIR="$folder/none" \
    with KILN_CACHE_PATH="$folder/package/one.pack" expect 0 cache ls --kind binary
[ "$(wc -l <out)" = 6 ] || fail "six binaries"

# ---- what to include ----

expect 0 precompile linear.kiln --workload list -o typed.pack --include \
    typed_ir,runtime
with KILN_CACHE_DIR="$folder/none" with KILN_CACHE_PATH=typed.pack \
    expect 0 cache ls
says out " instance "
if grep -q ' binary ' out; then
    fail "a binary that was not to be included"
fi
# The variable that says which tiers use stores says the same.
with KILN_CACHE_TIERS=typed_ir,runtime expect 0 precompile linear.kiln \
    --workload list -o same.pack
cmp typed.pack same.pack || fail "KILN_CACHE_TIERS is not obeyed"
with KILN_CACHE_TIERS=binary expect 0 precompile linear.kiln \
    --workload list -o same.pack --include typed_ir,runtime
cmp typed.pack same.pack || fail "--include does not precede the variable"
rm typed.pack same.pack
with KILN_CACHE_TIERS=none expect 2 precompile linear.kiln --workload list \
    -o x.pack
says err "KILN_CACHE_TIERS wants"

expect 2 precompile linear.kiln --workload list -o x.pack --include typed
says err "typed_ir, runtime and binary"
expect 2 precompile linear.kiln --workload list -o x.pack --include all
says err "--include wants"

# ---- errors leave nothing behind ----

bad()
{
    printf '%s\n' 'linear.axpy(f32[:], f32, f32[:])' "$1" >bad
    expect 1 precompile linear.kiln --workload bad -o bad.pack
    says err "bad:2"
    clean "one.pack "
}

bad 'linear.axpy(f32[:])'
says err "bad:2: linear.axpy(f32[:]) for host"
bad 'linear.absent(f32[:])'
bad 'other.axpy(f32[:], f32, f32[:])'
bad 'linear.axpy(f31[:], f32, f32[:])'
bad 'linear.axpy(f32[:], f32'
bad 'axpy(f32[:], f32, f32[:])'
bad 'linear.axpy(f32[:], , f32[:])'
bad 'linear.axpy(f32[:], f32, f32[:]) bounds=maybe'
bad 'linear.axpy(f32[:], f32, f32[:]) speed=9'
bad 'linear.axpy(f32[:], f32, f32[:]) target=abacus'
expect 1 precompile linear.kiln --workload list --target cuda:sm_9 -o bad.pack
says err "cuda"
clean "one.pack "

# Each error stands below its job, with types and target, in the order of the
# list; the steps tell which failed, and the end how many.
cat >bad <<'LIST'
linear.axpy((f32,f32)[:], f32, f32[:])
linear.axpy(f32[:], f32, f32[:])
linear.axpy(f32[:], f32, f32[:]) group=4,4,1000
LIST
expect 1 precompile linear.kiln --workload bad --target host \
    --target cuda:sm_90 -o bad.pack
grep '^kiln: ' err >told
cat >wanted <<'TOLD'
kiln: bad:1: linear.axpy((f32,f32)[:], f32, f32[:]) for host
kiln: bad:1: linear.axpy((f32,f32)[:], f32, f32[:]) for cuda:sm_90
kiln: bad:3: linear.axpy(f32[:], f32, f32[:]) for cuda:sm_90
kiln: 3 of 6 jobs failed
TOLD
cmp told wanted || fail "other failures are told"
grep -A 1 'bad:3: ' err | grep -q 'a group of 4 x 4 x 1000 items' ||
    fail "the error is not below its job"
grep -q '^compile [1-6]/6 linear.axpy(f32\[:\], f32, f32\[:\]) for cuda:sm_90: failed$' err ||
    fail "the step does not tell that it failed"
grep -q '^compile [1-6]/6 linear.axpy(f32\[:\], f32, f32\[:\]) for host$' err ||
    fail "what did not fail is not told"
rm told wanted

# What a pack lacks is told with the reason, as kiln cache explain tells it. An
# entry that is larger than files may be is not kept.
printf 'kernel note(o: i64[:])\n    print("%030000d")\nend\n' 0 >large.kiln
echo 'large.note(i64[:])' >bad
(
    ulimit -f 24
    expect 1 precompile large.kiln --workload bad -o bad.pack
) || exit 1
says err "is not in the cache, and must be"
says err ": absent"
clean "one.pack "

# ---- one pack for targets of every kind, no device at hand ----

for pack in all.pack again.pack; do
    expect 0 precompile linear.kiln --workload list -o $pack --target host \
        --target cuda:sm_90 --target rocm:gfx90a --target spirv:1.4+fp64
done
cmp all.pack again.pack || fail "two processes give different device code"
with KILN_CACHE_DIR="$folder/none" with KILN_CACHE_PATH=all.pack \
    expect 0 cache ls --kind binary
says out "host:"
says out "cuda:sm_90"
says out "rocm:gfx90a"
says out "spirv:1.4"
rm again.pack
rm all.pack
echo '# nothing' >bad
expect 1 precompile linear.kiln --workload bad -o bad.pack
says err "no job"
expect 1 precompile linear.kiln --workload absent -o bad.pack
says err "absent: No such file"
expect 1 precompile absent.kiln --workload list -o bad.pack
says err "absent.kiln"
expect 1 precompile linear.kiln --workload list -o /nowhere/bad.pack
says err "/nowhere/bad.pack"
clean "one.pack "

# An old pack stays when the new one fails.
cp one.pack kept
printf '%s\n' 'linear.axpy(f32[:])' >bad
expect 1 precompile linear.kiln --workload bad -o one.pack
cmp one.pack kept || fail "the old pack is gone"
rm kept

# A pack replaces a regular file and nothing else, and no file that was read.
mkfifo pipe && mkdir there && : >one.file && ln -s one.file link || exit 1
ln -s nowhere dangling
for name in pipe there link dangling; do
    expect 1 precompile linear.kiln --workload list -o $name
    says err "$name: it is there, and is no regular file"
done
[ -p pipe ] && [ -d there ] && [ -L link ] && [ -L dangling ] ||
    fail "replaced"
[ ! -s one.file ] || fail "the link's file was written"
rm -r pipe there link dangling one.file
cp linear.kiln kept.kiln
ln linear.kiln same
for name in linear.kiln ./list same; do
    expect 2 precompile kept.kiln linear.kiln --workload list -o $name
    says err "$name: it is an input of the command"
done
cmp linear.kiln kept.kiln || fail "the program was overwritten"
rm same kept.kiln

expect 2 precompile
expect 2 precompile linear.kiln -o x.pack
says err "precompile wants --workload"
expect 2 precompile linear.kiln --workload list
says err "precompile wants -o"
exit 0
