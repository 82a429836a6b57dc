#!/bin/sh
# cache.sh - kiln cache: what there is, moved, checked and dropped.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/support.sh"

cat >saxpy.kiln <<'KILN'
fn scaled(a, x) = a * x

kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = scaled(a, x[i]) + y[i]
    end
end
KILN

export KILN_CACHE=rw KILN_CACHE_DIR="$folder/cache"
export HOME="$folder/home" XDG_CACHE_HOME=

run()
{
    expect 0 run saxpy.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota' --grid 8 \
        --print 0 "$@"
    line 1 "1 3 5 7 9 11 13 15"
}

# hits: the last run compiled nothing.
hits()
{
    grep -q '"binary": {"requests": 1, "hits": 0, "store_hits": 1,' out ||
        fail "it was compiled"
}

# json COMMAND...: its output is JSON, which is left in `out`.
json()
{
    expect 0 cache "$@" --json
    if command -v python3 >/dev/null; then
        python3 -m json.tool <out >/dev/null || fail "no JSON: $*"
    fi
}

# ---- code that is made when it is needed ----

cat >bars.kiln <<'KILN'
kernel bars(a, n, m)
    i = global_id(0)
    for k in i * 8..n
        if k * k < m
            a[k] = a[k] + 1
        end
    end
end
KILN
# bars N COMMAND...: runs it; of twenty elements, eight are beyond the array.
bars()
{
    n=$1
    shift
    "$@" run bars.kiln bars 'i64[12]=zeros' "$n" 144 --grid 1 --print 0 --stats
}
bars 20 expect 0
line 1 "1 1 1 1 1 1 1 1 1 1 1 1"
says err "bars.kiln:5:"
says err "this check in bars.bars cannot be proved"
expect 0 cache explain bars.kiln bars 'i64[:]' i64 i64
says out "ran with all checks: bars.kiln:5:"
json explain bars.kiln bars 'i64[:]' i64 i64
says out '"checked": "bars.kiln:5:'
# Another process has it, and needs no code generator.
bars 20 with KILN_CACHE=must-hit with KILN_CODEGEN_PATH=/nowhere expect 0
line 1 "1 1 1 1 1 1 1 1 1 1 1 1"
expect 0 cache clear --yes
# Where it was not needed yet, it is in what is exported.
bars 12 expect 0
quiet err
bars 20 with KILN_CACHE=must-hit expect 1
says err "must be (must-hit)"
# Without a code generator the launch fails, and the entry stays.
bars 20 with KILN_CODEGEN_PATH=/nowhere expect 1
bars 12 with KILN_CODEGEN_PATH=/nowhere expect 0
expect 0 cache export bars.pack
expect 0 cache clear --yes
bars 20 with KILN_CACHE_PATH="$PWD/bars.pack" with KILN_CACHE=must-hit \
    with KILN_CODEGEN_PATH=/nowhere expect 0
line 1 "1 1 1 1 1 1 1 1 1 1 1 1"
expect 0 cache explain bars.kiln bars 'i64[:]' i64 i64
quiet err
bars 20 with KILN_CACHE=verify expect 0
says err "cannot be proved"
expect 0 cache clear --yes
rm bars.kiln bars.pack

# ---- an empty cache, and a filled one ----

for command in stat ls verify prune locate doctor; do
    expect 0 cache $command
    quiet err
    json $command
done
expect 0 cache clear --yes # the doctor leaves a note about libLLVM
expect 0 cache ls
quiet out
run
expect 0 cache ls
digests=$(cut -c1-16 out | sort)
says out "saxpy.saxpy(f32[:], f32, f32[:])"
says out "saxpy.scaled(f32, f32)"
expect 0 cache ls --kind binary
[ "$(wc -l <out)" = 1 ] || fail "one binary"
binary=$(cut -c1-16 out)
says out " binary "
says out "host:x86-64"
expect 0 cache ls --kind instance --name scaled
[ "$(wc -l <out)" = 1 ] || fail "one function of that name"
says out "saxpy.scaled"
expect 0 cache stat
grep -q '^typed_ir  *instance  *2  *0 ' out || fail "two instances"
grep -q '^binary  *binary  *1  *0 ' out || fail "one binary"
says out "hits and misses are counted by each process"
json stat
says out '"binary": {'
json ls
says out "\"digest\": \"$binary"

# ---- show ----

expect 0 cache show "$binary"
for text in "typed digest" "bounds_checks          on" \
    "opt_level              3" "code generator         kiln" \
    "relocation             portable" "format                 elf" \
    "kernel                 saxpy.saxpy(f32[:], f32, f32[:])" \
    "codegen="; do
    says out "$text"
done
json show "$(echo "$binary" | cut -c1-6)"
says out '"name": "required_group_x"'
expect 0 cache ls --kind instance --name saxpy.saxpy
expect 0 cache show "$(cut -c1-16 out)"
says out "calls                  saxpy.scaled(f32, f32)"
says out "argument 3             f32[:]"
expect 1 cache show $(printf %064d 0)
says err "no entry"
expect 2 cache show xyz
says err "show wants a digest"

