# Tests that are scripts: headers, rules of the house, installation.
set(scripts ${CMAKE_CURRENT_SOURCE_DIR}/scripts)

function(kiln_add_script_test name)
    cmake_parse_arguments(TEST "" "" "LABELS;COMMAND" ${ARGN})
    add_test(NAME ${name} COMMAND sh ${TEST_COMMAND})
    kiln_test_properties(${name} ${TEST_LABELS})
endfunction()

# kiln_add_absent_test(name why): stands for a test that cannot be built here,
# so that it is told as skipped.
function(kiln_add_absent_test name why)
    kiln_add_script_test(${name} LABELS unit
        COMMAND ${scripts}/absent.sh ${scripts}/skip.sh ${name} ${why})
endfunction()

kiln_add_script_test(headers_compile_alone LABELS unit
    COMMAND ${scripts}/headers.sh ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER}
        ${CMAKE_CXX_COMPILER})
kiln_add_script_test(public_functions_are_documented LABELS docs
    COMMAND ${scripts}/documented.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(codes_are_listed LABELS docs
    COMMAND ${scripts}/codes.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(layers_keep_apart LABELS style
    COMMAND ${scripts}/layers.sh ${PROJECT_SOURCE_DIR}
        ${PROJECT_BINARY_DIR})
kiln_add_script_test(includes_are_plain LABELS style
    COMMAND ${scripts}/includes.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(layers_see_every_call LABELS style
    COMMAND ${scripts}/calls.sh ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
kiln_add_script_test(code_is_formatted LABELS style
    COMMAND ${scripts}/format.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(skips_say_why LABELS style
    COMMAND ${scripts}/skips_say_why.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(library_is_silent LABELS style
    COMMAND ${scripts}/silent.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(functions_are_short LABELS style
    COMMAND ${scripts}/function_length.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(rules_see_every_offence LABELS style
    COMMAND ${scripts}/rules.sh ${PROJECT_SOURCE_DIR})
kiln_add_script_test(one_spelling LABELS style
    COMMAND ${scripts}/one_spelling.sh ${PROJECT_SOURCE_DIR})

# The protocols of threads, processes and ranks, in every order of their steps.
kiln_add_script_test(protocols_hold LABELS unit tiers
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/protocol/check.sh
        ${CMAKE_CURRENT_SOURCE_DIR}/protocol ${PROJECT_BINARY_DIR}/protocol
        ${CMAKE_C_COMPILER})

# A sanitizer's runtime exports names of its own.
if(BUILD_SHARED_LIBS AND NOT KILN_SANITIZE AND NOT KILN_FUZZ)
    kiln_add_script_test(libkiln_exports_only_its_names LABELS abi
        COMMAND ${scripts}/symbols.sh $<TARGET_FILE:kiln> "kiln_[a-z]")
    if(TARGET kiln-codegen-opened)
        kiln_add_script_test(codegen_exports_one_name LABELS abi
            COMMAND ${scripts}/symbols.sh
                $<TARGET_FILE:kiln-codegen-opened> "kiln_codegen_exchange$")
    endif()
    kiln_add_script_test(libkiln_links_no_llvm LABELS abi
        COMMAND ${scripts}/no_llvm.sh $<TARGET_FILE:kiln>)
endif()

if(NOT KILN_SANITIZE AND NOT KILN_FUZZ)
    set(installed ${PROJECT_BINARY_DIR}/installed)
    kiln_add_script_test(install_into_a_tree LABELS install
        COMMAND ${scripts}/install.sh ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
            ${installed})
    set_tests_properties(install_into_a_tree PROPERTIES
        FIXTURES_SETUP installed_tree)
    foreach(way IN ITEMS cmake pkgconfig)
        kiln_add_script_test(consumer_builds_with_${way} LABELS install
            COMMAND ${scripts}/consumer_${way}.sh
                ${CMAKE_CURRENT_SOURCE_DIR}/consumer ${installed}
                ${PROJECT_BINARY_DIR}/consumer_${way} ${CMAKE_C_COMPILER}
                ${CMAKE_CXX_COMPILER})
        set_tests_properties(consumer_builds_with_${way} PROPERTIES
            FIXTURES_REQUIRED installed_tree)
    endforeach()
    kiln_add_script_test(consumer_links_archives LABELS install
        COMMAND ${scripts}/consumer_static.sh ${PROJECT_SOURCE_DIR}
            ${PROJECT_BINARY_DIR}/static ${CMAKE_C_COMPILER}
            ${CMAKE_CXX_COMPILER})
    # It builds the libraries anew.
    set_tests_properties(consumer_links_archives PROPERTIES TIMEOUT 900)
endif()

# The programs themselves, at their smallest.
if(TARGET kiln-bench)
    add_test(NAME benchmarks_run_once COMMAND kiln-bench --smoke)
    kiln_test_properties(benchmarks_run_once bench host)
    set_tests_properties(benchmarks_run_once PROPERTIES RUN_SERIAL ON)
    # The payload whose arrays grow with the turns, as often as when measured.
    add_test(NAME a_benchmark_of_groups_keeps_to_its_arrays
        COMMAND kiln-bench --filter reduce/group)
    kiln_test_properties(a_benchmark_of_groups_keeps_to_its_arrays bench host)
    add_test(NAME benchmarks_of_tier_2_run_once
        COMMAND kiln-bench-runtime --smoke)
    kiln_test_properties(benchmarks_of_tier_2_run_once bench host)
endif()
# The harness's families that start these programs, at their smallest. The
# simulation and the fits are tested for themselves.
find_program(KILN_PYTHON python3)
if(KILN_PYTHON)
    set(harness ${PROJECT_SOURCE_DIR}/bench/harness)
    add_test(NAME simulated_ranks_and_fits
        COMMAND ${KILN_PYTHON} -B ${harness}/test_ranks.py)
    kiln_test_properties(simulated_ranks_and_fits bench host)
    if(TARGET kiln-growth AND NOT KILN_SANITIZE AND NOT KILN_FUZZ
            AND EXISTS ${harness}/main.py)
        foreach(family scale growth simulation)
            add_test(NAME bench_smoke_${family}
                COMMAND ${KILN_PYTHON} -B ${harness}/main.py --quick
                    --only ${family} --bin $<TARGET_FILE_DIR:kiln-growth>)
            kiln_test_properties(bench_smoke_${family} bench host)
        endforeach()
    endif()
    # The programs that need no environment of Python's; what is not here is
    # told, and no failure.
    if(TARGET peer-kiln AND NOT KILN_SANITIZE AND NOT KILN_FUZZ)
        add_test(NAME bench_smoke_peers
            COMMAND ${KILN_PYTHON} -B ${harness}/main.py --quick --runs 1
                --only peers --bin $<TARGET_FILE_DIR:peer-kiln>)
        kiln_test_properties(bench_smoke_peers bench host)
        set_tests_properties(bench_smoke_peers PROPERTIES TIMEOUT 300)
    endif()
else()
    kiln_add_absent_test(bench_smoke "no python3")
endif()
if(TARGET kiln-bench-scale)
    add_test(NAME benchmarks_of_scale_run_once
        COMMAND kiln-bench-scale --smoke)
    kiln_test_properties(benchmarks_of_scale_run_once bench host)
endif()
if(TARGET kiln-bench AND TARGET kiln-command)
    kiln_add_script_test(readme_is_true LABELS docs host
        COMMAND ${scripts}/readme.sh ${PROJECT_SOURCE_DIR}
            $<TARGET_FILE_DIR:kiln-command>)
endif()
if(TARGET kiln-command)
    kiln_add_script_test(caching_is_true LABELS docs host
        COMMAND ${scripts}/caching.sh ${PROJECT_SOURCE_DIR}
            $<TARGET_FILE:kiln-command>)
endif()
if(TARGET saxpy)
    add_test(NAME example_saxpy COMMAND saxpy)
    kiln_test_properties(example_saxpy example host)
endif()
if(TARGET packed-pack)
    kiln_add_script_test(example_packed_finds_everything LABELS example host
        COMMAND ${scripts}/packed.sh $<TARGET_FILE:packed>
            ${kiln_packed_folder} ${PROJECT_SOURCE_DIR}/examples/packed)
endif()
if(TARGET tgv)
    foreach(type IN ITEMS f32 f64)
        foreach(case IN ITEMS "4;10" "6;4")
            list(GET case 0 log2n)
            list(GET case 1 steps)
            kiln_add_script_test(tgv_${log2n}_${type}_has_the_reference_figures
                LABELS example host
                COMMAND ${scripts}/tgv_figures.sh $<TARGET_FILE:tgv>
                    ${PROJECT_SOURCE_DIR}/examples/tgv
                    ${log2n} ${type} ${steps})
        endforeach()
        kiln_add_script_test(tgv_${type}_unchecked_has_the_reference_figures
            LABELS example host
            COMMAND ${scripts}/tgv_figures.sh $<TARGET_FILE:tgv>
                ${PROJECT_SOURCE_DIR}/examples/tgv 4 ${type} 10
                --unchecked --threads 2)
        if(TARGET plain-tgv-${type})
            kiln_add_script_test(plain_tgv_${type}_has_the_reference_figures
                LABELS bench host
                COMMAND ${scripts}/tgv_figures.sh $<TARGET_FILE:plain-tgv-${type}>
                    ${PROJECT_SOURCE_DIR}/examples/tgv 4 ${type} 10
                    --threads 1)
        endif()
    endforeach()
endif()
