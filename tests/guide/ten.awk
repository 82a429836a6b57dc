# ten.awk - the fenced blocks of one kind, one after the other:
# awk -v kind="c ten.c" [-v only=NUMBER] -f ten.awk docs/embedding.md
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!inside && $0 == "```" kind {
    inside = 1
    count++
    if (!only && count > 1)
        print ""
    next
}
inside && /^```$/ {
    inside = 0
    next
}
inside && (!only || only == count) {
    print
}
END {
    exit inside || count < (only ? only : 3)
}
