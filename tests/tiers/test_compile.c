/* test_compile.c - tier 3: jobs, batches, tickets, keys, failures. */
/* LABELS: unit tiers thread host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"

static const char scale_text[] = "fn twice(x) = 2 * x\n"
                                 "kernel scale(y)\n"
                                 "    i = global_id(0)\n"
                                 "    if i < length(y)\n"
                                 "        y[i] = twice(y[i])\n"
                                 "    end\n"
                                 "end\n";

struct fixture {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *array;
    const kiln_type *types[8];
};

static void define(struct fixture *fixture, const char *text)
{
    assert_ok(kiln_package_define(fixture->package, "test.kiln", text,
                                  strlen(text), NULL, &test_error));
}

static int open_fixture(void **state)
{
    static struct fixture fixture;
    static const int32_t kinds[8] = {
        KILN_TYPE_F32, KILN_TYPE_F64, KILN_TYPE_I8,  KILN_TYPE_I16,
        KILN_TYPE_I32, KILN_TYPE_I64, KILN_TYPE_U32, KILN_TYPE_U64};

    memset(&fixture, 0, sizeof fixture);
    assert_ok(kiln_context_new(&fixture.context, NULL, &test_error));
    assert_ok(
        kiln_config_new(&fixture.config, fixture.context, NULL, &test_error));
    assert_ok(kiln_package_new(&fixture.package, fixture.context, "test",
                               &test_error));
    for (int i = 0; i < 8; i++)
        assert_ok(kiln_type_array(&fixture.types[i], fixture.context,
                                  kiln_type_scalar(fixture.context, kinds[i]),
                                  1, 0, &test_error));
    fixture.array = fixture.types[0];
    define(&fixture, scale_text);
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    kiln_context_free(fixture->context);
    return 0;
}

static kiln_signature signature_of(struct fixture *fixture, const char *name)
{
    kiln_signature signature = {NULL, &fixture->array, 1};

    assert_ok(kiln_package_function(&signature.function, fixture->package, name,
                                    &test_error));
    return signature;
}

static const kiln_kernel *compile(struct fixture *fixture, const char *name,
                                  int32_t *source)
{
    kiln_signature signature = signature_of(fixture, name);
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_kernel *kernel = NULL;

    options.source = source;
    assert_ok(kiln_compile(&kernel, fixture->context, &signature,
                           fixture->config, &options, &test_error));
    return kernel;
}

static float run(struct fixture *fixture, const kiln_kernel *kernel,
                 float value)
{
    kiln_array array = {&value, {1}, {0}};
    const void *const arguments[] = {&array};
    kiln_launch launch = {.grid = {1, 0, 0}, .block = {0, 0, 0}};
    kiln_device *device;
    kiln_queue *queue;

    assert_ok(
        kiln_device_open(&device, fixture->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(
        kiln_queue_launch(queue, kernel, &launch, arguments, 1, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
    return value;
}

static kiln_tier_statistics counts(const struct fixture *fixture)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, fixture->context);
    for (int i = 0; i < KILN_TIER_COUNT; i++) {
        const kiln_tier_statistics *tier = &statistics.tiers[i];

        assert_int_equal(tier->requests, tier->hits + tier->store_hits +
                                             tier->waited + tier->built +
                                             tier->failed);
    }
    return statistics.tiers[KILN_TIER_BINARY];
}

static void the_second_compile_is_a_hit(void **state)
{
    struct fixture *fixture = *state;
    int32_t source = 0;
    const kiln_kernel *kernel = compile(fixture, "scale", &source);

    assert_int_equal(source, KILN_SOURCE_BUILT);
    assert_ptr_equal(compile(fixture, "scale", &source), kernel);
    assert_int_equal(source, KILN_SOURCE_MEMORY);
    assert_float_equal(run(fixture, kernel, 3), 6, 0);
    assert_int_equal(counts(fixture).built, 1);
    assert_int_equal(counts(fixture).hits, 1);
}

static void a_call_site_follows_redefinitions(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    kiln_call_site site = {NULL};
    const kiln_kernel *first, *second;

    assert_null(kiln_call_site_get(&site));
    assert_ok(kiln_call_site_compile(&first, &site, fixture->context,
                                     &signature, fixture->config, NULL,
                                     &test_error));
    assert_ptr_equal(kiln_call_site_get(&site), first);
    define(fixture, "fn twice(x) = x + x + x\n");
    assert_null(kiln_call_site_get(&site));
    kiln_context_collect(fixture->context);
    assert_null(kiln_call_site_get(&site));
    assert_ok(kiln_call_site_compile(&second, &site, fixture->context,
                                     &signature, fixture->config, NULL,
                                     &test_error));
    assert_float_equal(run(fixture, second, 3), 9, 0);
}

static void going_back_to_an_old_meaning_builds_nothing(void **state)
{
    struct fixture *fixture = *state;
    int32_t source = 0;

    (void)compile(fixture, "scale", &source);
    define(fixture, "fn twice(x) = x + x + x\n");
    (void)compile(fixture, "scale", &source);
    assert_int_equal(source, KILN_SOURCE_BUILT);
    define(fixture, scale_text);
    assert_float_equal(run(fixture, compile(fixture, "scale", &source), 3), 6,
                       0);
    assert_int_equal(source, KILN_SOURCE_MEMORY);
    assert_int_equal(counts(fixture).built, 2);
}

static kiln_digest key_of(struct fixture *fixture, const char *name)
{
    kiln_signature signature = signature_of(fixture, name);
    kiln_digest key;

    assert_ok(kiln_job_key(&key, fixture->context, &signature, fixture->config,
                           0, &test_error));
    return key;
}

static void a_job_key_depends_on_meaning_alone(void **state)
{
    struct fixture *fixture = *state;
    kiln_digest first = key_of(fixture, "scale");
    kiln_digest same, other;

    define(fixture, "# moved\n\n\nfn twice(x) = 2 * x # as before\n"
                    "fn unrelated(x) = x\n");
    same = key_of(fixture, "scale");
    define(fixture, "fn twice(x) = 3 * x\n");
    other = key_of(fixture, "scale");

    assert_memory_equal(&first, &same, sizeof first);
    assert_memory_not_equal(&first, &other, sizeof first);
}

static void equal_jobs_give_equal_bytes(void **state)
{
    struct fixture *fixture = *state;
    struct fixture again;
    void *opened = NULL;
    kiln_blob first = {0}, second = {0};
    kiln_signature signature = signature_of(fixture, "scale");

    assert_ok(kiln_emit(&first, fixture->context, &signature, fixture->config,
                        0, KILN_EMIT_BINARY, &test_error));
    again = *fixture;
    open_fixture(&opened);
    signature = signature_of(opened, "scale");
    assert_ok(kiln_emit(&second, ((struct fixture *)opened)->context,
                        &signature, ((struct fixture *)opened)->config, 0,
                        KILN_EMIT_BINARY, &test_error));
    assert_blob_equal(second, first.data, first.size);
    kiln_blob_release(&first);
    kiln_blob_release(&second);
    kiln_context_free(again.context);
}

static void every_form_can_be_emitted(void **state)
{
    static const char *const marks[] = {"scale", "define", "define", "scale"};
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");

    for (int32_t form = KILN_EMIT_TYPED; form < KILN_EMIT_BINARY; form++) {
        kiln_blob text = {0};

        assert_ok(kiln_emit(&text, fixture->context, &signature,
                            fixture->config, 0, form, &test_error));
        assert_contains(text.data, marks[form]);
        kiln_blob_release(&text);
    }
    assert_int_equal(counts(fixture).requests, 0);
}

static void a_function_is_not_a_kernel(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "twice");
    const kiln_diagnostic *what;
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    signature.types = (const kiln_type *const[]){
        kiln_type_scalar(fixture->context, KILN_TYPE_F32)};

    assert_status(KILN_ECOMPILE,
                  kiln_compile(&kernel, fixture->context, &signature,
                               fixture->config, NULL, &error));

    assert_string_equal(kiln_error_message(error),
                        "test.twice(f32) is a function, not a kernel");
    what = kiln_error_diagnostic(error, 0);
    assert_string_equal(what->code, "not-a-kernel");
    assert_contains(what->hint, "`kernel`");
    assert_string_equal(what->location.file, "test.kiln");
    assert_int_equal(what->location.line, 1);
    assert_int_equal(what->location.column, 4);
    kiln_error_free(error);
}

static void wrong_arguments_are_refused(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    const kiln_kernel *kernel;

    assert_fails(KILN_EINVAL, "config",
                 kiln_compile(&kernel, fixture->context, &signature, NULL, NULL,
                              &test_error));
    signature.count = KILN_ARGUMENTS_MAX + 1;
    assert_fails(KILN_EINVAL, "count",
                 kiln_compile(&kernel, fixture->context, &signature,
                              fixture->config, NULL, &test_error));
    signature.function = NULL;
    assert_fails(KILN_EINVAL, "function",
                 kiln_compile(&kernel, fixture->context, &signature,
                              fixture->config, NULL, &test_error));
}

/* ---- many ---- */

