/* test_memory.c - allocation, strings, blobs, arrays and text buffers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include <string.h>

#include "base/data/array.h"
#include "base/data/memory.h"
#include "support/harness.h"

static void allocated_memory_is_zeroed(void **state)
{
    unsigned char zeros[64] = {0};
    void *memory = kiln__allocate(&kiln__malloc, sizeof zeros);

    (void)state;
    assert_memory_equal(memory, zeros, sizeof zeros);
    kiln__deallocate(&kiln__malloc, memory, sizeof zeros);
}

static void an_array_too_large_to_count_is_refused(void **state)
{
    failing_alloc failing;

    (void)state;
    failing_alloc_init(&failing, 0);

    assert_null(kiln__allocate_array(&failing.alloc, SIZE_MAX / 2, 3));
    assert_int_equal(failing.calls, 0);
}

static void nothing_is_still_an_allocation(void **state)
{
    failing_alloc failing;
    void *memory;

    (void)state;
    failing_alloc_init(&failing, 0);

    memory = kiln__allocate(&failing.alloc, 0);
    assert_non_null(memory);
    kiln__deallocate(&failing.alloc, memory, 0);

    assert_nothing_leaked(&failing);
}

static void resizing_keeps_the_bytes(void **state)
{
    failing_alloc failing;
    char *memory;

    (void)state;
    failing_alloc_init(&failing, 0);

    memory = kiln__resize(&failing.alloc, NULL, 0, 4);
    memcpy(memory, "kiln", 4);
    memory = kiln__resize(&failing.alloc, memory, 4, 4000);
    assert_memory_equal(memory, "kiln", 4);
    kiln__deallocate(&failing.alloc, memory, 4000);

    assert_nothing_leaked(&failing);
}

static void a_copied_string_ends_where_it_was_told(void **state)
{
    failing_alloc failing;
    char *text, *empty;

    (void)state;
    failing_alloc_init(&failing, 0);

    text = kiln__string_copy_n(&failing.alloc, "kernel", 4);
    empty = kiln__string_copy_n(&failing.alloc, NULL, 0);
    assert_string_equal(text, "kern");
    assert_string_equal(empty, "");
    kiln__string_free(&failing.alloc, text);
    kiln__string_free(&failing.alloc, empty);
    kiln__string_free(&failing.alloc, NULL);

    assert_nothing_leaked(&failing);
}

static void a_blob_is_a_copy_that_ends_in_a_nul(void **state)
{
    failing_alloc failing;
    kiln_blob blob;

    (void)state;
    failing_alloc_init(&failing, 0);

    assert_ok(kiln__blob_copy(&blob, &failing.alloc, "ptx", 3));
    assert_blob_equal(blob, "ptx", 3);
    assert_string_equal(blob.data, "ptx");
    kiln_blob_release(&blob);

    assert_null(blob.data);
    assert_nothing_leaked(&failing);
}

static void a_blob_outlives_the_struct_of_its_allocator(void **state)
{
    failing_alloc failing;
    kiln_alloc copy;
    kiln_blob blob;

    (void)state;
    failing_alloc_init(&failing, 0);
    copy = failing.alloc;

    assert_ok(kiln__blob_copy(&blob, &copy, "x", 1));
    memset(&copy, 0, sizeof copy);
    kiln_blob_release(&blob);

    assert_nothing_leaked(&failing);
}

static void releasing_nothing_is_fine(void **state)
{
    kiln_blob blob = {0};

    (void)state;
    kiln_blob_release(&blob);
    kiln_blob_release(NULL);
    assert_int_equal(blob.size, 0);
}

static kiln_status fill_array(const kiln_alloc *alloc, void *env)
{
    kiln__array_of(int) numbers = {0};
    kiln_status status = KILN_OK;

    (void)env;
    for (int i = 0; i < 1000 && status == KILN_OK; i++)
        if (!kiln__array_push(alloc, &numbers, i))
            status = KILN_ENOMEM;
    for (size_t i = 0; i < numbers.count; i++)
        assert_int_equal(numbers.items[i], i);
    assert_true(status == KILN_ENOMEM || numbers.count == 1000);
    kiln__array_dispose(alloc, &numbers);
    return status;
}

static void an_array_keeps_what_was_pushed(void **state)
{
    (void)state;
    assert_ok(fill_array(&kiln__malloc, NULL));
}

static void an_array_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(fill_array, NULL);
}

static void an_array_refuses_to_overflow(void **state)
{
    kiln__array_of(uint64_t) numbers = {0};

    (void)state;
    assert_false(kiln__array_reserve(&kiln__malloc, &numbers, SIZE_MAX / 2));
    assert_null(numbers.items);
}

static kiln_status write_text(const kiln_alloc *alloc, void *env)
{
    kiln_blob *out = env;
    kiln__text text;

    kiln__text_init(&text, alloc);
    for (int i = 0; i < 50; i++) {
        kiln__text_add(&text, "x");
        kiln__text_add_n(&text, "yz", 2);
        kiln__text_format(&text, "%03d", i);
    }
    return kiln__text_to_blob(&text, out);
}

static void a_text_becomes_a_blob(void **state)
{
    kiln_blob blob;

    (void)state;
    assert_ok(write_text(&kiln__malloc, &blob));

    assert_int_equal(blob.size, 300);
    assert_memory_equal(blob.data, "xyz000xyz001", 12);
    assert_string_equal((const char *)blob.data + 294, "xyz049");
    kiln_blob_release(&blob);
}

static kiln_status write_and_drop_text(const kiln_alloc *alloc, void *env)
{
    kiln_blob blob;
    const kiln_status status = write_text(alloc, &blob);

    (void)env;
    kiln_blob_release(&blob);
    return status;
}

static void a_text_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(write_and_drop_text, NULL);
}

static void an_empty_text_becomes_an_empty_string(void **state)
{
    kiln__text text;
    kiln_blob blob;

    (void)state;
    kiln__text_init(&text, &kiln__malloc);

    assert_ok(kiln__text_to_blob(&text, &blob));
    assert_int_equal(blob.size, 0);
    assert_string_equal(blob.data, "");
    kiln_blob_release(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocated_memory_is_zeroed),
        cmocka_unit_test(an_array_too_large_to_count_is_refused),
        cmocka_unit_test(nothing_is_still_an_allocation),
        cmocka_unit_test(resizing_keeps_the_bytes),
        cmocka_unit_test(a_copied_string_ends_where_it_was_told),
        cmocka_unit_test(a_blob_is_a_copy_that_ends_in_a_nul),
        cmocka_unit_test(a_blob_outlives_the_struct_of_its_allocator),
        cmocka_unit_test(releasing_nothing_is_fine),
        cmocka_unit_test(an_array_keeps_what_was_pushed),
        cmocka_unit_test(an_array_survives_a_failing_allocator),
        cmocka_unit_test(an_array_refuses_to_overflow),
        cmocka_unit_test(a_text_becomes_a_blob),
        cmocka_unit_test(a_text_survives_a_failing_allocator),
        cmocka_unit_test(an_empty_text_becomes_an_empty_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
