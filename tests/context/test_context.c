/* test_context.c - making and ending the one long-lived object. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread fault */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen_client/codegen_library.h"
#include "context/context.h"
#include "support/harness.h"

static int clean_environment(void **state)
{
    (void)state;
    unsetenv("KILN_WORKERS");
    unsetenv("KILN_THREADS");
    unsetenv("KILN_PATH");
    unsetenv("KILN_CODEGEN");
    return 0;
}

static kiln_context *context_of(const kiln_context_options *options)
{
    kiln_context *context = NULL;

    assert_ok(kiln_context_new(&context, options, &test_error));
    return context;
}

/* ---- options ---- */

static void a_context_needs_no_options(void **state)
{
    kiln_context *context = context_of(NULL);

    (void)state;

    assert_true(context->worker_limit >= 1);
    assert_true(context->thread_limit >= 1);
    assert_non_null(kiln_context_language(context));
    kiln_context_collect(context);
    kiln_context_free(context);
}

static void nothing_can_be_freed(void **state)
{
    (void)state;

    kiln_context_free(NULL);
    kiln_context_collect(NULL);
}

static void another_binary_interface_is_refused(void **state)
{
    kiln_context *context = NULL;

    (void)state;

    assert_fails(
        KILN_EMISMATCH, "binary interface",
        kiln_context_new_(KILN_ABI_VERSION + 1, &context, NULL, &test_error));
    assert_null(context);
}

static void an_older_and_shorter_struct_is_taken(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;

    (void)state;
    options.size = offsetof(kiln_context_options, threads);
    options.workers = 3;
    options.threads = 77;
    context = context_of(&options);

    assert_int_equal(context->worker_limit, 3);
    assert_int_not_equal(context->thread_limit, 77);
    kiln_context_free(context);
}

static void what_a_newer_caller_asks_for_is_refused(void **state)
{
    struct {
        kiln_context_options options;
        uint64_t later;
    } newer = {.options = {.size = sizeof newer}, .later = 1};
    kiln_context *context = NULL;

    (void)state;

    assert_fails(KILN_EINVAL, "does not know",
                 kiln_context_new(&context, &newer.options, &test_error));
}

static void a_struct_without_its_size_is_named(void **state)
{
    const kiln_host_ops host = {.size = 0};
    const kiln_alloc alloc = {.size = 0};
    const kiln_cache_options cache = {.size = 0};
    kiln_context_options options = {.size = 0};
    kiln_context *context;

    (void)state;
    assert_fails(KILN_EINVAL, "kiln_context_options.size is 0; set it to",
                 kiln_context_new(&context, &options, &test_error));
    options = (kiln_context_options)KILN_CONTEXT_OPTIONS_INIT;
    options.host = &host;
    assert_fails(KILN_EINVAL, "set it to sizeof(kiln_host_ops)",
                 kiln_context_new(&context, &options, &test_error));
    options.host = NULL;
    options.alloc = &alloc;
    assert_fails(KILN_EINVAL, "set it to sizeof(kiln_alloc)",
                 kiln_context_new(&context, &options, &test_error));
    options.alloc = NULL;
    options.cache = &cache;
    assert_fails(KILN_EINVAL, "set it to sizeof(kiln_cache_options)",
                 kiln_context_new(&context, &options, &test_error));
}

static void limits_have_limits(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    (void)state;
    options.workers = 100000;
    assert_fails(KILN_EINVAL, "workers is 100000",
                 kiln_context_new(&context, &options, &test_error));
    options.workers = 0;
    options.threads = 100000;
    assert_fails(KILN_EINVAL, "threads is 100000",
                 kiln_context_new(&context, &options, &test_error));
}

static void an_allocator_without_a_function_is_refused(void **state)
{
    const kiln_alloc alloc = {.size = sizeof alloc};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    (void)state;
    options.alloc = &alloc;

    assert_fails(KILN_EINVAL, "allocator",
                 kiln_context_new(&context, &options, &test_error));
}

/* ---- the host ---- */

static void log_line(void *env, int32_t level, const char *line)
{
    (void)env;
    (void)level;
    (void)line;
}

static void lone_bracket(void *env)
{
    (void)env;
}

