/* test_heap.c - memory that kernels allocate and free. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "abi/heap_abi.h"
#include "support/devices/kernels.h"

#define FILE_NAME KILN_TESTS_FOLDER "/language/heap.kiln"
#define ITEMS 4096

static int64_t out[ITEMS];
static kiln_package *package; /* of heap.kiln */

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return -1;
    package = kernels_load(*state, FILE_NAME);
    return 0;
}

static void set_heap(void **state, uint64_t bytes)
{
    kernels *k = *state;

    assert_ok(kiln_queue_wait(k->queue, &test_error));
    assert_ok(kiln_queue_set_heap(k->queue, bytes, &test_error));
}

/* Runs `items` items in groups of `block` with up to two numbers behind `out`.
 */
static kiln_status run(void **state, const char *kernel, uint64_t items,
                       uint32_t block, const int64_t *numbers, size_t count,
                       kiln_error **error)
{
    const kiln_array array = kernels_array(out, ITEMS);
    const kiln_launch launch = {.grid = {items}, .block = {block}};
    kernels_argument arguments[3] = {{"i64[:]", &array}};
    kernels *k = *state;

    assert_in_range(count, 0, 2);
    for (size_t i = 0; i < count; i++)
        arguments[1 + i] = (kernels_argument){"i64", &numbers[i]};
    return kernels_launch(k, package, kernel, k->config, &launch, arguments,
                          1 + count, error);
}

static void fill_out(int64_t value)
{
    for (size_t i = 0; i < ITEMS; i++)
        out[i] = value;
}

static void assert_out(size_t items, int64_t value)
{
    for (size_t i = 0; i < items; i++)
        if (out[i] != value)
            fail_msg("item %zu: %lld, not %lld", i, (long long)out[i],
                     (long long)value);
}

/* The record of the exception that the kernel has to raise. */
static void assert_raises(void **state, const char *kernel,
                          const int64_t *numbers, size_t count, int32_t kind,
                          const char *message, uint32_t line)
{
    kiln_error *error = NULL;
    const kiln_exception *exception;

    assert_status(KILN_EEXCEPTION,
                  run(state, kernel, 1, 0, numbers, count, &error));
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, kind);
    assert_string_equal(exception->message, message);
    assert_int_equal(exception->location.line, line);
    assert_non_null(strstr(exception->location.file, "heap.kiln"));
    assert_null(strstr(exception->location.file, "core"));
    assert_non_null(exception->source_line);
    assert_in_range(exception->location.column, 1,
                    strlen(exception->source_line));
    kiln_error_free(error);
}

/* ---- what is allocated ---- */

static void arrays_have_their_shapes_and_elements(void **state)
{
    set_heap(state, 0);
    fill_out(0);

    assert_ok(run(state, "shapes", 1, 0, NULL, 0, &test_error));

    assert_int_equal(out[0], 34);
    assert_int_equal(out[1], 234);
    assert_int_equal(out[2], 164);
    assert_int_equal(out[3], 3);
    assert_int_equal(out[4], 1);
    assert_int_equal(out[5], 16);
}

static void an_allocated_array_is_a_value_like_any_other(void **state)
{
    set_heap(state, 0);
    fill_out(-1);

    assert_ok(run(state, "chosen", 64, 32, NULL, 0, &test_error));

    for (int64_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 2 == 0 ? 5 * i + 10 : 0);
}

static void items_do_not_get_each_others_memory(void **state)
{
    const int64_t n[] = {37};

    set_heap(state, 0);
    fill_out(-1);

    assert_ok(run(state, "together", 1024, 64, n, 1, &test_error));

    assert_out(1024, 0);
}

