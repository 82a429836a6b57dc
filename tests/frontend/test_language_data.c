/* test_language_data.c - conversions, arrays and atomics against plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include <math.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Runs kernel(out, a) of conversions.kiln, one item for each element. */
static kiln_status convert(kernels *k, const char *kernel, const char *out_type,
                           void *out, const char *in_type, const void *in,
                           int64_t size, kiln_error **error)
{
    void *from;
    kiln_array outs, ins;

    memcpy(&from, &in, sizeof from); /* only read by the kernel */
    outs = kernels_array(out, size);
    ins = kernels_array(from, size);
    {
        const kernels_argument arguments[] = {{out_type, &outs},
                                              {in_type, &ins}};

        return kernels_run(k, kernels_load(k, FILE_OF("conversions")), kernel,
                           (uint64_t)size, arguments, 2, error);
    }
}

/* ---- conversions ---- */

static void exact_conversions_keep_the_value(void **state)
{
    static const int64_t integers[] = {0, 1, -1, 127, -128};
    static const double reals[] = {0.0, -0.0, 1.0, -128.0, 127.0};
    static const uint64_t large[] = {0, 1, 255, 256, UINT64_MAX};
    int8_t bytes[5];
    float singles[5];
    double doubles[5];

    assert_ok(convert(*state, "checked", "i8[:]", bytes, "i64[:]", integers, 5,
                      &test_error));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(bytes[i], integers[i]);
    assert_ok(convert(*state, "checked", "i8[:]", bytes, "f64[:]", reals, 5,
                      &test_error));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(bytes[i], (int8_t)reals[i]);
    assert_ok(convert(*state, "checked", "f32[:]", singles, "u64[:]", large, 5,
                      &test_error));
    assert_ok(convert(*state, "checked", "f64[:]", doubles, "u64[:]", large, 5,
                      &test_error));
    for (size_t i = 0; i < 5; i++)
        assert_true(singles[i] == (float)large[i] &&
                    doubles[i] == (double)large[i]);
}

static void floats_round_to_nearest(void **state)
{
    static const double reals[] = {0.1, 1e300, -1e300, 16777217.0, 1e-320};
    static const int64_t integers[] = {16777217, -16777219, INT64_MAX,
                                       INT64_MIN, 3};
    float singles[5];

    assert_ok(convert(*state, "checked", "f32[:]", singles, "f64[:]", reals, 5,
                      &test_error));
    for (size_t i = 0; i < 5; i++)
        assert_true(singles[i] == (float)reals[i]);
    assert_ok(convert(*state, "checked", "f32[:]", singles, "i64[:]", integers,
                      5, &test_error));
    for (size_t i = 0; i < 5; i++)
        assert_true(singles[i] == (float)integers[i]);
}

/* Each value alone must be refused by the type. */
#define REFUSES(out_type, T, in_type, S, ...) \
    do { \
        static const S values[] = {__VA_ARGS__}; \
\
        for (int64_t i = 0; i < COUNT_OF(values); i++) { \
            kiln_error *error = NULL; \
            T out; \
\
            assert_int_equal(convert(*state, "checked", out_type "[:]", &out, \
                                     in_type "[:]", &values[i], 1, &error), \
                             KILN_EEXCEPTION); \
            assert_int_equal(kiln_error_exception(error)->kind, \
                             KILN_EXCEPTION_INEXACT); \
            kiln_error_free(error); \
        } \
    } while (0)

static void what_does_not_fit_is_refused(void **state)
{
    REFUSES("i8", int8_t, "i64", int64_t, 128, -129, INT64_MIN);
    REFUSES("u8", uint8_t, "i64", int64_t, -1, 256, INT64_MAX);
    REFUSES("u64", uint64_t, "i8", int8_t, -1, -128);
    REFUSES("i64", int64_t, "u64", uint64_t, (uint64_t)1 << 63, UINT64_MAX);
    REFUSES("u32", uint32_t, "i32", int32_t, -1, INT32_MIN);
    REFUSES("i8", int8_t, "f32", float, 127.5f, 128.0f, -129.0f, NAN);
    REFUSES("i64", int64_t, "f64", double, 0x1p63, -0x1.0000000000001p63, 0.25,
            (double)INFINITY);
    REFUSES("u64", uint64_t, "f64", double, 0x1p64, -1.0, (double)NAN);
}

