/* test_lower_run.c - what lowered arithmetic and loops compute. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* LINKS: codegen */
#include <math.h>

#include "support/codegen/lower_run.h"

/* ---- integers ---- */

static void i64_gives(const char *op, int64_t a, int64_t b, int64_t expected)
{
    char typed[64];

    snprintf(typed, sizeof typed, "%s i64", op);
    gives(binary("i64", "i64", typed), (int64_t[]){a, b}, 2, &expected, 8);
}

static void i8_gives(const char *op, int8_t a, int8_t b, int8_t expected)
{
    char typed[64];

    snprintf(typed, sizeof typed, "%s i8", op);
    gives(binary("i8", "i8", typed), (int8_t[]){a, b}, 2, &expected, 1);
}

static void u8_gives(const char *op, uint8_t a, uint8_t b, uint8_t expected)
{
    char typed[64];

    snprintf(typed, sizeof typed, "%s u8", op);
    gives(binary("u8", "u8", typed), (uint8_t[]){a, b}, 2, &expected, 1);
}

static void integer_arithmetic_wraps(void **state)
{
    (void)state;
    i64_gives("add", INT64_MAX, 1, INT64_MIN);
    i64_gives("sub", INT64_MIN, 1, INT64_MAX);
    i64_gives("mul", INT64_MAX, 2, -2);
    i8_gives("add", 127, 127, -2);
    u8_gives("sub", 3, 5, 254);
}

static void integer_division_truncates_and_min_by_minus_one_is_min(void **state)
{
    (void)state;
    i64_gives("idiv", -7, 2, -3);
    i64_gives("irem", -7, 2, -1);
    i64_gives("idiv", INT64_MIN, -1, INT64_MIN);
    i64_gives("irem", INT64_MIN, -1, 0);
    i64_gives("idiv", 7, -1, -7);
    i8_gives("idiv", -128, -1, -128);
    i8_gives("irem", -128, -1, 0);
    u8_gives("idiv", 200, 255, 0);
    u8_gives("irem", 200, 7, 4);
    gives(unary("i32", "i32", "idiv i32 (const i32 -2147483648)"),
          (int32_t[]){-1}, 1, (int32_t[]){INT32_MIN}, 4);
}

static void shifts_count_modulo_the_width(void **state)
{
    (void)state;
    i64_gives("shl", 1, 65, 2);
    i64_gives("shr", -8, 1, -4);
    i64_gives("shr", -8, -63, -4);
    i8_gives("shl", 1, 9, 2);
    u8_gives("shr", 0x80, 7, 1);
    u8_gives("shr", 0x80, 8, 0x80);
}

static void a_zero_divisor_raises(void **state)
{
    test_item item =
        raises(binary("i64", "i64", "idiv@5 i64"), (int64_t[]){42, 0}, 2);

    (void)state;
    assert_int_equal(item.kind, KILN_EXCEPTION_DIVISION);
    assert_int_equal(item.ordinal, 5);
    assert_string_equal(item.method, "main.k#1");
    assert_int_equal(item.values[0], 42);
    item = raises(binary("u8", "u8", "irem u8"), (uint8_t[]){200, 0}, 2);
    assert_int_equal(item.kind, KILN_EXCEPTION_DIVISION);
    assert_int_equal(item.values[0], 200);
}

static void bits_are_counted(void **state)
{
    (void)state;
    gives(unary("u8", "u8", "math u8 clz"), (uint8_t[]){0}, 1, (uint8_t[]){8},
          1);
    gives(unary("u16", "u16", "math u16 ctz"), (uint16_t[]){0}, 1,
          (uint16_t[]){16}, 2);
    gives(unary("i32", "i32", "math i32 popcount"), (int32_t[]){-1}, 1,
          (int32_t[]){32}, 4);
    gives(unary("u8", "u8", "math u8 bitreverse"), (uint8_t[]){0x13}, 1,
          (uint8_t[]){0xc8}, 1);
    gives(unary("u8", "u8", "math u8 byteswap"), (uint8_t[]){0x13}, 1,
          (uint8_t[]){0x13}, 1);
    gives(unary("u32", "u32", "math u32 byteswap"), (uint32_t[]){0x01020304}, 1,
          (uint32_t[]){0x04030201}, 4);
    gives(unary("i8", "i8", "math i8 abs"), (int8_t[]){-128}, 1,
          (int8_t[]){-128}, 1);
    gives(unary("u8", "u8", "invert u8"), (uint8_t[]){0x0f}, 1,
          (uint8_t[]){0xf0}, 1);
    gives(unary("Bool", "Bool", "invert Bool"), (uint8_t[]){0}, 1,
          (uint8_t[]){1}, 1);
}

/* ---- comparisons ---- */

