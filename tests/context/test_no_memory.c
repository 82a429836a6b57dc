/* test_no_memory.c - each public call runs out of memory, and recovers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault host */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * Each body gets ready while the allocator is held, makes the calls in
 * question, and, if they failed, makes them again with the allocator held:
 * what ran out of memory has left nothing half done.
 */

static const char program[] = "struct Pair\n"
                              "    first: f32\n"
                              "    second: f32\n"
                              "end\n"
                              "const SCALE = 2\n"
                              "fn sum(p: Pair) = p.first + p.second\n"
                              "fn power(x, n) = x ** n\n"
                              "kernel k(y, n)\n"
                              "    i = global_id(0)\n"
                              "    p = Pair(sin(y[i]), power(y[i], n))\n"
                              "    y[i] = sum(p) * SCALE\n"
                              "    print(\"item \", i, \": \", y[i], \"\\n\")\n"
                              "    assert(n < 4, \"n is small\")\n"
                              "end\n";

static const char other_program[] = "const SCALE = 3\n"
                                    "fn sum(p: Pair) = p.first - p.second\n"
                                    "fn more(x) = x\n";

typedef struct fixture {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *types[2];
    kiln_signature signature;
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    kiln_error *error;
    size_t events, lines, printed;
} fixture;

/* ---- a host that listens ---- */

static void take_event(void *env, const kiln_event *event)
{
    fixture *f = env;

    f->events += event->name != NULL;
}

static void take_line(void *env, int32_t level, const char *line)
{
    fixture *f = env;

    (void)level;
    f->lines += strlen(line) > 0;
}

static void take_print(void *env, const char *bytes, size_t size)
{
    fixture *f = env;

    (void)bytes;
    f->printed += size;
}

static const kiln_host_ops host = {
    .size = sizeof(kiln_host_ops),
    .log = take_line,
    .event = take_event,
    .print = take_print,
};

/* ---- getting ready ---- */

static kiln_status make_context(fixture *f, const kiln_alloc *alloc)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

    options.alloc = alloc;
    options.host = &host;
    options.host_env = f;
    options.workers = 1;
    options.threads = 1;
    settings.opt_level = KILN_OPT_0;
    assert_ok(kiln_context_new(&f->context, &options, &f->error));
    assert_ok(kiln_config_new(&f->config, f->context, &settings, &f->error));
    assert_ok(kiln_package_new(&f->package, f->context, "main", &f->error));
    return kiln_package_define(f->package, "main.kiln", program,
                               sizeof program - 1, NULL, &f->error);
}

/* Everything up to, and without, the compile. */
static void get_ready(fixture *f, const kiln_alloc *alloc)
{
    memset(f, 0, sizeof *f);
    failing_alloc_hold(alloc, 1);
    assert_ok(make_context(f, alloc));
    assert_ok(
        kiln_type_parse(&f->types[0], f->context, NULL, "f32[:]", &f->error));
    assert_ok(
        kiln_type_parse(&f->types[1], f->context, NULL, "i64", &f->error));
    f->signature = (kiln_signature){.types = f->types, .count = 2};
    assert_ok(kiln_package_function(&f->signature.function, f->package, "k",
                                    &f->error));
    failing_alloc_hold(alloc, 0);
}

static kiln_status compile(fixture *f)
{
    return kiln_compile(&f->kernel, f->context, &f->signature, f->config, NULL,
                        &f->error);
}

static kiln_status open_device(fixture *f)
{
    kiln_status status = KILN_OK;

    if (f->device == NULL)
        status = kiln_device_open(&f->device, f->context, "host", 0, &f->error);
    if (status == KILN_OK && f->queue == NULL)
        status = kiln_queue_new(&f->queue, f->device, &f->error);
    return status;
}

static kiln_status launch(fixture *f, float *y, int64_t n)
{
    const kiln_launch shape = {.grid = {2, 1, 1}};
    const kiln_array array = {.data = y, .sizes = {2}, .strides = {1}};
    const void *const values[] = {&array, &n};

    return kiln_queue_launch(f->queue, f->kernel, &shape, values, 2, &f->error);
}

/* An error of that status is there, can be shown, and is dropped. */
static void take_error(fixture *f, kiln_status status)
{
    kiln_blob text = {0};

    assert_non_null(f->error);
    assert_int_equal(kiln_error_status(f->error), status);
    assert_true(strlen(kiln_error_message(f->error)) > 0);
    assert_ok(kiln_error_render(&text, f->error, KILN_RENDER_PLAIN));
    kiln_blob_release(&text);
    kiln_error_free(f->error);
    f->error = NULL;
}

