#!/bin/sh
# order.sh BUILD: writes cmake/order/codegen.list, the functions of
# libkiln-codegen that compiling calls, in the order of their first call, and
# cmake/order/kiln.list, those of libkiln that a warm start calls. BUILD is a
# release build, whose library contains LLVM. valgrind records the calls.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?the folder of a release build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KILN_CACHE=off KILN_CODEGEN=thread KILN_NVJITLINK=off KILN_PTXAS=off

mkdir -p "$work/bin" "$work/lib"
cp "$build/bin/kiln" "$build/bin/saxpy" "$work/bin"
# valgrind does not read LLVM's debug information.
for library in "$build"/lib/lib*; do
    objcopy --strip-debug "$library" "$work/lib/$(basename "$library")"
done

# recorded LIBRARY NAME PROGRAM ARGUMENT...: runs the program and writes the names
# of the library's functions that are called to the file NAME.
recorded() {
    library=$1 name=$2
    shift 2
    valgrind -q --tool=callgrind --compress-strings=no --compress-pos=no \
        --demangle=no --callgrind-out-file="$work/calls" "$@" \
        > "$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
    awk -v library="$library" '/^ob=/ { ours = index($0, library) }
         /^fn=/ && ours { sub(/^fn=/, ""); sub(/\047.*/, ""); print }' \
        "$work/calls" > "$work/$name"
}

# called NAME ARGUMENT...: compiles with these arguments.
called() {
    name=$1
    shift
    recorded libkiln-codegen "$name" "$work/bin/kiln" compile "$@" \
        --emit binary -o "$work/out"
}

# The second of two processes over one cache compiles nothing.
mkdir -m 700 "$work/cache"
(
    export KILN_CACHE=rw KILN_CACHE_DIR="$work/cache"
    recorded libkiln.so cold "$work/bin/saxpy"
    recorded libkiln.so warm "$work/bin/saxpy"
)
awk '!/^0x/ && !seen[$0]++' "$work/warm" > "$root/cmake/order/kiln.list"

cat > "$work/saxpy.kiln" <<'KILN'
kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = a * x[i] + y[i]
    end
end
KILN

targets="cuda:sm_90 host rocm:gfx90a spirv:1.4+fp64"
for target in $targets; do
    called "small.$target" "$work/saxpy.kiln" saxpy \
        'f32[:]' f32 'f32[:]' --target "$target"
    called "large.$target" "$root/examples/tgv/tgv.kiln" conv_inner \
        'f32[:,:,:]' 'f32[:,:,:,:]' 'f32[:,:,:,:]' f32 i64 i64 \
        --target "$target"
    called "mathematics.$target" "$root/examples/tgv/tgv.kiln" init_field \
        'f32[:,:,:,:]' i64 --target "$target"
done

# First the functions that all targets call for a small kernel, then those that
# several targets call, then those of one target, and last those that only
# larger kernels call.
cd "$work"
set -- $targets
awk -v targets=$# '
    FNR == 1 { file++ }
    file <= targets && !seen[file, $0]++ { users[$0]++ }
    END { for (name in users) print users[name], name }' small.* |
    sort -u > users
{
    awk -v targets=$# 'NR == FNR { users[$2] = $1; next }
        users[$1] == targets' users small.*
    awk 'NR == FNR { users[$2] = $1; next } users[$1] > 1' users small.*
    cat small.* large.* mathematics.*
} | awk '!seen[$0]++' > order
"$build/bin/kiln-order" pack < order > "$root/cmake/order/codegen.list"
wc -l < order
