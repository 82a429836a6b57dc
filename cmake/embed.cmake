# Embeds the listed files in one C file: FILES as kiln__runtime_sources, and
# PACKAGES as kiln__runtime_packages. kiln__runtime_version is a digest of
# FILES.
set(arrays "")
set(index 0)
set(sums "")
foreach(file IN LISTS FILES)
    file(SHA256 ${file} sum)
    string(APPEND sums "${sum}\n")
endforeach()
string(SHA256 sums "${sums}")

function(embed out)
    set(entries "")
    foreach(file IN LISTS ARGN)
        file(READ ${file} hex HEX)
        string(LENGTH "${hex}" size)
        math(EXPR size "${size} / 2")
        string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
        string(REPEAT "." 70 line) # ten bytes of seven characters each
        string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
        get_filename_component(name ${file} NAME)
        string(APPEND arrays "static const char source_${index}[] = {\n"
            "    ${bytes}0};\n\n")
        string(APPEND entries
            "    {\"${name}\", source_${index}, ${size}},\n")
        math(EXPR index "${index} + 1")
    endforeach()
    set(arrays "${arrays}" PARENT_SCOPE)
    set(index ${index} PARENT_SCOPE)
    set(${out} "${entries}" PARENT_SCOPE)
endfunction()

embed(sources ${FILES})
embed(packages ${PACKAGES})
file(WRITE ${OUTPUT}
"#include \"frontend/program/runtime_sources.h\"

${arrays}const kiln__runtime_source kiln__runtime_sources[] = {
${sources}    {NULL, NULL, 0},
};

const kiln__runtime_source kiln__runtime_packages[] = {
${packages}    {NULL, NULL, 0},
};

const char kiln__runtime_version[] = \"${sums}\";
const size_t kiln__runtime_source_count =
    sizeof kiln__runtime_sources / sizeof *kiln__runtime_sources - 1;
")
