# How every target of ours is compiled and linked.
include_guard()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(KILN_WERROR)
    set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()
# A release carries the line tables and nothing of the machine it was made on.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

# A small structure is cleared by stores: `rep stos` takes longer to begin than
# most of a launch does.
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

# Sanitizers apply to everything that is linked into one process.
if(KILN_SANITIZE)
    add_compile_options(-fsanitize=${KILN_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KILN_SANITIZE})
endif()
if(KILN_FUZZ AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# kiln_compile_as_ours(target): language, warnings, visibility, include path.
# The folder src is searched for "names" only: some of its headers are called
# like a system's.
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

# kiln_export_only(target script): a shared library's exported names. Its own
# calls of these go straight to them. clang leaves the sanitizers' runtime in
# the executable, and the library then has undefined symbols.
function(kiln_export_only target script)
    target_link_options(${target} PRIVATE
        -Wl,--version-script=${script} -Wl,--exclude-libs,ALL
        -Wl,-Bsymbolic-functions)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    if(NOT KILN_SANITIZE AND NOT KILN_FUZZ)
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()
