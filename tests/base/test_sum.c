/* test_sum.c - sums of bytes, and hashes of words. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include "base/data/sum.h"

#include <string.h>

#include "support/harness.h"

/* Stored with every entry: they may not change. */
static void sums_are_xxh3_128(void **state)
{
    const kiln__sum none = kiln__sum_bytes(NULL, 0);
    const kiln__sum abc = kiln__sum_bytes("abc", 3);

    (void)state;
    assert_true(none.high == 0x99aa06d3014798d8 &&
                none.low == 0x6001c324468d497f);
    assert_true(abc.high == 0x06b05ab6733a6185 &&
                abc.low == 0x78af5f94892f3950);
}

static void combining_minds_the_order(void **state)
{
    const kiln__sum a = kiln__sum_bytes("a", 1), b = kiln__sum_bytes("b", 1);

    (void)state;
    assert_false(
        kiln__sum_equal(kiln__sum_combine(a, b), kiln__sum_combine(b, a)));
    assert_true(
        kiln__sum_equal(kiln__sum_combine(a, b), kiln__sum_combine(a, b)));
}

static void a_sum_is_written_with_its_low_half_first(void **state)
{
    static const unsigned char expected[KILN__SUM_SIZE] = {1, 0, 0, 0, 0,
                                                           0, 0, 0, 2, 3};
    const kiln__sum sum = {.low = 1, .high = 0x302};
    unsigned char bytes[KILN__SUM_SIZE];

    (void)state;
    kiln__sum_put(bytes, sum);
    assert_memory_equal(bytes, expected, sizeof bytes);
    assert_true(kiln__sum_equal(kiln__sum_take(bytes), sum));
}

static void hashes_of_words_mind_each_word(void **state)
{
    uint64_t words[4] = {1, 2, 3, 4};
    const uint64_t before = kiln__hash_words(words, 4);

    (void)state;
    assert_true(kiln__hash_words(words, 3) != before);
    words[3] = 5;
    assert_true(kiln__hash_words(words, 4) != before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_xxh3_128),
        cmocka_unit_test(combining_minds_the_order),
        cmocka_unit_test(a_sum_is_written_with_its_low_half_first),
        cmocka_unit_test(hashes_of_words_mind_each_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
