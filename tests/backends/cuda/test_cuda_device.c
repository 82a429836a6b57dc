/* test_cuda_device.c - the driver half on a real device, where there is one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: device cuda */
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "kiln.h"
#include "support/harness.h"
#include "support/stores/report_table.h"
#include "tiers/binary/artifact.h"

/*
 * The kernel is written by hand, so that nothing but the driver half takes
 * part: data[i] = value + i. An item beyond the array's size raises, as
 * device_abi.h says, and leaves.
 */
static const char text[] =
    ".version 7.8\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry entry(\n"
    "    .param .u64 p_data, .param .u64 p_size, .param .u64 p_value,\n"
    "    .param .u64 p_state, .param .u64 p_launch)\n"
    "{\n"
    "    .reg .pred %p<3>;\n"
    "    .reg .b32 %r<8>;\n"
    "    .reg .b64 %d<12>;\n"
    "    ld.param.u64 %d1, [p_data];\n"
    "    ld.param.u64 %d2, [p_size];\n"
    "    ld.param.u64 %d3, [p_value];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "    cvt.u64.u32 %d4, %r4;\n"
    "    setp.ge.u64 %p1, %d4, %d2;\n"
    "    @%p1 bra RAISE;\n"
    "    cvta.to.global.u64 %d5, %d1;\n"
    "    shl.b64 %d6, %d4, 3;\n"
    "    add.u64 %d5, %d5, %d6;\n"
    "    add.u64 %d7, %d3, %d4;\n"
    "    st.global.u64 [%d5], %d7;\n"
    "    ret;\n"
    "RAISE:\n"
    "    ld.param.u64 %d8, [p_state];\n"
    "    ld.param.u64 %d9, [p_launch];\n"
    "    atom.sys.cas.b32 %r5, [%d8], 0, 1;\n"
    "    setp.ne.u32 %p2, %r5, 0;\n"
    "    @%p2 bra DONE;\n"
    "    mov.u32 %r6, 0;\n"
    "    st.u32 [%d8+4], %r6;\n"
    "    st.u64 [%d8+8], %d9;\n"
    "    st.u64 [%d8+16], %d4;\n"
    "    st.u64 [%d8+88], %d4;\n"
    "    st.u64 [%d8+96], %d2;\n"
    "    membar.sys;\n"
    "    mov.u32 %r7, 2;\n"
    "    st.volatile.u32 [%d8], %r7;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n";

#define ITEMS 4096

typedef struct fixture {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_artifact *artifact;
    const kiln_type *types[2];
    kiln_kernel kernel;
} fixture;

static const kiln_artifact *make_artifact(void)
{
    static const kiln_argument_info arguments[] = {
        {.type = "i64[:]", .offset = 0, .size = 16},
        {.type = "i64", .offset = 16, .size = 8}};
    report_table table;

    report_table_begin(&table, 1);
    report_table_exception(&table, KILN_EXCEPTION_BOUNDS, 7, "main.f", "");
    return report_artifact_new(&(report_artifact){
        .format = "ptx",
        .target = "cuda:sm_75:ptx78",
        .bytes = text,
        .size = sizeof text,
        .arguments = arguments,
        .argument_count = 2,
        .argument_bytes = 24,
        .hidden_arguments = KILN__HIDDEN_COUNT,
        .reports = &table,
    });
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    assert_non_null(f);
    options.target = "cuda:sm_75";
    f->artifact = make_artifact();
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(kiln_device_open(&f->device, f->context, "cuda", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    assert_ok(
        kiln_type_parse(&f->types[0], f->context, NULL, "i64[:]", &test_error));
    assert_ok(
        kiln_type_parse(&f->types[1], f->context, NULL, "i64", &test_error));
    f->kernel.context = f->context;
    f->kernel.artifact = f->artifact;
    f->kernel.info = kiln_artifact_kernel(f->artifact, 0);
    f->kernel.types = f->types;
    assert_ok(
        kiln_config_new(&f->kernel.config, f->context, &options, &test_error));
    assert_ok(kiln__kernel_load(&f->kernel, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_queue_free(f->queue);
    kiln__kernel_unload(&f->kernel);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    kiln_artifact_release(f->artifact);
    free(f);
    return 0;
}

static kiln_status launch(fixture *f, const kiln_buffer *buffer, int64_t size,
                          int64_t value)
{
    const kiln_array array = {.data = kiln_buffer_address(buffer),
                              .sizes = {size}};
    const void *const arguments[] = {&array, &value};

    return kiln_queue_launch(f->queue, &f->kernel,
                             &(kiln_launch){.grid = {ITEMS}}, arguments, 2,
                             &test_error);
}

static void a_kernel_writes_a_buffer(void **state)
{
    fixture *f = *state;
    static int64_t values[ITEMS];
    kiln_buffer *buffer;

    assert_true(strlen(kiln_device_name(f->device)) > 0);
    assert_ok(kiln_buffer_new(&buffer, f->device, sizeof values, &test_error));
    assert_ok(launch(f, buffer, ITEMS, 5));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_buffer_read(buffer, 0, values, sizeof values, &test_error));
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(values[i], 5 + i);
    kiln_buffer_free(buffer);
}

static void an_exception_comes_back(void **state)
{
    fixture *f = *state;
    kiln_buffer *buffer;
    kiln_error *error = NULL;

    assert_ok(kiln_buffer_new(&buffer, f->device, ITEMS * sizeof(int64_t),
                              &test_error));
    for (int round = 0; round < 3; round++) {
        const kiln_exception *exception;

        assert_ok(launch(f, buffer, ITEMS - 1, 0));
        assert_int_equal(kiln_queue_wait(f->queue, &error), KILN_EEXCEPTION);
        exception = kiln_error_exception(error);
        assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
        assert_int_equal(exception->item[0], ITEMS - 1);
        assert_int_equal(exception->values[1], ITEMS - 1);
        kiln_error_free(error);
        /* The device goes on. */
        assert_ok(launch(f, buffer, ITEMS, 0));
        assert_ok(kiln_queue_wait(f->queue, &test_error));
    }
    kiln_buffer_free(buffer);
}

static void queues_run_beside_each_other(void **state)
{
    fixture *f = *state;
    kiln_queue *other, *first = f->queue;
    kiln_buffer *buffer;

    assert_ok(kiln_buffer_new(&buffer, f->device, ITEMS * sizeof(int64_t),
                              &test_error));
    assert_ok(kiln_queue_new(&other, f->device, &test_error));
    assert_ok(launch(f, buffer, ITEMS - 1, 0));
    f->queue = other;
    assert_ok(launch(f, buffer, ITEMS, 0));
    f->queue = first;
    assert_ok(kiln_queue_wait(other, &test_error));
    assert_status(KILN_EEXCEPTION, kiln_queue_wait(first, &test_error));
    kiln_queue_free(other);
    kiln_buffer_free(buffer);
}

/* Whether a device is here; where one was promised, there must be one. */
static int is_device_here(void)
{
    const char *required = getenv("KILN_REQUIRE_DEVICE");
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    int is_here;

    if (kiln_context_new(&context, NULL, NULL) != KILN_OK)
        return 1;
    is_here = kiln_device_open(&device, context, "cuda", 0, NULL) == KILN_OK ||
              (required != NULL && strcmp(required, "cuda") == 0);
    kiln_device_close(device);
    kiln_context_free(context);
    return is_here;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_writes_a_buffer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_exception_comes_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(queues_run_beside_each_other, setup,
                                        teardown),
    };

    if (!is_device_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("cuda_device", tests, NULL, NULL);
}
