#!/bin/sh
# Holds that layers.sh finds includes in disguise: includes.sh SOURCE-FOLDER
# Each line of `disguised` stands in a file of its own in a copy of the sources,
# and layers.sh must name every such file and no other.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/copy"
cp -R "$source/src" "$source/include" "$folder/copy"
cd "$folder/copy"
found=0

sh "$scripts/layers.sh" "$PWD" || { echo "the copy is refused as it is"; exit 1; }

# FOLDER TEXT, a format of printf.
cat >"$folder/disguised" <<'TEXT'
base #include "frontend/language.h"
base #include <frontend/language.h>
base #include "../frontend/language.h"
base #include "./frontend/language.h"
base #include "kiln/../../src/frontend/language.h"
base #include "frontend//language.h"
base #include <kiln/../../src/frontend/language.h>
base #include </usr/include/string.h>
base #include "options.h"
base #include "no/such/file.h"
base #include "frontend/language.c"
base /* */ #include "frontend/language.h"
base # /* */ include /* */ "frontend/language.h"
base /* "\n*/ #include "frontend/language.h"
base char q = '"'; /*\n*/#include "frontend/language.h" // "
base #define H "frontend/language.h"\n#include H
base %%:include "frontend/language.h"
base ??=include "frontend/language.h"
base #include \\\n"frontend/language.h"
base #inc\\\nlude "frontend/language.h"
base #include ??/\n"frontend/language.h"
base // \\\n\n#include "frontend/language.h"
base \t#\tinclude\t"frontend/language.h"
base #include_next "base/options.h"
base #import "base/options.h"
base #include\t<llvm-c/Core.h>
base #\tinclude <llvm-c/Core.h>
base #include  <uthash.h>
base #include <a/../uthash.h>
base const char *s = R"(/*)";\n#include "frontend/language.h" // */
base \357\273\277#include "frontend/language.h"
base /* */\357\273\277\n#include "frontend/language.h"
base // \r#include "frontend/language.h"
base \v#include "frontend/language.h"
base #\f include "frontend/language.h"
base /* \0 */\n#include "frontend/language.h"
base // \0\n#include "frontend/language.h"
base #if 0\ndon't /*\n#endif\n#include "frontend/language.h" // */
base #if 0\n" /*\n#endif\n#include "frontend/language.h" // */
base #define A \\\n B\n#include "frontend/language.h"
base #define A /* \\\n*/\n#include "frontend/language.h" // */
base const char t[] = "\\\n/*";\n#include "frontend/language.h" // */
base /* \\\n*/ #include "frontend/language.h"
frontend/infer #include <frontend/program/program_tables.h>
frontend/infer #include "../program/program_tables.h"
frontend/infer #include  "frontend/program/program_tables.h"
frontend/infer #include\t"frontend/program/definitions.h"
frontend/infer #/**/include"frontend/program/lazy_text.h"
TEXT
# The files that must be accepted have includes only in comments and texts.
cat >src/base/honest.h <<'TEXT'
/* #include <frontend/language.h>
#include "frontend/language.h" */
// #include "frontend/language.h"
#define KILN__BOTH(a, b) \
    (a) + /* "frontend/language.h" */ \
    (b)
static const char text[] = "/*", quote = '"'; /* "
#include "frontend/language.h" " */
# /* why */ include "base/options.h" /* " */
#include <string.h> // for memcpy
TEXT

count=0
while read -r where text; do
    count=$((count + 1))
    printf "$text\n" >"src/$where/disguised_$count.h"
    printf '%s %s\n' "src/$where/disguised_$count.h" "$text"
done <"$folder/disguised" >"$folder/written"
test "$count" -ge 30

if sh "$scripts/layers.sh" "$PWD" >"$folder/said"; then
    echo "layers.sh accepts all of it"
    found=1
fi
while read -r file text; do
    grep -qF "$file " "$folder/said" || {
        printf 'accepted: %s\n' "$text"
        found=1
    }
done <"$folder/written"
if grep -v '^src/[a-z/]*/disguised_' "$folder/said"; then
    echo "above: refused without a reason"
    found=1
fi

# A file of another kind could hold an include that nothing reads.
rm src/base/disguised_* src/frontend/infer/disguised_*
echo '#include "frontend/language.h"' >src/base/list.inc
if sh "$scripts/layers.sh" "$PWD" >/dev/null; then
    echo "accepted: list.inc"
    found=1
fi
exit $found
