/* store_suite.c - what every store must do, wherever it keeps its bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_checks.h"
#include "stores/entry.h"
#include "support/harness.h"

static const store_subject *subject;

static int setup(void **state)
{
    store_opened *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(subject->open(&f->ops, &f->self));
    *state = f;
    return 0;
}

int store_teardown(void **state)
{
    store_opened *f = *state;

    f->ops->free(f->self);
    free(f);
    return 0;
}

/* Two keys of one digest differ in their text. */
static kiln_key key_of(uint64_t digest, const char *text)
{
    return (kiln_key){harness_digest(digest, digest * 3), text, strlen(text)};
}

static void put(store_opened *f, kiln_key key, const void *bytes, size_t size)
{
    assert_ok(f->ops->put(f->self, &key, bytes, size, &test_error));
}

void store_assert_holds(store_opened *f, const kiln_key *key, const void *bytes,
                        size_t size)
{
    kiln_blob blob = {0};

    assert_ok(f->ops->get(f->self, key, &blob, &test_error));
    assert_blob_equal(blob, bytes, size);
    kiln_blob_release(&blob);
}

void store_assert_lacks(store_opened *f, const kiln_key *key)
{
    kiln_blob blob = {0};
    kiln_error *error = NULL;

    assert_int_equal(f->ops->get(f->self, key, &blob, &error), KILN_ENOTFOUND);
    assert_null(error);
    assert_null(blob.data);
}

static void assert_holds(store_opened *f, kiln_key key, const void *bytes,
                         size_t size)
{
    store_assert_holds(f, &key, bytes, size);
}

static void assert_lacks(store_opened *f, kiln_key key)
{
    store_assert_lacks(f, &key);
}

void a_table_names_itself_and_its_functions(void **state)
{
    const store_opened *f = *state;

    assert_true(f->ops->name && strlen(f->ops->name) > 0);
    assert_true(f->ops->get && f->ops->put && f->ops->free);
    assert_true(f->ops->size >= offsetof(kiln_store_ops, remove));
}

static void what_is_put_is_found_again(void **state)
{
    store_opened *f = *state;
    const size_t large = (size_t)1 << 20;
    char *bytes = malloc(large);

    assert_non_null(bytes);
    for (size_t i = 0; i < large; i++)
        bytes[i] = (char)(i * 7 + i / 256);
    assert_lacks(f, key_of(1, "one"));
    put(f, key_of(1, "one"), "abc", 3);
    put(f, key_of(2, "two"), bytes, large);
    put(f, key_of(3, "three"), "", 0);
    assert_holds(f, key_of(1, "one"), "abc", 3);
    assert_holds(f, key_of(2, "two"), bytes, large);
    assert_holds(f, key_of(3, "three"), "", 0);
    assert_lacks(f, key_of(4, "four"));
    free(bytes);
}

static void the_first_writer_wins(void **state)
{
    store_opened *f = *state;

    put(f, key_of(1, "one"), "first", 5);
    put(f, key_of(1, "one"), "second", 6);
    assert_holds(f, key_of(1, "one"), "first", 5);
}

/* It may keep one of them only; it must not take one for the other. */
static void a_digest_is_not_a_key(void **state)
{
    store_opened *f = *state;
    const kiln_key one = key_of(1, "one"), other = key_of(1, "other");
    kiln_blob blob = {0};

    put(f, one, "of one", 6);
    assert_lacks(f, other);
    put(f, other, "of other", 8);
    if (f->ops->get(f->self, &one, &blob, NULL) == KILN_OK)
        assert_blob_equal(blob, "of one", 6);
    kiln_blob_release(&blob);
    if (f->ops->get(f->self, &other, &blob, NULL) == KILN_OK)
        assert_blob_equal(blob, "of other", 8);
    kiln_blob_release(&blob);
}

static void bytes_and_keys_are_copied(void **state)
{
    store_opened *f = *state;
    char text[] = "key", bytes[] = "value";

    put(f, key_of(5, text), bytes, 5);
    memset(text, 'x', 3);
    memset(bytes, 'x', 5);
    assert_holds(f, key_of(5, "key"), "value", 5);
}

/* Keys are bytes of any length. */
static void keys_that_begin_alike_are_apart(void **state)
{
    store_opened *f = *state;
    char text[3000] = "";
    kiln_key key = {{{0}}, text, 0};

    for (size_t size = 1; size <= sizeof text; size = size * 3 + 1) {
        key.encoded_size = size;
        key.digest = harness_digest(size, size * 7);
        assert_lacks(f, key);
        put(f, key, &size, sizeof size);
    }
    for (size_t size = 1; size <= sizeof text; size = size * 3 + 1) {
        key.encoded_size = size;
        key.digest = harness_digest(size, size * 7);
        assert_holds(f, key, &size, sizeof size);
    }
}

