#!/bin/sh
# Has SPIN look at every state of the models of the protocols, and of the same
# with faults planted, each of which must be found: check.sh MODELS FOLDER CC
set -eu
models=$(cd "$1" && pwd)
folder=$2
cc=$3
. "$models/../scripts/skip.sh"
command -v spin >/dev/null 2>&1 || skip package "no spin"
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
failed=0

# search PROGRAM OPTION...: the number of errors, of a search that was whole.
search()
{
    "$@" >out 2>&1 || true
    if ! grep -q '^State-vector.*errors: ' out ||
        grep -q 'max search depth too small\|out of memory\|aborting' out; then
        echo whole-search-failed
        return
    fi
    sed -n 's/^State-vector.*errors: \([0-9]*\).*/\1/p' out
}

# What must not be reached (assertions, threads that wait for ever), and
# what must be reached in the end, if every thread that can go on does.
errors_of()
{
    model=$1
    shift
    cp "$models/$model.pml" .
    spin -a "$@" "$model.pml" >out 2>&1 || {
        cat out >&2
        echo spin-failed
        return
    }
    "$cc" -w -O1 -DSAFETY -DNOCLAIM -o reached pan.c
    "$cc" -w -O1 -DNFAIR=6 -o ends pan.c
    reached=$(search ./reached -m1000000)
    ended=$(search ./ends -m1000000 -a -f)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
    echo "$reached $ended ($states states)"
}

# holds MODEL DEFINITION...: no state shows an error.
holds()
{
    got=$(errors_of "$@")
    echo "$*: $got"
    case $got in
    "0 0 "*) ;;
    *) failed=1 && cat out ;;
    esac
}

# found MODEL DEFINITION...: some state does.
found()
{
    got=$(errors_of "$@")
    echo "$*: $got"
    case $got in
    "0 0 "* | *failed*) failed=1 && echo "the fault is not found" ;;
    esac
}

holds one_build -DEVENTS=0 -DKEYS=2
holds one_build -DEVENTS=2 -DKILLS
holds one_build -DEVENTS=2 -DSTOPS
holds one_build -DEVENTS=1 -DKILLS -DFORKS
holds one_build -DEVENTS=1 -DSTOPS -DFORKS
holds one_build -DEVENTS=2 -DEVICTIONS
holds one_build -DEVENTS=1 -DREMOVALS -DPROCESSES=2 -DKEYS=2
found one_build -DEVENTS=0 -DFAULT_NO_LOOK
found one_build -DEVENTS=0 -DFAULT_RELEASE_FIRST
found one_build -DEVENTS=0 -DFAULT_IMPATIENT
found one_build -DEVENTS=1 -DSTOPS -DFAULT_NO_DEADLINE
found one_build -DEVENTS=1 -DKILLS -DFORKS -DFAULT_CHILD_UNLOCKS
found one_build -DEVENTS=1 -DKILLS -DFORKS -DFAULT_CHILD_KEEPS
found one_build -DEVENTS=1 -DREMOVALS -DPROCESSES=2 -DKEYS=2 -DFAULT_NO_REOPEN

holds flights
holds flights -DCYCLE
found flights -DCYCLE -DFAULT_NO_WALK
found flights -DFAULT_SLEEPS_LATE
found flights -DFAULT_NO_WAKE

holds ranks
holds ranks -DDEATHS
holds ranks -DMORE
found ranks -DFAULT_ASKS_ON_WORKER
found ranks -DFAULT_ASKS_UNDER_LOCK
exit $failed
