/* test_workload.c - what an offline device was asked to launch, as a list. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault thread backends host */
#include <string.h>

#include <kiln.h>

#include "support/harness.h"

static const char text[] = "kernel fill(y, value)\n"
                           "    y[global_id(0)] = f64(value)\n"
                           "end\n"
                           "kernel apply(y, f)\n"
                           "    y[global_id(0)] = f(y[global_id(0)])\n"
                           "end\n"
                           "fn half(x) = x / 2\n";

#define TEXT_ONE "kernel mark(y)\n    y[global_id(0)] = 1.0\nend\n"

/* A program on an offline device of the host. */
typedef struct program {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
} program;

static kiln_status open_device(program *p, const kiln_alloc *alloc)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options target = KILN_CONFIG_OPTIONS_INIT;
    kiln_status status;

    memset(p, 0, sizeof *p);
    options.alloc = alloc;
    target.target = "host:x86-64-v3";
    status = kiln_context_new(&p->context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_config_new(&p->config, p->context, &target, NULL);
    if (status == KILN_OK)
        status =
            kiln_device_open_offline(&p->device, p->context, p->config, NULL);
    if (status == KILN_OK)
        status = kiln_queue_new(&p->queue, p->device, NULL);
    return status;
}

static kiln_status begin(program *p)
{
    kiln_status status = open_device(p, NULL);

    if (status == KILN_OK)
        status = kiln_package_new(&p->package, p->context, "main", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(p->package, "main.kiln", text,
                                     sizeof text - 1, NULL, NULL);
    return status;
}

static void end(program *p)
{
    kiln_queue_free(p->queue);
    kiln_device_close(p->device);
    kiln_context_free(p->context);
}

/* Compiles the kernel for an array and a second argument, and launches it. */
static kiln_status launch(const program *p, const char *name,
                          const char *second, const kiln_config *config,
                          kiln_queue *queue)
{
    const kiln_launch one = {.grid = {1}};
    const kiln_type *types[2];
    kiln_signature signature = {.types = types, .count = 2};
    const kiln_kernel *kernel = NULL;
    double element = 0;
    kiln_array array = {.data = &element, .sizes = {1}};
    const void *arguments[] = {&array, &element};
    kiln_status status =
        kiln_package_function(&signature.function, p->package, name, NULL);

    if (status == KILN_OK)
        status = kiln_type_parse(&types[0], p->context, NULL, "f64[:]", NULL);
    if (status == KILN_OK)
        status =
            kiln_type_parse(&types[1], p->context, p->package, second, NULL);
    if (status == KILN_OK)
        status =
            kiln_compile(&kernel, p->context, &signature, config, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_queue_launch(queue, kernel, &one, arguments, 2, NULL);
    return status;
}

static void each_kernel_is_a_line_in_the_order_of_first_launches(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *odd = NULL;
    program p;
    kiln_blob list;

    (void)state;
    assert_ok(begin(&p));
    options.target = "host:x86-64-v3";
    options.opt_level = KILN_OPT_1;
    options.bounds_checks = KILN_SWITCH_OFF;
    options.fast_math = KILN_SWITCH_ON;
    options.contract = KILN_SWITCH_OFF;
    options.overlays = "mine";
    options.entry_name = "entry";
    options.required_group_size[0] = 1;
    options.maximum_registers = 32;
    options.unroll = 4;
    assert_ok(kiln_config_new(&odd, p.context, &options, &test_error));
    assert_ok(launch(&p, "fill", "f64", p.config, p.queue));
    assert_ok(launch(&p, "apply", "typeof(main.half)", p.config, p.queue));
    assert_ok(launch(&p, "fill", "f64", p.config, p.queue));
    assert_ok(launch(&p, "fill", "f64", odd, p.queue));
    assert_ok(launch(&p, "fill", "i32", p.config, p.queue));
    assert_ok(kiln_device_workload(&list, p.device, &test_error));
    assert_string_equal(list.data,
                        "# recorded for host:x86-64-v3\n"
                        "main.fill(f64[:], f64)\n"
                        "main.apply(f64[:], typeof(main.half))\n"
                        "main.fill(f64[:], f64) overlays=mine opt=1 "
                        "bounds=off fast=on contract=off entry=entry "
                        "registers=32 unroll=4 group=1,1,1\n"
                        "main.fill(f64[:], i32)\n");
    assert_int_equal(list.size, strlen(list.data));
    kiln_blob_release(&list);
    end(&p);
}

static void what_cannot_be_launched_is_no_part_of_it(void **state)
{
    program p;
    kiln_blob list;

    (void)state;
    assert_ok(begin(&p));
    assert_int_equal(launch(&p, "fill", "typeof(main.half)", p.config, p.queue),
                     KILN_ECOMPILE);
    assert_ok(kiln_device_workload(&list, p.device, &test_error));
    assert_string_equal(list.data, "# recorded for host:x86-64-v3\n");
    kiln_blob_release(&list);
    end(&p);
}

static void a_device_that_runs_records_nothing(void **state)
{
    kiln_context *context;
    kiln_device *device;
    kiln_blob list;

    (void)state;
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln_device_open(&device, context, "host", 0, &test_error));
    assert_fails(KILN_EUNSUPPORTED, "an offline device records",
                 kiln_device_workload(&list, device, &test_error));
    kiln_device_close(device);
    kiln_context_free(context);
}

/* ---- threads ---- */

typedef struct crowd {
    program p;
    thread_report report;
} crowd;

static void *launch_all(void *argument)
{
    static const char *const types[] = {"f64", "f32", "i64", "i32", "u8"};
    crowd *c = argument;
    kiln_queue *queue;

    thread_assert_ok(&c->report, kiln_queue_new(&queue, c->p.device, NULL));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        thread_assert_ok(&c->report,
                         launch(&c->p, "fill", types[i], c->p.config, queue));
    kiln_queue_free(queue);
    return NULL;
}

static void threads_record_each_kernel_once(void **state)
{
    static crowd c = {.report = THREAD_REPORT_INIT};
    kiln_blob list;
    size_t lines = 0;

    (void)state;
    assert_ok(begin(&c.p));
    harness_run_threads(4, launch_all, &c);
    assert_threads_ok(&c.report);
    assert_ok(kiln_device_workload(&list, c.p.device, &test_error));
    for (const char *at = list.data; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 1 + 5);
    kiln_blob_release(&list);
    end(&c.p);
}

static kiln_status open_and_ask(const kiln_alloc *alloc, void *env)
{
    program p;
    kiln_status status = open_device(&p, alloc);
    kiln_blob list = {0};

    (void)env;
    if (status == KILN_OK)
        status = kiln_device_workload(&list, p.device, NULL);
    kiln_blob_release(&list);
    end(&p);
    return status;
}

static void recording_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(open_and_ask, NULL);
}

