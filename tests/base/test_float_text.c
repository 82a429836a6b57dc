/* test_float_text.c - floats of every format as the shortest text. */
/* LABELS: unit */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/float_text.h"

#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "abi/scalars.h"
#include "support/harness.h"

static void assert_text(int32_t kind, double value, const char *expected)
{
    char text[KILN__FLOAT_TEXT];

    assert_string_equal(
        kiln__float_print(text, kind, kiln__float_round(kind, value)),
        expected);
}

static void a_format_has_as_few_digits_as_it_needs(void **state)
{
    (void)state;
    assert_text(KILN_TYPE_BF16, 0.1, "0.1");
    assert_text(KILN_TYPE_F16, 0.1, "0.1");
    assert_text(KILN_TYPE_F32, 0.1, "0.1");
    assert_text(KILN_TYPE_F64, 0.1, "0.1");
    assert_text(KILN_TYPE_F64, (double)0.1f, "0.10000000149011612");
    assert_text(KILN_TYPE_F64, 1.00000000001, "1.00000000001");
    assert_text(KILN_TYPE_F16, 65504, "65500");
    assert_text(KILN_TYPE_F16, 1e-7, "1e-07");
    assert_text(KILN_TYPE_F64, -1.7976931348623157e308,
                "-1.7976931348623157e+308");
    assert_text(KILN_TYPE_F64, -0.00012345678901234567,
                "-0.00012345678901234567");
}

/* Counts the values of a format of 16 bits that do not read back. */
static unsigned count_lost(int32_t kind)
{
    unsigned lost = 0;

    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        const double value = kiln__float_value(kind, bits);
        char text[KILN__FLOAT_TEXT];
        double read;

        if (!isfinite(value))
            continue;
        read = strtod(kiln__float_print(text, kind, value), NULL);
        lost += kiln__float_bits(kind, read) != bits;
    }
    return lost;
}

static void every_small_float_reads_back(void **state)
{
    (void)state;
    assert_int_equal(count_lost(KILN_TYPE_F16), 0);
    assert_int_equal(count_lost(KILN_TYPE_BF16), 0);
}

/* The test holds wherever a locale with a comma is installed. */
static void neither_locale_nor_rounding_change_a_text(void **state)
{
    const char *locale = setlocale(LC_NUMERIC, "de_DE.UTF-8");

    (void)state;
    (void)fesetround(FE_UPWARD);
    assert_text(KILN_TYPE_F64, 1.5, "1.5");
    assert_text(KILN_TYPE_F64, 0.1, "0.1");
    assert_text(KILN_TYPE_F64, 2.5e-10, "2.5e-10");
    (void)fesetround(FE_TONEAREST);
    if (locale != NULL)
        (void)setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_has_as_few_digits_as_it_needs),
        cmocka_unit_test(every_small_float_reads_back),
        cmocka_unit_test(neither_locale_nor_rounding_change_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