static void the_ends_of_a_type_fit(void **state)
{
    static const double ends[] = {-0x1p63, 0x1.fffffffffffffp62};
    static const double top[] = {0x1.fffffffffffffp63, 0.0};
    int64_t integers[2];
    uint64_t words[2];

    assert_ok(convert(*state, "checked", "i64[:]", integers, "f64[:]", ends, 2,
                      &test_error));
    assert_true(integers[0] == INT64_MIN && integers[1] == INT64_MAX - 1023);
    assert_ok(convert(*state, "checked", "u64[:]", words, "f64[:]", top, 2,
                      &test_error));
    assert_true(words[0] == UINT64_MAX - 2047 && words[1] == 0);
}

static void trunc_saturates(void **state)
{
    static const double reals[] = {1.9,
                                   -1.9,
                                   1e10,
                                   -1e10,
                                   (double)NAN,
                                   (double)INFINITY,
                                   -(double)INFINITY,
                                   0.5};
    static const int8_t bytes[] = {1, -1, 127, -128, 0, 127, -128, 0};
    static const int32_t words[] = {1, -1,        INT32_MAX, INT32_MIN,
                                    0, INT32_MAX, INT32_MIN, 0};
    static const uint64_t large[] = {1, 0, 10000000000u, 0, 0, UINT64_MAX,
                                     0, 0};
    int8_t got_bytes[8];
    int32_t got_words[8];
    uint64_t got_large[8];

    assert_ok(convert(*state, "saturating", "i8[:]", got_bytes, "f64[:]", reals,
                      8, &test_error));
    assert_ok(convert(*state, "saturating", "i32[:]", got_words, "f64[:]",
                      reals, 8, &test_error));
    assert_ok(convert(*state, "saturating", "u64[:]", got_large, "f64[:]",
                      reals, 8, &test_error));
    assert_memory_equal(got_bytes, bytes, sizeof bytes);
    assert_memory_equal(got_words, words, sizeof words);
    assert_memory_equal(got_large, large, sizeof large);
}

static void trunc_saturates_integers_too(void **state)
{
    static const int64_t integers[] = {300, -300, 5, INT64_MIN};
    int8_t bytes[4];
    uint8_t unsigneds[4];

    assert_ok(convert(*state, "saturating", "i8[:]", bytes, "i64[:]", integers,
                      4, &test_error));
    assert_ok(convert(*state, "saturating", "u8[:]", unsigneds, "i64[:]",
                      integers, 4, &test_error));
    assert_true(bytes[0] == 127 && bytes[1] == -128 && bytes[2] == 5 &&
                bytes[3] == -128);
    assert_true(unsigneds[0] == 255 && unsigneds[1] == 0 && unsigneds[2] == 5 &&
                unsigneds[3] == 0);
}

static void wrap_cuts_and_bitcast_keeps_bits(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_load(k, FILE_OF("conversions"));
    int64_t a[3] = {0x12345678, -1, 200};
    int8_t bytes[3];
    uint16_t words[3];
    float x[3] = {1.5f, -0.0f, INFINITY}, back[3];
    uint32_t bits[3], expected[3];
    const kiln_array as = kernels_array(a, 3), bs = kernels_array(bytes, 3),
                     ws = kernels_array(words, 3), xs = kernels_array(x, 3),
                     backs = kernels_array(back, 3),
                     us = kernels_array(bits, 3);
    const kernels_argument wraps[] = {
        {"i8[:]", &bs}, {"u16[:]", &ws}, {"i64[:]", &as}};
    const kernels_argument casts[] = {
        {"u32[:]", &us}, {"f32[:]", &backs}, {"f32[:]", &xs}};

    assert_ok(kernels_run(k, package, "wrapping", 3, wraps, 3, &test_error));
    for (size_t i = 0; i < 3; i++)
        assert_true(bytes[i] == (int8_t)(uint8_t)a[i] &&
                    words[i] == (uint16_t)a[i]);
    assert_ok(kernels_run(k, package, "same_bits", 3, casts, 3, &test_error));
    memcpy(expected, x, sizeof x);
    assert_memory_equal(bits, expected, sizeof bits);
    assert_memory_equal(back, x, sizeof x);
}

