# The kiln command, the examples and the benchmarks, if their sources exist.
include_guard()

function(kiln_add_program name)
    kiln_glob(sources ${ARGN})
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    kiln_compile_as_ours(${name})
    target_link_libraries(${name} PRIVATE kiln::kiln Threads::Threads m)
    if(TARGET kiln-codegen-opened)
        add_dependencies(${name} kiln-codegen-opened)
    endif()
endfunction()

# It writes floats as kernels do, and uses only public functions of libkiln.
kiln_add_program(kiln-command tools/*.c src/base/data/float_text.c)
if(TARGET kiln-command)
    set_target_properties(kiln-command PROPERTIES OUTPUT_NAME kiln)
    if(KILN_OPENCL)
        target_compile_definitions(kiln-command PRIVATE KILN_OPENCL)
    endif()
endif()
kiln_add_program(tgv examples/tgv/*.c)
kiln_add_program(saxpy examples/saxpy/*.c)
kiln_add_program(packed examples/packed/*.c)
# The pack of the example `packed`, beside its package, as it would be
# installed. The kiln command makes it for several processors, which the build
# machine need not have.
if(TARGET packed AND TARGET kiln-command AND TARGET kiln-codegen-opened)
    set(kiln_packed_folder ${PROJECT_BINARY_DIR}/packed)
    set(packed_sources ${PROJECT_SOURCE_DIR}/examples/packed)
    add_custom_command(OUTPUT ${kiln_packed_folder}/filters.kilnpack
        COMMAND ${CMAKE_COMMAND} -E make_directory ${kiln_packed_folder}
        COMMAND ${CMAKE_COMMAND} -E copy ${packed_sources}/filters.kiln
            ${kiln_packed_folder}
        COMMAND ${CMAKE_COMMAND} -E env
            KILN_CODEGEN_PATH=$<TARGET_FILE:kiln-codegen-opened>
            $<TARGET_FILE:kiln-command> precompile filters.kiln
            --workload ${packed_sources}/filters.jobs --target host:x86-64
            --target host:x86-64-v3 --target host:x86-64-v4
            -o filters.kilnpack
        DEPENDS ${packed_sources}/filters.kiln ${packed_sources}/filters.jobs
            kiln-command kiln-codegen-opened
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/packed
        COMMENT "Precompiling the kernels of the example" VERBATIM)
    file(MAKE_DIRECTORY ${kiln_packed_folder})
    add_custom_target(packed-pack ALL
        DEPENDS ${kiln_packed_folder}/filters.kilnpack)
endif()
if(KILN_BENCH)
    kiln_add_program(kiln-bench bench/*.c)
    target_link_libraries(kiln-bench PRIVATE ${CMAKE_DL_LIBS})
    if(KILN_TESTS)
        target_compile_definitions(kiln-bench PRIVATE
            BENCH_FAKE_CUDA="${PROJECT_BINARY_DIR}/tests/fake_gpu/libcuda.so.1")
        add_dependencies(kiln-bench kiln-fake-gpu)
    endif()
endif()
if(KILN_BENCH)
    kiln_add_program(kiln-many bench/many/*.c)
    kiln_add_program(kiln-instructions bench/instructions/*.c)
endif()
# The same saxpy through NVRTC, which the program opens at run time.
if(KILN_BENCH)
    add_executable(nvrtc-saxpy bench/peers/nvrtc_saxpy.c bench/peers/nvrtc.c)
    kiln_compile_as_ours(nvrtc-saxpy)
    target_link_libraries(nvrtc-saxpy PRIVATE ${CMAKE_DL_LIBS})
endif()
# The same saxpy through OpenCL, if its loader is installed.
find_library(KILN_OPENCL_LOADER OpenCL)
if(KILN_BENCH AND KILN_OPENCL_LOADER)
    add_executable(pocl-saxpy bench/peers/pocl_saxpy.c)
    kiln_compile_as_ours(pocl-saxpy)
    target_compile_options(pocl-saxpy PRIVATE -w)
    target_include_directories(pocl-saxpy SYSTEM PRIVATE
        ${KILN_OPENCL_INCLUDE})
    target_link_libraries(pocl-saxpy PRIVATE ${KILN_OPENCL_LOADER})
endif()
if(KILN_BENCH)
    add_subdirectory(bench)
endif()
# kiln_add_inner_bench(name tables sources...): benchmarks of functions that
# libkiln does not export. They are linked with its objects.
function(kiln_add_inner_bench name tables)
    add_executable(${name} bench/bench.c bench/bench_tools.c ${ARGN}
        ${kiln_all_objects})
    kiln_compile_as_ours(${name})
    target_compile_definitions(${name} PRIVATE "BENCH_TABLES=${tables}")
    target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
    add_dependencies(${name} kiln-codegen-opened)
endfunction()

if(KILN_BENCH AND TARGET kiln-codegen-opened)
    kiln_glob(runtime_sources bench/runtime/*.c)
    kiln_add_inner_bench(kiln-bench-runtime
        bench_runtime,bench_stored,bench_targets,bench_packs,bench_loose,bench_facts
        ${runtime_sources})
    target_compile_definitions(kiln-bench-runtime PRIVATE
        BENCH_KERNELS="${PROJECT_SOURCE_DIR}/bench/kernels")
    # It contains its own code generator.
    kiln_add_inner_bench(kiln-bench-scale bench_lookups
        bench/scale/bench_lookup.c bench/scale/many.c)
    # Programs that the benchmarks start many times.
    kiln_add_program(kiln-crowd bench/scale/crowd.c bench/scale/kernels.c
        bench/bench_tools.c)
    kiln_add_program(kiln-growth bench/scale/growth*.c bench/scale/kernels.c
        bench/bench_tools.c)
endif()
if(TARGET tgv)
    # source.c includes the kernels' text with the assembler's .incbin.
    set(tgv_folder ${PROJECT_SOURCE_DIR}/examples/tgv)
    set_source_files_properties(${tgv_folder}/source.c PROPERTIES
        COMPILE_OPTIONS "-Wa,-I${tgv_folder}"
        OBJECT_DEPENDS ${tgv_folder}/tgv.kiln)
endif()

# The example's kernels in plain C, to compare the speed with. They are built
# for the build machine's processor, because they are measured there.
if(KILN_BENCH)
    find_package(OpenMP COMPONENTS C)
endif()
if(TARGET kiln-bench AND OpenMP_C_FOUND AND NOT KILN_SANITIZE)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/bench/plain_dot.c
        PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffast-math;-fopenmp")
    target_link_libraries(kiln-bench PRIVATE OpenMP::OpenMP_C)
endif()
if(KILN_BENCH AND OpenMP_C_FOUND AND NOT KILN_SANITIZE)
    kiln_glob(plain_sources bench/plain_c/*.c)
    foreach(type float double)
        set(name plain-tgv-f32)
        if(type STREQUAL double)
            set(name plain-tgv-f64)
        endif()
        add_executable(${name} ${plain_sources})
        kiln_compile_as_ours(${name})
        target_compile_definitions(${name} PRIVATE REAL=${type})
        target_compile_options(${name} PRIVATE
            -O3 -march=native -fno-math-errno)
        target_link_libraries(${name} PRIVATE OpenMP::OpenMP_C m)
    endforeach()
    # The program that compares launches which follow each other.
    kiln_add_program(kiln-sequence bench/sequence/*.c)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/bench/sequence/side_openmp.c
        PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
    target_link_libraries(kiln-sequence PRIVATE OpenMP::OpenMP_C)
endif()
