# guide.awk - makes a program of the fragments of docs/embedding.md.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#     ```c            statements: the body of a step, run in order
#     ```c top        what stands outside of functions
#     ```c toyrt.c    a quotation: checked by quotes.awk, not compiled here
BEGIN {
    steps = 0
    kind = ""
}
kind == "" && /^```c( top)?$/ {
    kind = $2 == "top" ? "top" : "step"
    if (kind == "step")
        printf "static void step%d(void)\n{\n", steps++
    printf "#line %d \"docs/embedding.md\"\n", FNR + 1
    next
}
kind != "" && /^```$/ {
    print kind == "step" ? "}\n" : ""
    kind = ""
    next
}
kind != "" {
    print
}
END {
    print "int main(void)\n{"
    for (i = 0; i < steps; i++)
        printf "    step%d();\n", i
    print "    return 0;\n}"
    if (kind != "" || steps < 10)
        exit 1
}