static void the_hosts_table_is_copied_up_to_its_size(void **state)
{
    kiln_host_ops host = {
        .size = offsetof(kiln_host_ops, event), .log = log_line, .print = NULL};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;
    int env;

    (void)state;
    options.host = &host;
    options.host_env = &env;
    context = context_of(&options);
    memset(&host, 0, sizeof host);

    assert_true(context->host.log == log_line);
    assert_true(context->host.event == NULL);
    assert_ptr_equal(context->host_env, &env);
    kiln_context_free(context);
}

static void half_a_bracket_is_none(void **state)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .blocking_enter = lone_bracket,
                                .thread_leave = lone_bracket};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;

    (void)state;
    options.host = &host;
    context = context_of(&options);

    assert_true(context->host.blocking_enter == NULL);
    assert_true(context->host.thread_leave == NULL);
    kiln_context_free(context);
}

static void count_up(void *env)
{
    ++*(int *)env;
}

static void the_host_is_ended_once_and_only_with_a_context(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    int ended = 0;

    (void)state;
    options.host_env = &ended;
    options.host_finalize = count_up;
    options.workers = 100000;
    assert_status(KILN_EINVAL,
                  kiln_context_new(&context, &options, &test_error));
    assert_int_equal(ended, 0);

    options.workers = 1;
    context = context_of(&options);
    assert_int_equal(ended, 0);
    kiln_context_free(context);
    assert_int_equal(ended, 1);
}

/* ---- the environment ---- */

static void variables_stand_in_for_options(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context;

    (void)state;
    setenv("KILN_WORKERS", "5", 1);
    setenv("KILN_THREADS", "6", 1);
    setenv("KILN_PATH", "/a:/b", 1);
    options.threads = 2;
    context = context_of(&options);

    assert_int_equal(context->worker_limit, 5);
    assert_int_equal(context->thread_limit, 2);
    assert_string_equal(context->import_path, "/a:/b");
    kiln_context_free(context);
}

static void an_empty_variable_is_none(void **state)
{
    kiln_context *context;

    (void)state;
    setenv("KILN_WORKERS", "", 1);
    setenv("KILN_PATH", "", 1);
    context = context_of(NULL);

    assert_null(context->import_path);
    kiln_context_free(context);
}

static void a_variable_that_makes_no_sense_is_named(void **state)
{
    static const char *const bad[] = {
        "0", "-1", "many", "3x", " 3", "3 ", "+3", "99999999999999999999"};
    kiln_context *context = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("KILN_WORKERS", bad[i], 1);
        assert_fails(KILN_EINVAL, "KILN_WORKERS is",
                     kiln_context_new(&context, NULL, &test_error));
    }
    unsetenv("KILN_WORKERS");
    setenv("KILN_CODEGEN", "elsewhere", 1);
    assert_fails(KILN_EINVAL, "KILN_CODEGEN is 'elsewhere'",
                 kiln_context_new(&context, NULL, &test_error));
    setenv("KILN_CODEGEN", "thread", 1);
    kiln_context_free(context_of(NULL));
}

static void every_variable_is_listed_with_its_meaning(void **state)
{
    static const char *const names[] = {"KILN_WORKERS",
                                        "KILN_THREADS",
                                        "KILN_CODEGEN_PATH",
                                        "KILN_PATH",
                                        "KILN_CUDA_DRIVER",
                                        "KILN_ROCM_DRIVER",
                                        "KILN_CODEGEN",
                                        "KILN_CODEGEN_WORKER",
                                        "KILN_CODEGEN_TIMEOUT",
                                        "KILN_CODEGEN_MEMORY",
                                        "KILN_SPIRV_DRIVER",
                                        "KILN_LLVM_SPIRV",
                                        "KILN_SPIRV_TOOLS",
                                        "KILN_NVJITLINK",
                                        "KILN_PTXAS",
                                        "KILN_LLD",
                                        "KILN_LIBCLC",
                                        "KILN_LIBDEVICE",
                                        "KILN_ROCM_DEVICE_LIBS",
                                        "KILN_TRACE",
                                        "KILN_CACHE",
                                        "KILN_CACHE_DIR",
                                        "KILN_CACHE_PATH",
                                        "KILN_CACHE_LOCAL_DIR",
                                        "KILN_CACHE_MAX_SIZE",
                                        "KILN_CACHE_MAX_ENTRIES",
                                        "KILN_CACHE_MAX_AGE",
                                        "KILN_CACHE_MEM_SIZE",
                                        "KILN_CACHE_LOCK",
                                        "KILN_CACHE_DISK",
                                        "KILN_CACHE_WAIT",
                                        "KILN_CACHE_SALT",
                                        "KILN_CACHE_NAMESPACE",
                                        "KILN_CACHE_TRACE",
                                        "KILN_CACHE_TIERS",
                                        "KILN_CACHE_TRUST"};
    const kiln_environment_variable *listed = kiln_environment_variables();

    (void)state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(listed[i].name, names[i]);
        assert_true(strlen(listed[i].meaning) > 0);
    }
    assert_null(listed[sizeof names / sizeof *names].name);
}

