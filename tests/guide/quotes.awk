# quotes.awk - looks for the quotations of docs/embedding.md in their file:
# awk -v file=NAME -v least=COUNT -f quotes.awk FILE docs/embedding.md
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
FNR == 1 {
    files++
}
files == 1 {
    text = text $0 "\n"
    next
}
!inside && $0 == "```c " file {
    inside = 1
    begin = FNR
    quotation = ""
    next
}
inside && /^```$/ {
    inside = 0
    count++
    if (index(text, quotation) == 0) {
        printf "docs/embedding.md:%d: not what %s says\n", begin, file
        bad = 1
    }
    next
}
inside {
    quotation = quotation $0 "\n"
}
END {
    printf "%d quotations\n", count
    exit bad || inside || count < least
}
