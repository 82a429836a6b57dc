/* test_arena.c - memory that is freed all at once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include <string.h>

#include "base/data/arena.h"
#include "support/harness.h"

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    static const size_t sizes[] = {1, 15, 16, 17, 0, 300, 5000, 3, 70000, 8};
    unsigned char *blocks[sizeof sizes / sizeof *sizes];
    kiln__arena arena;

    (void)state;
    kiln__arena_init(&arena, &kiln__malloc);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        blocks[i] = kiln__arena_allocate(&arena, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], i + 1);

    kiln__arena_dispose(&arena);
}

static void disposing_frees_everything_and_may_be_repeated(void **state)
{
    failing_alloc failing;
    kiln__arena arena;

    (void)state;
    failing_alloc_init(&failing, 0);
    kiln__arena_init(&arena, &failing.alloc);

    for (size_t i = 0; i < 500; i++)
        assert_non_null(kiln__arena_allocate(&arena, i * 7));
    kiln__arena_dispose(&arena);
    kiln__arena_dispose(&arena);

    assert_nothing_leaked(&failing);
}

static void many_small_allocations_take_few_chunks(void **state)
{
    failing_alloc failing;
    kiln__arena arena;

    (void)state;
    failing_alloc_init(&failing, 0);
    kiln__arena_init(&arena, &failing.alloc);

    for (size_t i = 0; i < 100000; i++)
        assert_non_null(kiln__arena_allocate(&arena, 16));
    assert_in_range(failing.calls, 1, 16);

    kiln__arena_dispose(&arena);
}

static void a_failed_allocation_stays_known(void **state)
{
    failing_alloc failing;
    kiln__arena arena;

    (void)state;
    failing_alloc_init(&failing, 1);
    kiln__arena_init(&arena, &failing.alloc);

    assert_null(kiln__arena_allocate(&arena, 8));
    assert_non_null(kiln__arena_allocate(&arena, 8));
    assert_true(arena.failed);

    kiln__arena_dispose(&arena);
    assert_nothing_leaked(&failing);
}

static void sizes_that_overflow_are_refused(void **state)
{
    kiln__arena arena;

    (void)state;
    kiln__arena_init(&arena, &kiln__malloc);

    assert_null(kiln__arena_allocate(&arena, SIZE_MAX));
    assert_null(kiln__arena_allocate_array(&arena, SIZE_MAX / 4, 8));
    assert_null(kiln__arena_string(&arena, "x", SIZE_MAX));
    assert_true(arena.failed);

    kiln__arena_dispose(&arena);
}

static void strings_copies_and_formats_are_exact(void **state)
{
    kiln__arena arena;

    (void)state;
    kiln__arena_init(&arena, &kiln__malloc);

    assert_string_equal(kiln__arena_string(&arena, "kernel", 4), "kern");
    assert_string_equal(kiln__arena_string(&arena, NULL, 0), "");
    assert_memory_equal(kiln__arena_copy(&arena, "a\0b", 3), "a\0b", 3);
    assert_string_equal(kiln__arena_format(&arena, "%s.%d", "main", 7),
                        "main.7");

    kiln__arena_dispose(&arena);
}

static kiln_status build(const kiln_alloc *alloc, void *env)
{
    kiln__arena arena;
    int failed;

    (void)env;
    kiln__arena_init(&arena, alloc);
    for (size_t i = 0; i < 300; i++) {
        (void)kiln__arena_allocate(&arena, i * 3);
        (void)kiln__arena_format(&arena, "%zu", i);
    }
    failed = arena.failed;
    kiln__arena_dispose(&arena);
    return failed ? KILN_ENOMEM : KILN_OK;
}

static void an_arena_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(build, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(disposing_frees_everything_and_may_be_repeated),
        cmocka_unit_test(many_small_allocations_take_few_chunks),
        cmocka_unit_test(a_failed_allocation_stays_known),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(strings_copies_and_formats_are_exact),
        cmocka_unit_test(an_arena_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