/* Of whatever kind: what is lent is what was put. */
static void an_envelope_comes_back_as_it_was_put(void **state)
{
    store_opened *f = *state;

    for (int32_t kind = 0; kind < KILN__ENTRY_KIND_COUNT; kind++) {
        const kiln__entry entry = {
            .kind = kind,
            .key = key_of((uint64_t)kind + 1, "an envelope's key"),
            .toolchain = "",
            .log = "",
            .payload = "payload",
            .payload_size = 7,
        };
        kiln_blob bytes = {0};

        assert_ok(kiln__entry_encode(&bytes, &kiln__malloc, &entry));
        put(f, entry.key, bytes.data, bytes.size);
        assert_holds(f, entry.key, bytes.data, bytes.size);
        kiln_blob_release(&bytes);
    }
}

static void a_blob_outlives_what_happens_to_its_entry(void **state)
{
    store_opened *f = *state;
    const kiln_key key = key_of(1, "one");
    kiln_blob blob = {0};

    put(f, key, "value", 5);
    assert_ok(f->ops->get(f->self, &key, &blob, &test_error));
    if (f->ops->remove)
        assert_ok(f->ops->remove(f->self, &key, &test_error));
    for (uint64_t i = 2; i < 200; i++)
        put(f, key_of(i, "more"), "more", 4);
    assert_blob_equal(blob, "value", 5);
    kiln_blob_release(&blob);
}

static void what_is_removed_is_gone_and_may_return(void **state)
{
    store_opened *f = *state;
    const kiln_key key = key_of(1, "one"), none = key_of(2, "none");

    if (!f->ops->remove)
        return; /* it need not have one */
    put(f, key, "value", 5);
    put(f, key_of(1, "other"), "other", 5);
    assert_ok(f->ops->remove(f->self, &key, &test_error));
    assert_lacks(f, key);
    (void)f->ops->remove(f->self, &none, NULL);
    put(f, key, "again", 5);
    assert_holds(f, key, "again", 5);
}

static void what_is_held_is_counted(void **state)
{
    store_opened *f = *state;
    uint64_t entries = 9, bytes = 9;

    if (!f->ops->stat)
        return; /* it need not have one */
    assert_ok(f->ops->stat(f->self, &entries, &bytes));
    assert_int_equal(entries, 0);
    put(f, key_of(1, "one"), "1234", 4);
    put(f, key_of(2, "two"), "12345678", 8);
    put(f, key_of(2, "two"), "12345678", 8);
    assert_ok(f->ops->stat(f->self, &entries, &bytes));
    assert_int_equal(entries, 2);
    assert_true(bytes >= 12);
}

/* ---- threads ---- */

#define KEYS 50

typedef struct race {
    store_opened *f;
    thread_report report;
} race;

static void *put_and_get(void *argument)
{
    race *r = argument;
    const kiln_store_ops *ops = r->f->ops;
    kiln_error *error = NULL;

    for (uint64_t i = 1; i <= KEYS; i++) {
        const kiln_key key = key_of(i, "key");
        kiln_blob blob = {0};

        thread_assert_ok(&r->report,
                         ops->put(r->f->self, &key, &i, sizeof i, &error));
        thread_assert_ok(&r->report, ops->get(r->f->self, &key, &blob, &error));
        thread_assert(&r->report, blob.size == sizeof i &&
                                      memcmp(blob.data, &i, sizeof i) == 0);
        kiln_blob_release(&blob);
    }
    return NULL;
}

static void threads_put_and_get_at_once(void **state)
{
    store_opened *f = *state;
    race r = {f, THREAD_REPORT_INIT};

    harness_run_threads(4, put_and_get, &r);
    assert_threads_ok(&r.report);
    for (uint64_t i = 1; i <= KEYS; i++)
        assert_holds(f, key_of(i, "key"), &i, sizeof i);
}

#define WITH_STORE(test) \
    cmocka_unit_test_setup_teardown(test, setup, store_teardown)

int store_suite_run(const store_subject *of)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_table_names_itself_and_its_functions),
        WITH_STORE(what_is_put_is_found_again),
        WITH_STORE(the_first_writer_wins),
        WITH_STORE(a_digest_is_not_a_key),
        WITH_STORE(keys_that_begin_alike_are_apart),
        WITH_STORE(an_envelope_comes_back_as_it_was_put),
        WITH_STORE(bytes_and_keys_are_copied),
        WITH_STORE(a_blob_outlives_what_happens_to_its_entry),
        WITH_STORE(what_is_removed_is_gone_and_may_return),
        WITH_STORE(what_is_held_is_counted),
        WITH_STORE(threads_put_and_get_at_once),
    };

    subject = of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
