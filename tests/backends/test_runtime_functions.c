/* test_runtime_functions.c - runtime functions, one by one, in kernels. */
/* LABELS: unit tiers host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context/keys/key.h"
#include "kiln.h"
#include "support/devices/kernels.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/typed/code_instance.h"

static const char program[] = "kernel scale(y, n)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] ** n + sign_of(y[i])\n"
                              "end\n"
                              "kernel shift(y, n)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] + y[i] ** n\n"
                              "end\n"
                              "kernel whole(y, n)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] ** n\n"
                              "end\n"
                              "kernel fixed(y)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] ** 7 + y[i] ** -2\n"
                              "end\n"
                              "kernel plain(y)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] + 1\n"
                              "end\n"
                              "kernel together(y, n)\n"
                              "    i = global_id(0)\n"
                              "    s = group_add(y[i] ** n)\n"
                              "    barrier()\n"
                              "    y[i] = s + sign_of(y[i])\n"
                              "end\n";

static kiln_tier_statistics counts(const kiln_context *context)
{
    kiln_statistics statistics = {.size = sizeof statistics};
    const kiln_tier_statistics *all = &statistics.tiers[KILN_TIER_RUNTIME];

    kiln_statistics_get(&statistics, context);
    assert_int_equal(all->requests,
                     all->hits + all->waited + all->built + all->failed);
    return *all;
}

/* ---- kernels of one array and, mostly, a number ---- */

typedef struct job {
    kiln_signature signature;
    const kiln_type *types[2];
} job;

static void make_job(job *out, kernels *k, kiln_package *package,
                     const char *kernel, const char *array)
{
    const int takes_number =
        strcmp(kernel, "fixed") != 0 && strcmp(kernel, "plain") != 0;

    assert_ok(
        kiln_type_parse(&out->types[0], k->context, NULL, array, &test_error));
    assert_ok(
        kiln_type_parse(&out->types[1], k->context, NULL, "i64", &test_error));
    out->signature =
        (kiln_signature){.types = out->types, .count = takes_number ? 2 : 1};
    assert_ok(kiln_package_function(&out->signature.function, package, kernel,
                                    &test_error));
}

static const kiln_kernel *compile(kernels *k, kiln_package *package,
                                  const char *name, const char *array)
{
    const kiln_kernel *kernel = NULL;
    job j;

    make_job(&j, k, package, name, array);
    assert_ok(kiln_compile(&kernel, k->context, &j.signature, k->config, NULL,
                           &test_error));
    return kernel;
}

static void run_floats(kernels *k, kiln_package *package, const char *kernel,
                       float *values, int64_t count, int64_t n)
{
    const kiln_array y = kernels_array(values, count);
    const kernels_argument arguments[] = {{"f32[:]", &y}, {"i64", &n}};
    const size_t taken = strcmp(kernel, "fixed") == 0 ? 1 : 2;

    assert_ok(kernels_run(k, package, kernel, (uint64_t)count, arguments, taken,
                          &test_error));
}

/* Marks every runtime function of the kernel's closure as not worth keeping,
   before anybody made it. */
static void give_up(kernels *k, const kiln_code *code)
{
    const kiln_code *callee;
    kiln__runtime_entry *entry;
    kiln__encoder key;

    for (size_t i = 0; (callee = kiln_code_callee(code, i)) != NULL; i++)
        give_up(k, callee);
    if (!kiln__code_is_runtime(code))
        return;
    kiln__encoder_init(&key, &k->context->alloc);
    assert_ok(kiln__key_runtime(&key, kiln_code_digest(code), k->config));
    if (kiln__runtime_claim(&entry, k->context,
                            &(kiln__runtime_query){
                                .digest = kiln__encoder_digest(&key),
                                .encoded = key.bytes,
                                .encoded_size = key.size,
                                .asker = kiln_code_digest(code),
                                .is_optional = 1,
                                .work = (size_t)1 << 40,
                            }) == KILN__RUNTIME_OWN) {
        assert_ok(kiln__runtime_finish(k->context, entry, "x", 1, 0));
        for (int i = 0; i < KILN__RUNTIME_READS; i++)
            kiln__runtime_was_read(k->context, entry, 1);
        kiln__runtime_release(k->context, entry);
    }
    kiln__encoder_dispose(&key);
}

