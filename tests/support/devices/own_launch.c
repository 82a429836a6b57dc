/* own_launch.c - tests of native functions that a runtime launches itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/devices/own_launch.h"

#include <string.h>

#include "support/harness.h"

/*
 * The runtime asks kiln_queue_native() for the function and the values of the
 * hidden arguments, puts them behind the packed block as kiln/device.h says,
 * and calls the driver. Nothing of Kiln's own launches takes part.
 */

static const char text[] =
    "kernel mark(out: i64[:,:], count: i32[:], bad: i64)\n"
    "    x = global_id(0)\n"
    "    y = global_id(1)\n"
    "    assert(x != bad, \"it is here\")\n"
    "    atomic_add(count, 0, 1)\n"
    "    out[x, y] = x + 1000 * (y + 1000 * (global_size(0) +\n"
    "        1000 * global_size(1)))\n"
    "end\n"
    "kernel silent(count: i32[:])\n"
    "    atomic_add(count, 0, 1)\n"
    "end\n";

#define MOST 512
#define GUARD 32
#define NONE INT64_MIN /* no item fails */

typedef struct fixture {
    kernels *k;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_kernel *kernel;
    kiln_native_launch native;
    own_block block;
} fixture;

static int64_t out[MOST + GUARD];
static int32_t count;

static int setup(void **state)
{
    static fixture f;

    assert_int_equal(kernels_setup((void **)&f.k), 0);
    own_begin(f.k, &f.device, &f.queue);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    void *k = f->k;

    kiln_queue_free(f->queue);
    if (f->device != f->k->device)
        kiln_device_close(f->device);
    own_end();
    return kernels_teardown(&k);
}

/* ---- kernels ---- */

static void take(fixture *f, const char *name, const char *const *types,
                 size_t type_count, const kiln_config *config)
{
    const kiln_type *parsed[4];
    kiln_signature signature = {.types = parsed, .count = type_count};
    kiln_package *package = kernels_define(f->k, "own", text);

    for (size_t i = 0; i < type_count; i++)
        assert_ok(kiln_type_parse(&parsed[i], f->k->context, package, types[i],
                                  &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, name, &test_error));
    assert_ok(kiln_compile(&f->kernel, f->k->context, &signature, config, NULL,
                           &test_error));
    f->native = (kiln_native_launch){.size = sizeof f->native};
    assert_ok(kiln_queue_native(&f->native, f->queue, f->kernel, &test_error));
    assert_non_null(f->native.function);
}

static void take_mark(fixture *f)
{
    static const char *const types[] = {"i64[:,:]", "i32[:]", "i64"};

    take(f, "mark", types, 3, f->k->config);
    assert_true(kiln_kernel_get_info(f->kernel)->any_block);
    assert_int_equal(f->native.hidden_count, 5);
}

/* ---- arguments ---- */

static void put(own_block *block, uint32_t offset, const void *value,
                uint32_t size, int is_pointer)
{
    assert_true(offset + size <= OWN_BYTES && block->count < OWN_VALUES);
    memcpy(block->bytes + offset, value, size);
    block->values[block->count++] = (own_value){offset, size, is_pointer};
    block->size = offset + size;
}

/* A dense array is an address and its sizes. */
static void put_array(own_block *block, uint32_t offset, void *data,
                      const int64_t *sizes, uint32_t rank)
{
    put(block, offset, &data, sizeof data, 1);
    for (uint32_t i = 0; i < rank; i++)
        put(block, offset + 8 + 8 * i, &sizes[i], sizeof *sizes, 0);
}

/* The sizes of the grid are the last ones. Of the others, the addresses of the
   state and of the heap are pointers. */
static void put_hidden(fixture *f)
{
    const kiln_kernel_info *info = kiln_kernel_get_info(f->kernel);
    const uint32_t end = (info->argument_bytes + 7u) & ~7u;
    const uint32_t own = f->native.hidden_count - 3;

    for (uint32_t i = 0; i < f->native.hidden_count; i++)
        put(&f->block, end + 8 * i, &f->native.hidden[i], 8,
            i < own && i % 2 == 0);
}

