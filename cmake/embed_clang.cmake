# Embeds clang's header for OpenCL C and Kiln's prelude, in this order, in one
# C file. Warnings of both are nobody's concern.
file(READ ${HEADER} header HEX)
file(READ ${PRELUDE} prelude HEX)
string(HEX "#pragma clang system_header\n" first)
set(hex ${first}${header}${prelude})
string(LENGTH "${hex}" size)
math(EXPR size "${size} / 2")
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
string(REPEAT "." 70 line) # ten bytes of seven characters each
string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"clang/clang_job.h\"

const char kiln__clang_base[] = {
    ${bytes}0};
const size_t kiln__clang_base_size = ${size};
")
