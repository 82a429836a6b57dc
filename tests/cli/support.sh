# support.sh - what the scripts of this folder share: a folder, and checks.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# $kiln is the executable; scripts run in a temporary folder of their own.

kiln=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $*"
    echo "--- output"
    cat out 2>/dev/null
    echo "--- errors"
    cat err 2>/dev/null
    exit 1
}

# expect STATUS WORD...: runs kiln, keeps its output in out and err.
expect()
{
    wanted=$1
    shift
    "$kiln" "$@" >out 2>err
    status=$?
    [ "$status" = "$wanted" ] ||
        fail "kiln $*: status $status instead of $wanted"
}

# line N TEXT: line N of the output is exactly TEXT.
line()
{
    found=$(sed -n "$1p" out)
    [ "$found" = "$2" ] || fail "line $1 is '$found' instead of '$2'"
}

# says FILE TEXT: the file holds the text.
says()
{
    grep -qF -- "$2" "$1" || fail "$1 does not say '$2'"
}

# quiet FILE: the file is empty.
quiet()
{
    [ ! -s "$1" ] || fail "$1 is not empty"
}

# with NAME=VALUE COMMAND...: the command, with the variable.
with()
{
    (
        export "$1"
        shift
        "$@"
    ) || exit 1
}
