/* test_opencl_targets.c - kernels in OpenCL C are code on every target. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend host cuda rocm spirv */
#include <string.h>

#include "codegen_client/source_compile.h"
#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"

static kiln_context *context;
static kiln_opencl_program *program;

/* Each takes an array of f32. */
static const char text[] =
    "kernel void private_pointers(global float *x)\n"
    "{\n"
    "    float p[4], s, c;\n"
    "    int e;\n"
    "    for (int i = 0; i < 4; i++)\n"
    "        p[i] = x[i];\n"
    "    x[0] = frexp(x[1], &e) + e;\n"
    "    s = sincos(x[2], &c);\n"
    "    vstore2((float2)(s, c), (int)x[3], p);\n"
    "    x[1] = vload2(1, p).y;\n"
    "}\n"
    "kernel void pointers_of_all_kinds(global float *x)\n"
    "{\n"
    "    local float l[4];\n"
    "    float p;\n"
    "    l[get_local_id(0) & 3] = fract(x[0], x + 1);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x[2] = modf(x[3], l) + modf(x[4], &p) + l[1] + p;\n"
    "}\n"
    "kernel void fences(global float *x)\n"
    "{\n"
    "    x[0] = 1;\n"
    "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    x[1] = 2;\n"
    "    read_mem_fence(CLK_LOCAL_MEM_FENCE);\n"
    "    write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    x[2] = 3;\n"
    "}\n"
    "kernel void conversions(global float *x)\n"
    "{\n"
    "    uchar4 b = convert_uchar4_sat_rte(vload4(0, x));\n"
    "    vstore4(as_float4(convert_uint4(b)), 1, x);\n"
    "    x[9] = dot(vload3(0, x), cross(vload3(1, x), vload3(2, x)));\n"
    "}\n"
    "kernel void atomics(global float *x)\n"
    "{\n"
    "    volatile global int *n = (volatile global int *)x;\n"
    "    atomic_add(n, 2);\n"
    "    atomic_cmpxchg(n + 1, 1, 3);\n"
    "    atomic_max(n + 2, atomic_xchg(n + 3, 4));\n"
    "}\n"
    "kernel void prints(global float *x)\n"
    "{\n"
    "    printf(\"%d %s %v4hlf\\n\", (int)get_global_id(0), \"text\",\n"
    "           vload4(0, x));\n"
    "}\n";

static const char *const kernels[] = {
    "private_pointers", "pointers_of_all_kinds",
    "fences",           "conversions",
    "atomics",          "prints"};

static void compile_all(const char *target, int32_t form)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    const kiln_type *type;

    options.target = target;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    assert_ok(kiln_type_parse(&type, context, NULL, "f32[:]", &test_error));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        kiln_signature call = {NULL, &type, 1};
        kiln_blob code;

        assert_ok(kiln_opencl_function(&call.function, program, kernels[i],
                                       &test_error));
        assert_ok(
            kiln_emit(&code, context, &call, config, 0, form, &test_error));
        kiln_blob_release(&code);
    }
}

static void the_host_has_code(void **state)
{
    (void)state;
    compile_all("host", KILN_EMIT_BINARY);
}

static void cuda_has_code(void **state)
{
    (void)state;
    compile_all("cuda:sm_80", KILN_EMIT_ASM);
}

static void rocm_has_code(void **state)
{
    (void)state;
    compile_all("rocm:gfx906", KILN_EMIT_BINARY);
}

static void spirv_has_code(void **state)
{
    (void)state;
    compile_all("spirv", KILN_EMIT_BINARY);
}

static int has_clang(void)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];

    kiln__source_compiler(id, context);
    return id[0] != '\0';
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_has_code),
        cmocka_unit_test(cuda_has_code),
        cmocka_unit_test(rocm_has_code),
        cmocka_unit_test(spirv_has_code),
    };
    int failed = 0;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    if (!has_clang()) {
        kiln_context_free(context);
        return program_skip(SKIP_PACKAGE, "clang's headers, for OpenCL C");
    }
    assert_ok(kiln_opencl_new(&program, context, "all", &test_error));
    assert_ok(kiln_opencl_define(program, "all.cl", text, strlen(text), NULL,
                                 NULL, &test_error));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    kiln_context_free(context);
    return failed;
}
