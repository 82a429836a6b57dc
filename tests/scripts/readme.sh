#!/bin/sh
# Holds README.md, docs/settings.md and docs/extending*.md against what is there:
# readme.sh SOURCE-FOLDER BIN-FOLDER
set -eu
source=$1 bin=$2
readme=$source/README.md
settings=$source/docs/settings.md
extending="$source/docs/extending.md $source/docs/extending-types.md
    $source/docs/extending-backends.md"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0

complain()
{
    echo "README.md, docs/settings.md or docs/extending*.md: $*"
    found=1
}

# block LANGUAGE: the text of the first fenced block of that language.
block()
{
    awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next }
        /^```$/ && inside { exit } inside' "$readme"
}

# commands NAME: indented lines that run it, each made one line.
commands()
{
    awk -v name="$1" '
        /^    / { line = line substr($0, 5) }
        /^    / && /\\$/ { sub(/\\$/, "", line); next }
        line != "" { if (index(line, name " ") == 1) print line; line = "" }' \
        "$readme"
}

# spans: what stands between backquotes outside of fenced blocks, on both pages.
spans()
{
    awk 'FNR == 1 { inside = 0 } /^```/ { inside = !inside } !inside' \
        "$readme" "$settings" |
        grep -oE '`[^`]+`' | tr -d '`'
}

# anchors PAGE: the names of its headings, as links have them.
anchors()
{
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -dc 'a-z0-9_\n-'
}

