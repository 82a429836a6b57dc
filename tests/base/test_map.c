/* test_map.c - the map from digests to pointers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit fault */
#include "base/data/map.h"
#include "base/digest/digest.h"
#include "support/harness.h"

static int values[2000];

static kiln_digest key_of(size_t i)
{
    return kiln__digest_bytes(&i, sizeof i);
}

static void an_empty_map_has_nothing(void **state)
{
    kiln__map map;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);

    assert_null(kiln__map_get(&map, key_of(1)));
    assert_null(kiln__map_remove(&map, key_of(1)));
    assert_int_equal(kiln__map_count(&map), 0);
    kiln__map_dispose(&map);
}

static void what_was_set_is_found(void **state)
{
    kiln__map map;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);

    for (size_t i = 0; i < 2000; i++)
        assert_true(kiln__map_set(&map, key_of(i), &values[i]));
    for (size_t i = 0; i < 2000; i++)
        assert_ptr_equal(kiln__map_get(&map, key_of(i)), &values[i]);
    assert_null(kiln__map_get(&map, key_of(2000)));
    assert_int_equal(kiln__map_count(&map), 2000);
    kiln__map_dispose(&map);
}

static void keys_that_share_their_first_bytes_are_apart(void **state)
{
    const kiln_digest a = harness_digest(7, 1), b = harness_digest(7, 2);
    kiln__map map;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);

    assert_true(kiln__map_set(&map, a, &values[0]));
    assert_true(kiln__map_set(&map, b, &values[1]));
    assert_ptr_equal(kiln__map_get(&map, a), &values[0]);
    assert_ptr_equal(kiln__map_get(&map, b), &values[1]);
    kiln__map_dispose(&map);
}

static void setting_again_replaces(void **state)
{
    kiln__map map;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);

    assert_true(kiln__map_set(&map, key_of(1), &values[0]));
    assert_true(kiln__map_set(&map, key_of(1), &values[1]));
    assert_ptr_equal(kiln__map_get(&map, key_of(1)), &values[1]);
    assert_int_equal(kiln__map_count(&map), 1);
    kiln__map_dispose(&map);
}

static void what_was_removed_is_gone(void **state)
{
    kiln__map map;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);
    for (size_t i = 0; i < 100; i++)
        assert_true(kiln__map_set(&map, key_of(i), &values[i]));

    for (size_t i = 0; i < 100; i += 2)
        assert_ptr_equal(kiln__map_remove(&map, key_of(i)), &values[i]);

    assert_int_equal(kiln__map_count(&map), 50);
    assert_null(kiln__map_get(&map, key_of(4)));
    assert_ptr_equal(kiln__map_get(&map, key_of(5)), &values[5]);
    kiln__map_dispose(&map);
}

static void check_next(kiln_digest key, void *value, void *env)
{
    size_t *next = env;

    assert_ptr_equal(value, &values[*next]);
    assert_true(kiln__digest_equal(key, key_of(*next)));
    ++*next;
}

static void entries_are_visited_in_insertion_order(void **state)
{
    kiln__map map;
    size_t next = 0;

    (void)state;
    kiln__map_init(&map, &kiln__malloc);
    for (size_t i = 0; i < 500; i++)
        assert_true(kiln__map_set(&map, key_of(i), &values[i]));

    kiln__map_each(&map, check_next, &next);

    assert_int_equal(next, 500);
    kiln__map_dispose(&map);
}

static kiln_status fill(const kiln_alloc *alloc, void *env)
{
    kiln_status status = KILN_OK;
    kiln__map map;
    size_t set = 0;

    (void)env;
    kiln__map_init(&map, alloc);
    for (; set < 300 && status == KILN_OK; set++)
        if (!kiln__map_set(&map, key_of(set), &values[set]))
            status = KILN_ENOMEM;
    if (status != KILN_OK)
        set--;
    assert_int_equal(kiln__map_count(&map), set);
    for (size_t i = 0; i < set; i++)
        assert_ptr_equal(kiln__map_get(&map, key_of(i)), &values[i]);
    assert_null(kiln__map_get(&map, key_of(set)));
    kiln__map_dispose(&map);
    return status;
}

static void a_map_survives_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(what_was_set_is_found),
        cmocka_unit_test(keys_that_share_their_first_bytes_are_apart),
        cmocka_unit_test(setting_again_replaces),
        cmocka_unit_test(what_was_removed_is_gone),
        cmocka_unit_test(entries_are_visited_in_insertion_order),
        cmocka_unit_test(a_map_survives_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