static void truth_converts_to_0_and_1(void **state)
{
    kernels *k = *state;
    int64_t out[5] = {0};
    const kiln_array outs = kernels_array(out, 5);
    const kernels_argument arguments[] = {{"i64[:]", &outs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("conversions")),
                          "booleans", 1, arguments, 1, &test_error));
    assert_true(out[0] == 1 && out[1] == 0 && out[2] == 1 && out[3] == 0 &&
                out[4] == 1);
}

/* ---- arrays ---- */

static kiln_status fill(kernels *k, const char *kernel, const char *type,
                        const kiln_array *array, uint64_t items)
{
    const kernels_argument arguments[] = {{type, array}};

    return kernels_run(k, kernels_load(k, FILE_OF("arrays")), kernel, items,
                       arguments, 1, &test_error);
}

static void the_first_index_is_contiguous(void **state)
{
    static int64_t a[5 * 4 * 3 * 2];
    kiln_array array = kernels_array2(a, 3, 4);
    size_t at = 0;

    assert_ok(fill(*state, "fill2", "i64[:,:]", &array, 12));
    for (int64_t j = 0; j < 4; j++)
        for (int64_t i = 0; i < 3; i++)
            assert_int_equal(a[at++], 10 * i + j);
    array = (kiln_array){.data = a, .sizes = {5, 4, 3}};
    assert_ok(fill(*state, "fill3", "i64[:,:,:]", &array, 1));
    at = 0;
    for (int64_t k = 0; k < 3; k++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t i = 0; i < 5; i++)
                assert_int_equal(a[at++], 100 * i + 10 * j + k);
    array = (kiln_array){.data = a, .sizes = {5, 4, 3, 2}};
    assert_ok(fill(*state, "fill4", "i64[:,:,:,:]", &array, 1));
    at = 0;
    for (int64_t l = 0; l < 2; l++)
        for (int64_t k = 0; k < 3; k++)
            for (int64_t j = 0; j < 4; j++)
                for (int64_t i = 0; i < 5; i++)
                    assert_int_equal(a[at++], 1000 * i + 100 * j + 10 * k + l);
}

/* Every second column of rows that are padded, from the last to the first. */
static void strided_arrays_reach_their_elements_only(void **state)
{
    int64_t memory[7 * 4];
    const kiln_array array = {
        .data = &memory[6 + 7 * 3],
        .sizes = {3, 4},
        .strides = {-2, -7},
    };

    for (size_t i = 0; i < 28; i++)
        memory[i] = -1;
    assert_ok(fill(*state, "fill2", "i64[strided :,:]", &array, 12));
    for (int64_t row = 0; row < 4; row++)
        for (int64_t column = 0; column < 7; column++) {
            const int64_t i = (6 - column) / 2, j = 3 - row;
            const int inside = column % 2 == 0 && column >= 2;

            assert_int_equal(memory[7 * row + column],
                             inside ? 10 * i + j : -1);
        }
}

static void strided_arrays_of_rank_1_and_4_work(void **state)
{
    int32_t line[9] = {0};
    const kiln_array every_third = {.data = line, .sizes = {3}, .strides = {3}};
    int64_t numbers[48];
    const kiln_array rank4 = {
        .data = numbers, .sizes = {2, 2, 2, 2}, .strides = {24, 12, 6, 3}};

    assert_ok(fill(*state, "fill1", "i32[strided :]", &every_third, 3));
    for (int i = 0; i < 9; i++)
        assert_int_equal(line[i], i % 3 == 0 ? i / 3 : 0);
    memset(numbers, 0, sizeof numbers);
    assert_ok(fill(*state, "fill4", "i64[strided :,:,:,:]", &rank4, 1));
    for (int64_t at = 0; at < 48; at++) {
        const int64_t e = at / 3;

        assert_int_equal(numbers[at], at % 3 != 0
                                          ? 0
                                          : 1000 * (e / 8) + 100 * (e / 4 % 2) +
                                                10 * (e / 2 % 2) + e % 2);
    }
}

