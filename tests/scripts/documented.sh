#!/bin/sh
# Looks for public declarations without a comment: documented.sh SOURCE-FOLDER
# Each stands right behind a doc comment, or behind one that the comment is for
# as well.
set -eu
cd "$1"
awk '
    FNR == 1 { ready = 0 }
    /^$/ { ready = 0 }
    /^\/\*\*/ { comment = 1 }
    /\*\/$/ && comment { comment = 0; ready = 1; next }
    /^KILN_API/ {
        count++
        if (!ready) { print FILENAME ":" FNR ": " $0; bad = 1 }
    }
    END {
        if (count < 100) { print "only " count + 0 " declarations"; bad = 1 }
        exit bad
    }' include/kiln/*.h include/kiln/sys/*.h
