/* test_device_shape.c - groups that are chosen, and groups that are given. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include "backends/device/device_driver.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"

static const kiln__group_limits limits = {.items = 256,
                                          .cut_items = 256,
                                          .width = 32,
                                          .sizes = {1024, 1024, 64},
                                          .groups = {INT64_MAX, 65535, 65535}};

typedef struct asked {
    uint64_t grid[3];
    uint32_t block[3];
    uint32_t maximum;
    uint32_t suggested[3];
    int32_t any_block;
    uint32_t usual;
} asked;

static kiln_status shape(uint32_t block[3], const asked *of)
{
    kiln__launch_shape found = {.number = 1};
    kiln_status status;
    kiln_kernel_info info = {.method = "main.entry()",
                             .maximum_group_size = of->maximum,
                             .any_block = of->any_block};
    kiln_kernel kernel = {.info = &info};
    kiln_launch_request request = {.kernel = &kernel};
    kiln__group_limits within = limits;

    within.usual = of->usual;
    for (int i = 0; i < 3; i++) {
        request.grid[i] = of->grid[i];
        request.block[i] = of->block[i];
    }
    status = kiln__launch_shape_find(&found, 7, &request, &within,
                                     of->suggested, &test_error);
    assert_int_equal(found.number, status == KILN_OK ? 7 : 0);
    assert_int_equal(kiln__launch_shape_is(&found, 7, &request),
                     status == KILN_OK);
    for (int i = 0; status == KILN_OK && i < 3; i++)
        assert_true(found.groups[i] * found.block[i] >= of->grid[i] &&
                    (found.groups[i] - 1) * found.block[i] < of->grid[i]);
    memcpy(block, found.block, sizeof found.block);
    return status;
}

static void assert_chosen(asked of, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t block[3];

    assert_ok(shape(block, &of));
    assert_int_equal(block[0], x);
    assert_int_equal(block[1], y);
    assert_int_equal(block[2], z);
}

static void the_usual_grid_gets_the_largest_group(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1 << 20, 1, 1}}, 256, 1, 1);
    assert_chosen((asked){.grid = {64, 64, 64}}, 64, 4, 1);
    assert_chosen((asked){.grid = {16, 16, 16}}, 16, 16, 1);
    assert_chosen((asked){.grid = {1, 1, 1}}, 1, 1, 1);
}

static void groups_are_larger_than_usual_rather_than_few_items(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1 << 20, 1, 1}, .usual = 64}, 64, 1, 1);
    assert_chosen((asked){.grid = {67, 1, 1}, .usual = 64}, 67, 1, 1);
    assert_chosen((asked){.grid = {2 * 67, 1, 1}, .usual = 64}, 134, 1, 1);
    assert_chosen((asked){.grid = {257, 1, 1}, .usual = 64}, 1, 1, 1);
    assert_chosen((asked){.grid = {67, 1, 1}, .usual = 64, .maximum = 66}, 1, 1,
                  1);
    assert_chosen((asked){.grid = {3, 5, 1}, .usual = 64}, 3, 5, 1);
}

static void whole_sub_groups_come_before_size(void **state)
{
    (void)state;
    /* 250 divides 100000 as well, and leaves a sub-group with gaps. */
    assert_chosen((asked){.grid = {100000, 1, 1}}, 160, 1, 1);
    assert_chosen((asked){.grid = {5, 64, 1}}, 5, 32, 1);
}

static void a_grid_without_divisors_gets_groups_of_one(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1000003, 1, 1}}, 1, 1, 1);
    assert_chosen((asked){.grid = {INT64_MAX, 1, 1}}, 127, 1, 1);
}

static void the_last_groups_may_go_beyond_a_grid_without_divisors(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1000003, 1, 1}, .any_block = 1}, 256, 1, 1);
    assert_chosen((asked){.grid = {257, 1, 1}, .any_block = 1}, 256, 1, 1);
    assert_chosen((asked){.grid = {1009, 1013, 1}, .any_block = 1}, 256, 1, 1);
    assert_chosen((asked){.grid = {17, 19, 1}, .any_block = 1}, 17, 8, 1);
    assert_chosen((asked){.grid = {3, 1000003, 1}, .any_block = 1}, 3, 64, 1);
    assert_chosen((asked){.grid = {1, 1, 1000003}, .any_block = 1}, 1, 1, 64);
    assert_chosen(
        (asked){.grid = {1000003, 1, 1}, .any_block = 1, .maximum = 40}, 32, 1,
        1);
    /* More groups than the device has room for: 1000003 of (256, 1, 1). */
    assert_chosen((asked){.grid = {256, 1000003, 1}, .any_block = 1}, 16, 16,
                  1);
    assert_chosen((asked){.grid = {(1ull << 40) + 15, 1, 1}, .any_block = 1},
                  256, 1, 1);
}