/* ---- the code generator's door ---- */

static void a_missing_code_generator_is_a_reason_that_stays(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln__codegen *table = NULL;
    kiln_context *context;

    (void)state;
    options.codegen_path = "/nowhere/libkiln-codegen.so";
    context = context_of(&options);

    assert_fails(KILN_ECODEGEN, "cannot be opened",
                 kiln__codegen_library_open(context, &table, &test_error));
    assert_fails(KILN_ECODEGEN, "cannot be opened",
                 kiln__codegen_library_open(context, &table, &test_error));
    assert_status(KILN_ECODEGEN,
                  kiln__codegen_library_open(context, &table, NULL));
    assert_null(table);
    kiln_context_free(context);
}

static void a_library_that_is_no_code_generator_is_refused(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln__codegen *table = NULL;
    kiln_context *context;

    (void)state;
    options.codegen_path = "libm.so.6";
    context = context_of(&options);

    assert_fails(KILN_EMISMATCH, "is not Kiln's code generator",
                 kiln__codegen_library_open(context, &table, &test_error));
    kiln_context_free(context);
}

static struct {
    int calls;
    kiln__codegen table;
} fake;

static kiln_status fake_exchange(const kiln__codegen_host *host,
                                 const kiln__codegen **out)
{
    fake.calls++;
    if (fake.table.build_id == NULL)
        fake.table.build_id = host->build_id;
    *out = &fake.table;
    return KILN_OK;
}

static void a_linked_code_generator_is_asked_once(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln__codegen *first = NULL, *second = NULL;
    kiln_context *context;

    (void)state;
    fake.calls = 0;
    fake.table =
        (kiln__codegen){.size = sizeof fake.table, .abi = KILN__CODEGEN_ABI};
    options.codegen_exchange = fake_exchange;
    context = context_of(&options);

    assert_ok(kiln__codegen_library_open(context, &first, &test_error));
    assert_ok(kiln__codegen_library_open(context, &second, &test_error));

    assert_ptr_equal(first, &fake.table);
    assert_ptr_equal(second, first);
    assert_int_equal(fake.calls, 1);
    kiln_context_free(context);
}

static void a_code_generator_of_another_build_is_refused(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln__codegen *table = NULL;
    kiln_context *context;

    (void)state;
    fake.table = (kiln__codegen){.size = sizeof fake.table,
                                 .abi = KILN__CODEGEN_ABI,
                                 .build_id = "yesterday"};
    options.codegen_exchange = fake_exchange;
    context = context_of(&options);

    assert_fails(KILN_EMISMATCH, "of build yesterday",
                 kiln__codegen_library_open(context, &table, &test_error));
    assert_null(table);
    kiln_context_free(context);
}

/* ---- stores ---- */

static void a_store_without_functions_is_refused(void **state)
{
    const kiln_store_ops ops = {.size = sizeof ops, .name = "disk"};
    kiln_context *context = context_of(NULL);

    (void)state;

    assert_fails(KILN_EINVAL, "no name, get, put or free",
                 kiln_context_add_store(context, &ops, NULL, 0, &test_error));
    kiln_context_free(context);
}

/* ---- fork ---- */

typedef struct storm {
    kiln_context *context;
    atomic_int stop;
} storm;

static void *make_types(void *argument)
{
    storm *s = argument;

    for (int64_t i = 0; !atomic_load(&s->stop); i = (i + 1) % 1000) {
        const kiln_type *type = NULL;
        const kiln_config *config = NULL;

        (void)!kiln_type_static(&type, s->context, i, NULL);
        (void)!kiln_config_new(&config, s->context, NULL, NULL);
    }
    return NULL;
}

