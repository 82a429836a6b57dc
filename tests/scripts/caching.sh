#!/bin/sh
# Holds docs/caching.md against what is there: caching.sh SOURCE-FOLDER KILN
set -eu
source=$1 kiln=$2
page=$source/docs/caching.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0

complain()
{
    echo "docs/caching.md: $*"
    found=1
}

# same NAME: what the page tells, in `told`, is what there is, in `there`.
same()
{
    sort -u "$folder/told" >"$folder/a"
    sort -u "$folder/there" >"$folder/b"
    test -s "$folder/b" || complain "no $1 found"
    diff "$folder/a" "$folder/b" || complain "other $1"
}

sed -n 's/^| `\(KILN_[A-Z_]*\)` |.*/\1/p' "$page" >"$folder/told"
sed -n 's/^ *{"\(KILN_[A-Z_]*\)",.*/\1/p' "$source/src/context/environment.c" \
    >"$folder/there"
same variables

sed -n 's/^| `KILN_CACHE[A-Z_]*` | `\([a-z_]*\)` .*/\1/p' "$page" \
    >"$folder/told"
awk '/^typedef struct kiln_cache_options/ { inside = 1 }
    /^} kiln_cache_options/ { inside = 0 }
    inside && /;/ { sub(/;.*/, ""); sub(/.*[ *]/, ""); sub(/\[.*/, ""); print }' \
    "$source/include/kiln/cache.h" | grep -vx 'size\|reserved' >"$folder/there"
same options

sed -n 's/^| `\([a-z]*\)` | \(typed_ir\|runtime\|binary\) | .*/\1/p' "$page" \
    >"$folder/told"
sed -n 's/^    X([A-Z]*, [0-9]*, "\([a-z]*\)", [A-Z]*).*/\1/p' "$source/src/stores/entry.h" \
    >"$folder/there"
same kinds
"$kiln" cache --help | sed -n '/--kind K/,/--name/s/^                    //p' |
    tr -d ' ' | tr ',' '\n' | sed '/^$/d' >"$folder/there"
same "kinds in kiln cache --help"

awk -v RS= '/^The reasons for a miss/' "$page" |
    grep -o '`[a-z]*`' | tr -d '`' >"$folder/told"
awk '/define KILN_MISS_MAP/ { inside = 1 } /define KILN__MISS_ENUM/ { exit }
    inside' "$source/include/kiln/cache.h" |
    sed -n 's/.*X([A-Z]*, "\([a-z]*\)").*/\1/p' >"$folder/there"
same reasons

sed -n 's/^| `\([a-z-]*\)` | \(yes\|no\|compares\) | .*/\1/p' "$page" \
    >"$folder/told"
sed -n 's/^    X([A-Z_]*, [1-9], "\([a-z-]*\)").*/\1/p' \
    "$source/include/kiln/cache.h" >"$folder/there"
same modes

# Every member of the entry's head is where the page says.
sed -n '/^### Entry/,/^### Pack/s/^| \([0-9]*\) | .*/\1/p' "$page" \
    >"$folder/told"
{
    sed -n 's/^    AT_[A-Z_]* = \([0-9]*\).*/\1/p' "$source/src/stores/entry.c"
    sed -n 's/^#define KILN__ENTRY_HEAD_SIZE ((size_t)\([0-9]*\)).*/\1/p' \
        "$source/src/stores/entry.h"
} >"$folder/there"
same offsets

# Settings by their scopes.
sed -n '/^### The scopes/,/^## /s/^| [a-z, ]* | \(`.*\) |$/\1/p' "$page" |
    grep -o '`[a-z_]*`' | tr -d '`' >"$folder/told"
sed -n 's/^    X(\([a-z_]*\), [A-Z]*,.*/\1/p' "$source/src/context/keys/settings.h" \
    >"$folder/there"
same settings

# ---- names, paths and links ----

for name in $(grep -oE 'kiln_[a-z_]+\(\)' "$page" | tr -d '()' | sort -u); do
    grep -rqw "$name" "$source/include" || complain "no $name"
done
for path in $(grep -oE '`(src|tests|examples|include)/[a-z_/.]*`' "$page" |
    tr -d '`'); do
    test -e "$source/$path" || complain "no $path"
done
for link in $(grep -oE '\]\([a-z]+\.md\)' "$page" | tr -d ']()'); do
    test -f "$source/docs/$link" || complain "no $link"
done

# ---- the commands run ----

cd "$folder"
export KILN_CACHE=rw KILN_CACHE_DIR="$folder/cache"
cat >saxpy.kiln <<'KILN'
kernel saxpy(y, a, x)
    i = global_id(0)
    if i < length(y)
        y[i] = a * x[i] + y[i]
    end
end
KILN
awk '/^`jobs` has/ { inside = 1; next } inside && /^    / { print substr($0, 5) }
    inside && /^After a job/ { exit }' "$page" >jobs
test "$(wc -l <jobs)" = 3 || complain "no jobs"
sed -n 's/^    \(kiln [a-z].*\)/\1/p' "$page" >commands
test "$(wc -l <commands)" -ge 14 || complain "few commands"
"$kiln" run saxpy.kiln saxpy 'f32[8]' 2:f32 'f32[8]' --grid 8
while read -r line; do
    eval "\"$kiln\" ${line#kiln }" >out 2>&1 || complain "fails: $line"
done <commands
for command in $("$kiln" cache --help | sed -n 's/.*kiln cache \([a-z]*\) .*/\1/p'); do
    grep -q "kiln cache $command\|^- \`$command\`" "$page" ||
        complain "nothing about kiln cache $command"
done
# ---- settings by name ----

sed -n '/^### Settings by name/,/^### With/s/^| `\([a-z]*\)` | \(.*\) | .*/\1 \2/p' \
    "$page" >settings
cut -d' ' -f1 settings >told
"$kiln" --help | sed -n '/^  NAME/,/^  LIST/s/^          \([a-z]*\) .*/\1/p' >there
same "settings by name"
while read -r member; do
    grep -q "[ *]$member[;[]" "$source/include/kiln/config.h" ||
        complain "no member $member"
done <<MEMBERS
$(sed -n '/^### Settings by name/,/^### With/s/^| `[a-z]*` | .* | `\([a-z_]*\)`.*/\1/p' "$page")
MEMBERS

# explains SETTING: what the cache has for the kernel with it.
explains()
{
    "$kiln" cache explain saxpy.kiln saxpy 'f32[:]' f32 'f32[:]' \
        --set "$1" >out 2>&1
}

KILN_CACHE=refresh "$kiln" run saxpy.kiln saxpy 'f32[8]' 2:f32 'f32[8]' --grid 8
while read -r setting values; do
    first=yes
    for value in $(echo "$values" | sed -n 's/^\(`.*`\)$/\1/p' | tr -d '`,'); do
        explains "$setting=$value" || complain "$setting takes no $value"
        if [ $first = yes ]; then
            grep -q '^binary .*: found$' out ||
                complain "$value is not the default of $setting"
        elif grep -q '^binary .*: found$' out; then
            complain "$setting=$value changes nothing"
        fi
        first=no
    done
    if [ $first = no ] && explains "$setting=4"; then
        complain "$setting takes other values, too"
    fi
done <settings
exit $found
