# Generated sources: the build id and the embedded runtime sources.
include_guard()

set(kiln_generated ${PROJECT_BINARY_DIR}/generated)
set(kiln_hashed_files ${kiln_sources} ${kiln_codegen_sources}
    ${kiln_worker_sources} ${kiln_clang_sources} ${kiln_common_sources}
    ${kiln_runtime_sources}
    ${kiln_runtime_packages} ${kiln_headers} ${kiln_public_headers})
list(SORT kiln_hashed_files)
list(JOIN kiln_hashed_files "\n" kiln_hashed_lines)
file(CONFIGURE OUTPUT ${kiln_generated}/hashed_files.txt
    CONTENT "@kiln_hashed_lines@\n" @ONLY)

# KILN_BUILD_ID is in a generated header that is included only in the few files
# that mention it, so that an edit anywhere recompiles only those.
list(TRANSFORM kiln_hashed_files PREPEND ${PROJECT_SOURCE_DIR}/
    OUTPUT_VARIABLE kiln_hashed_paths)
add_custom_command(
    OUTPUT ${kiln_generated}/kiln_build_id.h
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
        -DLIST=${kiln_generated}/hashed_files.txt
        -DCOMPILER=${CMAKE_C_COMPILER_ID}-${CMAKE_C_COMPILER_VERSION}
        -DOUTPUT=${kiln_generated}/kiln_build_id.h
        -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
    DEPENDS ${kiln_hashed_paths} ${kiln_generated}/hashed_files.txt
        ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
    COMMENT "Hashing the sources" VERBATIM)

foreach(file IN LISTS kiln_sources kiln_common_sources kiln_codegen_sources
    kiln_worker_sources kiln_clang_sources)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(STRINGS ${file} uses REGEX "KILN_BUILD_ID" LIMIT_COUNT 1)
    if(uses)
        set_source_files_properties(${file} PROPERTIES
            COMPILE_OPTIONS "-include;${kiln_generated}/kiln_build_id.h"
            OBJECT_DEPENDS ${kiln_generated}/kiln_build_id.h)
    endif()
endforeach()

list(TRANSFORM kiln_runtime_sources PREPEND ${PROJECT_SOURCE_DIR}/
    OUTPUT_VARIABLE kiln_runtime_paths)
list(TRANSFORM kiln_runtime_packages PREPEND ${PROJECT_SOURCE_DIR}/
    OUTPUT_VARIABLE kiln_package_paths)
add_custom_command(
    OUTPUT ${kiln_generated}/runtime_sources.c
    COMMAND ${CMAKE_COMMAND} "-DFILES=${kiln_runtime_paths}"
        "-DPACKAGES=${kiln_package_paths}"
        -DOUTPUT=${kiln_generated}/runtime_sources.c
        -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${kiln_runtime_paths} ${kiln_package_paths}
        ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        ${kiln_generated}/hashed_files.txt
    COMMENT "Embedding the runtime sources" VERBATIM)
