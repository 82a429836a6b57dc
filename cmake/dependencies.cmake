# What the libraries are built on: LLVM and lld for code generation only.
include_guard()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_path(KILN_UTHASH_INCLUDE uthash.h REQUIRED)
find_path(KILN_XXHASH_INCLUDE xxhash.h REQUIRED)

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

set(kiln_codegen_libraries ${KILN_LLD_ELF} ${KILN_LLD_COMMON}
    ${KILN_LLVM_LIBRARY} ${KILN_ZLIB} ${KILN_ZSTD} Threads::Threads)
