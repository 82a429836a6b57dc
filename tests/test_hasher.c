/* test_hasher.c - the canonical encoding and its digest. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include <string.h>

#include "hasher.h"
#include "support/harness.h"

#define assert_digests_equal(a, b) assert_true(kiln__digest_equal((a), (b)))
#define assert_digests_differ(a, b) assert_false(kiln__digest_equal((a), (b)))

static void digests_are_xxh3_128(void **state)
{
    char text[KILN_DIGEST_TEXT_SIZE];

    (void)state;
    kiln_digest_text(kiln__digest_bytes(NULL, 0), text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
    kiln_digest_text(kiln__digest_text("abc"), text);
    assert_string_equal(text, "06b05ab6733a618578af5f94892f3950");
}

static void a_field_is_tag_length_and_bytes(void **state)
{
    static const unsigned char expected[] = {
        1, 8, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12, 0, 0,   0,
        0, 0, 0, 3, 2, 0, 0, 0, 0, 0,    0,    0, 'f', '3', /* text */
        4, 0, 0, 0, 0, 0, 0, 0, 0,                          /* no text */
        5, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF,                    /* bytes */
    };
    kiln__encoder encoder;

    (void)state;
    kiln__encoder_init(&encoder, &kiln__malloc);

    kiln__encode_u64(&encoder, 0x1234);
    kiln__encode_text(&encoder, "f3");
    kiln__encode_text(&encoder, NULL);
    kiln__encode_bytes(&encoder, "\xFF", 1);

    assert_int_equal(encoder.size, sizeof expected);
    assert_memory_equal(encoder.bytes, expected, sizeof expected);
    assert_digests_equal(kiln__encoder_digest(&encoder),
                         kiln__digest_bytes(expected, sizeof expected));
    kiln__encoder_dispose(&encoder);
}

static kiln_digest digest_of_two(const char *first, const char *second)
{
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    kiln__encode_text(&encoder, first);
    kiln__encode_text(&encoder, second);
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

static void fields_never_run_together(void **state)
{
    (void)state;
    assert_digests_differ(digest_of_two("ab", "c"), digest_of_two("a", "bc"));
    assert_digests_differ(digest_of_two("", "x"), digest_of_two(NULL, "x"));
    assert_digests_equal(digest_of_two("a", "b"), digest_of_two("a", "b"));
}

static void numbers_of_both_signs_are_told_apart(void **state)
{
    kiln__encoder a, b;

    (void)state;
    kiln__encoder_init(&a, &kiln__malloc);
    kiln__encoder_init(&b, &kiln__malloc);

    kiln__encode_u64(&a, UINT64_MAX);
    kiln__encode_i64(&b, -1);

    assert_digests_differ(kiln__encoder_digest(&a), kiln__encoder_digest(&b));
    kiln__encoder_dispose(&a);
    kiln__encoder_dispose(&b);
}

static void combining_minds_the_order(void **state)
{
    const kiln_digest a = kiln__digest_text("a"), b = kiln__digest_text("b");

    (void)state;
    assert_digests_differ(kiln__digest_combine(a, b),
                          kiln__digest_combine(b, a));
    assert_false(kiln__digest_is_zero(kiln__digest_combine(a, b)));
    assert_true(kiln__digest_is_zero((kiln_digest){0, 0}));
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

static kiln_status encode(const kiln_alloc *alloc, void *env)
{
    kiln__encoder encoder;
    int failed;

    (void)env;
    kiln__encoder_init(&encoder, alloc);
    for (uint64_t i = 0; i < 100; i++) {
        kiln__encode_u64(&encoder, i);
        kiln__encode_digest(&encoder, kiln__digest_text("x"));
        kiln__encode_text(&encoder, "entry");
    }
    failed = encoder.failed;
    kiln__encoder_dispose(&encoder);
    return failed ? KILN_ENOMEM : KILN_OK;
}

static void encoding_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(encode, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_xxh3_128),
        cmocka_unit_test(a_field_is_tag_length_and_bytes),
        cmocka_unit_test(fields_never_run_together),
        cmocka_unit_test(numbers_of_both_signs_are_told_apart),
        cmocka_unit_test(combining_minds_the_order),
        cmocka_unit_test(hashes_of_words_mind_each_word),
        cmocka_unit_test(encoding_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