static void shapes_are_known(void **state)
{
    static const int64_t expected[] = {1, 3, 3, 2, 6,   3, 2, 3, 30,
                                       3, 2, 5, 4, 120, 3, 2, 5, 4};
    kernels *k = *state;
    int64_t out[18] = {0};
    static float data[120];
    const kiln_array outs = kernels_array(out, 18);
    const kiln_array a = {.data = data, .sizes = {3}},
                     b = {.data = data, .sizes = {3, 2}},
                     c = {.data = data, .sizes = {3, 2, 5}},
                     d = {.data = data, .sizes = {3, 2, 5, 4}};
    const kernels_argument arguments[] = {{"i64[:]", &outs},
                                          {"f32[:]", &a},
                                          {"f32[:,:]", &b},
                                          {"f32[:,:,:]", &c},
                                          {"f32[:,:,:,:]", &d}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arrays")), "shapes", 1,
                          arguments, 5, &test_error));
    assert_memory_equal(out, expected, sizeof expected);
}

static void transposing_reads_and_writes_two_ranks(void **state)
{
    kernels *k = *state;
    double a[3 * 4], out[4 * 3];
    const kiln_array as = kernels_array2(a, 3, 4),
                     outs = kernels_array2(out, 4, 3);
    const kernels_argument arguments[] = {{"f64[:,:]", &outs},
                                          {"f64[:,:]", &as}};

    for (int i = 0; i < 12; i++)
        a[i] = i;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arrays")), "transpose", 1,
                          arguments, 2, &test_error));
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 3; i++)
            assert_true(out[j + 4 * i] == a[i + 3 * j]);
}

#define DEFINE_ELEMENT(name, T) \
    static void add_one_##name(kernels *k) \
    { \
        T a[100]; \
        const kiln_array as = kernels_array(a, 100); \
\
        for (int i = 0; i < 100; i++) \
            a[i] = (T)i; \
        assert_ok(fill(k, "add_one", #name "[:]", &as, 100)); \
        for (int i = 0; i < 100; i++) \
            assert_true(a[i] == (T)(i + 1)); \
    }
#define ELEMENT_MAP(X) \
    X(i8, int8_t) \
    X(i16, int16_t) \
    X(i32, int32_t) \
    X(i64, int64_t) \
    X(u8, uint8_t) \
    X(u16, uint16_t) \
    X(u32, uint32_t) \
    X(u64, uint64_t) \
    X(f32, float) \
    X(f64, double)
ELEMENT_MAP(DEFINE_ELEMENT)

static void arrays_hold_every_scalar_type(void **state)
{
#define CALL(name, T) add_one_##name(*state);
    ELEMENT_MAP(CALL)
#undef CALL
}

static void half_floats_are_stored_in_two_bytes(void **state)
{
    /* 1, 0.5 and 1024 as binary16; one more: 2, 1.5, 1025. */
    uint16_t a[3] = {0x3C00, 0x3800, 0x6400};
    const kiln_array as = kernels_array(a, 3);

    if (!kernels_has(*state, "fp16"))
        test_skip(SKIP_DEVICE, "it has no f16");
    assert_ok(fill(*state, "add_one", "f16[:]", &as, 3));
    assert_int_equal(a[0], 0x4000);
    assert_int_equal(a[1], 0x3E00);
    assert_int_equal(a[2], 0x6401);
}

static void arguments_may_alias(void **state)
{
    kernels *k = *state;
    int64_t a[9] = {0};
    const kiln_array to = kernels_array(a + 1, 8), from = kernels_array(a, 8);
    const kernels_argument arguments[] = {{"i64[:]", &to}, {"i64[:]", &from}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arrays")), "shift_up", 1,
                          arguments, 2, &test_error));
    for (int i = 0; i < 9; i++)
        assert_int_equal(a[i], i);
}

static void elements_take_compound_assignments(void **state)
{
    int32_t a[4] = {10, 20, 30, 40};
    const kiln_array as = kernels_array2(a, 2, 2);

    assert_ok(fill(*state, "increments", "i32[:,:]", &as, 1));
    assert_int_equal(a[0], 15);
    assert_int_equal(a[1], 19);
    assert_int_equal(a[2], 90);
    assert_int_equal(a[3], 160);
}

static void an_empty_array_has_no_elements(void **state)
{
    const kiln_array none = kernels_array(NULL, 0);
    const kernels_argument arguments[] = {{"i64[:]", &none}, {"i64[:]", &none}};
    kernels *k = *state;

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arrays")), "shift_up", 1,
                          arguments, 2, &test_error));
}

