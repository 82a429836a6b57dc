/* test_runtime_package.c - embedders add runtime functions and replace them. */
/* LABELS: unit frontend tiers host */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <string.h>

#include "kiln.h"
#include "support/devices/kernels.h"

static kiln_package *core_of(kernels *k)
{
    kiln_package *core = NULL;

    assert_ok(kiln_runtime_package(&core, k->context, &test_error));
    assert_string_equal(kiln_package_name(core), "core");
    return core;
}

static void define(kernels *k, const char *text, kiln_change_report *report)
{
    assert_ok(kiln_package_define(core_of(k), "mine.kiln", text, strlen(text),
                                  report, &test_error));
}

static void refuse(kernels *k, const char *text, const char *words)
{
    kiln_frontend *language = kiln_context_language(k->context);
    kiln_package *core = core_of(k);
    const uint64_t world = kiln_world(language);

    assert_fails(KILN_ECOMPILE, words,
                 kiln_package_define(core, "mine.kiln", text, strlen(text),
                                     NULL, &test_error));
    assert_int_equal(kiln_world(language), world);
}

static uint64_t built(const kernels *k)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, k->context);
    return statistics.tiers[KILN_TIER_RUNTIME].built;
}

static uint64_t asked(const kernels *k)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, k->context);
    return statistics.tiers[KILN_TIER_RUNTIME].requests;
}

/* ---- kernels of one array of f32 ---- */

static kiln_signature signature_of(kernels *k, kiln_package *package,
                                   const char *kernel, const kiln_type **type)
{
    kiln_signature signature = {.types = type, .count = 1};

    assert_ok(kiln_type_parse(type, k->context, NULL, "f32[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, package, kernel,
                                    &test_error));
    return signature;
}

static kiln_digest key_of(kernels *k, kiln_package *package, const char *kernel)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(k, package, kernel, &type);
    kiln_digest key;

    assert_ok(
        kiln_job_key(&key, k->context, &signature, k->config, 0, &test_error));
    return key;
}

static const kiln_kernel *compile(kernels *k, kiln_package *package,
                                  const char *kernel)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(k, package, kernel, &type);
    const kiln_kernel *out;

    assert_ok(kiln_compile(&out, k->context, &signature, k->config, NULL,
                           &test_error));
    return out;
}

static float run(kernels *k, kiln_package *package, const char *kernel,
                 float value)
{
    const kiln_array y = kernels_array(&value, 1);
    const kernels_argument argument = {"f32[:]", &y};

    assert_ok(kernels_run(k, package, kernel, 1, &argument, 1, &test_error));
    return value;
}

