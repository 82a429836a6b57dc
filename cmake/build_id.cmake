# Writes a header with a digest of the compiler's version and of the listed
# files' names and contents.
file(STRINGS ${LIST} files)
set(all "${COMPILER}\n")
foreach(file IN LISTS files)
    file(SHA256 ${ROOT}/${file} digest)
    string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUTPUT} "#define KILN_BUILD_ID \"${digest}\"\n")