/* 1024 items with a whole page, and one of 16 bytes each, fit exactly. */
static void a_heap_is_used_to_the_last_byte(void **state)
{
    const int64_t page[] = {KILN__HEAP_PAGE / 8}, slot[] = {2};

    set_heap(state, (uint64_t)256 * KILN__HEAP_PAGE);
    fill_out(-1);
    assert_ok(run(state, "together", 256, 256, page, 1, &test_error));
    assert_out(256, 0);

    set_heap(state, (uint64_t)4 * KILN__HEAP_PAGE);
    fill_out(-1);
    assert_ok(run(state, "together", 1024, 1024, slot, 1, &test_error));
    assert_out(1024, 0);
}

static void a_little_heap_serves_a_thousand_turns_of_many_items(void **state)
{
    const int64_t turns[] = {1000};

    /* Room for all at once, as a wide device wants it, and a thousandth of
       what is allocated in the end. */
    set_heap(state, (uint64_t)320 * KILN__HEAP_PAGE);
    fill_out(-1);

    assert_ok(run(state, "churn", 512, 64, turns, 1, &test_error));

    assert_out(512, 0);
}

static void sizes_of_every_kind_live_side_by_side(void **state)
{
    const int64_t times[] = {20};

    set_heap(state, (uint64_t)2560 * KILN__HEAP_PAGE);
    fill_out(-1);

    assert_ok(run(state, "sizes", 512, 64, times, 1, &test_error));

    assert_out(512, 0);
}

/* Were a page of slots not free for a large array again, this would fail. */
static void freed_memory_is_for_all_sizes(void **state)
{
    const int64_t turns[] = {20}, all[] = {16 * KILN__HEAP_PAGE / 64, 8};

    set_heap(state, (uint64_t)16 * KILN__HEAP_PAGE);
    for (int i = 0; i < 3; i++) {
        fill_out(0);
        assert_ok(run(state, "churn", 64, 64, turns, 1, &test_error));
        assert_out(64, 0);
        assert_ok(run(state, "large", 1, 0, all, 2, &test_error));
        assert_int_equal(out[0], 1);
    }
}

static void what_a_kernel_leaves_is_free_for_the_next_one(void **state)
{
    const int64_t bytes[] = {3 * KILN__HEAP_PAGE};

    set_heap(state, (uint64_t)4 * KILN__HEAP_PAGE);
    for (int i = 0; i < 10; i++) {
        fill_out(0);
        assert_ok(run(state, "leaks", 1, 0, bytes, 1, &test_error));
        assert_int_equal(out[0], bytes[0]);
    }
}

/* ---- what cannot be ---- */

static void a_heap_that_is_exhausted_names_the_line_that_asked(void **state)
{
    const int64_t page[] = {KILN__HEAP_PAGE / 8, 2}, vast[] = {INT64_MAX, 3};
    const int64_t negative[] = {-1, 3};

    set_heap(state, KILN__HEAP_PAGE);

    assert_raises(state, "large", page, 2, KILN_EXCEPTION_MEMORY,
                  "out of device memory: the heap has no room for 8192 bytes",
                  118);
    assert_raises(state, "large", vast, 2, KILN_EXCEPTION_MEMORY,
                  "out of device memory: a size is negative, or the sizes make "
                  "too large an array",
                  118);
    assert_raises(state, "large", negative, 2, KILN_EXCEPTION_MEMORY,
                  "out of device memory: a size is negative, or the sizes make "
                  "too large an array",
                  118);
}

static void of_items_that_want_too_much_the_first_is_reported(void **state)
{
    const int64_t n[] = {KILN__HEAP_PAGE};
    kiln_error *error = NULL;

    set_heap(state, (uint64_t)32 * KILN__HEAP_PAGE);

    assert_status(KILN_EEXCEPTION, run(state, "leaks", 64, 64, n, 1, &error));
    assert_int_equal(kiln_error_exception(error)->kind, KILN_EXCEPTION_MEMORY);
    assert_int_equal(kiln_error_exception(error)->values[0], KILN__HEAP_PAGE);
    kiln_error_free(error);
}

static void elements_beyond_the_array_are_seen(void **state)
{
    const int64_t n[] = {10};

    set_heap(state, 0);

    assert_raises(state, "outside", n, 1, KILN_EXCEPTION_BOUNDS,
                  "index out of bounds: index 10, size 10", 125);
}

