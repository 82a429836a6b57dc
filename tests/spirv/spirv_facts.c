/* spirv_facts.c - which entry of a kernel the drivers of SPIR-V launch. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "abi/facts_abi.h"
#include "backends/spirv/spirv.h"
#include "spirv_kernels.h"

#define VALUE_AT 16 /* of the argument i64 in the packed block */
#define SIZE 8      /* of the array */
#define ANY 1000    /* what the entries add to the size */
#define KNOWN 2000

/* The value is at most 100. */
static const uint8_t small_value[] = {
    KILN__FACT_WORD,     64, 8, 0, VALUE_AT, 0, 0, 0, /**/
    KILN__FACT_CONSTANT, 64, 0, 0, 100,      0, 0, 0, /**/
    KILN__FACT_ULE,      64, 0, 0, 1,        0, 0, 0, /**/
};

/* The grid has 4 items along the first dimension, in groups of 2. */
static const uint8_t two_groups[] = {
    KILN__FACT_SHAPE,    64, 0, 0, 0, 0, 0, 0, /**/
    KILN__FACT_CONSTANT, 64, 0, 0, 4, 0, 0, 0, /**/
    KILN__FACT_EQ,       64, 0, 0, 1, 0, 0, 0, /**/
    KILN__FACT_SHAPE,    64, 3, 0, 0, 0, 0, 0, /**/
    KILN__FACT_CONSTANT, 64, 0, 0, 2, 0, 0, 0, /**/
    KILN__FACT_EQ,       64, 3, 0, 4, 0, 0, 0, /**/
    KILN__FACT_AND,      1,  2, 0, 5, 0, 0, 0, /**/
};

typedef struct fixture {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    kiln_buffer *buffer;
    spirv_kernel kernel;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(
        kiln_device_open(&f->device, f->context, "spirv", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    assert_ok(kiln_buffer_new(&f->buffer, f->device, SIZE * sizeof(int64_t),
                              &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    spirv_unload(&f->kernel);
    kiln_buffer_free(f->buffer);
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    free(f);
    return 0;
}

static kiln_status load(fixture *f, const uint8_t *facts, size_t size)
{
    spirv_program program = spirv_either;

    program.facts = facts;
    program.fact_size = size;
    spirv_unload(&f->kernel);
    return spirv_load(&f->kernel, f->context, &program, &test_error);
}

/* Returns what the launched entry has left. */
static int64_t launch(fixture *f, uint64_t items, uint32_t group, int64_t value)
{
    const kiln_launch shape = {.grid = {items, 1, 1},
                               .block = {group, group > 0, group > 0}};
    const kiln_array array = {.data = kiln_buffer_address(f->buffer),
                              .sizes = {SIZE}};
    const void *arguments[] = {&array, &value};
    int64_t found = 0;

    assert_ok(kiln_queue_launch(f->queue, &f->kernel.kernel, &shape, arguments,
                                2, &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(
        kiln_buffer_read(f->buffer, 0, &found, sizeof found, &test_error));
    return found;
}

static void refused(fixture *f, const uint8_t *facts, size_t size,
                    const char *why)
{
    assert_int_equal(load(f, facts, size), KILN_ECORRUPT);
    assert_contains(kiln_error_message(test_error), why);
    kiln_error_free(test_error);
    test_error = NULL;
}

/* ---- tests ---- */

static void facts_choose_the_entry_of_each_launch(void **state)
{
    fixture *f = *state;

    assert_ok(load(f, small_value, sizeof small_value));
    assert_int_equal(launch(f, 1, 0, 100), SIZE + KNOWN);
    assert_int_equal(launch(f, 1, 0, 101), SIZE + ANY);
    assert_int_equal(launch(f, 1, 0, -1), SIZE + ANY);
    assert_int_equal(launch(f, 1, 0, 0), SIZE + KNOWN);
}

static void facts_know_the_grid_and_the_group(void **state)
{
    fixture *f = *state;

    assert_ok(load(f, two_groups, sizeof two_groups));
    assert_int_equal(launch(f, 4, 2, 0), SIZE + KNOWN);
    assert_int_equal(launch(f, 4, 1, 0), SIZE + ANY);
    assert_int_equal(launch(f, 2, 2, 0), SIZE + ANY);
    assert_int_equal(launch(f, 4, 2, 0), SIZE + KNOWN);
}

static void without_facts_there_is_one_entry(void **state)
{
    fixture *f = *state;

    assert_ok(load(f, NULL, 0));
    assert_int_equal(launch(f, 1, 0, 0), SIZE + ANY);
}

/* Who launches by itself may do that with any arguments. */
static void callers_get_the_entry_for_any_launch(void **state)
{
    kiln_native_launch native = {.size = sizeof native};
    const kiln__spirv_function *function;
    fixture *f = *state;

    assert_ok(load(f, small_value, sizeof small_value));
    assert_ok(
        kiln_queue_native(&native, f->queue, &f->kernel.kernel, &test_error));
    function = f->kernel.kernel.function;
    assert_non_null(function->own);
    assert_ptr_equal(function->own->native, native.function);
    assert_ptr_equal(function->own->entry, &function->any);
    assert_int_equal(launch(f, 1, 0, 0), SIZE + KNOWN);
}

/* A group that the second entry cannot have is launched by the first one, and
   Kiln chooses none. */
static void groups_are_within_the_entry_s_limits(void **state)
{
    kiln__spirv_function *function;
    fixture *f = *state;

    assert_ok(load(f, small_value, sizeof small_value));
    function = f->kernel.kernel.function;
    assert_true(function->known.limits.items >= 4);
    function->known.limits.items = 2;
    assert_int_equal(launch(f, 4, 0, 0), SIZE + KNOWN);
    assert_int_equal(launch(f, 4, 4, 0), SIZE + ANY);
    assert_int_equal(launch(f, 4, 2, 0), SIZE + KNOWN);
}

/* Facts and modules come from stores, and may be anything. */
static void what_does_not_fit_is_refused(void **state)
{
    uint8_t facts[sizeof small_value];
    fixture *f = *state;
    spirv_program program = spirv_work;

    memcpy(facts, small_value, sizeof facts);
    facts[4] = VALUE_AT + 1; /* beyond the arguments */
    refused(f, facts, sizeof facts, "facts that do not fit");
    refused(f, small_value, sizeof small_value - 1, "facts that do not fit");
    program.facts = small_value;
    program.fact_size = sizeof small_value;
    assert_int_equal(spirv_load(&f->kernel, f->context, &program, &test_error),
                     KILN_ECORRUPT);
    assert_contains(kiln_error_message(test_error), "no second entry");
    kiln_error_free(test_error);
    test_error = NULL;
}

static int is_here(void)
{
    const char *required = getenv("KILN_REQUIRE_DEVICE");
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    int found;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    found = kiln_device_open(&device, context, "spirv", 0, NULL) == KILN_OK;
    kiln_device_close(device);
    kiln_context_free(context);
    return found || (required != NULL && strcmp(required, "spirv") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(facts_choose_the_entry_of_each_launch,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(facts_know_the_grid_and_the_group,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(without_facts_there_is_one_entry, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(callers_get_the_entry_for_any_launch,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(groups_are_within_the_entry_s_limits,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, setup,
                                        teardown),
    };

    if (!is_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
