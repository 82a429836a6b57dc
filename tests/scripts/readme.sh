#!/bin/sh
# Holds README.md against what is there: readme.sh SOURCE-FOLDER BIN-FOLDER
set -eu
source=$1 bin=$2
readme=$source/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0

complain()
{
    echo "README.md: $*"
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

# spans: what stands between backquotes outside of fenced blocks.
spans()
{
    awk '/^```/ { inside = !inside } !inside' "$readme" |
        grep -oE '`[^`]+`' | tr -d '`'
}

# ---- layout ----

awk 'length($0) > 80 && !/^\|/ { print "README.md:" FNR ": over 80 columns"; bad = 1 }
    END { exit bad }' "$readme" || found=1

# ---- the example ----

block c >"$folder/readme.c"
cmp "$folder/readme.c" "$source/tests/embed/readme/readme.c" ||
    complain "the example is not tests/embed/readme/readme.c"
test "$(wc -l <"$folder/readme.c")" -le 43 || complain "the example is long"

# ---- links, scripts, paths ----

for link in $(grep -oE '\]\([^)]*\)' "$readme" | tr -d ']()'); do
    test -e "$source/$link" || complain "no $link"
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

# ---- the environment, both ways ----

sed -n 's/^| `\(KILN_[A-Z_]*\)` |.*/\1/p' "$readme" | sort >"$folder/told"
sed -n 's/^ *{"\(KILN_[A-Z_]*\)",.*/\1/p' "$source/src/context/environment.c" |
    sort >"$folder/read"
test -s "$folder/read"
diff "$folder/told" "$folder/read" || complain "variables differ"

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