# links PAGE: each link's file leads somewhere from the page's folder, and its
# anchor to a heading.
links()
{
    for link in $(grep -oE '\]\([^)]*\)' "$1" | tr -d ']()'); do
        to=${link%%#*}
        to=${to:+${1%/*}/$to}
        to=${to:-$1}
        test -e "$to" || complain "no $link"
        case $link in
        *'#'*) anchors "$to" | grep -qx -- "${link#*#}" ||
            complain "no heading for $link" ;;
        esac
    done
}

# ---- layout ----

awk 'length($0) > 80 && !/^\|/ { print FILENAME ":" FNR ": over 80 columns"; bad = 1 }
    END { exit bad }' "$readme" "$settings" $extending || found=1

# ---- the example ----

block c >"$folder/readme.c"
cmp "$folder/readme.c" "$source/tests/embed/readme/readme.c" ||
    complain "the example is not tests/embed/readme/readme.c"
test "$(wc -l <"$folder/readme.c")" -le 43 || complain "the example is long"

# ---- links, scripts, paths ----

links "$readme"
links "$settings"
for page in $extending; do
    links "$page"
done
for script in $(commands sh | awk '{ print $2 }'); do
    test -f "$source/$script" || complain "no $script"
done
for path in $(spans | grep -E '^(tests|docs|examples)/'); do
    test -e "$source/$path" || complain "no $path"
done
for header in $(spans | grep -oE '^kiln(/[a-z]+)*\.h$'); do
    test -f "$source/include/$header" || complain "no $header"
done
for name in $(grep -oE 'build/release/bin/[a-z-]+' "$readme" | sort -u); do
    test -x "$bin/${name##*/}" || complain "no $name"
done

# ---- names of the interface ----

for name in $(spans | grep -oE 'kiln_[a-z_]+' | sort -u); do
    grep -rqw "$name" "$source/include" || complain "no $name in the headers"
done
for name in $(spans | grep -oE 'KILN_[A-Z_]+' | sort -u); do
    grep -rqw "$name" "$source/include" "$source/src/context/environment.c" \
        "$source/cmake" || complain "no $name"
done
for preset in $(grep -oE -- '--preset [a-z]+' "$readme" | awk '{ print $2 }'); do
    grep -q "\"name\": \"$preset\"" "$source/CMakePresets.json" ||
        complain "no preset $preset"
done

# ---- where things are added: paths, and names of the source ----

cat $extending | grep -oE '`[^`]+`' | tr -d '`' >"$folder/named"
grep -E '^(src|tests|tools|include|cmake|docs)/' "$folder/named" |
    grep -v 'NAME\|\*' | sort -u >"$folder/paths"
test "$(wc -l <"$folder/paths")" -ge 40 || complain "few paths"
while read -r path; do
    test -e "$source/$path" || complain "no $path"
done <"$folder/paths"
sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)\(()\)\{0,1\}$/\1/p' "$folder/named" |
    grep -i '_' | grep -v '\.\.\.' | sort -u >"$folder/names"
test "$(wc -l <"$folder/names")" -ge 40 || complain "few names"
while read -r name; do
    grep -rqw -- "$name" "$source/include" "$source/src" "$source/tools" \
        "$source/tests" || complain "no $name"
done <"$folder/names"

# ---- the environment, both ways ----

sed -n 's/^| `\(KILN_[A-Z_]*\)` |.*/\1/p' "$settings" | sort >"$folder/told"
sed -n 's/^ *{"\(KILN_[A-Z_]*\)",.*/\1/p' "$source/src/context/environment.c" |
    sort >"$folder/read"
test -s "$folder/read"
diff "$folder/told" "$folder/read" || complain "variables differ"

# members STRUCT HEADER: the names of its members.
members()
{
    awk -v struct="$1" '
        $0 ~ "^typedef struct " struct " " { inside = 1; next }
        $0 ~ "^} " struct ";" { exit }
        inside && /;/ { sub(/;.*/, ""); sub(/.*[ *]/, ""); print }' \
        "$source/include/kiln/$2"
}

# Options that the page tells of are members of the structs, and each option of
# the cache is told.
sed -n 's/^| `KILN_[A-Z_]*` | `\([a-z_.]*\)` |.*/\1/p' "$settings" |
    sort -u >"$folder/options"
{
    members kiln_context_options context.h
    members kiln_cache_options cache.h | grep -vx 'size\|reserved.*' |
        sed 's/^/cache./'
} | sort -u >"$folder/members"
comm -23 "$folder/options" "$folder/members" >"$folder/unknown"
test ! -s "$folder/unknown" || complain "no option $(cat "$folder/unknown")"
grep '^cache\.' "$folder/members" |
    comm -13 "$folder/options" - >"$folder/untold"
test ! -s "$folder/untold" || complain "nothing of $(cat "$folder/untold")"

# ---- the command ----

block kiln >"$folder/saxpy.kiln"
PATH=$bin:$PATH
cd "$folder"
commands kiln >lines
test "$(wc -l <lines)" -ge 2 || complain "no lines of the kiln command"
while read -r line; do
    eval "$line" >out || complain "fails: $line"
    case $line in
    'kiln run '*) cp out run ;;
    esac
done <lines
printed=$(sed -n 's/^The first prints `\(.*\)`\..*/\1/p' "$readme")
test "$(cat run)" = "$printed" || complain "kiln run prints $(cat run)"
kiln --help >help
for option in $(spans | grep -oE '^--[a-z]+$'); do
    grep -qw -- "$option" help || complain "kiln has no $option"
done
for word in $(spans | sed -n 's/^kiln \([a-z-]*\)$/\1/p'); do
    grep -q -- "kiln $word\|$word" help || complain "no kiln $word"
done

# ---- targets: "not yet" as long as kiln says so ----

kiln targets >targets
for name in host cuda rocm spirv; do
    row=$(grep '^| targets\{0,1\} .*`'$name'`' "$readme" || true)
    case $row in
    *'not yet'*) wanted='not in this build' ;;
    *) wanted=' yes ' ;;
    esac
    grep "^$name " targets | grep -q -- "$wanted" ||
        complain "what it says of $name is not what kiln targets says"
done

# ---- benchmarks ----

kiln-bench --list >benchmarks
for name in $(spans | grep -E '^(hit|parse|launch|process|compile)[+a-z_]*/'); do
    grep -qxF "$name" benchmarks || complain "no benchmark $name"
done
exit $found