# ---- explain ----

expect 0 cache explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]'
[ "$(grep -c ': found$' out)" = 3 ] || fail "all three keys are there"
expect 0 cache explain saxpy.kiln saxpy 'f32[8]=ones' 2:f32 'f32[8]=iota'
[ "$(grep -c ': found$' out)" = 3 ] || fail "arguments as kiln run takes them"
expect 0 cache explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' --set bounds=off
says out "bounds_checks"
says out "wanted off"
[ "$(grep -c wanted out)" = 1 ] || fail "only one field differs"
expect 0 cache explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' \
    --target host:x86-64
says out "features"
expect 0 cache explain saxpy.kiln saxpy 'f64[:]' f64 'f64[:]'
says out "argument 1"
says out "wanted f64"
sed 's/= a \* x/= a * x + a/' saxpy.kiln >changed && mkdir other &&
    mv changed other/saxpy.kiln
expect 0 cache explain other/saxpy.kiln saxpy 'f32[:]' f32 'f32[:]'
says out "program text"
says out "found, but what it calls has changed"
says out "typed digest"
json explain other/saxpy.kiln saxpy 'f32[:]' f32 'f32[:]'
says out '"found": "stale"'
for mode in off refresh; do
    with KILN_CACHE=$mode expect 0 cache explain saxpy.kiln saxpy 'f32[:]' \
        f32 'f32[:]'
    [ "$(grep -c 'not looked for' out)" = 3 ] || fail "$mode looks for nothing"
done
for file in $(find cache/v2 -name '*.e'); do
    cp "$file" "$file.kept" && printf '' | dd of="$file" bs=1 seek=200 2>/dev/null
done
expect 0 cache explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]'
[ "$(grep -c 'there, but not believed' out)" = 3 ] || fail "cut entries"
says out "truncated"
json explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]'
says out '"found": "bad"'
for file in $(find cache/v2 -name '*.e'); do
    mv "$file.kept" "$file"
done
expect 2 cache explain saxpy.kiln saxpy 'f32[:]' --set speed=fast
says err "settings are opt"
expect 2 cache explain saxpy.kiln saxpy 'f32[:]' --set group=0
expect 2 cache explain saxpy.kiln saxpy 'f32[:]' --set group=8,0
says err "group takes N[,N[,N]], a group's items, 1 or more"
expect 1 cache explain saxpy.kiln absent 'f32[:]'

# ---- export, clear, import ----

expect 0 cache export all.pack
says out "5 entries"
json export binaries.pack --kind binary
says out '"entries": 1'
expect 2 cache clear </dev/null
says err "say --yes"
expect 0 cache clear --yes
says out " dropped"
expect 0 cache ls
quiet out
expect 0 cache import all.pack
says out "5 entries"
expect 0 cache import all.pack
says out "5 skipped"
run --stats
hits
expect 1 cache import saxpy.kiln
says err "saxpy.kiln"
mkfifo pipe && ln -s all.pack link || exit 1
for name in pipe link; do
    expect 1 cache export $name
    says err "$name: cannot be written: it is there, and is no regular file"
done
[ -p pipe ] && [ -L link ] || fail "replaced"
rm pipe link
expect 1 cache export /nowhere/x.pack
says err "/nowhere/x.pack"

# A pack on the search path serves by itself, and is not taken over.
expect 0 cache clear --yes
with KILN_CACHE_PATH="$folder/all.pack" run --stats
hits
with KILN_CACHE_PATH="$folder/all.pack" expect 0 cache locate
says out "$folder/all.pack"

# ---- compact ----

expect 0 cache import all.pack
expect 0 cache compact
says out "0 entries"
expect 0 cache compact --older 0s
says out "5 entries"
expect 0 cache ls
[ "$(wc -l <out)" = 5 ] || [ "$(wc -l <out)" = 6 ] || fail "as many entries"
[ "$(ls cache/v2/packs | wc -l)" = 1 ] || fail "one pack"
[ -z "$(find cache/v2/?? -name '*.e' 2>/dev/null | xargs -r grep -l saxpy)" ] ||
    fail "loose entries are left"
