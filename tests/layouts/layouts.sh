#!/bin/sh
# A cache that one process wrote serves another one, in which everything lies
# elsewhere: layouts.sh PLAIN SHIFTED
set -eu
plain=$1 shifted=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset KILN_CACHE KILN_CACHE_PATH KILN_CACHE_LOCAL_DIR KILN_CACHE_NAMESPACE
cd "$folder"

# run STORE SOURCE FILE PROGRAM...: what it prints goes to FILE.at
run()
{
    store=$1 source=$2 file=$3
    shift 3
    mkdir -p "$store.entries"
    KILN_CACHE=rw LAYOUT_ENTRIES=$store.entries \
        "$@" "$source" "$file" >"$file.at"
}

# Without a way to keep addresses where they are they are random each time.
fixed=
if setarch -R true 2>/dev/null; then
    fixed='setarch -R'
fi

# ---- made four times, equal byte for byte ----

run one built one "$plain"
run two built two "$shifted"
run three built three $fixed "$plain"
run four built four $fixed "$shifted"
for file in two three four; do
    cmp one "$file"
done
if cmp -s one.at two.at; then
    echo "both processes have their objects at the same place"
    exit 1
fi

# ---- and served to the other, which opens no code generator ----

export KILN_CODEGEN_PATH=$folder/none.so
run one store five "$shifted"
run two store six $fixed "$plain"
run three store seven $fixed "$shifted"
run four store eight "$plain"
for file in five six seven eight; do
    cmp one "$file"
done
