/* test_gpu_facts.c - which entry of a kernel the drivers of cuda and rocm
 * launch.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends cuda rocm */
/* NEEDS: kiln-fake-gpu */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/facts_abi.h"
#include "backends/gpu/gpu.h"
#include "backends/handles.h"
#include "base/data/endian.h"
#include "support/devices/gpu.h"
#include "support/harness.h"

#define VALUE_AT 16 /* of the argument i64 in the packed block */

/* The value is at most 100. */
static const uint8_t small_value[] = {
    KILN__FACT_WORD,     64, 8, 0, VALUE_AT, 0, 0, 0, /**/
    KILN__FACT_CONSTANT, 64, 0, 0, 100,      0, 0, 0, /**/
    KILN__FACT_ULE,      64, 0, 0, 1,        0, 0, 0, /**/
};

/* The grid has 64 items along the first dimension: in whole groups. */
static const uint8_t one_group[] = {
    KILN__FACT_SHAPE,    64, 0, 0, 0,  0, 0, 0, /**/
    KILN__FACT_CONSTANT, 64, 0, 0, 64, 0, 0, 0, /**/
    KILN__FACT_EQ,       64, 0, 0, 1,  0, 0, 0, /**/
};

static void keep_name(void *env, const fake_launch *launch)
{
    (void)snprintf(env, 64, "%s", launch->function);
}

static int begin(gpu_fixture *f, const gpu_vendor *of, const uint8_t *facts,
                 size_t size)
{
    *f = (gpu_fixture){0};
    assert_ok(gpu_begin(f, of, NULL));
    f->facts = facts;
    f->fact_size = size;
    return gpu_open(f, &test_error);
}

static void end(gpu_fixture *f)
{
    gpu_end(f);
    gpu_assert_balanced(f->fake);
}

static void launches(gpu_fixture *f, uint64_t items, int64_t value,
                     const char *entry)
{
    char name[64] = "";
    int64_t data[1];

    f->fake->run = keep_name;
    f->fake->env = name;
    assert_ok(gpu_launch(f, f->queue, items, data, value, &test_error));
    assert_string_equal(name, entry);
}

static void facts_choose(const gpu_vendor *of)
{
    gpu_fixture f;

    assert_ok(begin(&f, of, small_value, sizeof small_value));
    launches(&f, 1, 100, "entry" KILN__FACTS_SUFFIX);
    launches(&f, 1, 101, "entry");
    launches(&f, 1, -1, "entry");
    launches(&f, 1, 0, "entry" KILN__FACTS_SUFFIX);
    for (int64_t value = 95; value < 106; value++)
        for (int again = 0; again < 3; again++)
            launches(&f, 1, value,
                     value <= 100 ? "entry" KILN__FACTS_SUFFIX : "entry");
    end(&f);
    assert_ok(begin(&f, of, one_group, sizeof one_group));
    for (int again = 0; again < 3; again++) {
        launches(&f, 64, again, "entry" KILN__FACTS_SUFFIX);
        launches(&f, 128, again, "entry");
    }
    end(&f);
    assert_ok(begin(&f, of, NULL, 0));
    launches(&f, 1, 0, "entry");
    end(&f);
}

static void facts_choose_the_entry_of_each_launch(void **state)
{
    (void)state;
    facts_choose(&gpu_cuda);
    facts_choose(&gpu_rocm);
}

static void what_is_captured_takes_the_entry_for_any_launch(void **state)
{
    char name[64] = "";
    kiln_queue *queue;
    int64_t data[1];
    gpu_fixture f;
    void *stream;

    (void)state;
    assert_ok(begin(&f, &gpu_cuda, small_value, sizeof small_value));
    f.fake->run = keep_name;
    f.fake->env = name;
    stream = f.stream_new(((kiln__gpu_context *)f.device->handle)->native, 0);
    assert_ok(kiln_queue_adopt(&queue, f.device, stream, &test_error));
    assert_ok(gpu_launch(&f, queue, 1, data, 0, &test_error));
    assert_string_equal(name, "entry" KILN__FACTS_SUFFIX);
    f.capture(stream, 1);
    assert_ok(gpu_launch(&f, queue, 1, data, 0, &test_error));
    assert_int_equal(f.fake->captured, 1);
    assert_string_equal(f.fake->captured_function, "entry");
    assert_false(f.fake->capture_broken);
    f.capture(stream, 0);
    kiln_queue_free(queue);
    f.stream_end(stream);
    end(&f);
}

/* Facts come from stores, and may be anything. */
static void facts_that_do_not_fit_are_refused(void **state)
{
    uint8_t facts[sizeof small_value];
    gpu_fixture f;

    (void)state;
    memcpy(facts, small_value, sizeof facts);
    facts[4] = VALUE_AT + 1; /* beyond the arguments */
    assert_int_equal(begin(&f, &gpu_cuda, facts, sizeof facts), KILN_ECORRUPT);
    assert_contains(kiln_error_message(test_error), "facts that do not fit");
    kiln_error_free(test_error);
    test_error = NULL;
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_choose_the_entry_of_each_launch),
        cmocka_unit_test(what_is_captured_takes_the_entry_for_any_launch),
        cmocka_unit_test(facts_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
