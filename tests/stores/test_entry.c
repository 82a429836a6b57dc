/* test_entry.c - envelopes come back whole, and damage never does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/entry.h"

#include <string.h>

#include "base/digest/digest.h"
#include "kiln/kernel.h"
#include "support/harness.h"

static kiln__entry sample(void)
{
    kiln__entry entry = {
        .kind = KILN__ENTRY_BINARY,
        .relocation = KILN_RELOCATION_RELOCATABLE,
        .key = {{{11, 12}}, "the key", 7},
        .build_ns = 123456789,
        .toolchain = "llvm=1 lld=2",
        .toolchain_size = 12,
        .log = "",
        .meta = "meta\0data",
        .meta_size = 9,
        .payload = "payload",
        .payload_size = 7,
    };

    return entry;
}

static kiln_blob encoded(void)
{
    const kiln__entry entry = sample();
    kiln_blob blob = {0};

    assert_ok(kiln__entry_encode(&blob, &kiln__malloc, &entry));
    return blob;
}

static void an_entry_comes_back_whole(void **state)
{
    const kiln__entry in = sample();
    kiln_blob blob = encoded();
    kiln__entry out;

    (void)state;
    assert_int_equal(kiln__entry_decode(&out, blob.data, blob.size, &in.key),
                     KILN__FAULT_NONE);
    assert_int_equal(out.kind, in.kind);
    assert_int_equal(out.relocation, in.relocation);
    assert_true(out.build_ns == in.build_ns);
    assert_int_equal(out.toolchain_size, in.toolchain_size);
    assert_memory_equal(out.toolchain, in.toolchain, in.toolchain_size);
    assert_int_equal(out.log_size, 0);
    assert_int_equal(out.meta_size, in.meta_size);
    assert_memory_equal(out.meta, in.meta, in.meta_size);
    assert_int_equal(out.payload_size, in.payload_size);
    assert_memory_equal(out.payload, in.payload, in.payload_size);
    assert_int_equal(
        (uintptr_t)((const char *)out.payload - (const char *)blob.data) % 64,
        0);
    kiln_blob_release(&blob);
}

static void equal_entries_are_equal_bytes(void **state)
{
    kiln_blob one = encoded(), other = encoded();

    (void)state;
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
    kiln_blob_release(&one);
    kiln_blob_release(&other);
}

static kiln__entry_fault fault_of(const void *bytes, size_t size)
{
    const kiln__entry in = sample();
    kiln__entry out;

    return kiln__entry_decode(&out, bytes, size, &in.key);
}

static void every_flipped_byte_is_noticed(void **state)
{
    kiln_blob blob = encoded();
    unsigned char *copy = test_malloc(blob.size);

    (void)state;
    for (size_t i = 0; i < blob.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, blob.data, blob.size);
            copy[i] ^= (unsigned char)(1 << bit);
            assert_int_not_equal(fault_of(copy, blob.size), KILN__FAULT_NONE);
        }
    test_free(copy);
    kiln_blob_release(&blob);
}

/* Each length has memory of its own, so that reading beyond it is found. */
static void every_shorter_or_longer_one_is_noticed(void **state)
{
    kiln_blob blob = encoded();

    (void)state;
    assert_int_equal(fault_of(NULL, 0), KILN__FAULT_TRUNCATED);
    for (size_t size = 1; size < blob.size + 3; size++) {
        unsigned char *copy = test_calloc(1, size);

        memcpy(copy, blob.data, size < blob.size ? size : blob.size);
        if (size < blob.size)
            assert_int_equal(fault_of(copy, size), KILN__FAULT_TRUNCATED);
        else if (size > blob.size)
            assert_int_equal(fault_of(copy, size), KILN__FAULT_MALFORMED);
        test_free(copy);
    }
    kiln_blob_release(&blob);
}

static void faults_have_their_reasons(void **state)
{
    const kiln_key other = {{{11, 12}}, "the kez", 7};
    kiln_blob blob = encoded();
    unsigned char *copy = test_malloc(blob.size);
    kiln__entry out;

    (void)state;
    memcpy(copy, blob.data, blob.size);
    assert_int_equal(kiln__entry_decode(&out, copy, blob.size, &other),
                     KILN__FAULT_KEY);
    copy[8]++;
    assert_int_equal(fault_of(copy, blob.size), KILN__FAULT_VERSION);
    copy[0]++;
    assert_int_equal(fault_of(copy, blob.size), KILN__FAULT_FOREIGN);
    assert_int_equal(fault_of("{}", 2), KILN__FAULT_FOREIGN);
    assert_string_equal(kiln__entry_fault_text(KILN__FAULT_CHECKSUM),
                        "checksum");
    test_free(copy);
    kiln_blob_release(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_comes_back_whole),
        cmocka_unit_test(equal_entries_are_equal_bytes),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(every_shorter_or_longer_one_is_noticed),
        cmocka_unit_test(faults_have_their_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