/* Takes the calls' status; with the allocator held they must succeed. */
static kiln_status made_again(fixture *f, const kiln_alloc *alloc,
                              kiln_status (*calls)(fixture *f))
{
    kiln_status status = calls(f);

    failing_alloc_hold(alloc, 1);
    if (status == KILN_ENOMEM) {
        take_error(f, KILN_ENOMEM);
        assert_ok(calls(f));
    }
    assert_null(f->error);
    return status;
}

static kiln_status end(fixture *f, kiln_status status)
{
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    return status;
}

/* What the kernel makes of 2.0 with n = 3, as defined first. */
static void assert_runs(fixture *f, float expected)
{
    float y[2] = {2, 2};

    assert_ok(open_device(f));
    assert_ok(launch(f, y, 3));
    assert_float_equal(y[0], expected, 1e-4);
    assert_float_equal(y[1], expected, 1e-4);
    assert_true(f->printed > 0);
}

#define SIN_2 0.909297f
#define FIRST ((SIN_2 + 8) * 2)
#define SECOND ((SIN_2 - 8) * 3)

/* ---- calls ---- */

static kiln_status compile_and_run(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, compile);
    assert_runs(&f, FIRST);
    assert_true(f.events > 0);
    return end(&f, status);
}

static kiln_status redefine(fixture *f)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln_status status =
        kiln_package_define(f->package, "other.kiln", other_program,
                            sizeof other_program - 1, &report, &f->error);

    if (status == KILN_OK)
        assert_true(report.methods_replaced + report.methods_unchanged >= 1);
    kiln_change_report_dispose(&report);
    return status;
}

static kiln_status redefine_and_run(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    failing_alloc_hold(alloc, 1);
    assert_ok(compile(&f));
    failing_alloc_hold(alloc, 0);
    status = made_again(&f, alloc, redefine);
    assert_false(kiln_kernel_is_valid(f.kernel));
    assert_ok(compile(&f));
    assert_runs(&f, SECOND);
    return end(&f, status);
}

static kiln_status show(fixture *f)
{
    for (int32_t form = KILN_EMIT_TYPED; form <= KILN_EMIT_BINARY; form++) {
        kiln_blob text = {0};
        kiln_status status = kiln_emit(&text, f->context, &f->signature,
                                       f->config, 0, form, &f->error);

        if (status != KILN_OK)
            return status;
        assert_true(text.size > 100);
        kiln_blob_release(&text);
    }
    return KILN_OK;
}

static kiln_status show_every_form(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;
    const kiln_code *code;

    (void)env;
    get_ready(&f, alloc);
    failing_alloc_hold(alloc, 1);
    assert_ok(
        kiln_infer(&code, f.context, &f.signature, f.config, 0, &f.error));
    failing_alloc_hold(alloc, 0);
    status = made_again(&f, alloc, show);
    return end(&f, status);
}

static kiln_status ask(fixture *f)
{
    kiln_blob text = {0};
    kiln_digest key;
    kiln_status status =
        kiln_job_key(&key, f->context, &f->signature, f->config, 0, &f->error);

    if (status != KILN_OK)
        return status;
    status = kiln_statistics_json(&text, f->context);
    kiln_blob_release(&text);
    if (status == KILN_OK)
        status = kiln_config_describe(&text, f->config);
    kiln_blob_release(&text);
    /* These two take no error. */
    return status == KILN_OK
               ? KILN_OK
               : kiln_error_set(&f->error, status, "no memory to show it");
}

static kiln_status ask_for_keys_and_counters(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, ask);
    return end(&f, status);
}

static kiln_status raise(fixture *f)
{
    float y[2] = {2, 2};
    kiln_status status = open_device(f);

    if (status != KILN_OK)
        return status;
    status = launch(f, y, 4);
    if (status == KILN_ENOMEM)
        return status;
    assert_int_equal(status, KILN_EEXCEPTION);
    assert_contains(kiln_error_message(f->error), "n is small");
    take_error(f, KILN_EEXCEPTION);
    return KILN_OK;
}

static kiln_status raise_an_exception(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    failing_alloc_hold(alloc, 1);
    assert_ok(compile(&f));
    failing_alloc_hold(alloc, 0);
    status = made_again(&f, alloc, raise);
    assert_runs(&f, FIRST);
    return end(&f, status);
}

static kiln_status move_bytes(fixture *f)
{
    static const char bytes[] = "bytes";
    char back[sizeof bytes];
    kiln_buffer *buffer = NULL;
    kiln_status status = open_device(f);

    if (status == KILN_OK)
        status = kiln_buffer_new(&buffer, f->device, 64, &f->error);
    if (status == KILN_OK)
        status = kiln_buffer_write(buffer, 8, bytes, sizeof bytes, &f->error);
    if (status == KILN_OK)
        status = kiln_buffer_read(buffer, 8, back, sizeof back, &f->error);
    if (status == KILN_OK)
        assert_string_equal(back, bytes);
    kiln_buffer_free(buffer);
    return status;
}

