/* spirv_kernels.c - kernels in SPIR-V, loaded as tier 3 would load them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "spirv_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/device_abi.h"
#include "abi/host_abi.h"
#include "backends/backend.h"
#include "context/keys/settings.h"
#include "context/types/types.h"

const spirv_program spirv_saxpy = {.name = "saxpy",
                                   .types = {"f32[:]", "f32", "f32[:]"}};
const spirv_program spirv_members = {
    .name = "members",
    .types = {"f64[:]", "i8", "i16", "f64", "(i32, f64, i8)"}};
const spirv_program spirv_turn = {.name = "turn", .types = {"i32[:]"}};
const spirv_program spirv_raise = {
    .name = "raise", .types = {"i32[:]"}, .hidden = KILN__HIDDEN_COUNT};
const spirv_program spirv_keep = {
    .name = "keep", .types = {"i64[:]"}, .hidden = KILN__HIDDEN_HEAP};
const spirv_program spirv_say = {
    .name = "say", .types = {"i64"}, .hidden = KILN__HIDDEN_COUNT};
const spirv_program spirv_place = {.name = "place", .types = {"i64[:,:,:]"}};
const spirv_program spirv_work = {.name = "work", .types = {"i64[:]", "i64"}};
const spirv_program spirv_either = {.name = "either",
                                    .types = {"i64[:]", "i64"}};

void *spirv_kernels_read(size_t *size)
{
    FILE *file = fopen(KILN_SPIRV_KERNELS, "rb");
    void *bytes;
    long end;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    end = ftell(file);
    assert_true(end > 0);
    rewind(file);
    bytes = malloc((size_t)end);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)end, file), end);
    (void)fclose(file);
    *size = (size_t)end;
    return bytes;
}

/* ---- the table of reports ---- */

static size_t put(unsigned char *to, size_t at, const void *bytes, size_t size)
{
    memcpy(to + at, bytes, size);
    return at + size;
}

static size_t put_u32(unsigned char *to, size_t at, uint32_t number)
{
    return put(to, at, &number, sizeof number);
}

/* Report 0 is an exception, report 1 prints "item I\n". */
static size_t make_reports(unsigned char *to)
{
    size_t at = put_u32(to, 0, 2);

    at = put_u32(to, at, 12);
    at = put_u32(to, at, 0); /* known below */
    at = put_u32(to, at, KILN__REPORT_EXCEPTION);
    at = put_u32(to, at, KILN_EXCEPTION_BOUNDS);
    at = put_u32(to, at, 7);
    at = put(to, at, "main.raise", sizeof "main.raise");
    at = put(to, at, "", 1);
    (void)put_u32(to, 8, (uint32_t)at);
    at = put_u32(to, at, KILN__REPORT_PRINT);
    at = put_u32(to, at, 3);
    at = put_u32(to, at, KILN__PRINT_TEXT);
    at = put(to, at, "item ", sizeof "item ");
    at = put_u32(to, at, KILN__PRINT_I64);
    at = put_u32(to, at, KILN__PRINT_TEXT);
    return put(to, at, "\n", sizeof "\n");
}

/* ---- artifacts and kernels ---- */

const kiln_artifact *spirv_artifact(spirv_kernel *out, kiln_context *context,
                                    const spirv_program *program,
                                    const char *target, const void *bytes,
                                    size_t size)
{
    unsigned char reports[256];
    kiln_kernel_info info = {.size = sizeof info,
                             .name = program->name,
                             .method = program->name,
                             .arguments = out->arguments,
                             .hidden_arguments = program->hidden,
                             .can_fail = program->hidden != 0,
                             .allocates = program->hidden == KILN__HIDDEN_HEAP};
    kiln__artifact_source source = {.key = {{1, 2}},
                                    .encoded_key = "key",
                                    .encoded_key_size = 3,
                                    .format = "spirv",
                                    .target = target,
                                    .bytes = bytes,
                                    .size = size,
                                    .kernels = &info,
                                    .kernel_count = 1,
                                    .reports = reports,
                                    .facts = program->facts,
                                    .fact_size = program->fact_size};
    const kiln_artifact *artifact = NULL;

    while (program->types[info.argument_count] != NULL) {
        assert_ok(kiln_type_parse(&out->types[info.argument_count], context,
                                  NULL, program->types[info.argument_count],
                                  &test_error));
        info.argument_count++;
    }
    info.argument_bytes =
        kiln__argument_layout(out->arguments, out->types, info.argument_count);
    source.report_size = make_reports(reports);
    assert_ok(kiln__artifact_new(&artifact, &source));
    return artifact;
}

kiln_status spirv_load(spirv_kernel *out, kiln_context *context,
                       const spirv_program *program, kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    size_t size;
    void *bytes = spirv_kernels_read(&size);
    kiln_status status;

    memset(out, 0, sizeof *out);
    options.target = "spirv:1.4+fp64+int64_atomics";
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    out->artifact = spirv_artifact(out, context, program,
                                   kiln_config_target(config), bytes, size);
    free(bytes);
    out->kernel.context = context;
    out->kernel.artifact = out->artifact;
    out->kernel.info = kiln_artifact_kernel(out->artifact, 0);
    out->kernel.config = config;
    out->kernel.types = out->types;
    status = kiln__kernel_load(&out->kernel, error);
    if (status != KILN_OK) {
        kiln_artifact_release(out->artifact);
        out->artifact = NULL;
    }
    return status;
}

void spirv_unload(spirv_kernel *kernel)
{
    if (kernel->artifact == NULL)
        return;
    kiln__kernel_unload(&kernel->kernel);
    kiln_artifact_release(kernel->artifact);
    kernel->artifact = NULL;
}
