/* test_random.c - random numbers of the runtime library, against C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <math.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"
#define ITEMS 4096
#define DRAWS 4

static kiln_package *package; /* of draws.kiln */

/* ---- the same in C ---- */

typedef struct block {
    uint32_t word[4];
} block;

static block philox(const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t k[2] = {key[0], key[1]};
    block b;

    memcpy(b.word, counter, sizeof b.word);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)b.word[0] * 0xd2511f53u;
        const uint64_t q = (uint64_t)b.word[2] * 0xcd9e8d57u;

        b = (block){{(uint32_t)(q >> 32) ^ b.word[1] ^ k[0], (uint32_t)q,
                     (uint32_t)(p >> 32) ^ b.word[3] ^ k[1], (uint32_t)p}};
        k[0] += 0x9e3779b9u;
        k[1] += 0xbb67ae85u;
    }
    return b;
}

static block draw(uint64_t seed, uint64_t stream, uint64_t step)
{
    const uint32_t counter[4] = {(uint32_t)step, (uint32_t)(step >> 32),
                                 (uint32_t)stream, (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    return philox(counter, key);
}

static uint64_t join(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static float single_of(uint32_t word)
{
    return (float)(word >> 8) / 16777216;
}

static double double_of(uint64_t word)
{
    return (double)(word >> 11) / 9007199254740992;
}

/* ---- running ---- */

static void run(void **state, const char *kernel, const char *type, void *out,
                int64_t rows, int64_t seed)
{
    const kiln_array outs = kernels_array2(out, rows, ITEMS);
    const kernels_argument arguments[] = {{type, &outs}, {"i64", &seed}};

    assert_ok(
        kernels_run(*state, package, kernel, ITEMS, arguments, 2, &test_error));
}

static void run_blocks(void **state, uint32_t (*out)[4],
                       uint32_t (*counters)[4], uint32_t (*keys)[2],
                       int64_t count)
{
    const kiln_array outs = kernels_array2(out, 4, count);
    const kiln_array from = kernels_array2(counters, 4, count);
    const kiln_array with = kernels_array2(keys, 2, count);
    const kernels_argument arguments[] = {
        {"u32[:,:]", &outs}, {"u32[:,:]", &from}, {"u32[:,:]", &with}};

    assert_ok(kernels_run(*state, package, "blocks", (uint64_t)count, arguments,
                          3, &test_error));
}

/* ---- tests ---- */

/* The vectors that its authors publish. */
static void the_known_answers_come_out(void **state)
{
    static uint32_t counters[3][4] = {
        {0, 0, 0, 0},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
    static uint32_t keys[3][2] = {
        {0, 0}, {0xffffffff, 0xffffffff}, {0xa4093822, 0x299f31d0}};
    static const uint32_t answers[3][4] = {
        {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    uint32_t out[3][4] = {{0}};

    run_blocks(state, out, counters, keys, 3);

    assert_memory_equal(out, answers, sizeof out);
}

static void any_block_is_that_of_c(void **state)
{
    static uint32_t counters[ITEMS][4], keys[ITEMS][2], out[ITEMS][4];

    for (uint32_t i = 0; i < ITEMS; i++) {
        memcpy(counters[i], draw(i, 1, 2).word, sizeof counters[i]);
        memcpy(keys[i], draw(i, 3, 4).word, sizeof keys[i]);
    }
    run_blocks(state, out, counters, keys, ITEMS);

    for (int i = 0; i < ITEMS; i++)
        assert_memory_equal(out[i], philox(counters[i], keys[i]).word,
                            sizeof out[i]);
}

static void integers_are_words_of_the_stream(void **state)
{
    static uint32_t words[ITEMS][DRAWS];
    static uint64_t longs[ITEMS][DRAWS];
    const int64_t seed = -3;

    run(state, "words", "u32[:,:]", words, DRAWS, seed);
    run(state, "longs", "u64[:,:]", longs, DRAWS, seed);

    for (uint64_t i = 0; i < ITEMS; i++)
        for (uint64_t k = 0; k < DRAWS; k++) {
            const block b = draw((uint64_t)seed, i, k);

            assert_int_equal(words[i][k], b.word[0]);
            assert_true(longs[i][k] == join(b.word[1], b.word[0]));
        }
}

static void floats_are_the_upper_bits_below_one(void **state)
{
    static float singles[ITEMS][DRAWS];
    static double doubles[ITEMS][DRAWS];
    double sum = 0, squares = 0;

    run(state, "uniforms", "f32[:,:]", singles, DRAWS, 7);
    run(state, "uniforms", "f64[:,:]", doubles, DRAWS, 7);

    for (uint64_t i = 0; i < ITEMS; i++)
        for (uint64_t k = 0; k < DRAWS; k++) {
            const block b = draw(7, i, k);

            assert_true(singles[i][k] == single_of(b.word[0]));
            assert_true(doubles[i][k] == double_of(join(b.word[1], b.word[0])));
            assert_true(doubles[i][k] >= 0 && doubles[i][k] < 1);
            sum += doubles[i][k];
            squares += doubles[i][k] * doubles[i][k];
        }
    assert_true(fabs(sum / (ITEMS * DRAWS) - 0.5) < 0.01);
    assert_true(fabs(squares / (ITEMS * DRAWS) - 1.0 / 3) < 0.01);
}

/* The cosine and the sine of Box and Muller. */
static void normal(double out[2], double radius, double turn)
{
    const double length = sqrt(-2 * log(1 - radius));

    out[0] = length * cos(6.283185307179586476925 * turn);
    out[1] = length * sin(6.283185307179586476925 * turn);
}

static void normal_numbers_are_those_of_box_and_muller(void **state)
{
    static float singles[ITEMS][3];
    static double doubles[ITEMS][3];
    double sum = 0, squares = 0;

    run(state, "normals", "f32[:,:]", singles, 3, 11);
    run(state, "normals", "f64[:,:]", doubles, 3, 11);

    for (uint64_t i = 0; i < ITEMS; i++) {
        const block b = draw(11, i, 0);
        double expected[2];

        normal(expected, single_of(b.word[0]), single_of(b.word[1]));
        for (int k = 0; k < 2; k++)
            assert_true(fabs((double)singles[i][k] - expected[k]) < 1e-5);
        normal(expected, double_of(join(b.word[1], b.word[0])),
               double_of(join(b.word[3], b.word[2])));
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(doubles[i][k] - expected[k]) < 1e-13);
            sum += doubles[i][k];
            squares += doubles[i][k] * doubles[i][k];
        }
        assert_true(singles[i][2] == singles[i][0]);
        assert_true(doubles[i][2] == doubles[i][0]);
    }
    assert_true(fabs(sum / (2 * ITEMS)) < 0.05);
    assert_true(fabs(squares / (2 * ITEMS) - 1) < 0.05);
}

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return 1;
    package = kernels_load(*state, FILE_OF("draws"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_known_answers_come_out),
        cmocka_unit_test(any_block_is_that_of_c),
        cmocka_unit_test(integers_are_words_of_the_stream),
        cmocka_unit_test(floats_are_the_upper_bits_below_one),
        cmocka_unit_test(normal_numbers_are_those_of_box_and_muller),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