/* ---- made once, linked where they are used ---- */

static void kernels_share_what_they_call(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    float y[4] = {1, -2, 3, 0};
    float z[4] = {1, -2, 3, 0};

    run_floats(k, package, "scale", y, 4, 3);
    assert_int_equal(counts(k->context).built, 2); /* ipow, sign_of */
    assert_int_equal(counts(k->context).hits, 0);
    run_floats(k, package, "shift", z, 4, -2);

    assert_memory_equal(y, ((float[]){2, -9, 28, 0}), sizeof y);
    assert_true(z[0] == 2 && z[1] == -2 + 0.25f && z[2] == 3 + 1 / 9.0f);
    assert_int_equal(counts(k->context).built, 2);
    assert_int_equal(counts(k->context).hits, 1);
    assert_int_equal(counts(k->context).entries, 2);
}

static void functions_that_call_each_other_are_linked_together(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    float y[2] = {2, -1};

    run_floats(k, package, "fixed", y, 2, 0);

    assert_memory_equal(y, ((float[]){128.25f, 0}), sizeof y);
    assert_true(counts(k->context).built >= 3);
}

static void a_kernel_without_any_asks_for_none(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);

    (void)compile(k, package, "plain", "f32[:]");

    assert_int_equal(counts(k->context).requests, 0);
}

static void groups_link_them_too(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    const kiln_launch launch = {.grid = {4, 1, 1}, .block = {4, 1, 1}};
    float y[4] = {1, 2, -3, 0};
    const kiln_array array = kernels_array(y, 4);
    const int64_t n = 2;
    const kernels_argument arguments[] = {{"f32[:]", &array}, {"i64", &n}};

    assert_ok(kernels_launch(k, package, "together", k->config, &launch,
                             arguments, 2, &test_error));

    assert_memory_equal(y, ((float[]){15, 15, 13, 14}), sizeof y);
    assert_int_equal(counts(k->context).built, 2);
}

static void what_can_raise_is_lowered_with_its_kernel(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    int64_t y[2] = {3, 4}, n = -1;
    const kiln_array array = kernels_array(y, 2);
    const kernels_argument arguments[] = {{"i64[:]", &array}, {"i64", &n}};

    assert_fails(
        KILN_EEXCEPTION, "an integer to a negative power",
        kernels_run(k, package, "whole", 2, arguments, 2, &test_error));
    assert_int_equal(counts(k->context).requests, 0);
}

static void every_level_of_optimisation_links_them(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    uint64_t built = 0;

    for (uint8_t level = KILN_OPT_0; level <= KILN_OPT_3; level++) {
        kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
        const kiln_config *config;
        const kiln_launch launch = {.grid = {2, 1, 1}};
        float y[2] = {2, -1};
        const kiln_array array = kernels_array(y, 2);
        const kernels_argument argument = {"f32[:]", &array};

        options.opt_level = level;
        assert_ok(kiln_config_new(&config, k->context, &options, &test_error));
        assert_ok(kernels_launch(k, package, "fixed", config, &launch,
                                 &argument, 1, &test_error));
        assert_memory_equal(y, ((float[]){128.25f, 0}), sizeof y);
        /* Their key has no level. */
        built = built ? built : counts(k->context).built;
        assert_int_equal(counts(k->context).built, built);
    }
}

/* ---- the same code, whichever way ---- */

static void assert_same_bytes(const char *name, const char *array)
{
    const void *bytes[2];
    size_t sizes[2];
    void *states[2];

    for (int given_up = 0; given_up < 2; given_up++) {
        kiln_package *package;
        kernels *k;

        assert_int_equal(kernels_setup(&states[given_up]), 0);
        k = states[given_up];
        package = kernels_define(k, "main", program);
        if (given_up) {
            const kiln_code *code;
            job j;

            make_job(&j, k, package, name, array);
            assert_ok(kiln_infer(&code, k->context, &j.signature, k->config, 0,
                                 &test_error));
            give_up(k, code);
            assert_true(counts(k->context).not_kept > 0);
        }
        bytes[given_up] = kiln_artifact_bytes(
            kiln_kernel_artifact(compile(k, package, name, array)),
            &sizes[given_up]);
        assert_int_equal(counts(k->context).entries > 0, !given_up);
    }

    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    (void)kernels_teardown(&states[0]);
    (void)kernels_teardown(&states[1]);
}

