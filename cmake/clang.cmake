# libkiln-clang, which compiles OpenCL C: clang as a library. It is built if
# clang's headers are installed. Only worker processes open it.
include_guard()

set(kiln_clang_header
    ${KILN_LLVM_ROOT}/lib/clang/${KILN_LLVM_VERSION}/include/opencl-c-base.h)
find_path(KILN_CLANG_INCLUDE clang/Frontend/CompilerInstance.h
    PATHS ${KILN_LLVM_ROOT}/include NO_DEFAULT_PATH)
set(kiln_has_clang OFF)
if(KILN_CLANG_INCLUDE AND EXISTS ${kiln_clang_header} AND kiln_codegen_sources)
    set(kiln_has_clang ON)
endif()
# AUTO is looked up each time: clang may be installed later.
set(KILN_CLANG AUTO CACHE STRING
    "Build the compiler of OpenCL C: ON, OFF, or AUTO, where clang's headers are")
if(NOT KILN_OPENCL)
    return()
elseif(KILN_CLANG STREQUAL "AUTO" AND NOT kiln_has_clang)
    message(STATUS "OpenCL C can be used from caches only: the headers of clang "
        "${KILN_LLVM_VERSION} are not installed")
    return()
elseif(NOT KILN_CLANG)
    return()
elseif(NOT kiln_has_clang)
    message(FATAL_ERROR "KILN_CLANG is on, and the headers of clang "
        "${KILN_LLVM_VERSION} are not in ${KILN_LLVM_ROOT}")
endif()

# Clang's own header for OpenCL C is embedded, so that nothing of clang has to
# be installed where kernels are compiled.
set(kiln_clang_prelude ${PROJECT_SOURCE_DIR}/src/clang/opencl_prelude.h)
add_custom_command(OUTPUT ${kiln_generated}/clang_base.c
    COMMAND ${CMAKE_COMMAND} -DHEADER=${kiln_clang_header}
        -DPRELUDE=${kiln_clang_prelude}
        -DOUTPUT=${kiln_generated}/clang_base.c
        -P ${PROJECT_SOURCE_DIR}/cmake/embed_clang.cmake
    DEPENDS ${kiln_clang_header} ${kiln_clang_prelude}
        ${PROJECT_SOURCE_DIR}/cmake/embed_clang.cmake
    COMMENT "Embedding clang's header for OpenCL C" VERBATIM)

add_library(kiln-clang SHARED ${kiln_clang_sources}
    ${kiln_generated}/clang_base.c)
kiln_compile_as_ours(kiln-clang)
set_target_properties(kiln-clang PROPERTIES LINKER_LANGUAGE CXX
    INSTALL_RPATH "")
# Clang's headers are included as the system's.
target_include_directories(kiln-clang SYSTEM PRIVATE ${KILN_LLVM_INCLUDE})
target_link_libraries(kiln-clang PRIVATE kiln-common)
kiln_export_only(kiln-clang ${PROJECT_SOURCE_DIR}/cmake/libkiln-clang.map)
add_dependencies(kiln-codegen-opened kiln-clang)

# Like libkiln-codegen, it contains LLVM by default: to open it takes 3 ms, and
# libclang-cpp and libLLVM take 30.
if(KILN_LLVM_STATIC)
    set(kiln_clang_archives "")
    foreach(part Frontend CodeGen Serialization Driver Options Parse Sema
        AnalysisLifetimeSafety Analysis APINotes Edit AST ASTMatchers Lex
        Support Basic)
        list(APPEND kiln_clang_archives ${KILN_LLVM_ROOT}/lib/libclang${part}.a)
    endforeach()
    execute_process(
        COMMAND ${KILN_LLVM_ROOT}/bin/llvm-config --link-static --libfiles
            core support bitwriter bitreader transformutils analysis
            frontendopenmp frontendhlsl frontenddirective frontenddriver
            frontendoffloading coverage profiledata targetparser option mc
            object passes
        OUTPUT_VARIABLE kiln_clang_llvm OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(kiln_clang_llvm)
    list(FILTER kiln_clang_llvm EXCLUDE REGEX "Polly")
    target_link_options(kiln-clang PRIVATE -Wl,--gc-sections
        -Wl,-z,pack-relative-relocs -Wl,-O1 -static-libstdc++ -static-libgcc)
    if(KILN_LLD_PROGRAM)
        get_filename_component(kiln_lld_folder ${KILN_LLD_PROGRAM} DIRECTORY)
        target_link_options(kiln-clang PRIVATE -B${kiln_lld_folder}
            -fuse-ld=lld)
    endif()
    target_link_libraries(kiln-clang PRIVATE
        -Wl,--start-group ${kiln_clang_archives} ${kiln_clang_llvm}
        -Wl,--end-group ${kiln_compression} Threads::Threads
        ${CMAKE_DL_LIBS} m)
else()
    find_library(KILN_CLANG_LIBRARY NAMES clang-cpp
            libclang-cpp.so.${KILN_LLVM_VERSION}.1
        PATHS ${KILN_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
    target_link_libraries(kiln-clang PRIVATE ${KILN_CLANG_LIBRARY}
        ${KILN_LLVM_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