/* Who makes packs does not want kernels on the devices of his machine. */
static void a_kernel_may_be_for_the_offline_device_alone(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_config_options target = KILN_CONFIG_OPTIONS_INIT;
    const kiln_type *type = NULL;
    kiln_signature signature = {.types = &type, .count = 1};
    const kiln_kernel *kernel = NULL;
    void *native = NULL;
    program p = {0};

    (void)state;
    options.offline_only = 1;
    assert_ok(kiln_context_new(&p.context, &options, &test_error));
    assert_ok(kiln_config_new(&p.config, p.context, &target, &test_error));
    assert_ok(
        kiln_device_open_offline(&p.device, p.context, p.config, &test_error));
    assert_ok(kiln_package_new(&p.package, p.context, "main", &test_error));
    assert_ok(kiln_package_define(p.package, "main.kiln", TEXT_ONE,
                                  sizeof TEXT_ONE - 1, NULL, &test_error));
    assert_ok(
        kiln_type_parse(&type, p.context, p.package, "f64[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, p.package, "mark",
                                    &test_error));
    assert_ok(kiln_compile(&kernel, p.context, &signature, p.config, NULL,
                           &test_error));
    assert_fails(KILN_ENODEVICE, "offline",
                 kiln_kernel_native(&native, kernel, &test_error));
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_is_a_line_in_the_order_of_first_launches),
        cmocka_unit_test(what_cannot_be_launched_is_no_part_of_it),
        cmocka_unit_test(a_device_that_runs_records_nothing),
        cmocka_unit_test(threads_record_each_kernel_once),
        cmocka_unit_test(recording_survives_a_failing_allocator),
        cmocka_unit_test(a_kernel_may_be_for_the_offline_device_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
