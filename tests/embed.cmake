# Programs that use only the installed headers and the public library: each
# folder of tests/embed is one. `/* LINKS: llvm */` in one of its files gives
# it LLVM's C API.
file(GLOB embed_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true
    ${CMAKE_CURRENT_SOURCE_DIR}/embed/*)
foreach(folder IN LISTS embed_folders)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    if(NOT sources)
        continue()
    endif()
    get_filename_component(name ${folder} NAME)
    add_executable(embed_${name} ${sources})
    set_target_properties(embed_${name} PROPERTIES
        C_STANDARD 11 C_EXTENSIONS OFF
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_compile_definitions(embed_${name} PRIVATE _GNU_SOURCE)
    target_compile_options(embed_${name} PRIVATE -Wall -Wextra -Wpedantic)
    target_link_libraries(embed_${name} PRIVATE kiln::kiln Threads::Threads m)
    foreach(source IN LISTS sources)
        kiln_read_comment(links ${source} LINKS)
        if("llvm" IN_LIST links)
            target_link_libraries(embed_${name} PRIVATE ${KILN_LLVM_LIBRARY})
            target_include_directories(embed_${name} SYSTEM PRIVATE
                ${KILN_LLVM_INCLUDE})
        endif()
    endforeach()
    add_test(NAME embed_${name} COMMAND embed_${name})
    kiln_test_properties(embed_${name} embed host)
    if(TARGET kiln-codegen-opened)
        add_dependencies(embed_${name} kiln-codegen-opened)
    endif()
endforeach()