static void say_grid(fixture *f, uint64_t x, uint64_t y)
{
    const uint64_t sizes[3] = {x, y, 1};

    memcpy(&f->native.hidden[f->native.hidden_count - 3], sizes, sizeof sizes);
}

static void launch_mark(fixture *f, int64_t x, int64_t y, int64_t bad,
                        const own_shape *shape)
{
    const kiln_kernel_info *info = kiln_kernel_get_info(f->kernel);
    const int64_t sizes[2] = {x, y}, one = 1;

    memset(out, 0xff, sizeof out);
    count = 0;
    f->block.count = 0;
    put_array(&f->block, info->arguments[0].offset, out, sizes, 2);
    put_array(&f->block, info->arguments[1].offset, &count, &one, 1);
    put(&f->block, info->arguments[2].offset, &bad, sizeof bad, 0);
    put_hidden(f);
    own_launch(f->native.function, &f->block, shape);
}

static void check_marks(int64_t width, int64_t height)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            assert_true(out[x + width * y] ==
                        x + 1000 * (y + 1000 * (width + 1000 * height)));
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(out[width * height + i], -1);
    assert_int_equal(count, width * height);
}

/* ---- tests ---- */

static void whole_groups_need_no_sizes(void **state)
{
    fixture *f = *state;
    const own_shape shape = {{4, 2, 1}, {16, 4, 1}};

    take_mark(f);
    launch_mark(f, 64, 8, NONE, &shape);
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    check_marks(64, 8);
}

static void sizes_that_are_given_cut_the_last_groups(void **state)
{
    fixture *f = *state;
    const own_shape shape = {{4, 2, 1}, {16, 4, 2}};

    take_mark(f);
    say_grid(f, 50, 7);
    launch_mark(f, 50, 7, NONE, &shape);
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    check_marks(50, 7);
    say_grid(f, 1, 1);
    launch_mark(f, 1, 1, NONE, &shape);
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    check_marks(1, 1);
}

/* All items of the groups run, and find no elements. */
static void without_sizes_no_item_is_outside(void **state)
{
    fixture *f = *state;
    const own_shape shape = {{4, 2, 1}, {16, 4, 1}};

    take_mark(f);
    launch_mark(f, 50, 7, NONE, &shape);
    assert_int_equal(kiln_queue_wait(f->queue, &test_error), KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(test_error)->kind,
                     KILN_EXCEPTION_BOUNDS);
    kiln_error_free(test_error);
    test_error = NULL;
    assert_int_equal(count, 64 * 8);
}

static void items_outside_raise_nothing(void **state)
{
    fixture *f = *state;
    const own_shape shape = {{4, 2, 1}, {16, 4, 1}};

    take_mark(f);
    say_grid(f, 50, 7);
    launch_mark(f, 50, 7, 49, &shape);
    assert_int_equal(kiln_queue_wait(f->queue, &test_error), KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(test_error)->item[0], 49);
    kiln_error_free(test_error);
    test_error = NULL;
    launch_mark(f, 50, 7, 50, &shape);
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    check_marks(50, 7);
}

static void a_kernel_that_reports_nothing_takes_sizes_alone(void **state)
{
    static const char *const types[] = {"i32[:]"};
    fixture *f = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const own_shape shape = {{2, 1, 1}, {64, 1, 1}};
    const int64_t one = 1;

    options.bounds_checks = KILN_SWITCH_OFF;
    take(f, "silent", types, 1, kernels_config(f->k, &options));
    assert_int_equal(f->native.hidden_count, 3);
    for (int i = 0; i < 2; i++) {
        count = 0;
        f->block.count = 0;
        put_array(&f->block, 0, &count, &one, 1);
        put_hidden(f);
        own_launch(f->native.function, &f->block, &shape);
        assert_ok(kiln_queue_wait(f->queue, &test_error));
        assert_int_equal(count, i == 0 ? 128 : 100);
        say_grid(f, 100, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_groups_need_no_sizes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            sizes_that_are_given_cut_the_last_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(without_sizes_no_item_is_outside, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(items_outside_raise_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_kernel_that_reports_nothing_takes_sizes_alone, setup, teardown),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("own_launch", tests, NULL, NULL);
}
