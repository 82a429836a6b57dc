#!/bin/sh
# Installs a build: install.sh CMAKE BUILD-FOLDER PREFIX
# Into one prefix and then moved to PREFIX, as the installed tree must bear.
set -eu
rm -rf "$3" "$3.first"
"$1" --install "$2" --prefix "$3.first" >/dev/null
mv "$3.first" "$3"
test -f "$3/include/kiln.h"
test -f "$3/lib/pkgconfig/kiln.pc"
test -x "$3/libexec/kiln/kiln-codegen-worker"
