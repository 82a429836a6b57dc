/* test_runtime_devices.c - an embedder's runtime functions, on devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend tiers cuda rocm spirv */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "kiln.h"

/*
 * No device is needed: code is generated, keys are asked for. What is said of
 * three targets is each time that of one function which the embedder gives.
 */

enum { TARGETS = 3 };

static const char *const names[TARGETS] = {"cuda:sm_80", "rocm:gfx90a",
                                           "spirv:1.4+fp64"};

typedef struct fixture {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *configs[TARGETS];
    kiln_device *devices[TARGETS]; /* offline */
} fixture;

static const char kernels_text[] = "kernel uses(y)\n"
                                   "    i = global_id(0)\n"
                                   "    y[i] = mixed(y[i], 3)\n"
                                   "end\n"
                                   "kernel uses_too(y)\n"
                                   "    y[0] = mixed(y[1], 3) + 1\n"
                                   "end\n"
                                   "kernel plain(y)\n"
                                   "    y[0] = y[0] + 1\n"
                                   "end\n";

static const char mixed[] = "fn mixed(x, n: i64)\n"
                            "    result = x\n"
                            "    for i in 0..n\n"
                            "        result = result * x + 0.625\n"
                            "    end\n"
                            "    return result\n"
                            "end\n";

static void define(const fixture *f, const char *text)
{
    kiln_package *core = NULL;

    assert_ok(kiln_runtime_package(&core, f->context, &test_error));
    assert_ok(kiln_package_define(core, "mine.kiln", text, strlen(text), NULL,
                                  &test_error));
}

static int setup(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    for (int i = 0; i < TARGETS; i++) {
        options.target = names[i];
        assert_ok(
            kiln_config_new(&f->configs[i], f->context, &options, &test_error));
        assert_ok(kiln_device_open_offline(&f->devices[i], f->context,
                                           f->configs[i], &test_error));
    }
    define(f, mixed);
    assert_ok(kiln_package_new(&f->package, f->context, "main", &test_error));
    assert_ok(kiln_package_define(f->package, "main.kiln", kernels_text,
                                  strlen(kernels_text), NULL, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < TARGETS; i++)
        kiln_device_close(f->devices[i]);
    kiln_context_free(f->context);
    free(f);
    return 0;
}

static kiln_signature signature_of(const fixture *f, const char *kernel,
                                   const kiln_type **type)
{
    kiln_signature signature = {.types = type, .count = 1};

    assert_ok(kiln_type_parse(type, f->context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, f->package, kernel,
                                    &test_error));
    return signature;
}

static kiln_digest key_of(const fixture *f, const char *kernel, int target)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(f, kernel, &type);
    kiln_digest key;

    assert_ok(kiln_job_key(&key, f->context, &signature, f->configs[target], 0,
                           &test_error));
    return key;
}

static void compile(const fixture *f, const char *kernel, int target)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(f, kernel, &type);
    const kiln_kernel *out;

    assert_ok(kiln_compile(&out, f->context, &signature, f->configs[target],
                           NULL, &test_error));
}

/* The target's code has, or lacks, the text. */
static int says(const fixture *f, const char *kernel, int target,
                const char *text)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(f, kernel, &type);
    kiln_blob code;
    int found;

    assert_ok(kiln_emit(&code, f->context, &signature, f->configs[target], 0,
                        KILN_EMIT_LLVM, &test_error));
    found = strstr(code.data, text) != NULL;
    code.release(&code);
    return found;
}

static uint64_t built(const fixture *f)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, f->context);
    return statistics.tiers[KILN_TIER_RUNTIME].built;
}

static int same(kiln_digest a, kiln_digest b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The halves of 0.625, 0.25 and 0.375, as LLVM writes an f32. */
#define OLD_NUMBER "6.250000e-01"
#define NEW_NUMBER "2.500000e-01"
#define CUDA_NUMBER "3.750000e-01"

static void an_added_function_is_in_each_targets_code(void **state)
{
    for (int i = 0; i < TARGETS; i++)
        assert_true(says(*state, "uses", i, OLD_NUMBER));
}

static void a_replaced_function_moves_the_keys_of_each_target(void **state)
{
    const fixture *f = *state;
    kiln_digest uses[TARGETS], plain[TARGETS];

    for (int i = 0; i < TARGETS; i++) {
        uses[i] = key_of(f, "uses", i);
        plain[i] = key_of(f, "plain", i);
    }
    define(f, "fn mixed(x, n: i64) = x + 0.25\n");

    for (int i = 0; i < TARGETS; i++) {
        assert_false(same(uses[i], key_of(f, "uses", i)));
        assert_true(same(plain[i], key_of(f, "plain", i)));
        assert_true(says(f, "uses", i, NEW_NUMBER));
        assert_false(says(f, "uses", i, OLD_NUMBER));
    }
}

static void an_overlay_moves_one_targets_keys(void **state)
{
    const fixture *f = *state;
    kiln_digest uses[TARGETS];

    for (int i = 0; i < TARGETS; i++)
        uses[i] = key_of(f, "uses", i);
    define(f, "overlay cuda fn mixed(x, n: i64) = x + 0.375\n");

    assert_false(same(uses[0], key_of(f, "uses", 0)));
    assert_true(says(f, "uses", 0, CUDA_NUMBER));
    for (int i = 1; i < TARGETS; i++) {
        assert_true(same(uses[i], key_of(f, "uses", i)));
        assert_true(says(f, "uses", i, OLD_NUMBER));
    }
}

static void one_for_all_devices_moves_those_of_each(void **state)
{
    const fixture *f = *state;

    define(f, "overlay device fn mixed(x, n: i64) = x + 0.25\n");

    for (int i = 0; i < TARGETS; i++)
        assert_true(says(f, "uses", i, NEW_NUMBER));
}

/* Tier 2 has it once for a target, whoever uses it there. */
static void each_target_has_bitcode_of_its_own(void **state)
{
    const fixture *f = *state;

    for (int i = 0; i < TARGETS; i++) {
        compile(f, "uses", i);
        assert_int_equal(built(f), i + 1);
        compile(f, "uses_too", i);
        assert_int_equal(built(f), i + 1);
    }
}

static void a_replaced_function_is_built_again_for_each(void **state)
{
    const fixture *f = *state;

    for (int i = 0; i < TARGETS; i++)
        compile(f, "uses", i);
    define(f, "fn mixed(x, n: i64)\n"
              "    result = x\n"
              "    for i in 0..n\n"
              "        result = result * x + 0.25\n"
              "    end\n"
              "    return result\n"
              "end\n");
    for (int i = 0; i < TARGETS; i++)
        compile(f, "uses", i);

    assert_int_equal(built(f), 2 * TARGETS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_added_function_is_in_each_targets_code),
        TEST(a_replaced_function_moves_the_keys_of_each_target),
        TEST(an_overlay_moves_one_targets_keys),
        TEST(one_for_all_devices_moves_those_of_each),
        TEST(each_target_has_bitcode_of_its_own),
        TEST(a_replaced_function_is_built_again_for_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
