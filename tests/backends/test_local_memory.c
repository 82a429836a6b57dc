/* test_local_memory.c - what kernels say of the memory that a group needs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen cuda rocm spirv */
/* LINKS: codegen */
#include <string.h>

#include <llvm-c/IRReader.h>

#include "backends/device/codegen/device_codegen.h"

#include "kiln.h"
#include "support/harness.h"

/* ---- of a module ---- */

static uint32_t count(const char *variables)
{
    kiln__codegen_job job = {.context = LLVMContextCreate()};
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        variables, strlen(variables), "");

    assert_int_equal(
        LLVMParseIRInContext2(job.context, buffer, &job.module, &message), 0);
    job.layout = LLVMCreateTargetData("e-p3:32:32-i64:64-v128:128");
    job.static_local_bytes = 77;
    kiln__device_count_local(&job);
    LLVMDisposeTargetData(job.layout);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMDisposeModule(job.module);
    LLVMContextDispose(job.context);
    return job.static_local_bytes;
}

static void variables_of_a_group_are_counted_whoever_made_them(void **state)
{
    (void)state;
    assert_int_equal(count(""), 0);
    assert_int_equal(count("@c = internal constant [9 x i32] zeroinitializer\n"
                           "@g = internal addrspace(1) global i64 0\n"),
                     0);
    assert_int_equal(
        count("@t = internal addrspace(3) global [33 x [32 x float]] undef\n"),
        4224);
    assert_int_equal(count("@a = internal addrspace(3) global i8 undef\n"
                           "@b = internal addrspace(3) global i64 undef\n"
                           "@c = internal addrspace(3) global i8 undef,"
                           " align 64\n"),
                     65);
}

/* ---- of kernels ---- */

static const char program[] = "kernel own(y)\n"
                              "    local t = f32[33, 32]\n"
                              "    l = local_id(0)\n"
                              "    t[l, 0] = y[l]\n"
                              "    barrier()\n"
                              "    y[l] = t[31 - l, 0]\n"
                              "end\n"
                              "kernel unused(y)\n"
                              "    local t = f32[33, 32]\n"
                              "    y[0] = 1\n"
                              "end\n"
                              "kernel sum(y)\n"
                              "    y[0] = group_add(y[global_id(0)])\n"
                              "end\n";

static kiln_context *context;

static uint32_t local_bytes(const char *kernel, const char *target)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_package *package = NULL;
    const kiln_config *config = NULL;
    kiln_device *device = NULL;
    const kiln_kernel *compiled = NULL;
    const kiln_type *type = NULL;
    kiln_signature signature = {NULL, &type, 1};
    uint32_t bytes;

    options.target = target;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    assert_ok(kiln_device_open_offline(&device, context, config, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "local.kiln", program,
                                  sizeof program - 1, NULL, &test_error));
    assert_ok(kiln_package_function(&signature.function, package, kernel,
                                    &test_error));
    assert_ok(kiln_type_parse(&type, context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_compile(&compiled, context, &signature, config, NULL,
                           &test_error));
    bytes = kiln_artifact_kernel(kiln_kernel_artifact(compiled), 0)
                ->static_local_bytes;
    kiln_device_close(device);
    return bytes;
}

static void kernels_tell_what_their_groups_need(void **state)
{
    static const char *const targets[] = {"cuda:sm_80", "rocm:gfx90a",
                                          "spirv:1.4"};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
        uint32_t own;

        options.codegen_exchange = kiln_codegen_exchange;
        assert_ok(kiln_context_new(&context, &options, &test_error));
        own = local_bytes("own", targets[i]);
        /* A word or two of the backend's may stand beside it. */
        assert_true(own >= 4224 && own <= 4224 + 64);
        kiln_context_free(context);
        assert_ok(kiln_context_new(&context, &options, &test_error));
        assert_int_equal(local_bytes("unused", targets[i]), 0);
        kiln_context_free(context);
        assert_ok(kiln_context_new(&context, &options, &test_error));
        assert_true(local_bytes("sum", targets[i]) >= 4 * 32);
        kiln_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_a_group_are_counted_whoever_made_them),
        cmocka_unit_test(kernels_tell_what_their_groups_need),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