static void groups_that_divide_come_first_if_they_are_no_few_items(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {100000, 1, 1}, .any_block = 1}, 160, 1, 1);
    assert_chosen((asked){.grid = {1 << 20, 1, 1}, .any_block = 1}, 256, 1, 1);
    assert_chosen((asked){.grid = {67, 1009, 1}, .any_block = 1}, 67, 1, 1);
    assert_chosen((asked){.grid = {61, 1, 1}, .any_block = 1}, 61, 1, 1);
    assert_chosen((asked){.grid = {1, 1, 1}, .any_block = 1}, 1, 1, 1);
    assert_chosen((asked){.grid = {7, 11, 13}, .any_block = 1}, 7, 11, 1);
}

static void a_group_that_is_given_may_go_beyond_the_grid(void **state)
{
    uint32_t block[3];

    (void)state;
    assert_chosen(
        (asked){.grid = {100, 3, 1}, .block = {64, 2, 1}, .any_block = 1}, 64,
        2, 1);
    assert_chosen(
        (asked){.grid = {1, 1, 1}, .block = {256, 1, 1}, .any_block = 1}, 256,
        1, 1);
    assert_fails(KILN_EINVAL, "too large: at most 256",
                 shape(block, &(asked){.grid = {100, 1, 1},
                                       .block = {512, 1, 1},
                                       .any_block = 1}));
    assert_fails(KILN_EINVAL, "too large: at most 64",
                 shape(block, &(asked){.grid = {100, 1, 1},
                                       .block = {96, 1, 1},
                                       .maximum = 64,
                                       .any_block = 1}));
}

static void all_items_of_the_groups_have_a_number(void **state)
{
    uint32_t block[3];

    (void)state;
    assert_fails(KILN_EINVAL, "72057594037927936 groups in dimension 0",
                 shape(block, &(asked){.grid = {UINT64_MAX - 5, 1, 1},
                                       .block = {256, 1, 1},
                                       .any_block = 1}));
    assert_chosen((asked){.grid = {UINT64_MAX - 256, 1, 1},
                          .block = {256, 1, 1},
                          .any_block = 1},
                  256, 1, 1);
}

static void each_dimension_keeps_its_limit(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1, 1, 256}}, 1, 1, 64);
}

static void the_kernels_maximum_counts(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1024, 1, 1}, .maximum = 64}, 64, 1, 1);
    assert_chosen((asked){.grid = {1024, 1, 1}, .maximum = 1024}, 256, 1, 1);
}

static void few_items_are_not_taken_though_they_are_suggested(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {1009, 1, 1}, .suggested = {1, 1, 1}}, 1, 1,
                  1);
    assert_chosen(
        (asked){.grid = {1009, 1, 1}, .suggested = {1, 1, 1}, .any_block = 1},
        256, 1, 1);
    assert_chosen(
        (asked){.grid = {1024, 1, 1}, .suggested = {64, 1, 1}, .any_block = 1},
        64, 1, 1);
    assert_chosen(
        (asked){.grid = {6, 1, 1}, .suggested = {6, 1, 1}, .any_block = 1}, 6,
        1, 1);
}

static void a_group_that_is_suggested_is_taken_if_it_fits(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {6, 1, 1}, .suggested = {3, 1, 1}}, 3, 1, 1);
    assert_chosen((asked){.grid = {6, 1, 1}, .suggested = {4, 1, 1}}, 6, 1, 1);
    assert_chosen((asked){.grid = {512, 1, 1}, .suggested = {512, 1, 1}}, 256,
                  1, 1);
    assert_chosen((asked){.grid = {1, 1, 128}, .suggested = {1, 1, 128}}, 1, 1,
                  64);
    assert_chosen(
        (asked){.grid = {64, 1, 1}, .suggested = {64, 1, 1}, .maximum = 16}, 16,
        1, 1);
    assert_chosen((asked){.grid = {64, 1, 1},
                          .block = {2, 1, 1},
                          .suggested = {64, 1, 1}},
                  2, 1, 1);
}

