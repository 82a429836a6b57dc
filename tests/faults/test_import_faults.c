/* test_import_faults.c - files of imports that cannot be looked for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault frontend */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <kiln.h>

#include "support/harness.h"
#include "support/process/system_calls.h"

/*
 * The library has a package `reduce` of its own, and the program one beside it.
 * If nobody can tell whether that file is there, taking the other one would be
 * another program.
 */

static const char own[] = "fn sum(a, b) = 42\n";
static const char main_text[] = "import reduce: sum\n"
                                "fn f(x) = sum(x, x)\n";

static kiln_status load(kiln_package **out, kiln_context *context,
                        const char *folder, kiln_error **error)
{
    char path[4096];

    harness_write_file(path, sizeof path, folder, "reduce.kiln", own,
                       sizeof own - 1);
    harness_write_file(path, sizeof path, folder, "main.kiln", main_text,
                       sizeof main_text - 1);
    return kiln_package_load(out, context, path, NULL, error);
}

static void nothing_else_is_imported_in_its_place(void **state)
{
    static const int reasons[] = {ENOMEM, EIO, ESTALE, ETIMEDOUT};
    static const int numbers[] = {SYS_access, SYS_faccessat, SYS_faccessat2};

    if (!system_calls_watch(numbers, 3))
        test_skip(SKIP_MACHINE, "the kernel lets nobody watch system calls");
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const system_fault fault = {
            .number = SYS_access, .reason = reasons[i], .at = 1, .times = 1};
        kiln_context *context;
        kiln_package *package;
        const kiln_function *function;

        assert_ok(kiln_context_new(&context, NULL, &test_error));
        system_calls_fail(&fault);
        assert_status(reasons[i] == ENOMEM ? KILN_ENOMEM : KILN_EIO,
                      load(&package, context, *state, &test_error));
        assert_int_equal(system_calls_failed(), 1);
        system_calls_fail(NULL);
        assert_ok(load(&package, context, *state, &test_error));
        assert_ok(kiln_package_find(&package, context, "reduce"));
        assert_status(KILN_ENOTFOUND,
                      kiln_package_function(&function, package, "dot", NULL));
        kiln_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_else_is_imported_in_its_place,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
