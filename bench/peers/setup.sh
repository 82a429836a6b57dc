#!/bin/sh
# setup.sh - what Kiln is compared with, in a virtual environment.
# usage: setup.sh FOLDER [what pip install takes...]
#
# FOLDER is made, or brought up to date; build/peers is where bench/run.sh looks
# for it, unless KILN_PEERS names another. Versions are those of
# requirements.txt. What the package index does not offer for this machine is
# told, and left out: the measurements then say that it is absent.
set -eu
if test $# -lt 1; then
    echo "usage: setup.sh FOLDER [what pip install takes...]" >&2
    exit 2
fi
folder=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
python3 -m venv "$folder" || {
    echo "setup.sh: python3 makes no virtual environment in $folder" >&2
    exit 1
}

# Together they share what they stand on; one by one, a failure is one less.
install() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$here/requirements.txt" "$@"
}
wanted=$(sed 's/#.*//; s/=.*//' "$here/requirements.txt")
if install "$@" $wanted 2>/dev/null; then
    exit 0
fi
for name in $wanted; do
    install "$@" "$name" || echo "setup.sh: $name cannot be had here" >&2
done