static void a_grid_of_too_many_groups_is_refused(void **state)
{
    uint32_t block[3];

    (void)state;
    assert_fails(
        KILN_EINVAL, "65536 groups in dimension 1: the device takes 65535",
        shape(block, &(asked){.grid = {1, 65536, 1}, .block = {1, 1, 1}}));
}

static void another_kernel_grid_or_block_is_another_shape(void **state)
{
    const kiln__launch_shape known = {
        .number = 3, .grid = {64, 1, 1}, .asked = {0, 0, 0}};
    kiln_launch_request request = {.grid = {64, 1, 1}};

    (void)state;
    assert_true(kiln__launch_shape_is(&known, 3, &request));
    assert_false(kiln__launch_shape_is(&known, 4, &request));
    request.block[0] = 64;
    assert_false(kiln__launch_shape_is(&known, 3, &request));
    request.block[0] = 0;
    request.grid[2] = 2;
    assert_false(kiln__launch_shape_is(&known, 3, &request));
}

static void a_group_that_is_given_is_kept(void **state)
{
    (void)state;
    assert_chosen((asked){.grid = {96, 4, 2}, .block = {3, 2, 1}}, 3, 2, 1);
}

static void a_group_that_does_not_divide_the_grid_is_refused(void **state)
{
    uint32_t block[3];

    (void)state;
    assert_fails(
        KILN_EINVAL, "no whole number of groups",
        shape(block, &(asked){.grid = {100, 1, 1}, .block = {64, 1, 1}}));
    assert_fails(
        KILN_EINVAL, "no whole number of groups",
        shape(block, &(asked){.grid = {64, 1, 1}, .block = {64, 0, 1}}));
}

static void a_group_that_is_too_large_is_refused(void **state)
{
    uint32_t block[3];

    (void)state;
    assert_fails(
        KILN_EINVAL, "too large: at most 256",
        shape(block, &(asked){.grid = {512, 1, 1}, .block = {512, 1, 1}}));
    assert_fails(KILN_EINVAL, "too large: at most 64",
                 shape(block, &(asked){.grid = {128, 1, 1},
                                       .block = {128, 1, 1},
                                       .maximum = 64}));
    assert_fails(
        KILN_EINVAL, "1024,1024,64",
        shape(block, &(asked){.grid = {1, 1, 128}, .block = {1, 1, 128}}));
    /* The product is beyond 64 bits. */
    assert_fails(
        KILN_EINVAL, "too large",
        shape(block, &(asked){.grid = {1u << 31, 1u << 31, 1u << 31},
                              .block = {1u << 31, 1u << 31, 1u << 31}}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_grid_gets_the_largest_group),
        cmocka_unit_test(groups_are_larger_than_usual_rather_than_few_items),
        cmocka_unit_test(whole_sub_groups_come_before_size),
        cmocka_unit_test(a_grid_without_divisors_gets_groups_of_one),
        cmocka_unit_test(the_last_groups_may_go_beyond_a_grid_without_divisors),
        cmocka_unit_test(
            groups_that_divide_come_first_if_they_are_no_few_items),
        cmocka_unit_test(a_group_that_is_given_may_go_beyond_the_grid),
        cmocka_unit_test(all_items_of_the_groups_have_a_number),
        cmocka_unit_test(each_dimension_keeps_its_limit),
        cmocka_unit_test(the_kernels_maximum_counts),
        cmocka_unit_test(few_items_are_not_taken_though_they_are_suggested),
        cmocka_unit_test(a_group_that_is_suggested_is_taken_if_it_fits),
        cmocka_unit_test(a_grid_of_too_many_groups_is_refused),
        cmocka_unit_test(another_kernel_grid_or_block_is_another_shape),
        cmocka_unit_test(a_group_that_is_given_is_kept),
        cmocka_unit_test(a_group_that_does_not_divide_the_grid_is_refused),
        cmocka_unit_test(a_group_that_is_too_large_is_refused),
    };

    return cmocka_run_group_tests_name("device_shape", tests, NULL, NULL);
}
