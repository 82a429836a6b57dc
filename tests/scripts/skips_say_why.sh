#!/bin/sh
# Whoever skips says why, through the one door of its language:
# skips_say_why.sh SOURCE-FOLDER
set -eu
cd "$1/tests"
bare=$(grep -rnE '(^|[^_a-z])skip\(\)|return (HARNESS_SKIP|77)|exit 77' . \
    --include='*.c' --include='*.h' --include='*.sh' --include='*.cpp' |
    grep -vE '^\./(support/harness\.[ch]|scripts/skip(s_say_why)?\.sh):' |
    grep -vE '^\./(stores/test_lock|processes/mpi_ranks)\.c:' || true)
test -z "$bare" || {
    echo "these skip without test_skip(), program_skip() or skip.sh:"
    echo "$bare"
    exit 1
}
