#!/bin/sh
# Finds functions over 60 lines and files over 800: function_length.sh FOLDER
# A function begins at a `{` in the first column and ends at the next `}`
# there, which the layout that clang-format keeps makes certain.
set -eu
cd "$1"
find include src tools examples tests bench \( -name '*.[ch]' -o -name '*.cc' \
    -o -name '*.cpp' -o -name '*.hpp' \) | sort |
    xargs awk '
    function file_done() {
        if (lines > 800) {
            printf "%s: %d lines, 800 at most\n", name, lines
            bad = 1
        }
    }
    FNR == 1 { if (NR > 1) file_done(); name = FILENAME; inside = 0 }
    { lines = FNR }
    /^\{/ { begin = FNR; inside = 1; head = before }
    /^\}/ && inside {
        inside = 0
        functions++
        if (FNR - begin - 1 > 60) {
            printf "%s:%d: %d lines, 60 at most: %s\n", name, begin,
                FNR - begin - 1, head
            bad = 1
        }
    }
    /^[a-zA-Z_].*\(/ { before = $0 }
    END { file_done(); printf "%d functions\n", functions
          exit bad || functions == 0 }'
