/* test_ocml.c - mathematics of ROCm's own library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen rocm */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "kiln.h"

typedef struct fixture {
    kiln_context *context;
    kiln_package *package;
} fixture;

static const char text[] =
    "kernel singles(y)\n"
    "    i = global_id(0)\n"
    "    y[i] = sin(y[i]) + exp(y[i]) + tgamma(y[i]) + cbrt(y[i])\n"
    "    y[i] = pow(y[i], 1.5) + atan2(y[i], 3.0) + fmod(y[i], 3.0)\n"
    "end\n";

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, "main", &test_error));
    assert_ok(kiln_package_define(f->package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_context_free(f->context);
    free(f);
    return 0;
}

static const kiln_config *config_of(const fixture *f, const char *target,
                                    uint8_t math)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    options.target = target;
    options.math = math;
    assert_ok(kiln_config_new(&config, f->context, &options, &test_error));
    return config;
}

static kiln_signature signature_of(const fixture *f, const kiln_type **type,
                                   const char *name)
{
    kiln_signature signature = {.types = type, .count = 1};

    assert_ok(kiln_type_parse(type, f->context, NULL, name, &test_error));
    assert_ok(kiln_package_function(&signature.function, f->package, "singles",
                                    &test_error));
    return signature;
}

static kiln_status emit(kiln_blob *out, const fixture *f, const char *target,
                        const char *type_name, int32_t form, kiln_error **error)
{
    const kiln_type *type;
    const kiln_signature signature = signature_of(f, &type, type_name);

    return kiln_emit(out, f->context, &signature,
                     config_of(f, target, KILN_MATH_VENDOR), 0, form, error);
}

/* ---- where it is ---- */

static void each_processors_code_is_whole(void **state)
{
    static const char *const targets[] = {
        "rocm:gfx906",  "rocm:gfx90a",         "rocm:gfx942",
        "rocm:gfx1030", "rocm:gfx1030:wave64", "rocm:gfx1100",
        "rocm:gfx1201", "rocm:gfx90a:cov6"};
    static const char *const types[] = {"f32[:]", "f64[:]"};

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t t = 0; t < 2; t++) {
            kiln_blob code;

            assert_ok(emit(&code, *state, targets[i], types[t],
                           KILN_EMIT_LLVM_OPT, &test_error));
            /* The target's constants have been used up. */
            assert_null(strstr(code.data, "__oclc_"));
            assert_null(strstr(code.data, "_Z3sin"));
            code.release(&code);
            assert_ok(emit(&code, *state, targets[i], types[t],
                           KILN_EMIT_BINARY, &test_error));
            code.release(&code);
        }
}

/* Asked before optimisation, by which they vanish. */
static void the_constants_are_those_of_the_target(void **state)
{
    static const struct {
        const char *target;
        const char *number;
    } expected[] = {{"rocm:gfx90a", "i32 9010"},
                    {"rocm:gfx942", "i32 9402"},
                    {"rocm:gfx1030", "i32 10300"},
                    {"rocm:gfx1201", "i32 12001"}};
    int seen = 0;

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *at;
        kiln_blob code;

        assert_ok(emit(&code, *state, expected[i].target, "f32[:]",
                       KILN_EMIT_LLVM, &test_error));
        at = strstr(code.data, "@__oclc_ISA_version = internal");
        if (at != NULL) {
            seen++;
            assert_non_null(strstr(at, expected[i].number));
        }
        assert_non_null(strstr(code.data, "@__oclc_finite_only_opt"));
        code.release(&code);
    }
    assert_true(seen > 0);
}

static void the_choice_is_in_the_key(void **state)
{
    const fixture *f = *state;
    const kiln_type *type;
    const kiln_signature signature = signature_of(f, &type, "f32[:]");
    kiln_digest keys[2];

    for (int i = 0; i < 2; i++)
        assert_ok(
            kiln_job_key(&keys[i], f->context, &signature,
                         config_of(f, "rocm:gfx90a",
                                   i == 0 ? KILN_MATH_OPEN : KILN_MATH_VENDOR),
                         0, &test_error));
    assert_memory_not_equal(&keys[0], &keys[1], sizeof keys[0]);
}

/* ---- where it is not ---- */

static void a_library_that_is_not_here_is_named(void **state)
{
    kiln_error *error = NULL;
    kiln_blob code;

    assert_int_equal(setenv("KILN_ROCM_DEVICE_LIBS", "/nowhere", 1), 0);
    assert_status(KILN_ENOTFOUND, emit(&code, *state, "rocm:gfx90a", "f32[:]",
                                       KILN_EMIT_LLVM, &error));
    assert_int_equal(unsetenv("KILN_ROCM_DEVICE_LIBS"), 0);

    assert_non_null(strstr(kiln_error_message(error), "ROCm's ocml"));
    assert_non_null(strstr(kiln_error_message(error), "ocml.bc"));
    assert_non_null(strstr(kiln_error_message(error), "KILN_ROCM_DEVICE_LIBS"));
    kiln_error_free(error);
}

static int is_here(void)
{
    void *state = NULL;
    kiln_blob code;
    int found;

    if (setup(&state) != 0)
        return 0;
    found = emit(&code, state, "rocm:gfx90a", "f32[:]", KILN_EMIT_LLVM, NULL);
    if (found == KILN_OK)
        code.release(&code);
    (void)teardown(&state);
    return found != KILN_ENOTFOUND;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest absent[] = {
        TEST(a_library_that_is_not_here_is_named)};
    const struct CMUnitTest tests[] = {
        TEST(each_processors_code_is_whole),
        TEST(the_constants_are_those_of_the_target),
        TEST(the_choice_is_in_the_key),
    };
    const int failed =
        cmocka_run_group_tests_name("absent", absent, NULL, NULL);

    if (failed != 0)
        return failed;
    if (!is_here())
        return program_skip(SKIP_PACKAGE, "no ocml.bc");
    return cmocka_run_group_tests_name("ocml", tests, NULL, NULL);
}
