/* test_device_kernels.c - which kernels are loaded on a device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends thread */
#include <stdlib.h>

#include "backends/device/device_driver.h"
#include "support/harness.h"
#include "support/stores/report_table.h"
#include "tiers/binary/artifact.h"

typedef struct fixture {
    kiln_context context;
    kiln__loaded_kernels kernels;
    const kiln_artifact *artifact;
    thread_report report;
} fixture;

static void begin(fixture *f, const kiln_alloc *alloc)
{
    *f = (fixture){.context.alloc = *alloc, .report = THREAD_REPORT_INIT};
    assert_ok(kiln__loaded_kernels_init(&f->kernels, &f->context));
    f->artifact = report_artifact_new(&(report_artifact){0});
}

static void end(fixture *f)
{
    kiln__loaded_kernels_dispose(&f->kernels);
    assert_int_equal(f->artifact->references, 1);
    kiln_artifact_release(f->artifact);
}

static void a_number_is_never_used_twice(void **state)
{
    fixture f;
    uint64_t first, second;

    (void)state;
    begin(&f, &kiln__malloc);
    first = kiln__loaded_kernels_add(&f.kernels, f.artifact, "entry");
    kiln__loaded_kernels_remove(&f.kernels, first);
    second = kiln__loaded_kernels_add(&f.kernels, f.artifact, "entry");
    assert_int_not_equal(first, 0);
    assert_int_not_equal(second, 0);
    assert_int_not_equal(first, second);
    end(&f);
}

static void what_is_found_is_the_callers_to_release(void **state)
{
    fixture f;
    const kiln_kernel_info *info = NULL;
    const kiln_artifact *found;
    uint64_t number;

    (void)state;
    begin(&f, &kiln__malloc);
    number = kiln__loaded_kernels_add(&f.kernels, f.artifact, "entry");
    found = kiln__loaded_kernels_find(&f.kernels, number, &info);
    assert_ptr_equal(found, f.artifact);
    assert_string_equal(info->name, "entry");
    kiln__loaded_kernels_remove(&f.kernels, number);
    assert_null(kiln__loaded_kernels_find(&f.kernels, number, &info));
    assert_string_equal(info->name, "entry");
    kiln_artifact_release(found);
    end(&f);
}

static void a_name_that_the_artifact_lacks_gets_no_number(void **state)
{
    fixture f;

    (void)state;
    begin(&f, &kiln__malloc);
    assert_int_equal(kiln__loaded_kernels_add(&f.kernels, f.artifact, "other"),
                     0);
    end(&f);
}

static void removing_what_is_not_there_does_nothing(void **state)
{
    fixture f;

    (void)state;
    begin(&f, &kiln__malloc);
    kiln__loaded_kernels_remove(&f.kernels, 0);
    kiln__loaded_kernels_remove(&f.kernels, 77);
    end(&f);
}

static void without_memory_there_is_no_number(void **state)
{
    failing_alloc failing;
    fixture f;

    (void)state;
    failing_alloc_init(&failing, 1);
    begin(&f, &failing.alloc);
    assert_int_equal(kiln__loaded_kernels_add(&f.kernels, f.artifact, "entry"),
                     0);
    end(&f);
    assert_nothing_leaked(&failing);
}

static void *add_and_remove(void *argument)
{
    fixture *f = argument;

    for (int i = 0; i < 200; i++) {
        const kiln_kernel_info *info;
        const uint64_t number =
            kiln__loaded_kernels_add(&f->kernels, f->artifact, "entry");
        const kiln_artifact *found =
            kiln__loaded_kernels_find(&f->kernels, number, &info);

        thread_assert(&f->report, found == f->artifact);
        kiln_artifact_release(found);
        kiln__loaded_kernels_remove(&f->kernels, number);
    }
    return NULL;
}

static void threads_may_load_at_once(void **state)
{
    fixture f;

    (void)state;
    begin(&f, &kiln__malloc);
    harness_run_threads(4, add_and_remove, &f);
    assert_threads_ok(&f.report);
    assert_null(f.kernels.first);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_never_used_twice),
        cmocka_unit_test(what_is_found_is_the_callers_to_release),
        cmocka_unit_test(a_name_that_the_artifact_lacks_gets_no_number),
        cmocka_unit_test(removing_what_is_not_there_does_nothing),
        cmocka_unit_test(without_memory_there_is_no_number),
        cmocka_unit_test(threads_may_load_at_once),
    };

    return cmocka_run_group_tests_name("device_kernels", tests, NULL, NULL);
}
