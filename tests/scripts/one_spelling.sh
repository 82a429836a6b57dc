#!/bin/sh
# Holds that the sources have one spelling for atomics and one for threads:
# one_spelling.sh SOURCE-FOLDER
# Atomic accesses are those of C11 to words that are declared
# `_Atomic`, or are in src/abi/shared_words.h, which says why. Only
# src/base/system calls pthreads. Public headers are inline code of callers.
set -eu
cd "$1"
found=0

# only REGEX ALLOWED-FILES-REGEX RULE
only()
{
    all=$(grep -rnE "$1" src --include='*.[ch]' --include='*.cc' || true)
    test -n "$all" || { echo "nothing uses $1: this rule checks nothing"; found=1; }
    bare=$(echo "$all" | grep -vE "^($2)" || true)
    test -z "$bare" && return
    echo "$3:"
    echo "$bare"
    found=1
}
only '__(atomic|sync)_[a-z]' 'src/abi/shared_words[.]h:' \
    'these must use <stdatomic.h>, or be in src/abi/shared_words.h'
only '(pthread|PTHREAD)_|<(pthread|threads)[.]h>' 'src/base/system/' \
    'these must use base/system/thread.h or base/system/fork.h'
exit $found
