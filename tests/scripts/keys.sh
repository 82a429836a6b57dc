#!/bin/sh
# Holds the table of keys and that of scopes in docs/design/keys.md against what
# src/context/keys/key.c encodes: keys.sh SOURCE-FOLDER
set -eu
page=$1/docs/design/keys.md
code=$1/src/context/keys/key.c
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0

# KEY VALUE PHRASE: what the page calls a value that key.c encodes.
cat >"$folder/phrases" <<'PHRASES'
signature signature->function->frontend->name frontend
signature signature->function->name function
signature signature->count number of types
signature signature->types[i] each type
instance digest digest of the root method
program digest program digest
source frontend->name frontend
source version version of core's texts
source package package
source history history of the package
source text digest of the text
translation frontend->name frontend
translation kiln__codegen_identity() codegen identity
translation part part
translation of digest that the part is found by
runtime typed typed digest of the function
runtime kiln__codegen_identity() codegen identity
closure library digest of the library
closure symbol symbol
closure kiln__codegen_identity() codegen identity
binary typed job digest
binary RUNTIME_LIBRARY the text `none`
binary kiln__codegen_identity() codegen identity
native binary digest of the binary key
native payload digest of the artifact's payload
native driver driver and device as they name themselves
session binary digest of the binary key
attached consumer consumer
attached identity identity of the code instance
attached config!=NULL whether a config takes part
toolchain codegen the build id of libkiln-codegen, or a tool's name, or its name and path
PHRASES

# Prints "KEY VALUE...": the values in the order in which they are encoded, and
# "settings:SCOPES" for settings. Instance and program share one function.
awk '
    /^(static )?kiln_status (kiln__)?key_[a-z]*\(/ {
        key = $0
        sub(/.*key_/, "", key)
        sub(/\(.*/, "", key)
    }
    /^}/ { key = "" }
    key == "" || key == "config" || /^(static )?kiln_status/ { next }
    { statement = statement $0 }
    !/;|\{|\}/ { next }
    {
        gsub(/[ \t]/, "", statement)
        now = statement
        statement = ""
    }
    now ~ /kiln__key_settings\(/ {
        scopes = now
        sub(/.*config,/, "", scopes)
        sub(/\).*/, "", scopes)
        gsub(/KILN__SCOPE_/, "", scopes)
        list[key] = list[key] " settings:" scopes
        next
    }
    now ~ /kiln__(encode_[a-z0-9]*|type_encode)\(out,/ {
        sub(/.*\(out,/, "", now)
        sub(/\);$/, "", now)
        list[key] = list[key] " " now
    }
    now ~ /returnkey_signature\(/ {
        match(now, /"[a-z]*"/)
        list[key] = " =signature"
    }
    END { for (key in list) print key list[key] }' "$code" >"$folder/encoded"

awk '
    function words(scopes,    n, part, i, out) {
        n = split(tolower(scopes), part, "|")
        out = "*" part[1] "*"
        for (i = 2; i <= n; i++)
            out = out (i == n ? " and " : ", ") "*" part[i] "*"
        return out " settings"
    }
    function said(key, value) {
        if (value ~ /^settings:/)
            return words(substr(value, 10))
        if ((key, value) in phrase)
            return phrase[key, value]
        return "(no phrase for " value ")"
    }
    function list_of(key, values, n,    i, out) {
        out = ""
        for (i = 2; i <= n; i++)
            out = out (i > 2 ? ", " : "") said(key, values[i])
        return out
    }
    FNR == NR {
        text = $0
        sub(/^[^ ]* [^ ]* /, "", text)
        phrase[$1, $2] = text
        if ($1 == "signature") {
            phrase["instance", $2] = text
            phrase["program", $2] = text
        }
        next
    }
    { line[$1] = $0 }
    END {
        for (key in line) {
            if (key == "signature")
                continue
            text = line[key]
            if (text ~ / =signature$/)
                text = line["signature"]
            n = split(text, values, " ")
            print key " | " list_of(key, values, n)
        }
    }' "$folder/phrases" "$folder/encoded" |
    sed 's/whether a config takes part, \(.*\)/whether a config takes part, and if so its \1/' |
    sort >"$folder/there"

sed -n '/^## The table of keys/,/^Four rules/s/^| \([a-z]*\) | \(.*\) | [^|]* |$/\1 | \2/p' \
    "$page" | sort >"$folder/told"
test "$(wc -l <"$folder/there")" -ge 10 || { echo "few keys in key.c"; found=1; }
diff "$folder/told" "$folder/there" || {
    echo "docs/design/keys.md (<) has other fields than key.c (>)"
    found=1
}

# ---- which keys have the settings of a scope ----

for scope in typed runtime binary; do
    sed -n "/^## The scopes/,/^## Why/s/^| $scope | \(.*\) |\$/\1/p" "$page" |
        grep -oE '[a-z]+' |
        grep -xE "$(cut -d' ' -f1 "$folder/there" | paste -sd'|')" |
        sort >"$folder/told_scope"
    grep "\*$scope\*" "$folder/there" | cut -d' ' -f1 | sort \
        >"$folder/there_scope"
    diff "$folder/told_scope" "$folder/there_scope" || {
        echo "docs/design/keys.md (<): other keys (>) have scope $scope"
        found=1
    }
done
exit $found
