/* test_reader.c - what the encoder writes is read back; all else is refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/decoder.h"

#include <string.h>

#include "base/digest/digest.h"
#include "support/harness.h"

static void write_all(kiln__encoder *encoder)
{
    kiln__encoder_init(encoder, &kiln__malloc);
    kiln__encode_u64(encoder, UINT64_MAX - 5);
    kiln__encode_i64(encoder, -7);
    kiln__encode_text(encoder, "text");
    kiln__encode_text(encoder, "");
    kiln__encode_text(encoder, NULL);
    kiln__encode_bytes(encoder, "a\0b", 3);
    kiln__encode_digest(encoder, harness_digest(3, 4));
    assert_false(encoder->failed);
}

static void everything_is_read_back(void **state)
{
    kiln__encoder encoder;
    kiln__reader reader;
    kiln__span_of_bytes span;
    kiln_digest digest, expected;

    (void)state;
    write_all(&encoder);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    assert_true(kiln__read_u64(&reader) == UINT64_MAX - 5);
    assert_true(kiln__read_i64(&reader) == -7);
    span = kiln__read_text(&reader);
    assert_int_equal(span.size, 4);
    assert_memory_equal(span.data, "text", 4);
    span = kiln__read_text(&reader);
    assert_non_null(span.data);
    assert_int_equal(span.size, 0);
    span = kiln__read_text(&reader);
    assert_null(span.data);
    assert_false(reader.failed);
    span = kiln__read_bytes(&reader);
    assert_int_equal(span.size, 3);
    assert_memory_equal(span.data, "a\0b", 3);
    digest = kiln__read_digest(&reader);
    expected = harness_digest(3, 4);
    assert_memory_equal(&digest, &expected, sizeof digest);
    assert_true(kiln__reader_is_done(&reader));
    kiln__encoder_dispose(&encoder);
}

/* Reads in the order of write_all. */
static void read_all(kiln__reader *reader)
{
    (void)kiln__read_u64(reader);
    (void)kiln__read_i64(reader);
    for (int i = 0; i < 3; i++)
        (void)kiln__read_text(reader);
    (void)kiln__read_bytes(reader);
    (void)kiln__read_digest(reader);
}

static void a_shorter_encoding_fails(void **state)
{
    kiln__encoder encoder;

    (void)state;
    write_all(&encoder);
    for (size_t size = 0; size < encoder.size; size++) {
        unsigned char *copy = size ? test_malloc(size) : NULL;
        kiln__reader reader;

        if (size)
            memcpy(copy, encoder.bytes, size);
        kiln__reader_init(&reader, copy, size);
        read_all(&reader);
        assert_true(reader.failed);
        assert_false(kiln__reader_is_done(&reader));
        if (size)
            test_free(copy);
    }
    kiln__encoder_dispose(&encoder);
}

static void a_field_of_another_kind_fails(void **state)
{
    kiln__encoder encoder;
    kiln__reader reader;

    (void)state;
    kiln__encoder_init(&encoder, &kiln__malloc);
    kiln__encode_u64(&encoder, 1);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    (void)kiln__read_i64(&reader);
    assert_true(reader.failed);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    (void)kiln__read_text(&reader);
    assert_true(reader.failed);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    (void)kiln__read_digest(&reader);
    assert_true(reader.failed);
    kiln__encoder_dispose(&encoder);
}

static void a_text_holds_no_nul(void **state)
{
    kiln__encoder encoder;
    kiln__reader reader;

    (void)state;
    kiln__encoder_init(&encoder, &kiln__malloc);
    kiln__encode_text(&encoder, "abc");
    encoder.bytes[encoder.size - 2] = '\0';
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    (void)kiln__read_text(&reader);
    assert_true(reader.failed);
    kiln__encoder_dispose(&encoder);
}

static void there_cannot_be_more_things_than_bytes(void **state)
{
    kiln__encoder encoder;
    kiln__reader reader;

    (void)state;
    kiln__encoder_init(&encoder, &kiln__malloc);
    kiln__encode_u64(&encoder, 3);
    kiln__encode_u64(&encoder, 0);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    assert_int_equal(kiln__read_count(&reader, 5), 3);
    kiln__reader_init(&reader, encoder.bytes, encoder.size);
    assert_int_equal(kiln__read_count(&reader, 6), 0);
    assert_true(reader.failed);
    kiln__encoder_dispose(&encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read_back),
        cmocka_unit_test(a_shorter_encoding_fails),
        cmocka_unit_test(a_field_of_another_kind_fails),
        cmocka_unit_test(a_text_holds_no_nul),
        cmocka_unit_test(there_cannot_be_more_things_than_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
