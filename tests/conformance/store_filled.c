/* store_filled.c - what a store must do that takes nothing itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

#include "store_checks.h"
#include "store_suite.h"
#include "support/harness.h"

static const store_subject *subject;

#define LARGE ((size_t)1 << 20)
static char large[LARGE];

#define KEY(digest, text) \
    { \
        {{(digest)}}, (text), sizeof(text) - 1 \
    }

static const kiln_key one = KEY(1, "one"), other = KEY(1, "other");
static const kiln_key nothing = KEY(3, "nothing"), absent = KEY(4, "absent");
static const kiln_key unlike = KEY(1, "onE"), far = KEY(99, "one");

static int setup(void **state)
{
    static const store_filling entries[] = {
        {KEY(2, "large"), large, LARGE},      {KEY(1, "one"), "of one", 6},
        {KEY(3, "nothing"), "", 0},           {KEY(1, "other"), "of other", 8},
        {KEY(1, "one"), "of one, later", 13},
    };
    store_opened *f = calloc(1, sizeof *f);

    assert_non_null(f);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 + i / 256);
    assert_ok(subject->fill(&f->ops, &f->self, entries,
                            sizeof entries / sizeof *entries));
    *state = f;
    return 0;
}

static void what_it_was_filled_with_is_found(void **state)
{
    store_opened *f = *state;
    const kiln_key key = KEY(2, "large");

    store_assert_holds(f, &key, large, LARGE);
    store_assert_holds(f, &nothing, "", 0);
    store_assert_lacks(f, &absent);
    store_assert_lacks(f, &far);
}

static void a_digest_is_not_a_key(void **state)
{
    store_opened *f = *state;

    store_assert_lacks(f, &unlike);
    store_assert_holds(f, &one, "of one", 6);
    store_assert_holds(f, &other, "of other", 8);
}

static void it_takes_nothing(void **state)
{
    store_opened *f = *state;

    assert_int_equal(f->ops->put(f->self, &absent, "value", 5, NULL),
                     KILN_EREADONLY);
    assert_int_equal(f->ops->put(f->self, &one, "value", 5, NULL),
                     KILN_EREADONLY);
    store_assert_lacks(f, &absent);
    store_assert_holds(f, &one, "of one", 6);
}

static void what_is_held_is_counted(void **state)
{
    store_opened *f = *state;
    uint64_t entries = 9, bytes = 9;

    if (!f->ops->stat)
        return; /* it need not have one */
    assert_ok(f->ops->stat(f->self, &entries, &bytes));
    assert_int_equal(entries, 4);
    assert_true(bytes >= LARGE + 14);
}

static void blobs_lie_side_by_side(void **state)
{
    store_opened *f = *state;
    kiln_blob first = {0}, again = {0}, another = {0};

    assert_ok(f->ops->get(f->self, &one, &first, &test_error));
    assert_ok(f->ops->get(f->self, &one, &again, &test_error));
    assert_ok(f->ops->get(f->self, &other, &another, &test_error));
    kiln_blob_release(&first);
    assert_blob_equal(again, "of one", 6);
    assert_blob_equal(another, "of other", 8);
    kiln_blob_release(&another);
    kiln_blob_release(&again);
}

typedef struct race {
    store_opened *f;
    thread_report report;
} race;

static void *get_often(void *argument)
{
    race *r = argument;
    const kiln_store_ops *ops = r->f->ops;
    kiln_error *error = NULL;

    for (int i = 0; i < 200; i++) {
        kiln_blob blob = {0};

        thread_assert_ok(&r->report, ops->get(r->f->self, i % 2 ? &one : &other,
                                              &blob, &error));
        thread_assert(&r->report, blob.size == (i % 2 ? 6 : 8));
        kiln_blob_release(&blob);
    }
    return NULL;
}

static void threads_get_at_once(void **state)
{
    store_opened *f = *state;
    race r = {f, THREAD_REPORT_INIT};

    harness_run_threads(4, get_often, &r);
    assert_threads_ok(&r.report);
}

#define FILLED(test) \
    cmocka_unit_test_setup_teardown(test, setup, store_teardown)

int store_filled_run(const store_subject *of)
{
    const struct CMUnitTest tests[] = {
        FILLED(a_table_names_itself_and_its_functions),
        FILLED(what_it_was_filled_with_is_found),
        FILLED(a_digest_is_not_a_key),
        FILLED(it_takes_nothing),
        FILLED(what_is_held_is_counted),
        FILLED(blobs_lie_side_by_side),
        FILLED(threads_get_at_once),
    };

    subject = of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
