/* test_device_reports.c - tables of reports, sound and damaged. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdlib.h>
#include <string.h>

#include "backends/device/device_driver.h"
#include "support/harness.h"
#include "support/stores/report_table.h"

static void make_table(report_table *table)
{
    report_table_begin(table, 3);
    report_table_exception(table, KILN_EXCEPTION_BOUNDS, 7, "main.f", "");
    report_table_print(table, "x = %i, y = %d\n");
    report_table_exception(table, KILN_EXCEPTION_USER, 9, "main.g", "no");
}

static void an_exception_is_read(void **state)
{
    report_table table;
    kiln__exception_report report;

    (void)state;
    make_table(&table);
    assert_ok(kiln__report_exception(&report, table.bytes, table.size, 0));
    assert_int_equal(report.kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(report.ordinal, 7);
    assert_string_equal(report.method, "main.f");
    assert_string_equal(report.message, "");
    assert_ok(kiln__report_exception(&report, table.bytes, table.size, 2));
    assert_string_equal(report.method, "main.g");
    assert_string_equal(report.message, "no");
}

static void a_print_is_read_part_by_part(void **state)
{
    report_table table;
    kiln__print_report report;
    const unsigned char *at;
    const char *text = NULL;

    (void)state;
    make_table(&table);
    assert_ok(kiln__report_print(&report, table.bytes, table.size, 1));
    assert_int_equal(report.part_count, 5);
    assert_int_equal(report.value_count, 2);
    at = report.parts;
    assert_int_equal(kiln__report_part(&at, &text), KILN__PRINT_TEXT);
    assert_string_equal(text, "x = ");
    assert_int_equal(kiln__report_part(&at, &text), KILN__PRINT_I64);
    assert_int_equal(kiln__report_part(&at, &text), KILN__PRINT_TEXT);
    assert_string_equal(text, ", y = ");
    assert_int_equal(kiln__report_part(&at, &text), KILN__PRINT_F64);
    assert_int_equal(kiln__report_part(&at, &text), KILN__PRINT_TEXT);
    assert_string_equal(text, "\n");
}

static void a_report_that_is_not_there_is_refused(void **state)
{
    report_table table;
    kiln__exception_report exception;
    kiln__print_report print;

    (void)state;
    make_table(&table);
    assert_status(KILN_ECORRUPT, kiln__report_exception(&exception, table.bytes,
                                                        table.size, 3));
    assert_status(KILN_ECORRUPT,
                  kiln__report_exception(&exception, table.bytes, table.size,
                                         UINT32_MAX));
    assert_status(KILN_ECORRUPT, kiln__report_exception(&exception, table.bytes,
                                                        table.size, 1));
    assert_status(KILN_ECORRUPT,
                  kiln__report_print(&print, table.bytes, table.size, 0));
    assert_status(KILN_ECORRUPT, kiln__report_print(&print, NULL, 0, 0));
}

/* Whatever stands in the table: an answer, and no byte beyond its end. */
static void read_all(const unsigned char *bytes, size_t size)
{
    for (uint32_t number = 0; number < 5; number++) {
        kiln__exception_report exception;
        kiln__print_report print;

        if (kiln__report_exception(&exception, bytes, size, number) == KILN_OK)
            assert_true(strlen(exception.method) + strlen(exception.message) <
                        size);
        if (kiln__report_print(&print, bytes, size, number) == KILN_OK) {
            const unsigned char *at = print.parts;
            const char *text = NULL;

            for (uint32_t i = 0; i < print.part_count; i++)
                (void)kiln__report_part(&at, &text);
            assert_true(at <= bytes + size);
        }
    }
}

static void a_table_that_ends_early_is_not_read_beyond(void **state)
{
    report_table table;

    (void)state;
    make_table(&table);
    for (size_t size = 0; size < table.size; size++) {
        unsigned char *exact = malloc(size + 1);

        assert_non_null(exact);
        memcpy(exact, table.bytes, size);
        exact = realloc(exact, size > 0 ? size : 1);
        assert_non_null(exact);
        read_all(exact, size);
        free(exact);
    }
}

static void any_byte_may_be_wrong(void **state)
{
    static const unsigned char wrong[] = {0, 1, 2, 5, 0x7f, 0x80, 0xfe, 0xff};
    report_table table;

    (void)state;
    make_table(&table);
    for (size_t i = 0; i < table.size; i++)
        for (size_t w = 0; w < sizeof wrong; w++) {
            unsigned char *exact = malloc(table.size);

            assert_non_null(exact);
            memcpy(exact, table.bytes, table.size);
            exact[i] = wrong[w];
            read_all(exact, table.size);
            free(exact);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exception_is_read),
        cmocka_unit_test(a_print_is_read_part_by_part),
        cmocka_unit_test(a_report_that_is_not_there_is_refused),
        cmocka_unit_test(a_table_that_ends_early_is_not_read_beyond),
        cmocka_unit_test(any_byte_may_be_wrong),
    };

    return cmocka_run_group_tests_name("device_reports", tests, NULL, NULL);
}