static int progressed;

static void progress(size_t done, size_t count, const kiln_batch_job *job,
                     void *env)
{
    (void)job;
    (void)env;
    progressed++;
    assert_int_equal(done, progressed);
    assert_int_equal(count, 9);
}

static void a_batch_compiles_all_and_reports_each(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    const kiln_type *number = kiln_type_scalar(fixture->context, KILN_TYPE_F32);
    kiln_batch_job jobs[9];

    progressed = 0;
    for (int i = 0; i < 9; i++) {
        jobs[i] =
            (kiln_batch_job){.signature = signature, .config = fixture->config};
        jobs[i].signature.types = i < 8 ? &fixture->types[i] : &number;
    }
    assert_int_equal(
        kiln_compile_batch(fixture->context, jobs, 9, progress, NULL),
        KILN_ECOMPILE);

    assert_int_equal(progressed, 9);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(jobs[i].status, KILN_OK);
        assert_non_null(jobs[i].kernel);
    }
    assert_int_equal(jobs[8].status, KILN_ECOMPILE);
    assert_true(kiln_error_diagnostic_count(jobs[8].error) > 0);
    kiln_error_free(jobs[8].error);
    assert_int_equal(counts(fixture).built, 8);
}

static void a_ticket_ends_without_blocking(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    kiln_ticket *ticket;
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    assert_ok(kiln_compile_start(&ticket, fixture->context, &signature,
                                 fixture->config, NULL, &test_error));
    do
        status = kiln_compile_poll(&kernel, ticket, &test_error);
    while (status == KILN_EAGAIN);
    assert_int_equal(status, KILN_OK);
    assert_ok(kiln_compile_wait(&kernel, ticket, &test_error));
    assert_float_equal(run(fixture, kernel, 4), 8, 0);
    kiln_ticket_free(ticket);
}

