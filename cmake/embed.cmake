# Writes the listed files into one C file as kiln__runtime_sources.
set(arrays "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
    file(READ ${file} hex HEX)
    string(LENGTH "${hex}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
    string(REPEAT "." 70 line) # ten bytes of seven characters each
    string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
    get_filename_component(name ${file} NAME)
    string(APPEND arrays
        "static const char source_${index}[] = {\n    ${bytes}0};\n\n")
    string(APPEND entries
        "    {\"${name}\", source_${index}, ${size}},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}
"#include \"runtime_sources.h\"

${arrays}const kiln__runtime_source kiln__runtime_sources[] = {
${entries}    {NULL, NULL, 0},
};
")