static void a_kernel_is_the_same_bytes_linked_or_lowered_with_it(void **state)
{
    (void)state;
    assert_same_bytes("scale", "f32[:]");
    assert_same_bytes("fixed", "f64[:]");
    assert_same_bytes("whole", "f32[:]");
    assert_same_bytes("together", "f32[:]");
}

/* ---- one build for many kernels ---- */

#define KERNELS 16

static void sixteen_cold_kernels_build_a_function_once(void **state)
{
    kernels *k = *state;
    kiln_batch_job jobs[KERNELS];
    job made[KERNELS];
    char text[KERNELS * 96];
    size_t size = 0;
    kiln_package *package;

    for (int i = 0; i < KERNELS; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "kernel k%d(y, n)\n"
                                 "    y[0] = y[%d] ** n\n"
                                 "end\n",
                                 i, i);
    package = kernels_define(k, "main", text);
    for (int i = 0; i < KERNELS; i++) {
        char name[8];

        snprintf(name, sizeof name, "k%d", i);
        make_job(&made[i], k, package, name, "f32[:]");
        jobs[i] = (kiln_batch_job){.signature = made[i].signature,
                                   .config = k->config};
    }
    assert_ok(kiln_compile_batch(k->context, jobs, KERNELS, NULL, NULL));

    assert_int_equal(counts(k->context).built, 1);
    assert_int_equal(counts(k->context).failed, 0);
}

/* ---- collections, forks ---- */

static void they_stay_as_long_as_something_calls_them(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);

    (void)compile(k, package, "shift", "f32[:]");
    kiln_context_collect(k->context);
    assert_int_equal(counts(k->context).entries, 1);

    assert_ok(kiln_package_unload(package, NULL, &test_error));
    kiln_context_collect(k->context);
    /* The code instance of ipow itself is as valid as before. */
    assert_int_equal(counts(k->context).entries, 1);
}

static void a_child_builds_what_its_parent_had_not(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", program);
    int status;
    pid_t child;

    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    (void)compile(k, package, "scale", "f32[:]");
    child = fork();
    if (child == 0) {
        (void)compile(k, package, "shift", "f32[:]");
        (void)compile(k, package, "fixed", "f32[:]");
        _exit(counts(k->context).hits == 1 ? 42 : 1);
    }

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* ---- memory ---- */

static kiln_status compile_with(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_kernel *kernel;
    kiln_context *context;
    kiln_package *package;
    kernels k = {0};
    kiln_status status;
    job j;

    (void)env;
    failing_alloc_hold(alloc, 1);
    options.alloc = alloc;
    options.workers = 1;
    settings.opt_level = KILN_OPT_0;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    k.context = context;
    assert_ok(kiln_config_new(&k.config, context, &settings, &test_error));
    package = kernels_define(&k, "main", program);
    make_job(&j, &k, package, "fixed", "f32[:]");
    failing_alloc_hold(alloc, 0);
    status = kiln_compile(&kernel, context, &j.signature, k.config, NULL, NULL);
    failing_alloc_hold(alloc, 1);
    if (status != KILN_OK)
        assert_ok(kiln_compile(&kernel, context, &j.signature, k.config, NULL,
                               &test_error));
    kiln_context_free(context);
    failing_alloc_hold(alloc, 0);
    return status;
}

static void compiling_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(compile_with, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, kernels_setup, kernels_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kernels_share_what_they_call),
        TEST(functions_that_call_each_other_are_linked_together),
        TEST(a_kernel_without_any_asks_for_none),
        TEST(groups_link_them_too),
        TEST(what_can_raise_is_lowered_with_its_kernel),
        TEST(every_level_of_optimisation_links_them),
        cmocka_unit_test(a_kernel_is_the_same_bytes_linked_or_lowered_with_it),
        TEST(sixteen_cold_kernels_build_a_function_once),
        TEST(they_stay_as_long_as_something_calls_them),
        TEST(a_child_builds_what_its_parent_had_not),
        cmocka_unit_test(compiling_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