static void a_canceled_ticket_says_so_or_is_done(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    kiln_ticket *ticket;
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    assert_ok(kiln_compile_start(&ticket, fixture->context, &signature,
                                 fixture->config, NULL, &test_error));
    kiln_compile_cancel(ticket);
    status = kiln_compile_poll(&kernel, ticket, &test_error);
    assert_true(status == KILN_ECANCELED || status == KILN_OK);
    kiln_ticket_free(ticket);
    (void)compile(fixture, "scale", NULL);
    assert_int_equal(counts(fixture).built, 1);
}

struct callers {
    struct fixture *fixture;
    kiln_signature signature;
    pthread_barrier_t start;
    thread_report report;
    const kiln_kernel *kernels[16];
    int next;
};

static void *call(void *argument)
{
    struct callers *callers = argument;
    int own = __atomic_fetch_add(&callers->next, 1, __ATOMIC_RELAXED);

    pthread_barrier_wait(&callers->start);
    thread_assert_ok(&callers->report,
                     kiln_compile(&callers->kernels[own],
                                  callers->fixture->context,
                                  &callers->signature, callers->fixture->config,
                                  NULL, NULL));
    return NULL;
}

static void sixteen_cold_callers_build_once(void **state)
{
    struct fixture *fixture = *state;
    struct callers callers = {.fixture = fixture,
                              .signature = signature_of(fixture, "scale"),
                              .report = THREAD_REPORT_INIT};

    pthread_barrier_init(&callers.start, NULL, 16);
    harness_run_threads(16, call, &callers);
    pthread_barrier_destroy(&callers.start);
    assert_threads_ok(&callers.report);
    for (int i = 1; i < 16; i++)
        assert_ptr_equal(callers.kernels[i], callers.kernels[0]);
    assert_int_equal(counts(fixture).built, 1);
    assert_int_equal(counts(fixture).requests, 16);
}

