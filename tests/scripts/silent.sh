#!/bin/sh
# The library prints nothing, and reads variables only where a program with
# more rights than its user does not: silent.sh SOURCE-FOLDER
# The worker is a program of its own.
set -eu
cd "$1"
loud=$(grep -rnE '(^|[^_[:alnum:]])(std(err|out)|(llvm::)?(errs|outs|dbgs)\(\)|getenv)([^_[:alnum:]]|$)' \
    src --include='*.c' --include='*.cc' --include='*.h' |
    grep -v '^src/codegen_client/worker/' || true)
test -z "$loud" || {
    echo "these print, or read the environment with getenv():"
    echo "$loud"
    exit 1
}
