/* test_runtime_library.c - frontends take functions from bitcode libraries. */
/* LABELS: unit tiers host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toys.h"

#include <stdio.h>
#include <string.h>

static const char *const twice[] = {"twice"};

#define LIBRARY(value) \
    "define internal i64 @factor() {\n  ret i64 " value "\n}\n" \
    "define i64 @twice(i64 %x) {\n" \
    "  %f = call i64 @factor()\n" \
    "  %r = mul i64 %x, %f\n" \
    "  ret i64 %r\n" \
    "}\n"

static kiln_runtime_library library_of(const char *text)
{
    kiln_runtime_library library = KILN_RUNTIME_LIBRARY_INIT;

    library.name = "tests";
    library.symbols = twice;
    library.symbol_count = 1;
    library.bytes = text;
    library.byte_size = strlen(text);
    return library;
}

static void add(toys *t, const char *text)
{
    const kiln_runtime_library library = library_of(text);

    assert_ok(kiln_runtime_add_library(t->context, &library, &test_error));
}

/* f0 and f1 raise what `twice` makes of 21; f2 does nothing of the kind. */
static void define_kernels(toys *t)
{
    t->toy.uses[0] = "twice";
    t->toy.uses[1] = "twice";
    t->toy.head =
        "declare i64 @twice(i64)\n"
        "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
        "@name = private constant [2 x i8] c\"f\\00\"\n";
    t->toy.body = "  %r = call i64 @twice(i64 21)\n"
                  "  call void @kiln_raise(ptr %item, i32 4, ptr @name, i32 1,"
                  " ptr @name, i64 %r, i64 0)\n";
    toys_define(t, 0, 1, NULL);
    toys_define(t, 1, 2, NULL);
    toys_define(t, 2, 3, NULL);
}

/* What the kernel raises. */
static int64_t run(toys *t, const kiln_kernel *kernel)
{
    const kiln_launch launch = {.grid = {1, 1, 1}};
    const kiln_exception *exception;
    kiln_error *error = NULL;
    kiln_device *device;
    kiln_queue *queue;
    int64_t value;

    assert_ok(kiln_device_open(&device, t->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_int_equal(kiln_queue_launch(queue, kernel, &launch, NULL, 0, &error),
                     KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    value = exception->values[0];
    kiln_error_free(error);
    kiln_queue_free(queue);
    kiln_device_close(device);
    return value;
}

static kiln_digest key_of(toys *t, int id)
{
    const kiln_signature signature = toy_signature(&t->toy, id);
    kiln_digest key;

    assert_ok(
        kiln_job_key(&key, t->context, &signature, t->config, 0, &test_error));
    return key;
}

static int same(kiln_digest a, kiln_digest b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- taking ---- */

static void kernels_take_a_function_that_is_extracted_once(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    add(t, LIBRARY("2"));
    define_kernels(t);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(run(t, kernel), 42);
    assert_ok(toys_compile(t, 1, &kernel, &test_error));
    assert_int_equal(run(t, kernel), 42);

    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).built, 1);
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).hits, 1);
}

static void of_two_libraries_the_later_one_counts(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    add(t, LIBRARY("2"));
    add(t, LIBRARY("3"));
    define_kernels(t);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));

    assert_int_equal(run(t, kernel), 63);
}

static void another_content_moves_the_keys_that_depend_on_it(void **state)
{
    kiln_digest keys[2][3];
    void *states[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        toys *t;

        assert_int_equal(toys_setup(&states[i]), 0);
        t = states[i];
        add(t, i == 0 ? LIBRARY("2") : LIBRARY("3"));
        define_kernels(t);
        for (int id = 0; id < 3; id++)
            keys[i][id] = key_of(t, id);
        (void)toys_teardown(&states[i]);
    }

    assert_false(same(keys[0][0], keys[1][0]));
    assert_false(same(keys[0][1], keys[1][1]));
    assert_true(same(keys[0][2], keys[1][2]));
}

static void a_file_is_read_when_it_is_needed(void **state)
{
    toys *t;
    void *inside;
    kiln_runtime_library library = library_of("");
    const kiln_kernel *kernel;
    char path[512];

    assert_int_equal(toys_setup(&inside), 0);
    t = inside;
    snprintf(path, sizeof path, "%s/library.ll", (const char *)*state);
    library.bytes = NULL;
    library.byte_size = 0;
    library.path = path;
    assert_ok(kiln_runtime_add_library(t->context, &library, &test_error));
    define_kernels(t);
    assert_fails(KILN_EIO, "library.ll",
                 toys_compile(t, 0, &kernel, &test_error));
    harness_write_file(path, sizeof path, *state, "library.ll", LIBRARY("2"),
                       sizeof LIBRARY("2") - 1);
    toys_define(t, 0, 5, NULL);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));

    assert_int_equal(run(t, kernel), 42);
    (void)toys_teardown(&inside);
}

static void a_library_may_be_for_one_backend(void **state)
{
    toys *t = *state;
    kiln_runtime_library library = library_of(LIBRARY("3"));
    const kiln_kernel *kernel;

    add(t, LIBRARY("2"));
    library.backend = "cuda";
    assert_ok(kiln_runtime_add_library(t->context, &library, &test_error));
    define_kernels(t);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(run(t, kernel), 42);
}

