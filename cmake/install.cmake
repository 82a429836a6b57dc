# Installs headers, libraries, CMake package, pkg-config file and kiln command.
include_guard()

set(kiln_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)

set(kiln_absent_headers "")
if(NOT KILN_OPENCL)
    set(kiln_absent_headers PATTERN opencl.h EXCLUDE)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" ${kiln_absent_headers})
install(TARGETS kiln EXPORT kiln-targets)
if(TARGET kiln-codegen-opened)
    install(TARGETS kiln-codegen-opened EXPORT kiln-targets)
    install(TARGETS kiln-codegen-worker
        DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/kiln)
    if(NOT BUILD_SHARED_LIBS)
        set_target_properties(kiln-codegen-opened PROPERTIES
            EXPORT_NAME kiln-codegen-opened)
        install(TARGETS kiln-codegen EXPORT kiln-targets)
    endif()
endif()
if(TARGET kiln-clang)
    install(TARGETS kiln-clang
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
if(TARGET kiln-command)
    install(TARGETS kiln-command)
endif()

install(EXPORT kiln-targets NAMESPACE kiln::
    DESTINATION ${kiln_package_folder})
configure_package_config_file(cmake/kiln-config.cmake.in
    ${PROJECT_BINARY_DIR}/kiln-config.cmake
    INSTALL_DESTINATION ${kiln_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kiln-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kiln-config.cmake
    ${PROJECT_BINARY_DIR}/kiln-config-version.cmake
    DESTINATION ${kiln_package_folder})

# kiln.pc computes the prefix from its own path, so the installed tree may be
# moved.
file(RELATIVE_PATH kiln_pc_prefix
    /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" kiln_pc_prefix "${kiln_pc_prefix}")
configure_file(cmake/kiln.pc.in ${PROJECT_BINARY_DIR}/kiln.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kiln.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