static kiln_status use_a_device(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, move_bytes);
    return end(&f, status);
}

static int destroyed;

static void destroy(void *value)
{
    (void)value;
    destroyed++;
}

static kiln_status attach(fixture *f)
{
    kiln_attachment own = {.size = sizeof own, .value = f, .destroy = destroy};
    const kiln_code *code = NULL;
    void *out = NULL;
    kiln_status status =
        kiln_infer(&code, f->context, &f->signature, f->config, 0, &f->error);

    if (status != KILN_OK)
        return status;
    if (kiln_attachment_get(&out, code, f->config, "test") == KILN_ENOTFOUND)
        status = kiln_attachment_put(&out, code, f->config, "test", &own);
    if (status != KILN_OK)
        return kiln_error_set(&f->error, status, "nothing is attached");
    assert_ptr_equal(out, f);
    return KILN_OK;
}

static kiln_status attach_a_value(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    destroyed = 0;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, attach);
    status = end(&f, status);
    assert_int_equal(destroyed, 1);
    return status;
}

static kiln_status make_types(fixture *f)
{
    const kiln_type *parts[2], *type = NULL;
    kiln_context *context = f->context;
    kiln_status status;

    parts[0] = kiln_type_scalar(context, KILN_TYPE_F32);
    status = kiln_type_vector(&parts[1], context, parts[0], 4, &f->error);
    if (status == KILN_OK)
        status = kiln_type_tuple(&type, context, parts, 2, &f->error);
    if (status == KILN_OK)
        status = kiln_type_array(&type, context, type, 3, 1, &f->error);
    if (status == KILN_OK)
        status = kiln_type_static(&type, context, -7, &f->error);
    if (status == KILN_OK)
        status = kiln_type_function(&type, context, f->signature.function,
                                    &f->error);
    if (status == KILN_OK)
        status = kiln_type_parse(&type, context, f->package, "Pair", &f->error);
    if (status == KILN_OK)
        assert_string_equal(kiln_type_field_name(type, 1), "second");
    return status;
}

static kiln_status make_every_type(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, make_types);
    return end(&f, status);
}

/* What is no program is refused as such, or there was no memory to say so. */
static kiln_status refuse(fixture *f)
{
    static const char wrong[] = "fn f(x) = (x\nkernel q(y)\n    y[0] = \"\n";
    static const char unknown[] = "kernel q(y)\n    y[0] = nowhere\nend\n";
    kiln_signature signature = {.types = f->types, .count = 1};
    const kiln_kernel *kernel;
    kiln_status status = kiln_package_define(f->package, "wrong.kiln", wrong,
                                             sizeof wrong - 1, NULL, &f->error);

    if (status != KILN_ESYNTAX)
        return status;
    take_error(f, KILN_ESYNTAX);
    status = kiln_package_define(f->package, "unknown.kiln", unknown,
                                 sizeof unknown - 1, NULL, &f->error);
    if (status == KILN_OK)
        status = kiln_package_function(&signature.function, f->package, "q",
                                       &f->error);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, f->context, &signature, f->config, NULL,
                              &f->error);
    if (status != KILN_ECOMPILE)
        return status;
    assert_int_equal(kiln_error_diagnostic_count(f->error), 1);
    take_error(f, KILN_ECOMPILE);
    return KILN_OK;
}

static kiln_status refuse_wrong_programs(const kiln_alloc *alloc, void *env)
{
    fixture f;
    kiln_status status;

    (void)env;
    get_ready(&f, alloc);
    status = made_again(&f, alloc, refuse);
    assert_ok(compile(&f));
    return end(&f, status);
}

#define SURVIVES(body) \
    static void body##_survives(void **state) \
    { \
        (void)state; \
        assert_survives_failing_alloc(body, NULL); \
    }

SURVIVES(compile_and_run)
SURVIVES(redefine_and_run)
SURVIVES(show_every_form)
SURVIVES(ask_for_keys_and_counters)
SURVIVES(raise_an_exception)
SURVIVES(use_a_device)
SURVIVES(attach_a_value)
SURVIVES(make_every_type)
SURVIVES(refuse_wrong_programs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compile_and_run_survives),
        cmocka_unit_test(redefine_and_run_survives),
        cmocka_unit_test(show_every_form_survives),
        cmocka_unit_test(ask_for_keys_and_counters_survives),
        cmocka_unit_test(raise_an_exception_survives),
        cmocka_unit_test(use_a_device_survives),
        cmocka_unit_test(attach_a_value_survives),
        cmocka_unit_test(make_every_type_survives),
        cmocka_unit_test(refuse_wrong_programs_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