run --stats
hits
expect 0 cache stat
grep -q '^binary  *binary  *1  *1 ' out || fail "the binary is packed"
expect 0 cache verify
says out " 0 bad"
file=$(ls cache/v2/packs/*.kilnpack)
printf 'XXXX' | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null
expect 1 cache verify
says out " 1 bad, 0 dropped"
expect 0 cache verify --repair
says out " 1 bad, 1 dropped"
expect 0 cache verify
file=$(ls cache/v2/packs/*.kilnpack)
dd if="$file" of=whole bs=65536 2>/dev/null
head -c 400 whole >"$file"
expect 1 cache verify
says out "its end is missing"
[ -e "$file" ] || fail "it is gone, though nothing was to be repaired"
expect 0 cache verify --repair
says err "left out, and dropped"
expect 0 cache verify
cat whole >"$file"
expect 0 cache prune
touch -d '40 days ago' cache/v2/packs/*.kilnpack
expect 0 cache prune
[ -z "$(ls cache/v2/packs)" ] || fail "an old pack stays"

# ---- verify ----

run
file=$(find cache/v2 -name '*.e' | xargs grep -l saxpy_saxpy | head -n 1)
size=$(wc -c <"$file")
printf 'X' | dd of="$file" bs=1 seek=$((size - 9)) conv=notrunc 2>/dev/null
expect 1 cache verify
says out "checksum"
says out " 1 bad"
expect 1 cache verify --json
says out '"fault": "checksum"'
expect 0 cache verify --repair
says out "1 dropped"
expect 0 cache verify
expect 0 cache verify --sample 1000
run

# ---- name spaces ----

with KILN_CACHE_NAMESPACE=mine run
expect 0 cache ls --namespace mine --kind binary
[ -s out ] || fail "nothing in the name space"
expect 0 cache clear --yes --namespace mine
expect 0 cache ls --namespace mine
quiet out
expect 0 cache ls --kind binary
[ -s out ] || fail "another name space was cleared"
expect 1 cache ls --namespace ../up
says err "name space"

# ---- places and health ----

expect 0 cache locate
says out "$folder/cache"
says out "KILN_CACHE_DIR"
for switch in CUDA_CACHE_DISABLE NEO_CACHE_PERSISTENT AMD_COMGR_CACHE \
    MESA_SHADER_CACHE_DISABLE POCL_KERNEL_CACHE TRITON_ALWAYS_COMPILE \
    NUMBA_CACHE_DIR CUPY_CACHE_IN_MEMORY JULIA_DEPOT_PATH; do
    says out $switch
done
grep -q '^disk  *mode  *rw$' out || fail "the mode"
with KILN_CACHE=off expect 0 cache locate
says out "the cache is off"
says out "$folder/cache"
with KILN_CACHE=off expect 0 cache doctor
says out "none: the cache is off"
with KILN_CACHE=off expect 0 cache ls --kind binary
[ -s out ] || fail "entries are there, whatever the mode"
for command in ls stat verify prune; do
    with KILN_CACHE=bogus expect 1 cache $command
    says err "KILN_CACHE is 'bogus'; it takes off, ro, rw"
done
mkdir -p home/.nv/ComputeCache && head -c 100000 /dev/zero >home/.nv/ComputeCache/x
expect 0 cache locate
grep -q '^CUDA driver .* KiB  ' out || fail "the size of another's cache"
expect 0 cache doctor
for check in folder owner permissions "file system" space writing clock locks \
    "code generator" toolchain worker variables; do
    says out "$check"
done
with KILN_CACHE_FOLDER=x expect 1 cache doctor
says out "nothing reads KILN_CACHE_FOLDER"
chmod 777 cache
expect 1 cache doctor
says out "others may write"
chmod 700 cache
with KILN_CODEGEN_PATH=/nowhere expect 0 cache doctor
says out "only what is stored can be used"
with KILN_CODEGEN=thread expect 0 cache doctor
says out "switched off"

# ---- usage ----

expect 0 cache --help
says out "kiln cache stat"
expect 0 cache ls --help
expect 2 cache
expect 2 cache fly
says err 'unknown command "cache fly"'
expect 2 cache show
expect 0 cache ls --kind native
expect 2 cache ls --kind poem
says err "--kind wants instance, program, "
says err ' or translation, not "poem"'
for kind in instance program source runtime binary native attached raw \
    session toolchain; do
    expect 0 cache ls --kind $kind
done
expect 2 cache compact --older soon
says err "--older wants"
expect 2 cache verify --sample 0
says err "--sample wants"
expect 2 cache prune --kind binary
says err 'unknown option "--kind"'

# ---- versions of a program that differ in a callee ----

# built N FOLDER DEBUG: the run infers N functions.
built()
{
    expect 0 run "$2/main.kiln" k 'f32[4]=ones' --grid 4 --set debug="$3" \
        --stats
    grep -q "\"typed_ir\": .*\"built\": $1, .*\"runtime\"" out ||
        fail "not $1 inferred for $2 at debug $3"
}
mkdir one two
printf 'fn g(x) = x + 1\nkernel k(a)\n    i = global_id(0)\n    a[i] = g(a[i])\nend\n' \
    >one/main.kiln
sed 's/x + 1/x + 2/' one/main.kiln >two/main.kiln
built 2 one 0
built 2 two 0
built 0 one 0 # the program keys tell them apart
built 0 two 0
built 1 one 1 # the caller's entry is the other version's
built 0 one 1
built 1 two 1
built 1 one 1
exit 0