/* ---- atomics ---- */

static void atomics_lose_no_update(void **state)
{
    enum { ITEMS = 10000 };
    kernels *k = *state;
    int64_t a[7] = {0, 0, 5, -5, 0, -1, 0}, exclusive = 0;
    const kiln_array as = kernels_array(a, 7);
    const kernels_argument arguments[] = {{"i64[:]", &as}};

    for (int64_t i = 0; i < ITEMS; i++)
        exclusive ^= i;
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("atomics")), "counters",
                          ITEMS, arguments, 1, &test_error));
    assert_int_equal(a[0], ITEMS);
    assert_int_equal(a[1], -2 * ITEMS);
    assert_int_equal(a[2], -(ITEMS - 1));
    assert_int_equal(a[3], ITEMS - 1);
    assert_int_equal(a[4], 255);
    assert_int_equal(a[5], -256);
    assert_int_equal(a[6], exclusive);
}

static void atomics_add_floats_in_any_rank(void **state)
{
    kernels *k = *state;
    float a[4] = {0};
    const kiln_array as = kernels_array2(a, 2, 2);
    const kernels_argument arguments[] = {{"f32[:,:]", &as}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("atomics")), "sums", 1000,
                          arguments, 1, &test_error));
    assert_true(a[0] == 0 && a[1] == 0 && a[2] == 500 && a[3] == 0);
}

static void atomics_give_the_old_value(void **state)
{
    kernels *k = *state;
    int32_t a[1] = {10}, out[5];
    const kiln_array as = kernels_array(a, 1), outs = kernels_array(out, 5);
    const kernels_argument arguments[] = {{"i32[:]", &as}, {"i32[:]", &outs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("atomics")), "old_values",
                          1, arguments, 2, &test_error));
    assert_int_equal(out[0], 10);
    assert_int_equal(out[1], 15);
    assert_int_equal(out[2], 100);
    assert_int_equal(out[3], 7);
    assert_int_equal(out[4], 7);
}

static void atomics_hand_out_places(void **state)
{
    enum { ITEMS = 5000 };
    kernels *k = *state;
    int64_t next[1] = {0};
    static int64_t taken[ITEMS];
    const kiln_array nexts = kernels_array(next, 1),
                     takens = kernels_array(taken, ITEMS);
    const kernels_argument arguments[] = {{"i64[:]", &nexts},
                                          {"i64[:]", &takens}};

    memset(taken, 0, sizeof taken);
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("atomics")), "places",
                          ITEMS, arguments, 2, &test_error));
    assert_int_equal(next[0], ITEMS);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(taken[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_conversions_keep_the_value),
        cmocka_unit_test(floats_round_to_nearest),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(the_ends_of_a_type_fit),
        cmocka_unit_test(trunc_saturates),
        cmocka_unit_test(trunc_saturates_integers_too),
        cmocka_unit_test(wrap_cuts_and_bitcast_keeps_bits),
        cmocka_unit_test(truth_converts_to_0_and_1),
        cmocka_unit_test(the_first_index_is_contiguous),
        cmocka_unit_test(strided_arrays_reach_their_elements_only),
        cmocka_unit_test(strided_arrays_of_rank_1_and_4_work),
        cmocka_unit_test(shapes_are_known),
        cmocka_unit_test(transposing_reads_and_writes_two_ranks),
        cmocka_unit_test(arrays_hold_every_scalar_type),
        cmocka_unit_test(half_floats_are_stored_in_two_bytes),
        cmocka_unit_test(arguments_may_alias),
        cmocka_unit_test(elements_take_compound_assignments),
        cmocka_unit_test(an_empty_array_has_no_elements),
        cmocka_unit_test(atomics_lose_no_update),
        cmocka_unit_test(atomics_add_floats_in_any_rank),
        cmocka_unit_test(atomics_give_the_old_value),
        cmocka_unit_test(atomics_hand_out_places),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
