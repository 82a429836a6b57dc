/* test_lower.c - the LLVM IR that lowering makes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: golden frontend */
/* LINKS: codegen */
#include <dirent.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/codegen_stages.h"
#include "support/codegen/lower_fake.h"
#include "support/harness.h"
#include "support/process/file_check.h"

/*
 * Each tests/golden/lower/NAME.kir holds functions, the kernel first, and what
 * FileCheck must find in their LLVM IR. Settings are given by comments at its
 * top: `; fast_math`, `; no_bounds_checks`, `; no_contract`, `; device`;
 * `; host` lowers for the host and not for the backend made for tests.
 *
 * With arguments this program prints the LLVM IR of the files named, for
 * writing such tests; without it checks all.
 */

#ifndef KILN_TESTS_FOLDER
#define KILN_TESTS_FOLDER "tests"
#endif

static char *read_file(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");

    if (file == NULL || text == NULL ||
        fread(text, 1, (1 << 20) - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static void read_settings(kiln__codegen_settings *settings, const char *text)
{
    if (strstr(text, "\n; fast_math\n") != NULL)
        settings->fast_math = 1;
    if (strstr(text, "\n; no_bounds_checks\n") != NULL)
        settings->bounds_checks = 0;
    if (strstr(text, "\n; no_contract\n") != NULL)
        settings->contract = 0;
    if (strstr(text, "\n; device\n") != NULL)
        settings->entry_abi = KILN_ABI_DEVICE;
}

/* Returns the LLVM IR of the text, or NULL after saying what is wrong. */
static char *lower_text(const char *name, const char *text)
{
    lower_fake fake;
    kiln_error *error = NULL;
    char *message = NULL, *llvm = NULL, *copy = NULL;

    lower_fake_init(&fake);
    read_settings(&fake.settings, text);
    if (strstr(text, "\n; host\n") != NULL)
        fake.backend = &kiln__host_codegen;
    if (lower_fake_parse(&fake, name, text, &error) != KILN_OK) {
        kiln_blob rendered = {0};

        if (kiln_error_render(&rendered, error, 0) == KILN_OK)
            fprintf(stderr, "%s", (const char *)rendered.data);
        kiln_blob_release(&rendered);
        kiln_error_free(error);
    } else if (lower_fake_lower(&fake) != KILN_OK) {
        fprintf(stderr, "%s: %s\n", name, fake.job.message);
    } else if (LLVMVerifyModule(fake.job.module, LLVMReturnStatusAction,
                                &message)) {
        fprintf(stderr, "%s: %s\n", name, message);
    } else {
        llvm = LLVMPrintModuleToString(fake.job.module);
        copy = strdup(llvm);
        LLVMDisposeMessage(llvm);
    }
    LLVMDisposeMessage(message);
    lower_fake_dispose(&fake);
    return copy;
}

static int is_golden(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end != NULL && strcmp(end, ".kir") == 0;
}

static void golden_files_lower_to_what_they_say(void **state)
{
    const char *folder = KILN_TESTS_FOLDER "/golden/lower";
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_golden, alphasort);

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[4096], output[4096];
        char *text, *llvm;

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        text = read_file(path);
        assert_non_null(text);
        llvm = lower_text(path, text);
        if (llvm == NULL)
            fail_msg("%s cannot be lowered", path);
        harness_write_file(output, sizeof output, *state, "out.ll", llvm,
                           strlen(llvm));
        if (file_check(path, output, "CHECK") != 0)
            fail_msg("%s does not hold", path);
        free(llvm);
        free(text);
        free(entries[i]);
    }
    free(entries);
}

/* ---- refusals ---- */

static void is_refused(kiln_status status, const char *text, const char *what)
{
    lower_fake fake;

    lower_fake_init(&fake);
    assert_ok(lower_fake_parse(&fake, "x", text, &test_error));
    assert_int_equal(lower_fake_lower(&fake), status);
    assert_contains(fake.job.message, what);
    lower_fake_dispose(&fake);
}

#define KERNEL "(function \"main.k()\" \"m\" kernel "

static void what_the_backend_lacks_is_refused_by_name(void **state)
{
    const char *const tail = "is not supported by the test backend yet, but "
                             "main.k() uses it";

    (void)state;
    is_refused(KILN_EUNSUPPORTED, KERNEL "(block (barrier)))", tail);
    is_refused(KILN_EUNSUPPORTED, KERNEL "(block (barrier)))", "barrier");
    is_refused(KILN_EUNSUPPORTED,
               KERNEL "(block (eval (local_array f32[:] (const i64 4)))))",
               "local_array");
    is_refused(KILN_EUNSUPPORTED,
               KERNEL "(block (eval (group Bool sub_group_any"
                      " (const Bool true)))))",
               "sub_group_any");
    is_refused(KILN_EUNSUPPORTED,
               KERNEL "(block (eval (query i64 lane_id 0))))", "lane_id");
}

/* A device whose library is not known has only what LLVM has code for. */
static void a_function_without_code_is_refused_by_name(void **state)
{
    lower_fake fake;

    (void)state;
    lower_fake_init(&fake);
    fake.backend = &kiln__cuda_codegen;
    assert_ok(lower_fake_parse(&fake, "x",
                               KERNEL "(block (eval (math f32 cbrt"
                                      " (const f32 2.0)))))",
                               &test_error));
    assert_int_equal(lower_fake_lower(&fake), KILN_ECODEGEN);
    assert_contains(fake.job.message, "there is no code for `cbrt` on cuda");
    lower_fake_dispose(&fake);
}

static void calls_that_do_not_fit_are_refused(void **state)
{
#define CALL(argument) \
    KERNEL "(callee $0 \"f\" i64)\n" \
           "(block (eval (call i64 $0 " argument "))))\n"
    (void)state;
    is_refused(KILN_ECORRUPT, CALL(""), "the callee f is missing");
    is_refused(KILN_ECORRUPT,
               CALL("") "(function \"f\" \"m\" (result i64) (param %0 i64)"
                        " (block (return %0)))",
               "a call does not fit f");
    is_refused(
        KILN_ECORRUPT,
        CALL(
            "(const u64 1)") "(function \"f\" \"m\" (result i64) (param %0 i64)"
                             " (block (return %0)))",
        "a call does not fit f");
    is_refused(
        KILN_ECORRUPT,
        CALL(
            "(const i64 1)") "(function \"f\" \"m\" (result u64) (param %0 i64)"
                             " (block (return (const u64 0))))",
        "a call does not fit f");
}

static void an_entry_that_gives_a_value_is_refused(void **state)
{
    (void)state;
    is_refused(KILN_EUNSUPPORTED,
               "(function \"f\" \"m\" (result i64)"
               " (block (return (const i64 0))))",
               "f gives a value");
}

static void bytes_that_do_not_decode_are_refused(void **state)
{
    lower_fake fake;

    (void)state;
    lower_fake_init(&fake);
    assert_ok(lower_fake_parse(&fake, "x", KERNEL "(block))", &test_error));
    fake.functions[0].ir_size--;
    assert_int_equal(lower_fake_lower(&fake), KILN_ECORRUPT);
    assert_contains(fake.job.message, "it ends early");
    lower_fake_dispose(&fake);
}

/* ---- descriptions ---- */

/* By members, since there are bytes between them. */
static void assert_parameter(const kiln__parameter *parameter,
                             const kiln__parameter *expected)
{
    assert_int_equal(parameter->passing, expected->passing);
    assert_int_equal(parameter->kind, expected->kind);
    assert_int_equal(parameter->size, expected->size);
    assert_int_equal(parameter->alignment, expected->alignment);
    assert_int_equal(parameter->rank, expected->rank);
    assert_int_equal(parameter->strided, expected->strided);
}

static void parameters_are_described_as_the_packed_block_has_them(void **state)
{
    static const kiln__parameter expected[] = {
        {KILN__PARAMETER_ARRAY, 0, 24, 8, 2, 0, 0, 0, 0},
        {KILN__PARAMETER_ARRAY, 0, 24, 8, 1, 1, 0, 0, 0},
        {KILN__PARAMETER_SCALAR, KILN_TYPE_BOOL, 1, 1, 0, 0, 0, 0, 0},
        {KILN__PARAMETER_SCALAR, KILN_TYPE_F16, 2, 2, 0, 0, 0, 0, 0},
        {KILN__PARAMETER_EMPTY, 0, 0, 1, 0, 0, 0, 0, 0},
        {KILN__PARAMETER_BYTES, 0, 24, 8, 0, 0, 0, 0, 0},
        {KILN__PARAMETER_BYTES, 0, 12, 4, 0, 0, 0, 0, 0},
        {KILN__PARAMETER_EMPTY, 0, 0, 1, 0, 0, 0, 0, 0},
    };
    const char *text =
        KERNEL "(param %0 f32[:,:]) (param %1 i8[strided :]) (param %2 Bool)"
               " (param %3 f16) (param %4 Static{3})"
               " (param %5 (Bool, (f64, u16), Static{1}))"
               " (param %6 Vec{f32,3}) (param %7 (Static{1}, ())) (block))";
    lower_fake fake;

    (void)state;
    lower_fake_init(&fake);
    assert_ok(lower_fake_parse(&fake, "x", text, &test_error));
    assert_ok(lower_fake_lower(&fake));

    assert_int_equal(fake.job.parameter_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_parameter(&fake.job.parameters[i], &expected[i]);
    assert_false(fake.job.can_fail);
    assert_string_equal(LLVMGetValueName2(fake.job.item_function, &(size_t){0}),
                        "entry.item");
    lower_fake_dispose(&fake);
}

/* Lowers a file with memory that ends at some point. */
static kiln_status lower_with(const kiln_alloc *alloc, void *env)
{
    lower_fake fake;
    kiln_status status;

    lower_fake_init(&fake);
    fake.alloc = alloc;
    status = lower_fake_parse(&fake, "x", env, NULL);
    if (status == KILN_OK)
        status = lower_fake_lower(&fake);
    lower_fake_dispose(&fake);
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    char *text = read_file(KILN_TESTS_FOLDER "/golden/lower/calls.kir");

    (void)state;
    assert_non_null(text);
    assert_survives_failing_alloc(lower_with, text);
    free(text);
}

static int print_files(int count, char **paths)
{
    int failed = 0;

    for (int i = 0; i < count; i++) {
        char *text = read_file(paths[i]);
        char *llvm = text == NULL ? NULL : lower_text(paths[i], text);

        if (llvm == NULL)
            failed = 1;
        else
            printf("%s", llvm);
        free(llvm);
        free(text);
    }
    return failed;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(golden_files_lower_to_what_they_say,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test(what_the_backend_lacks_is_refused_by_name),
        cmocka_unit_test(a_function_without_code_is_refused_by_name),
        cmocka_unit_test(calls_that_do_not_fit_are_refused),
        cmocka_unit_test(an_entry_that_gives_a_value_is_refused),
        cmocka_unit_test(bytes_that_do_not_decode_are_refused),
        cmocka_unit_test(parameters_are_described_as_the_packed_block_has_them),
        cmocka_unit_test(memory_may_end_anywhere),
    };

    if (count > 1)
        return print_files(count - 1, arguments + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