static int same(kiln_digest a, kiln_digest b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- adding ---- */

static void every_package_sees_an_added_function(void **state)
{
    kernels *k = *state;
    kiln_package *package;

    define(k, "fn thrice(x) = 3 * x\n", NULL);
    package = kernels_define(k, "main",
                             "kernel f(y)\n    y[0] = thrice(y[0])\nend\n");

    assert_true(run(k, package, "f", 5) == 15);
    assert_int_equal(built(k), 1);
}

static void what_was_missing_is_found_once_it_is_added(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(
        k, "main", "kernel f(y)\n    y[0] = thrice(y[0])\nend\n");
    const kiln_type *type;
    const kiln_signature signature = signature_of(k, package, "f", &type);
    const kiln_kernel *kernel;

    assert_fails(KILN_ECOMPILE, "thrice",
                 kiln_compile(&kernel, k->context, &signature, k->config, NULL,
                              &test_error));
    define(k, "fn thrice(x) = 3 * x\n", NULL);

    assert_true(run(k, package, "f", 5) == 15);
}

static void a_package_may_have_a_meaning_of_its_own(void **state)
{
    kernels *k = *state;
    kiln_package *package =
        kernels_define(k, "main",
                       "fn thrice(x) = -x\n"
                       "kernel f(y)\n    y[0] = thrice(y[0])\nend\n");
    const kiln_kernel *kernel = compile(k, package, "f");

    define(k, "fn thrice(x) = 3 * x\n", NULL);

    assert_true(kiln_kernel_is_valid(kernel));
    assert_true(run(k, package, "f", 5) == -5);
}

static void what_depends_on_how_it_is_called_is_not_kept_apart(void **state)
{
    kernels *k = *state;
    kiln_package *package;

    define(k,
           "fn first(y) = y[0]\n"
           "fn place() = global_id(0)\n"
           "fn part(n, d) = n // d\n"
           "fn below(i, n)\n"
           "    assert(i < n, \"below\")\n"
           "    return i\n"
           "end\n",
           NULL);
    package = kernels_define(
        k, "main",
        "kernel f(y)\n"
        "    y[place()] = first(y) + f32(part(length(y), length(y)))\n"
        "    for i in 0..4\n"
        "        y[place()] = y[place()] + f32(below(i, 4))\n"
        "    end\n"
        "end\n");

    assert_true(run(k, package, "f", 5) == 12);
    assert_int_equal(asked(k), 0);
}

/* ---- replacing ---- */

static const char powers[] =
    "kernel power(y)\n    y[0] = y[0] ** (length(y) + 1)\nend\n"
    "kernel plain(y)\n    y[0] = y[0] + 1\nend\n"
    "kernel signs(y)\n    y[0] = sign_of(y[0])\nend\n";

static void replacing_one_moves_exactly_what_depends_on_it(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", powers);
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const char *const names[] = {"power", "plain", "signs"};
    const kiln_kernel *compiled[3];
    kiln_digest keys[3];

    for (int i = 0; i < 3; i++) {
        compiled[i] = compile(k, package, names[i]);
        keys[i] = key_of(k, package, names[i]);
    }
    assert_int_equal(built(k), 2); /* ipow, sign_of */
    define(k, "fn ipow(x: Float, n: Integer) = x + 100\n", &report);

    assert_int_equal(report.methods_replaced, 1);
    assert_int_equal(report.invalidated_count, 2); /* ipow and its caller */
    assert_false(kiln_kernel_is_valid(compiled[0]));
    assert_true(kiln_kernel_is_valid(compiled[1]));
    assert_true(kiln_kernel_is_valid(compiled[2]));
    assert_false(same(keys[0], key_of(k, package, "power")));
    assert_true(same(keys[1], key_of(k, package, "plain")));
    assert_true(same(keys[2], key_of(k, package, "signs")));
    assert_true(run(k, package, "power", 5) == 105);
    assert_int_equal(built(k), 3);
    kiln_change_report_dispose(&report);
}

static void what_was_replaced_is_collected_with_its_bitcode(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", powers);
    kiln_statistics statistics = {.size = sizeof statistics};

    (void)compile(k, package, "power");
    define(k, "fn ipow(x: Float, n: Integer) = x + 100\n", NULL);
    (void)compile(k, package, "power");
    kiln_context_collect(k->context);

    kiln_statistics_get(&statistics, k->context);
    assert_int_equal(statistics.tiers[KILN_TIER_RUNTIME].built, 2);
    assert_int_equal(statistics.tiers[KILN_TIER_RUNTIME].entries, 1);
}

static void a_constant_of_core_moves_its_users(void **state)
{
    kernels *k = *state;
    kiln_package *package;

    define(k, "const STEP = 2\n", NULL);
    package =
        kernels_define(k, "main", "kernel f(y)\n    y[0] = y[0] + STEP\nend\n");
    assert_true(run(k, package, "f", 5) == 7);
    define(k, "const STEP = 3\n", NULL);

    assert_true(run(k, package, "f", 5) == 8);
}

static void what_was_added_can_be_deleted_again(void **state)
{
    kernels *k = *state;
    kiln_package *package;
    const kiln_function *function;
    const kiln_kernel *kernel;

    define(k, "fn thrice(x) = 3 * x\n", NULL);
    package = kernels_define(k, "main",
                             "kernel f(y)\n    y[0] = thrice(y[0])\nend\n");
    kernel = compile(k, package, "f");
    assert_ok(
        kiln_package_function(&function, core_of(k), "thrice", &test_error));
    assert_ok(kiln_method_delete(core_of(k), function, "Any", NULL, NULL,
                                 &test_error));

    assert_false(kiln_kernel_is_valid(kernel));
}

/* ---- what stays as it is ---- */

static void what_is_built_in_cannot_be_taken_away(void **state)
{
    kernels *k = *state;
    const kiln_function *function;

    refuse(k, "struct f32\n    a: i64\nend\n", "built-in type");
    refuse(k, "abstract Integer\n", "built-in type");
    refuse(k, "const sqrt = 3\n", "sqrt");
    refuse(k, "fn sqrt(x: f32) = x\n", "built in");
    refuse(k, "fn +(x: f32, y: f32) = x\n", "");
    assert_fails(KILN_EINVAL, "core",
                 kiln_package_unload(core_of(k), NULL, &test_error));
    assert_ok(
        kiln_package_function(&function, core_of(k), "ipow", &test_error));
    assert_fails(KILN_EINVAL, "replaced, not deleted",
                 kiln_method_delete(core_of(k), function, "Float, Integer",
                                    NULL, NULL, &test_error));
}

static void a_broken_text_changes_nothing(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "main", powers);
    const kiln_kernel *kernel = compile(k, package, "power");

    refuse(k,
           "fn ipow(x: Float, n: Integer) = x + 100\n"
           "fn wrong(x: Nothing) = x\n",
           "Nothing");

    assert_true(kiln_kernel_is_valid(kernel));
    assert_true(run(k, package, "power", 5) == 25);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, kernels_setup, kernels_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_package_sees_an_added_function),
        TEST(what_was_missing_is_found_once_it_is_added),
        TEST(a_package_may_have_a_meaning_of_its_own),
        TEST(what_depends_on_how_it_is_called_is_not_kept_apart),
        TEST(replacing_one_moves_exactly_what_depends_on_it),
        TEST(what_was_replaced_is_collected_with_its_bitcode),
        TEST(a_constant_of_core_moves_its_users),
        TEST(what_was_added_can_be_deleted_again),
        TEST(what_is_built_in_cannot_be_taken_away),
        TEST(a_broken_text_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
