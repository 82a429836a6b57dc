# The source lists. A file's folder says which library it is in (src/README.md).
include_guard()

# kiln_glob(out pattern...): finds files. Patterns and results are relative to
# the repository root.
function(kiln_glob out)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# Both libraries contain these as far as they use them. Each has its own hidden
# copy, unless both are archives that are linked into one program.
kiln_glob(kiln_common_sources src/base/*.c src/base/data/*.c src/base/system/*.c
    src/base/toolchain/*.c src/ir/*.c)

# The code-generating half of a backend is the folder codegen inside its folder.
kiln_glob(kiln_codegen_sources src/codegen/*.c src/codegen/*.cc
    src/codegen/*/*.c src/codegen/*/*.cc
    src/codegen/*/*/*.c src/codegen/*/*/*.cc
    src/backends/*/codegen/*.c src/backends/*/codegen/*.cc)

# Optional: compiles OpenCL C. Only worker processes open it.
kiln_glob(kiln_clang_sources src/clang/*.c src/clang/*.cc)

# The program of worker processes, and the files of libkiln that it needs.
kiln_glob(kiln_worker_sources src/codegen_client/worker/*.c)
set(kiln_worker_parts src/codegen_client/codegen_wire.c
    src/codegen_client/source_wire.c src/codegen_client/wire_fields.c
    src/codegen_client/wire_settings.c)

kiln_glob(kiln_sources src/base/digest/*.c
    src/context/*.c src/context/*/*.c src/stores/*.c src/stores/*/*.c
    src/codegen_client/*.c src/tiers/*.c src/tiers/*/*.c
    src/frontend/*.c src/frontend/*/*.c src/pipeline/*.c src/pipeline/*/*.c
    src/backends/*.c src/backends/*/*.c src/backends/spirv/*/*.c)
list(FILTER kiln_sources EXCLUDE REGEX "/codegen/")
if(NOT KILN_OPENCL)
    list(FILTER kiln_sources EXCLUDE REGEX "^src/frontend/opencl/")
endif()

kiln_glob(kiln_runtime_sources src/runtime/*.kiln)
kiln_glob(kiln_runtime_packages src/runtime/packages/*.kiln)
kiln_glob(kiln_headers src/*/*.h src/*/*/*.h src/*/*/*/*.h)
kiln_glob(kiln_public_headers include/kiln.h include/kiln/*.h
    include/kiln/sys/*.h)
