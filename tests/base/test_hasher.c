/* test_hasher.c - digests, and the canonical encoding that they are of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include <string.h>

#include "base/digest/digest.h"
#include "support/harness.h"

#define assert_digests_equal(a, b) assert_true(kiln__digest_equal((a), (b)))
#define assert_digests_differ(a, b) assert_false(kiln__digest_equal((a), (b)))

/*
 * The test vectors of the BLAKE3 project (test_vectors.json, its key "hash", of
 * which these are the first 32 bytes): the input is 0, 1, 2, …, 250, 0, 1, ….
 * The sizes are about those of a block, a chunk, and what is computed at once
 * with each set of instructions.
 */
static const struct vector {
    size_t size;
    const char *digest;
} vectors[] = {
    {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
    {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
    {63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"},
    {64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
    {65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
    {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
    {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
    {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
    {2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
    {4097, "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995"},
    {8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"},
    {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
    {102400,
     "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
};

#define VECTOR_LARGEST ((size_t)102400)

static void digests_are_blake3(void **state)
{
    unsigned char *input = test_malloc(VECTOR_LARGEST);
    char text[KILN_DIGEST_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < VECTOR_LARGEST; i++)
        input[i] = (unsigned char)(i % 251);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        kiln_digest_text(kiln_digest_bytes(input, vectors[i].size), text);
        assert_string_equal(text, vectors[i].digest);
    }
    test_free(input);
}

static void a_text_is_digested_as_its_bytes(void **state)
{
    (void)state;
    assert_digests_equal(kiln__digest_text("abc"), kiln_digest_bytes("abc", 3));
    assert_digests_equal(kiln__digest_text(""), kiln_digest_bytes(NULL, 0));
    assert_digests_differ(kiln__digest_text("abc"), kiln__digest_text("abd"));
}

static void two_texts_do_not_run_together(void **state)
{
    (void)state;
    assert_digests_equal(kiln__digest_texts("ab", "c"),
                         kiln_digest_bytes("ab\0c", 4));
    assert_digests_differ(kiln__digest_texts("ab", "c"),
                          kiln__digest_texts("a", "bc"));
    assert_digests_differ(kiln__digest_texts("", "a"),
                          kiln__digest_texts("a", ""));
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
    assert_true(kiln__digest_is_zero((kiln_digest){0}));
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
        cmocka_unit_test(digests_are_blake3),
        cmocka_unit_test(a_text_is_digested_as_its_bytes),
        cmocka_unit_test(two_texts_do_not_run_together),
        cmocka_unit_test(a_field_is_tag_length_and_bytes),
        cmocka_unit_test(fields_never_run_together),
        cmocka_unit_test(numbers_of_both_signs_are_told_apart),
        cmocka_unit_test(combining_minds_the_order),
        cmocka_unit_test(encoding_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
