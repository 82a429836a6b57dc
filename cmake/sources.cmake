# Which file belongs to which library.
include_guard()

# kiln_glob(out pattern...): patterns and results are relative to the root.
function(kiln_glob out)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# Both libraries have these; each keeps its own copy hidden, unless both are
# archives that end in one program.
set(kiln_common_sources
    src/arena.c src/array.c src/device_math.c src/loader.c src/memory.c
    src/report.c
    src/process.c src/temporary.c src/tool_files.c src/tool_run.c
    src/ptxas.c src/stack.c src/file_stamp.c
    src/ir/ir.c src/ir/ir_binary.c src/ir/ir_rules.c
    src/ir/ir_verify.c src/ir/ir_uniform.c
    src/ir/ir_uniform_check.c)

kiln_glob(kiln_lower_sources src/lower/*.c)
kiln_glob(kiln_codegen_halves src/backends/codegen*.c
    src/backends/*_codegen.c src/backends/llvm_gap*.cc)
kiln_glob(kiln_codegen_sources src/codegen/*.c src/codegen/*.cc)
list(APPEND kiln_codegen_sources ${kiln_lower_sources} ${kiln_codegen_halves})

# The program of worker processes, with what it needs of libkiln.
kiln_glob(kiln_worker_sources src/worker/*.c)
set(kiln_worker_parts src/build_id.c src/codegen_wire.c src/dynlib.c
    src/encoder.c src/file.c src/reader.c src/thread.c)

kiln_glob(kiln_sources src/*.c src/ir/*.c src/frontend/*.c src/tiers/*.c
    src/stores/*.c src/backends/*.c)
if(kiln_codegen_sources)
    list(REMOVE_ITEM kiln_sources ${kiln_codegen_sources})
endif()
list(REMOVE_ITEM kiln_sources ${kiln_common_sources})
foreach(file IN LISTS kiln_common_sources)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
        list(REMOVE_ITEM kiln_common_sources ${file})
    endif()
endforeach()

kiln_glob(kiln_runtime_sources src/runtime/*.kiln)
kiln_glob(kiln_runtime_packages src/runtime/packages/*.kiln)
kiln_glob(kiln_headers src/*.h src/*/*.h)
kiln_glob(kiln_public_headers include/kiln.h include/kiln/*.h
    include/kiln/sys/*.h)