static void a_config_of_its_own_is_a_job_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    kiln_signature signature = signature_of(fixture, "scale");
    const kiln_kernel *first = compile(fixture, "scale", NULL);
    const kiln_kernel *second;
    kiln_statistics statistics = {.size = sizeof statistics};

    options.opt_level = KILN_OPT_0;
    assert_ok(
        kiln_config_new(&config, fixture->context, &options, &test_error));
    assert_ok(kiln_compile(&second, fixture->context, &signature, config, NULL,
                           &test_error));
    assert_ptr_not_equal(first, second);
    assert_int_equal(counts(fixture).built, 2);
    /* The typed IR is shared: no [typed] setting differs. */
    kiln_statistics_get(&statistics, fixture->context);
    assert_int_equal(statistics.tiers[KILN_TIER_TYPED].built, 2);
}

static void a_held_world_compiles_the_old_meaning(void **state)
{
    struct fixture *fixture = *state;
    kiln_signature signature = signature_of(fixture, "scale");
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    kiln_frontend *language = kiln_context_language(fixture->context);
    const kiln_kernel *kernel;

    assert_ok(kiln_world_hold(&options.world, language));
    define(fixture, "fn twice(x) = 10 * x\n");
    assert_ok(kiln_compile(&kernel, fixture->context, &signature,
                           fixture->config, &options, &test_error));
    assert_float_equal(run(fixture, kernel, 3), 6, 0);
    assert_float_equal(run(fixture, compile(fixture, "scale", NULL), 3), 30, 0);
    kiln_world_release(language, options.world);
}

/* ---- out of memory ---- */

static kiln_status compile_saxpy(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *type;
    const kiln_kernel *kernel;
    kiln_signature signature = {NULL, &type, 1};
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    options.workers = 1;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_config_new(&config, context, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "test", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "t", scale_text,
                                     strlen(scale_text), NULL, NULL);
    if (status == KILN_OK)
        status = kiln_type_array(&type, context,
                                 kiln_type_scalar(context, KILN_TYPE_F32), 1, 0,
                                 NULL);
    if (status == KILN_OK)
        status =
            kiln_package_function(&signature.function, package, "scale", NULL);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, context, &signature, config, NULL, NULL);
    kiln_context_free(context);
    return status;
}

static void compiling_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(compile_saxpy, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_second_compile_is_a_hit),
        TEST(a_call_site_follows_redefinitions),
        TEST(going_back_to_an_old_meaning_builds_nothing),
        TEST(a_job_key_depends_on_meaning_alone),
        TEST(equal_jobs_give_equal_bytes),
        TEST(every_form_can_be_emitted),
        TEST(a_function_is_not_a_kernel),
        TEST(wrong_arguments_are_refused),
        TEST(a_batch_compiles_all_and_reports_each),
        TEST(a_ticket_ends_without_blocking),
        TEST(a_canceled_ticket_says_so_or_is_done),
        TEST(sixteen_cold_callers_build_once),
        TEST(a_config_of_its_own_is_a_job_of_its_own),
        TEST(a_held_world_compiles_the_old_meaning),
        cmocka_unit_test(compiling_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