static void what_is_not_allocated_cannot_be_freed(void **state)
{
    static const char text[] =
        "assertion failed: free of an array that is not allocated";
    const int64_t small[] = {1}, large[] = {1000};

    set_heap(state, 0);
    assert_raises(state, "freed_twice", small, 1, KILN_EXCEPTION_ASSERTION,
                  text, 132);
    assert_int_equal(out[0], 1);
    assert_raises(state, "freed_twice", large, 1, KILN_EXCEPTION_ASSERTION,
                  text, 132);
    assert_raises(state, "foreign", NULL, 0, KILN_EXCEPTION_ASSERTION, text,
                  136);
}

static void a_heap_has_bounds(void **state)
{
    kernels *k = *state;

    set_heap(state, 0);
    assert_fails(
        KILN_EINVAL, "at most",
        kiln_queue_set_heap(k->queue, KILN__HEAP_MAX + 1, &test_error));
    assert_ok(kiln_queue_set_heap(k->queue, 1, &test_error));
}

static const kiln_kernel *compile(void **state, const char *function)
{
    kernels *k = *state;
    kiln_package *texts = kernels_define(
        k, "heap_info",
        "kernel uses(out: i64[:])\n    a = allocate(i64, 1)\n    out[0] = "
        "a[0]\nend\nkernel does_not(out: i64[:])\n    out[0] = 1\nend\n");
    const kiln_type *type = NULL;
    const kiln_kernel *kernel = NULL;
    kiln_signature signature = {.types = &type, .count = 1};

    assert_ok(kiln_type_parse(&type, k->context, texts, "i64[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, texts, function,
                                    &test_error));
    assert_ok(kiln_compile(&kernel, k->context, &signature, k->config, NULL,
                           &test_error));
    return kernel;
}

static void a_heap_that_may_be_in_use_is_not_changed(void **state)
{
    const kiln_array array = kernels_array(out, ITEMS);
    const void *const arguments[] = {&array};
    const kiln_launch launch = {.grid = {1}};
    kernels *k = *state;

    set_heap(state, 0);
    assert_ok(kiln_queue_launch(k->queue, compile(state, "uses"), &launch,
                                arguments, 1, &test_error));

    assert_fails(KILN_EBUSY, "wait before",
                 kiln_queue_set_heap(k->queue, 8192, &test_error));
    assert_ok(kiln_queue_wait(k->queue, &test_error));
    assert_ok(kiln_queue_set_heap(k->queue, 8192, &test_error));
}

static void only_kernels_that_allocate_say_so(void **state)
{
    assert_true(kiln_kernel_get_info(compile(state, "uses"))->allocates);
    assert_false(kiln_kernel_get_info(compile(state, "does_not"))->allocates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_have_their_shapes_and_elements),
        cmocka_unit_test(an_allocated_array_is_a_value_like_any_other),
        cmocka_unit_test(items_do_not_get_each_others_memory),
        cmocka_unit_test(a_heap_is_used_to_the_last_byte),
        cmocka_unit_test(a_little_heap_serves_a_thousand_turns_of_many_items),
        cmocka_unit_test(sizes_of_every_kind_live_side_by_side),
        cmocka_unit_test(freed_memory_is_for_all_sizes),
        cmocka_unit_test(what_a_kernel_leaves_is_free_for_the_next_one),
        cmocka_unit_test(a_heap_that_is_exhausted_names_the_line_that_asked),
        cmocka_unit_test(of_items_that_want_too_much_the_first_is_reported),
        cmocka_unit_test(elements_beyond_the_array_are_seen),
        cmocka_unit_test(what_is_not_allocated_cannot_be_freed),
        cmocka_unit_test(a_heap_has_bounds),
        cmocka_unit_test(a_heap_that_may_be_in_use_is_not_changed),
        cmocka_unit_test(only_kernels_that_allocate_say_so),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
