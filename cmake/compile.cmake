# Compile and link options of all of Kiln's targets.
include_guard()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(KILN_WERROR)
    set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()
# A release has line tables, and no paths of the machine that it was built on
# (see -ffile-prefix-map below).
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

# Small structures are cleared by vector stores: starting a `rep stos` takes
# longer than most of a launch.
include(CheckCCompilerFlag)
set(kiln_stores -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_c_compiler_flag(${kiln_stores} KILN_HAS_MEMSET_STRATEGY)
if(KILN_HAS_MEMSET_STRATEGY)
    add_compile_options($<$<COMPILE_LANGUAGE:C>:${kiln_stores}>)
endif()

set(kiln_warnings -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wpointer-arith
    -Wcast-qual -Wcast-align -Wwrite-strings -Wvla -Wformat=2 -Winit-self
    -Wredundant-decls -Wswitch-enum -Wimplicit-fallthrough -Wconversion
    -Wsign-conversion -Wdouble-promotion -Wnull-dereference)
set(kiln_c_warnings -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND kiln_c_warnings -Wlogical-op -Wduplicated-cond
        -Wduplicated-branches)
endif()

# Everything that is linked into a process must be built with its sanitizer.
if(KILN_SANITIZE)
    add_compile_options(-fsanitize=${KILN_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KILN_SANITIZE})
endif()
if(KILN_FUZZ AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# kiln_compile_as_ours(target): sets language, warnings, visibility and include
# path. -iquote searches src for #include "..." only, because some of its
# headers have the same names as system headers.
function(kiln_compile_as_ours target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE
        -iquote ${PROJECT_SOURCE_DIR}/src
        "$<$<COMPILE_LANGUAGE:C>:${kiln_warnings};${kiln_c_warnings}>"
        "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>"
        $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
endfunction()

# kiln_export_only(target script): limits the exported names of a shared library
# to those of the version script. The library's own calls of these names bypass
# the PLT. --no-undefined is left out with sanitizers, because clang puts their
# runtime into the executable, so that the library has undefined symbols.
function(kiln_export_only target script)
    target_link_options(${target} PRIVATE
        -Wl,--version-script=${script} -Wl,--exclude-libs,ALL
        -Wl,-Bsymbolic-functions)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    if(NOT KILN_SANITIZE AND NOT KILN_FUZZ)
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()
