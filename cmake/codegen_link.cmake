# Links libkiln-codegen with LLVM's archives. The options keep the time to open
# it short, because that is most of the time of a process's first kernel.
include_guard()

# muldefs: src/codegen/elf/llvm_gap_lld.cc replaces some of LLVM's functions.
# The linker takes the first definition, which is that of llvm_gap_lld.cc.
target_link_options(kiln-codegen-opened PRIVATE -Wl,-z,muldefs
    -Wl,--gc-sections -Wl,-z,pack-relative-relocs -Wl,-O1)
# The library loads no other library than the system's C library.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_link_options(kiln-codegen-opened PRIVATE
        -static-libstdc++ -static-libgcc)
endif()
set_target_properties(kiln-codegen-opened PROPERTIES INSTALL_RPATH "")
target_sources(kiln-codegen-opened PRIVATE
    ${PROJECT_SOURCE_DIR}/cmake/order/stays.c)
kiln_compile_as_ours(kiln-codegen-opened)

# The functions that compiling calls are placed next to each other, in the order
# of their first call, so that fewer pages are touched. scripts/order.sh writes
# the list.
if(KILN_LLD_PROGRAM)
    set(kiln_order_folder ${PROJECT_SOURCE_DIR}/cmake/order)
    set(kiln_order ${PROJECT_BINARY_DIR}/generated/codegen_order.txt)
    add_executable(kiln-order ${kiln_order_folder}/order.c)
    kiln_compile_as_ours(kiln-order)
    add_custom_command(OUTPUT ${kiln_order}
        COMMAND ${kiln_order_folder}/names.sh $<TARGET_FILE:kiln-order>
            ${kiln_order_folder}/codegen.list ${kiln_order}
            ${KILN_LLD_ELF} ${KILN_LLD_COMMON} ${kiln_llvm_archives}
        DEPENDS kiln-order ${kiln_order_folder}/codegen.list
            ${kiln_order_folder}/names.sh
        COMMENT "Ordering the functions of LLVM" VERBATIM)
    add_custom_target(kiln-codegen-order DEPENDS ${kiln_order})
    add_dependencies(kiln-codegen-opened kiln-codegen-order)
    set_property(TARGET kiln-codegen-opened APPEND PROPERTY
        LINK_DEPENDS ${kiln_order})
    get_filename_component(kiln_lld_folder ${KILN_LLD_PROGRAM} DIRECTORY)
    target_link_options(kiln-codegen-opened PRIVATE
        -B${kiln_lld_folder} -fuse-ld=lld
        -Wl,--symbol-ordering-file=${kiln_order}
        -Wl,--no-warn-symbol-ordering)
endif()