static void compares(const char *type, const char *op, const void *in,
                     uint8_t expected)
{
    char typed[64];

    snprintf(typed, sizeof typed, "%s Bool", op);
    gives(binary(type, "Bool", typed), in, 2, &expected, 1);
}

static void comparisons_know_signs_and_nans(void **state)
{
    const double nans[] = {NAN, NAN};

    (void)state;
    compares("i8", "lt", (int8_t[]){-1, 1}, 1);
    compares("u8", "lt", (uint8_t[]){255, 1}, 0);
    compares("Bool", "lt", (uint8_t[]){0, 1}, 1);
    compares("f64", "eq", nans, 0);
    compares("f64", "ne", nans, 1);
    compares("f64", "le", nans, 0);
    compares("f64", "gt", (double[]){2, 1}, 1);
}

/* ---- conversions ---- */

#define LOSSLESS(ctype, rtype, in, out, value) \
    gives(unary(in, out, "checked " out), (ctype[]){value}, 1, \
          (rtype[]){(rtype)(value)}, sizeof(rtype))
#define LOSSY(ctype, in, out, value) \
    assert_int_equal( \
        raises(unary(in, out, "checked " out), (ctype[]){value}, 1).kind, \
        KILN_EXCEPTION_INEXACT)

static void checked_integers_keep_their_value_or_raise(void **state)
{
    (void)state;
    LOSSLESS(int64_t, int8_t, "i64", "i8", -128);
    LOSSLESS(int64_t, int8_t, "i64", "i8", 127);
    LOSSY(int64_t, "i64", "i8", 128);
    LOSSY(int64_t, "i64", "i8", -129);
    LOSSY(int64_t, "i64", "u64", -1);
    LOSSLESS(int64_t, uint64_t, "i64", "u64", INT64_MAX);
    LOSSY(int32_t, "i32", "u8", 256);
    LOSSY(int32_t, "i32", "u8", -1);
    LOSSLESS(int32_t, uint8_t, "i32", "u8", 255);
    LOSSY(uint64_t, "u64", "i64", (uint64_t)1 << 63);
    LOSSLESS(uint64_t, int64_t, "u64", "i64", INT64_MAX);
    LOSSY(uint8_t, "u8", "i8", 128);
    LOSSLESS(uint8_t, int16_t, "u8", "i16", 255);
    LOSSY(uint16_t, "u16", "u8", 256);
    LOSSLESS(int8_t, uint8_t, "i8", "Bool", 1);
    LOSSY(int8_t, "i8", "Bool", -1);
}

static void checked_floats_are_whole_and_in_range_or_raise(void **state)
{
    (void)state;
    LOSSLESS(double, int64_t, "f64", "i64", -0x1p63);
    LOSSY(double, "f64", "i64", 0x1p63);
    LOSSLESS(double, int64_t, "f64", "i64", 0x1.fffffffffffffp62);
    LOSSY(double, "f64", "i64", 0.5);
    LOSSY(double, "f64", "i64", NAN);
    LOSSY(double, "f64", "i64", HUGE_VAL);
    LOSSLESS(double, uint64_t, "f64", "u64", 0x1.fffffffffffffp63);
    LOSSY(double, "f64", "u64", 0x1p64);
    LOSSY(double, "f64", "u64", -1.0);
    LOSSLESS(double, uint64_t, "f64", "u64", -0.0);
    LOSSLESS(float, int32_t, "f32", "i32", -0x1p31f);
    LOSSY(float, "f32", "i32", 0x1p31f);
    LOSSY(float, "f32", "u8", 255.5f);
    LOSSLESS(float, uint8_t, "f32", "u8", 255.0f);
    LOSSY(float, "f32", "Bool", 2.0f);
    LOSSLESS(float, uint8_t, "f32", "Bool", 1.0f);
    LOSSY(uint16_t, "f16", "i64", 0x7c00); /* infinity */
    gives(unary("f16", "i8", "checked i8"), (uint16_t[]){0xc000}, 1,
          (int8_t[]){-2}, 1);
}

static void an_inexact_conversion_shows_its_value(void **state)
{
    const double value = 0.5;
    test_item item =
        raises(unary("f32", "i8", "checked@9 i8"), (float[]){0.5f}, 1);

    (void)state;
    assert_int_equal(item.ordinal, 9);
    assert_memory_equal(&item.values[0], &value, sizeof value);
    assert_int_equal(item.values[1], KILN_VALUE_F32);
    item = raises(unary("f16", "i8", "checked i8"), (uint16_t[]){0x3800}, 1);
    assert_memory_equal(&item.values[0], &value, sizeof value);
    assert_int_equal(item.values[1], KILN_VALUE_F16);
    assert_int_equal(
        raises(unary("i8", "u8", "checked u8"), (int8_t[]){-5}, 1).values[0],
        -5);
}

