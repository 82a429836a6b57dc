/* test_error.c - what a message of an error may hold. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include "support/harness.h"

#include "kiln/sys/frontend.h"

static void assert_message(const char *given, const char *kept)
{
    kiln_error *error = NULL;

    assert_int_equal(kiln_error_set(&error, KILN_EIO, "%s", given), KILN_EIO);
    assert_string_equal(kiln_error_message(error), kept);
    kiln_error_free(error);
}

/* Names in a module are any bytes, and LLVM quotes them. */
static void messages_are_one_line_of_utf8(void **state)
{
    (void)state;
    assert_message("plain, f\xc3\xbcr all", "plain, f\xc3\xbcr all");
    assert_message("two\nlines\r\n", "two lines");
    assert_message("a\x1b[31m\tb\x7f", "a [31m b ");
    assert_message("bytes \xff\xfe and \xc3(", "bytes ?? and ?(");
    assert_message("\xed\xa0\x80", "???");
    assert_message("cut \xe2\x82", "cut ??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_one_line_of_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