static void a_collection_keeps_what_is_asked_for(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    add(t, LIBRARY("2"));
    define_kernels(t);
    assert_ok(toys_compile(t, 0, &kernel, &test_error));
    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).entries, 1);

    t->toy.uses[0] = NULL;
    t->toy.body = NULL;
    toys_define(t, 0, 7, NULL);
    kiln_context_collect(t->context);
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).entries, 0);
}

/* ---- what goes wrong ---- */

static void nothing_is_added_after_the_first_inference(void **state)
{
    toys *t = *state;
    const kiln_runtime_library library = library_of(LIBRARY("2"));
    const kiln_code *code;

    toys_define(t, 2, 1, NULL);
    assert_ok(toys_infer(t, 2, &code, &test_error));

    assert_fails(KILN_EINVAL, "too late",
                 kiln_runtime_add_library(t->context, &library, &test_error));
}

static void a_symbol_that_nobody_offers_is_named(void **state)
{
    toys *t = *state;
    const kiln_code *code;

    define_kernels(t);

    assert_fails(KILN_ENOTFOUND, "no runtime library offers 'twice'",
                 toys_infer(t, 0, &code, &test_error));
}

static void a_symbol_that_was_not_declared_is_undefined(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    add(t, LIBRARY("2"));
    define_kernels(t);
    t->toy.uses[0] = NULL;

    assert_fails(KILN_ECODEGEN, "undefined function 'twice'",
                 toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).requests, 0);
}

static void a_library_that_is_none_is_an_error_of_the_kernel(void **state)
{
    toys *t = *state;
    const kiln_kernel *kernel;

    add(t, "this is no LLVM IR");
    define_kernels(t);

    assert_fails(KILN_ECORRUPT, "twice: library tests: ",
                 toys_compile(t, 0, &kernel, &test_error));
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).failed, 1);
    assert_int_equal(toys_counts(t, KILN_TIER_RUNTIME).entries, 0);
}

static void wrong_arguments_are_refused(void **state)
{
    toys *t = *state;
    kiln_runtime_library library = library_of(LIBRARY("2"));
    const kiln_runtime_library right = library;

    assert_fails(KILN_EINVAL, "context",
                 kiln_runtime_add_library(NULL, &library, &test_error));
    library.path = "both";
    assert_fails(KILN_EINVAL, "either bytes or a path",
                 kiln_runtime_add_library(t->context, &library, &test_error));
    library = right;
    library.byte_size = 0;
    assert_fails(KILN_EINVAL, "either bytes or a path",
                 kiln_runtime_add_library(t->context, &library, &test_error));
    library = right;
    library.symbol_count = 0;
    assert_fails(KILN_EINVAL, "symbol",
                 kiln_runtime_add_library(t->context, &library, &test_error));
    library = right;
    library.name = NULL;
    assert_fails(KILN_EINVAL, "name",
                 kiln_runtime_add_library(t->context, &library, &test_error));
}

/* ---- memory ---- */

static kiln_status compile_with(const kiln_alloc *alloc, void *env)
{
    const kiln_runtime_library library = library_of(LIBRARY("2"));
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    toys *t = env;
    const kiln_kernel *kernel;
    kiln_signature signature;
    kiln_status status;

    memset(t, 0, sizeof *t);
    failing_alloc_hold(alloc, 1);
    options.alloc = alloc;
    options.workers = 1;
    assert_ok(kiln_context_new(&t->context, &options, &test_error));
    assert_ok(kiln_config_new(&t->config, t->context, NULL, &test_error));
    assert_ok(toy_open(&t->toy, t->context, &test_error));
    define_kernels(t);
    signature = toy_signature(&t->toy, 0);
    failing_alloc_hold(alloc, 0);
    status = kiln_runtime_add_library(t->context, &library, NULL);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, t->context, &signature, t->config, NULL,
                              NULL);
    failing_alloc_hold(alloc, 1);
    kiln_context_free(t->context);
    failing_alloc_hold(alloc, 0);
    return status;
}

static void taking_survives_a_failing_allocator(void **state)
{
    toys t;

    (void)state;
    assert_survives_failing_alloc(compile_with, &t);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, toys_setup, toys_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kernels_take_a_function_that_is_extracted_once),
        TEST(of_two_libraries_the_later_one_counts),
        cmocka_unit_test(another_content_moves_the_keys_that_depend_on_it),
        cmocka_unit_test_setup_teardown(a_file_is_read_when_it_is_needed,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        TEST(a_library_may_be_for_one_backend),
        TEST(a_collection_keeps_what_is_asked_for),
        TEST(nothing_is_added_after_the_first_inference),
        TEST(a_symbol_that_nobody_offers_is_named),
        TEST(a_symbol_that_was_not_declared_is_undefined),
        TEST(a_library_that_is_none_is_an_error_of_the_kernel),
        TEST(wrong_arguments_are_refused),
        cmocka_unit_test(taking_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