#define SATURATES(ctype, rtype, in, out, value, expected) \
    gives(unary(in, out, "saturate " out), (ctype[]){value}, 1, \
          (rtype[]){expected}, sizeof(rtype))

static void saturating_conversions_stop_at_the_ends(void **state)
{
    (void)state;
    SATURATES(double, int64_t, "f64", "i64", 1e30, INT64_MAX);
    SATURATES(double, int64_t, "f64", "i64", -1e30, INT64_MIN);
    SATURATES(double, int64_t, "f64", "i64", NAN, 0);
    SATURATES(double, int32_t, "f64", "i32", -2.75, -2);
    SATURATES(double, uint8_t, "f64", "u8", -3.0, 0);
    SATURATES(float, uint64_t, "f32", "u64", 1e30f, UINT64_MAX);
    SATURATES(float, int32_t, "f32", "i32", 0x1p31f, INT32_MAX);
    SATURATES(float, int32_t, "f32", "i32", 0x1.fffffep30f, 2147483520);
    SATURATES(float, int32_t, "f32", "i32", -0x1p31f, INT32_MIN);
    SATURATES(float, int32_t, "f32", "i32", -INFINITY, INT32_MIN);
    SATURATES(float, int32_t, "f32", "i32", NAN, 0);
    SATURATES(float, uint32_t, "f32", "u32", 0x1p32f, UINT32_MAX);
    SATURATES(float, int64_t, "f32", "i64", 0x1p63f, INT64_MAX);
    SATURATES(float, int8_t, "f32", "i8", NAN, 0);
    SATURATES(float, int8_t, "f32", "i8", 127.9f, 127);
    SATURATES(float, int8_t, "f32", "i8", -128.9f, -128);
    SATURATES(float, uint8_t, "f32", "u8", -0.9f, 0);
    SATURATES(float, uint16_t, "f32", "u16", INFINITY, 65535);
    SATURATES(double, uint32_t, "f64", "u32", 4294967295.5, UINT32_MAX);
    SATURATES(double, int32_t, "f64", "i32", -2147483648.5, INT32_MIN);
    SATURATES(double, uint64_t, "f64", "u64", 0x1p64, UINT64_MAX);
    SATURATES(uint16_t, int8_t, "f16", "i8", 0x7c00, 127);
    SATURATES(int64_t, int8_t, "i64", "i8", 300, 127);
    SATURATES(int64_t, int8_t, "i64", "i8", -300, -128);
    SATURATES(int64_t, uint8_t, "i64", "u8", -1, 0);
    SATURATES(int64_t, uint8_t, "i64", "u8", 300, 255);
    SATURATES(int32_t, uint64_t, "i32", "u64", -1, 0);
    SATURATES(uint64_t, int64_t, "u64", "i64", UINT64_MAX, INT64_MAX);
    SATURATES(uint8_t, int64_t, "u8", "i64", 255, 255);
}

static void plain_conversions_round_wrap_and_cast(void **state)
{
    (void)state;
    gives(unary("f64", "f32", "convert f32"), (double[]){0.1}, 1,
          (float[]){0.1f}, 4);
    gives(unary("i64", "f64", "convert f64"), (int64_t[]){INT64_MAX}, 1,
          (double[]){0x1p63}, 8);
    gives(unary("u64", "f32", "convert f32"), (uint64_t[]){UINT64_MAX}, 1,
          (float[]){0x1p64f}, 4);
    gives(unary("i64", "f16", "convert f16"), (int64_t[]){2049}, 1,
          (uint16_t[]){0x6800}, 2);
    gives(unary("Bool", "f32", "convert f32"), (uint8_t[]){1}, 1, (float[]){1},
          4);
    gives(unary("i64", "i8", "wrap i8"), (int64_t[]){0x1ff}, 1, (int8_t[]){-1},
          1);
    gives(unary("i8", "u32", "wrap u32"), (int8_t[]){-1}, 1,
          (uint32_t[]){UINT32_MAX}, 4);
    gives(unary("f32", "u32", "bitcast u32"), (float[]){1}, 1,
          (uint32_t[]){0x3f800000}, 4);
}

/* ---- loops ---- */

/* Counts the turns of `for i in in[0]..in[1] by STEP` into out[0], and keeps
   the first and the last i in out[1] and out[2]. */
static const char *counting(const char *type, const char *step)
{
    char locals[256], body[1024];

    snprintf(locals, sizeof locals, "(local %%i.2 %s) (local %%n.3 %s)", type,
             type);
    snprintf(body, sizeof body,
             "(for %%i.2 (load %s %%in.0 " N0 ") (load %s %%in.0 " N1
             ") (const %s %s) (block"
             " (if (eq Bool %%n.3 (const %s 0))"
             "   (block (store %%out.1 " N1 " %%i.2)))"
             " (set %%n.3 (add %s %%n.3 (const %s 1)))"
             " (store %%out.1 (const i64 2) %%i.2)))"
             "(store %%out.1 " N0 " %%n.3)",
             type, type, type, step, type, type, type);
    return kernel(type, type, locals, body);
}

