#!/bin/sh
# Copies the output of ctest, and inserts the reasons of all skipped tests
# before its summary: ctest ... | skips.sh FILE. The file has a line for each
# skipped test, in the form that tests/support/harness.h describes: KIND:
# PROGRAM, TEST: REASON.
set -eu
awk -v file="$1" '
    function tell(    line, count) {
        while ((getline line < file) > 0)
            if (!(line in seen)) {
                if (count++ == 0)
                    print "Not tested here, for want of a"
                seen[line] = 1
                print "    " line
            }
        if (count > 0)
            print ""
    }
    /^[0-9]+% tests passed/ { tell() }
    { print; fflush() }
'
