# Finds the dependencies. Only libkiln-codegen uses LLVM and lld.
include_guard()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_path(KILN_UTHASH_INCLUDE uthash.h REQUIRED)
find_path(KILN_XXHASH_INCLUDE xxhash.h REQUIRED)

# OpenCL and Level Zero are opened at run time, so only headers are needed.
find_path(KILN_OPENCL_INCLUDE CL/cl.h REQUIRED)
find_path(KILN_LEVEL_ZERO_INCLUDE level_zero/ze_api.h REQUIRED)

set(KILN_LLVM_VERSION 22)
set(KILN_LLVM_ROOT /usr/lib/llvm-${KILN_LLVM_VERSION} CACHE PATH
    "Where LLVM is installed")
find_path(KILN_LLVM_INCLUDE llvm-c/Core.h
    PATHS ${KILN_LLVM_ROOT}/include NO_DEFAULT_PATH REQUIRED)
find_library(KILN_LLVM_LIBRARY LLVM-${KILN_LLVM_VERSION}
    PATHS ${KILN_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
find_library(KILN_LLD_ELF lldELF
    PATHS ${KILN_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
find_library(KILN_LLD_COMMON lldCommon
    PATHS ${KILN_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
# lld's archives compress debug sections with these.
find_library(KILN_ZLIB z REQUIRED)
find_library(KILN_ZSTD zstd REQUIRED)

# SPIRV-Tools, the library behind spirv-val, checks SPIR-V modules. If its
# archive is missing, a shared library is looked for at run time.
find_library(KILN_SPIRV_TOOLS_ARCHIVE libSPIRV-Tools.a)
set(kiln_spirv_tools "")
if(KILN_SPIRV_TOOLS_ARCHIVE)
    set(kiln_spirv_tools ${KILN_SPIRV_TOOLS_ARCHIVE})
endif()

set(kiln_codegen_libraries ${KILN_LLD_ELF} ${KILN_LLD_COMMON}
    ${KILN_LLVM_LIBRARY} ${KILN_ZLIB} ${KILN_ZSTD} ${kiln_spirv_tools}
    Threads::Threads)

# By default libkiln-codegen.so contains LLVM: this takes a quarter of the time
# to load, and the host's own LLVM, if it has one, is not affected.
set(kiln_llvm_static ON)
if(KILN_SANITIZE OR KILN_FUZZ)
    set(kiln_llvm_static OFF)
endif()
option(KILN_LLVM_STATIC "Link libkiln-codegen.so with LLVM's archives"
    ${kiln_llvm_static})
set(kiln_opened_libraries ${kiln_codegen_libraries})
if(KILN_LLVM_STATIC)
    execute_process(
        COMMAND ${KILN_LLVM_ROOT}/bin/llvm-config --link-static --libfiles
            x86codegen x86desc x86info nvptxcodegen nvptxdesc nvptxinfo
            amdgpucodegen amdgpudesc amdgpuinfo spirvcodegen spirvdesc
            spirvinfo passes irreader bitreader bitwriter
            lto dtlto option object
        OUTPUT_VARIABLE kiln_llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(kiln_llvm_archives)
    list(FILTER kiln_llvm_archives EXCLUDE REGEX "Polly")
    # Other libraries are linked from archives, too, where there are archives:
    # each shared library takes time to load, libstdc++ most of all.
    find_library(KILN_ZLIB_ARCHIVE libz.a)
    find_library(KILN_ZSTD_ARCHIVE libzstd.a)
    if(KILN_ZLIB_ARCHIVE AND KILN_ZSTD_ARCHIVE)
        set(kiln_compression ${KILN_ZLIB_ARCHIVE} ${KILN_ZSTD_ARCHIVE})
    else()
        set(kiln_compression ${KILN_ZLIB} ${KILN_ZSTD})
    endif()
    set(kiln_opened_libraries ${KILN_LLD_ELF} ${KILN_LLD_COMMON}
        ${kiln_llvm_archives} ${kiln_compression} ${kiln_spirv_tools}
        Threads::Threads ${CMAKE_DL_LIBS} m)
    # If lld is installed, it links the library, because it can order functions
    # (cmake/codegen_link.cmake).
    find_program(KILN_LLD_PROGRAM ld.lld PATHS ${KILN_LLVM_ROOT}/bin NO_DEFAULT_PATH)
endif()