static void counts_i8(const char *step, int8_t low, int8_t high, int8_t turns,
                      int8_t first, int8_t last)
{
    gives(counting("i8", step), (int8_t[]){low, high}, 2,
          (int8_t[]){turns, first, last}, 3);
}

static void counted_loops_are_right_at_the_ends_of_their_type(void **state)
{
    (void)state;
    counts_i8("1", 120, 127, 7, 120, 126);
    counts_i8("3", 120, 127, 3, 120, 126);
    counts_i8("5", 120, 127, 2, 120, 125);
    counts_i8("127", -128, 127, 3, -128, 126);
    counts_i8("100", -128, 127, 3, -128, 72);
    counts_i8("-1", -120, -128, 8, -120, -127);
    counts_i8("-3", -120, -128, 3, -120, -126);
    counts_i8("-128", 127, -128, 2, 127, -1);
    counts_i8("1", 5, 5, 0, 0, 0);
    counts_i8("1", 5, -5, 0, 0, 0);
    counts_i8("-1", -5, 5, 0, 0, 0);
    counts_i8("2", 0, 5, 3, 0, 4);
    gives(counting("u8", "1"), (uint8_t[]){250, 255}, 2,
          (uint8_t[]){5, 250, 254}, 3);
    gives(counting("u8", "255"), (uint8_t[]){0, 255}, 2, (uint8_t[]){1, 0, 0},
          3);
    gives(counting("u8", "200"), (uint8_t[]){0, 255}, 2, (uint8_t[]){2, 0, 200},
          3);
    gives(counting("u64", "9223372036854775808"), (uint64_t[]){0, UINT64_MAX},
          2, (uint64_t[]){2, 0, 1ull << 63}, 24);
    gives(counting("i64", "4611686018427387904"),
          (int64_t[]){INT64_MIN, INT64_MAX}, 2,
          (int64_t[]){4, INT64_MIN, INT64_MAX / 2 + 1}, 24);
}

static void loops_break_and_continue(void **state)
{
    const char *body =
        "(for %i.2 (const i64 0) (const i64 100) (const i64 1) (block"
        " (if (eq Bool %i.2 (const i64 3)) (block (continue)))"
        " (if (eq Bool %i.2 (const i64 6)) (block (break)))"
        " (set %n.3 (add i64 %n.3 %i.2))))"
        "(store %out.1 " N0 " %n.3)"
        "(set %i.2 (const i64 0))"
        "(while (lt Bool %i.2 (const i64 10)) (block"
        " (set %i.2 (add i64 %i.2 " N1 "))"
        " (if (eq Bool (irem i64 %i.2 (const i64 2)) " N0 ")"
        "   (block (continue)))"
        " (if (gt Bool %i.2 (const i64 7)) (block (break)))"
        " (set %n.3 %i.2)))"
        "(store %out.1 " N1 " %n.3)"
        "(unrolled"
        " (block (store %out.1 (const i64 2) (const i64 1)) (continue)"
        "        (store %out.1 (const i64 2) (const i64 2)))"
        " (block (store %out.1 (const i64 3) (const i64 1))"
        "        (if (eq Bool " N0 " " N0 ") (block (break))))"
        " (block (store %out.1 (const i64 3) (const i64 2))))";

    (void)state;
    gives(kernel("i64", "i64", "(local %i.2 i64) (local %n.3 i64)", body),
          (int64_t[]){0}, 1, (int64_t[]){0 + 1 + 2 + 4 + 5, 7, 1, 1}, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_arithmetic_wraps),
        cmocka_unit_test(
            integer_division_truncates_and_min_by_minus_one_is_min),
        cmocka_unit_test(shifts_count_modulo_the_width),
        cmocka_unit_test(a_zero_divisor_raises),
        cmocka_unit_test(bits_are_counted),
        cmocka_unit_test(comparisons_know_signs_and_nans),
        cmocka_unit_test(checked_integers_keep_their_value_or_raise),
        cmocka_unit_test(checked_floats_are_whole_and_in_range_or_raise),
        cmocka_unit_test(an_inexact_conversion_shows_its_value),
        cmocka_unit_test(saturating_conversions_stop_at_the_ends),
        cmocka_unit_test(plain_conversions_round_wrap_and_cast),
        cmocka_unit_test(counted_loops_are_right_at_the_ends_of_their_type),
        cmocka_unit_test(loops_break_and_continue),
    };

    return cmocka_run_group_tests(tests, start_llvm, NULL);
}