/* Would hang if a lock were left taken; the test's time limit then ends it. */
static int use_in_child(kiln_context *context)
{
    const kiln_type *type = NULL;
    const kiln_config *config = NULL;
    const kiln_function *function = NULL;
    kiln_frontend *language = kiln_context_language(context);

    if (kiln_type_static(&type, context, 12345, NULL) != KILN_OK ||
        kiln_config_new(&config, context, NULL, NULL) != KILN_OK ||
        kiln_function_new(&function, language, "main.f", NULL, NULL) != KILN_OK)
        return 1;
    return 0;
}

static void a_forked_child_finds_no_lock_taken(void **state)
{
    storm s = {0};
    pthread_t threads[2];

    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    s.context = context_of(NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_types, &s), 0);
    for (int i = 0; i < 50; i++) {
        int status = -1;
        const pid_t child = fork();

        if (child == 0)
            _exit(use_in_child(s.context));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&s.stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    kiln_context_free(s.context);
}

/* ---- memory ---- */

static kiln_status make_and_end(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    options.codegen_path = "/some/where";
    status = kiln_context_new(&context, &options, NULL);
    kiln_context_free(context);
    return status;
}

static void out_of_memory_at_any_call_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(make_and_end, NULL);
}

/* The errors of all backends of devices end alike. */
static void without_a_driver_an_error_shows_other_ways(void **state)
{
    static const char *const backends[] = {"cuda", "rocm", "spirv"};
    kiln_context *context;

    (void)state;
    setenv("KILN_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
    setenv("KILN_ROCM_DRIVER", "/nowhere/libamdhip64.so", 1);
    context = context_of(NULL);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        kiln_device *device = NULL;
        kiln_error *error = NULL;
        const kiln_status status =
            kiln_device_open(&device, context, backends[i], 0, &error);

        /* SPIR-V's drivers may be installed. */
        if (status == KILN_OK && strcmp(backends[i], "spirv") == 0) {
            kiln_device_close(device);
            continue;
        }
        assert_int_equal(status, KILN_ENODEVICE);
        assert_contains(kiln_error_message(error), "kiln_emit()");
        assert_contains(kiln_error_message(error), "kiln_device_open_offline");
        kiln_error_free(error);
    }
    kiln_context_free(context);
    unsetenv("KILN_CUDA_DRIVER");
    unsetenv("KILN_ROCM_DRIVER");
}

static void contexts_live_side_by_side(void **state)
{
    kiln_context *first = context_of(NULL), *second = context_of(NULL);
    const kiln_type *a = kiln_type_scalar(first, KILN_TYPE_F32);
    const kiln_type *b = kiln_type_scalar(second, KILN_TYPE_F32);

    (void)state;

    assert_ptr_not_equal(a, b);
    kiln_context_free(first);
    assert_string_equal(kiln_type_text(b), "f32");
    kiln_context_free(second);
}

int main(void)
{
#define CLEAN(test) \
    cmocka_unit_test_setup_teardown(test, clean_environment, clean_environment)
    const struct CMUnitTest tests[] = {
        CLEAN(a_context_needs_no_options),
        CLEAN(nothing_can_be_freed),
        CLEAN(another_binary_interface_is_refused),
        CLEAN(an_older_and_shorter_struct_is_taken),
        CLEAN(what_a_newer_caller_asks_for_is_refused),
        CLEAN(a_struct_without_its_size_is_named),
        CLEAN(limits_have_limits),
        CLEAN(an_allocator_without_a_function_is_refused),
        CLEAN(the_hosts_table_is_copied_up_to_its_size),
        CLEAN(half_a_bracket_is_none),
        CLEAN(the_host_is_ended_once_and_only_with_a_context),
        CLEAN(variables_stand_in_for_options),
        CLEAN(an_empty_variable_is_none),
        CLEAN(a_variable_that_makes_no_sense_is_named),
        CLEAN(every_variable_is_listed_with_its_meaning),
        CLEAN(a_missing_code_generator_is_a_reason_that_stays),
        CLEAN(a_library_that_is_no_code_generator_is_refused),
        CLEAN(a_linked_code_generator_is_asked_once),
        CLEAN(a_code_generator_of_another_build_is_refused),
        CLEAN(a_store_without_functions_is_refused),
        CLEAN(a_forked_child_finds_no_lock_taken),
        CLEAN(out_of_memory_at_any_call_is_survived),
        CLEAN(contexts_live_side_by_side),
        CLEAN(without_a_driver_an_error_shows_other_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
