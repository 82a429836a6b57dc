# The libraries: libkiln (without LLVM) and libkiln-codegen (with LLVM and lld).
include_guard()

function(kiln_add_objects name)
    add_library(${name} OBJECT ${ARGN})
    kiln_compile_as_ours(${name})
endfunction()

kiln_add_objects(kiln-common-objects ${kiln_common_sources})
target_include_directories(kiln-common-objects SYSTEM PRIVATE
    ${KILN_UTHASH_INCLUDE} ${KILN_XXHASH_INCLUDE})
kiln_add_objects(kiln-objects ${kiln_sources}
    ${kiln_generated}/runtime_sources.c)
target_include_directories(kiln-objects SYSTEM PRIVATE
    ${KILN_UTHASH_INCLUDE} ${KILN_XXHASH_INCLUDE}
    ${KILN_OPENCL_INCLUDE} ${KILN_LEVEL_ZERO_INCLUDE}
    ${KILN_LLVM_INCLUDE})

if(BUILD_SHARED_LIBS)
    target_compile_definitions(kiln-objects PRIVATE KILN_LIBM_BY_NAME)
endif()
target_compile_options(kiln-objects PRIVATE -ffunction-sections)
target_compile_options(kiln-common-objects PRIVATE -ffunction-sections)

# All objects of libkiln. Tests and benchmarks of hidden functions link them.
set(kiln_all_objects $<TARGET_OBJECTS:kiln-objects>
    $<TARGET_OBJECTS:kiln-common-objects> ${kiln_blake3})
add_library(kiln ${kiln_all_objects})
add_library(kiln::kiln ALIAS kiln)
target_include_directories(kiln PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(kiln PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
set_target_properties(kiln PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(BUILD_SHARED_LIBS)
    kiln_export_only(kiln ${PROJECT_SOURCE_DIR}/cmake/libkiln.map)
    # It needs only libraries of the system. A run path would make the dynamic
    # loader look for them in 72 other places first.
    set_target_properties(kiln PROPERTIES INSTALL_RPATH "")
    # A first use of Kiln calls most of the functions that it imports. Binding
    # them at once takes half as long as binding each at its first call.
    target_link_options(kiln PRIVATE -Wl,-z,pack-relative-relocs -Wl,-O1
        -Wl,-z,now)
    # The functions that a warm start calls are placed next to each other, so
    # that fewer pages are touched. scripts/order.sh writes the list.
    if(KILN_LLD_PROGRAM)
        set(kiln_start_order ${PROJECT_SOURCE_DIR}/cmake/order/kiln.list)
        get_filename_component(kiln_lld_folder ${KILN_LLD_PROGRAM} DIRECTORY)
        target_link_options(kiln PRIVATE -B${kiln_lld_folder} -fuse-ld=lld
            -Wl,--symbol-ordering-file=${kiln_start_order}
            -Wl,--no-warn-symbol-ordering)
        set_property(TARGET kiln APPEND PROPERTY
            LINK_DEPENDS ${kiln_start_order})
    endif()
endif()

if(kiln_codegen_sources)
    kiln_add_objects(kiln-codegen-objects ${kiln_codegen_sources})
    target_include_directories(kiln-codegen-objects SYSTEM PRIVATE
        ${KILN_LLVM_INCLUDE})
    if(KILN_SPIRV_TOOLS_ARCHIVE)
        target_compile_definitions(kiln-codegen-objects PRIVATE
            KILN_SPIRV_TOOLS_INSIDE)
    endif()

    # The library that libkiln opens at the first miss. It has no version in its
    # name, because both libraries check each other's build id.
    add_library(kiln-codegen-opened SHARED
        $<TARGET_OBJECTS:kiln-codegen-objects>)
    set_target_properties(kiln-codegen-opened PROPERTIES
        OUTPUT_NAME kiln-codegen LINKER_LANGUAGE CXX EXPORT_NAME kiln-codegen)
    add_library(kiln-common STATIC $<TARGET_OBJECTS:kiln-common-objects>)
    target_link_libraries(kiln-codegen-opened PRIVATE
        $<BUILD_INTERFACE:kiln-common> ${kiln_opened_libraries})
    if(KILN_LLVM_STATIC)
        include(cmake/codegen_link.cmake)
    endif()
    kiln_export_only(kiln-codegen-opened
        ${PROJECT_SOURCE_DIR}/cmake/libkiln-codegen.map)

    # The program of worker processes, which opens that library. libkiln looks
    # for it at ../libexec/kiln, relative to its own folder.
    add_executable(kiln-codegen-worker ${kiln_worker_sources}
        ${kiln_worker_parts})
    kiln_compile_as_ours(kiln-codegen-worker)
    target_link_libraries(kiln-codegen-worker PRIVATE kiln-common Threads::Threads
        ${CMAKE_DL_LIBS} m)
    set_target_properties(kiln-codegen-worker PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/kiln
        INSTALL_RPATH "")
    add_dependencies(kiln-codegen-opened kiln-codegen-worker)

    # kiln-codegen is that library, or an archive for static programs.
    if(BUILD_SHARED_LIBS)
        add_library(kiln-codegen ALIAS kiln-codegen-opened)
        set(kiln_codegen_target kiln-codegen-opened)
    else()
        add_library(kiln-codegen STATIC $<TARGET_OBJECTS:kiln-codegen-objects>)
        set_target_properties(kiln-codegen PROPERTIES LINKER_LANGUAGE CXX)
        target_link_libraries(kiln-codegen
            PUBLIC kiln PRIVATE ${kiln_codegen_libraries})
        set(kiln_codegen_target kiln-codegen)
    endif()
    add_library(kiln::kiln-codegen ALIAS ${kiln_codegen_target})
endif()
