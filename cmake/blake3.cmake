# Takes LLVM's BLAKE3 out of its archive, as one object that is linked into
# libkiln. libkiln contains nothing else of LLVM.
include_guard()

find_library(KILN_LLVM_SUPPORT libLLVMSupport.a
    PATHS ${KILN_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)

# kiln_take_blake3(out): sets `out` to the object's path. Its functions are
# renamed to kiln__..., so that they cannot clash with LLVM's in a program that
# links LLVM as well. On x86-64, src/base/digest/blake3_dispatch.c replaces
# LLVM's code that chooses among them, because that executes cpuid, which is
# slow in a virtual machine.
function(kiln_take_blake3 out)
    set(folder ${PROJECT_BINARY_DIR}/generated/blake3)
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND ${CMAKE_AR} t ${KILN_LLVM_SUPPORT}
        OUTPUT_VARIABLE members COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "blake3[^\n]*" members "${members}")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        list(FILTER members EXCLUDE REGEX "^blake3_dispatch")
    endif()
    execute_process(COMMAND ${CMAKE_AR} x ${KILN_LLVM_SUPPORT} ${members}
        WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_LINKER} -r -o together.o ${members}
        WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_NM} together.o
        WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE names
        COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "llvm_blake3_[a-z0-9_]*" names "${names}")
    list(REMOVE_DUPLICATES names)
    string(REGEX REPLACE "llvm_(blake3_[a-z0-9_]*)"
        "llvm_\\1 kiln__\\1\n_llvm_\\1 _kiln__\\1\n" names "${names}")
    string(REPLACE ";" "" names "${names}")
    file(WRITE ${folder}/names.txt "${names}")
    execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-syms=names.txt
            together.o renamed.o
        WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(COPY_FILE ${folder}/renamed.o ${folder}/blake3.o ONLY_IF_DIFFERENT)
    set(${out} ${folder}/blake3.o PARENT_SCOPE)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${KILN_LLVM_SUPPORT})
kiln_take_blake3(kiln_blake3)
