/* test_attached.c - attached results go from one process to the next. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "stores/pack/pack.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"

/*
 * A context stands for a process. The consumer attaches numbers, and writes
 * them down as text. f0 calls f1.
 */
static const char *folder;
static kiln_context *context;
static const kiln_config *config, *other_config;
static struct toy toy;
static int live; /* numbers that were made and not destroyed */
static int saves, loads;
static int is_broken; /* what is loaded is of no use */

static int *number_new(int value)
{
    int *number = malloc(sizeof *number);

    assert_non_null(number);
    *number = value;
    __atomic_fetch_add(&live, 1, __ATOMIC_SEQ_CST);
    return number;
}

static void number_destroy(void *value)
{
    __atomic_fetch_sub(&live, 1, __ATOMIC_SEQ_CST);
    free(value);
}

static void release_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static kiln_status number_save(void *value, kiln_blob *out)
{
    char *text = malloc(32);

    assert_non_null(text);
    saves++;
    (void)snprintf(text, 32, "%d", *(int *)value);
    *out = (kiln_blob){text, strlen(text) + 1, release_text, NULL};
    return KILN_OK;
}

static kiln_status number_load(const void *bytes, size_t size, void **value)
{
    if (is_broken || size == 0)
        return KILN_ECORRUPT;
    __atomic_fetch_add(&loads, 1, __ATOMIC_SEQ_CST);
    *value = number_new(atoi(bytes));
    return KILN_OK;
}

static const kiln_attachment_consumer numbers = {
    .size = sizeof numbers,
    .name = "numbers 1",
    .load = number_load,
    .destroy = number_destroy,
    .save = number_save,
};

static void begin_on(const kiln_alloc *alloc)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    options.alloc = alloc;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(toy_open_with(&toy, context, "toy", TOY_ALL, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    settings.fast_math = KILN_SWITCH_ON;
    assert_ok(kiln_config_new(&other_config, context, &settings, &test_error));
    assert_ok(toy_define(&toy, 1, 6, NULL, NULL));
    assert_ok(toy_define(&toy, 0, 5, (const int[]){1, -1}, NULL));
}

static void begin(void)
{
    begin_on(NULL);
    assert_ok(kiln_attachment_consumer_add(context, &numbers, &test_error));
}

static void end(void)
{
    kiln_context_free(context);
    assert_int_equal(live, 0);
}

static const kiln_code *code_of(int id)
{
    const kiln_signature signature = toy_signature(&toy, id);
    const kiln_code *code = NULL;

    assert_ok(kiln_infer(&code, context, &signature, config, 0, &test_error));
    return code;
}

static kiln_attachment number_of(int value, int32_t relocation)
{
    return (kiln_attachment){.size = sizeof(kiln_attachment),
                             .value = number_new(value),
                             .destroy = number_destroy,
                             .relocation = relocation,
                             .save = number_save,
                             .load = number_load};
}

static void attach(int id, const kiln_config *under, int value)
{
    const kiln_attachment made = number_of(value, KILN_RELOCATION_PORTABLE);

    assert_ok(
        kiln_attachment_put(NULL, code_of(id), under, "numbers 1", &made));
}

/* The number, or -1. */
static int found(int id, const kiln_config *under)
{
    void *value = NULL;
    const kiln_status status =
        kiln_attachment_get(&value, code_of(id), under, "numbers 1");

    if (status == KILN_ENOTFOUND)
        return -1;
    assert_int_equal(status, KILN_OK);
    return *(int *)value;
}

static int setup(void **state)
{
    const int status = temporary_folder_setup(state);

    folder = *state;
    saves = loads = is_broken = 0;
    return status;
}

/* ---- the disk ---- */

static void the_next_process_finds_what_was_attached(void **state)
{
    (void)state;
    begin();
    attach(0, NULL, 42);
    attach(0, config, 43);
    end();
    begin();
    assert_int_equal(found(0, NULL), 42);
    assert_int_equal(found(0, config), 43);
    assert_int_equal(found(0, other_config), -1);
    assert_int_equal(found(1, NULL), -1);
    /* Once it is there it is read no more. */
    assert_int_equal(found(0, NULL), 42);
    assert_int_equal(loads, 2);
    end();
}

static void another_meaning_of_the_code_has_none(void **state)
{
    (void)state;
    begin();
    attach(0, NULL, 42);
    end();
    begin();
    assert_ok(toy_define(&toy, 1, 66, NULL, NULL));
    assert_int_equal(found(0, NULL), -1);
    assert_ok(toy_define(&toy, 1, 6, NULL, NULL));
    assert_int_equal(found(0, NULL), 42);
    end();
}

static void what_holds_addresses_stays(void **state)
{
    kiln_attachment made;

    (void)state;
    begin();
    made = number_of(1, KILN_RELOCATION_SESSION);
    assert_ok(kiln_attachment_put(NULL, code_of(0), NULL, "numbers 1", &made));
    made = number_of(2, KILN_RELOCATION_PORTABLE);
    made.save = NULL;
    assert_ok(kiln_attachment_put(NULL, code_of(1), NULL, "numbers 1", &made));
    assert_int_equal(saves, 0);
    end();
    begin();
    assert_int_equal(found(0, NULL), -1);
    assert_int_equal(found(1, NULL), -1);
    end();
}

static void a_consumer_finds_its_own_only(void **state)
{
    kiln_attachment_consumer others = numbers;
    void *value = NULL;

    (void)state;
    begin();
    attach(0, NULL, 42);
    end();
    begin();
    others.name = "numbers 2";
    assert_ok(kiln_attachment_consumer_add(context, &others, &test_error));
    assert_status(KILN_ENOTFOUND,
                  kiln_attachment_get(&value, code_of(0), NULL, "numbers 2"));
    assert_status(KILN_ENOTFOUND,
                  kiln_attachment_get(&value, code_of(0), NULL, "unknown"));
    end();
}

static void what_cannot_be_read_is_as_if_it_was_not_there(void **state)
{
    kiln_statistics s = {.size = sizeof s};

    (void)state;
    begin();
    attach(0, NULL, 42);
    end();
    begin();
    is_broken = 1;
    assert_int_equal(found(0, NULL), -1);
    kiln_statistics_get(&s, context);
    assert_int_equal(s.stores[KILN_TIER_TYPED].misses[KILN_MISS_MALFORMED], 1);
    is_broken = 0;
    attach(0, NULL, 44);
    end();
    begin();
    assert_int_equal(found(0, NULL), 44);
    end();
}

static void names_of_consumers_are_given_once(void **state)
{
    kiln_attachment_consumer wrong = numbers;

    (void)state;
    begin();
    assert_fails(KILN_EINVAL, "numbers 1",
                 kiln_attachment_consumer_add(context, &numbers, &test_error));
    wrong.name = "other";
    wrong.load = NULL;
    assert_status(KILN_EINVAL,
                  kiln_attachment_consumer_add(context, &wrong, NULL));
    assert_status(KILN_EINVAL,
                  kiln_attachment_consumer_add(context, NULL, NULL));
    end();
}

/* ---- threads ---- */

static thread_report report = THREAD_REPORT_INIT;

static void *find_in_thread(void *argument)
{
    void *value = NULL;

    thread_assert(&report, kiln_attachment_get(&value, argument, NULL,
                                               "numbers 1") == KILN_OK);
    thread_assert(&report, value && *(int *)value == 42);
    return NULL;
}

static void threads_find_one_value(void **state)
{
    (void)state;
    begin();
    attach(0, NULL, 42);
    end();
    begin();
    harness_run_threads(8, find_in_thread, (void *)(uintptr_t)code_of(0));
    assert_threads_ok(&report);
    assert_int_equal(live, 1);
    end();
}

/* ---- packs ---- */

static kiln_pack *delta_since(const kiln_mark *mark, kiln_blob *bytes)
{
    kiln_pack *pack = NULL;

    assert_ok(kiln_delta(bytes, context, mark, NULL, &test_error));
    assert_ok(
        kiln_pack_open_memory(&pack, bytes->data, bytes->size, &test_error));
    return pack;
}

static size_t attached_in(kiln_pack *pack)
{
    size_t count = 0;

    for (size_t i = 0; i < kiln__pack_count(pack); i++) {
        kiln__packed at = {0};

        assert_ok(kiln__pack_at(&at, pack, i));
        count += at.entry.kind == KILN__ENTRY_ATTACHED;
        kiln_blob_release(&at.bytes);
    }
    return count;
}

static void results_travel_with_a_delta(void **state)
{
    kiln_blob bytes = {0}, second = {0};
    kiln_mark *mark = NULL;
    kiln_pack *pack;

    (void)state;
    begin();
    attach(1, NULL, 41);
    assert_ok(kiln_snapshot(&mark, context, &test_error));
    attach(0, NULL, 42);
    pack = delta_since(mark, &bytes);
    kiln_mark_free(mark);
    assert_int_equal(attached_in(pack), 1);
    end();
    temporary_folder_teardown(state);
    assert_int_equal(setup(state), 0);
    begin();
    assert_int_equal(found(0, NULL), -1);
    assert_ok(kiln_insert(context, pack, &test_error));
    assert_int_equal(found(0, NULL), 42);
    assert_int_equal(found(1, NULL), -1);
    /* What came from a pack is not added to the next. */
    pack = delta_since(NULL, &second);
    assert_int_equal(attached_in(pack), 0);
    kiln_pack_close(pack);
    end();
    kiln_blob_release(&second);
    kiln_blob_release(&bytes);
}

static void results_of_ended_code_are_left_out(void **state)
{
    kiln_blob bytes = {0};
    kiln_pack *pack;

    (void)state;
    begin();
    attach(0, NULL, 42);
    assert_ok(toy_define(&toy, 1, 66, NULL, NULL));
    pack = delta_since(NULL, &bytes);
    assert_int_equal(attached_in(pack), 0);
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
    end();
}

/* ---- without memory ---- */

static kiln_status bring_in(const kiln_alloc *alloc, void *env)
{
    const kiln_code *code;
    kiln_attachment made;
    void *value = NULL;
    kiln_status status;

    (void)env;
    failing_alloc_hold(alloc, 1);
    begin_on(alloc);
    code = code_of(0);
    failing_alloc_hold(alloc, 0);
    status = kiln_attachment_consumer_add(context, &numbers, NULL);
    if (status == KILN_OK)
        status = kiln_attachment_get(&value, code, NULL, "numbers 1");
    if (status == KILN_OK) {
        assert_int_equal(*(int *)value, 42);
        made = number_of(1, KILN_RELOCATION_PORTABLE);
        status = kiln_attachment_put(NULL, code, config, "numbers 1", &made);
        if (status != KILN_OK)
            number_destroy(made.value);
    }
    failing_alloc_hold(alloc, 1);
    end();
    failing_alloc_hold(alloc, 0);
    /* Without memory to look for it there is nothing. */
    return status == KILN_ENOTFOUND ? KILN_ENOMEM : status;
}

/* ---- values that call Kiln ---- */

static void destroy_and_call(void *value)
{
    kiln_context_collect(context);
    kiln_context_free(context);
    number_destroy(value);
}

static void a_value_may_collect_when_it_ends(void **state)
{
    kiln_attachment made;

    (void)state;
    begin();
    for (int i = 0; i < 3; i++) {
        made = number_of(i, KILN_RELOCATION_PORTABLE);
        made.destroy = destroy_and_call;
        assert_ok(
            kiln_attachment_put(NULL, code_of(0), NULL, "numbers 1", &made));
        assert_ok(toy_define(&toy, 0, 10 + i, NULL, NULL));
    }
    kiln_context_collect(context);
    assert_int_equal(live, 0);
    made = number_of(7, KILN_RELOCATION_PORTABLE);
    made.destroy = destroy_and_call;
    assert_ok(kiln_attachment_put(NULL, code_of(0), NULL, "numbers 1", &made));
    end();
}

static void attaching_survives_failing_allocations(void **state)
{
    (void)state;
    begin();
    attach(0, NULL, 42);
    end();
    assert_survives_failing_alloc(bring_in, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_next_process_finds_what_was_attached),
        TEST(another_meaning_of_the_code_has_none),
        TEST(what_holds_addresses_stays),
        TEST(a_consumer_finds_its_own_only),
        TEST(what_cannot_be_read_is_as_if_it_was_not_there),
        TEST(names_of_consumers_are_given_once),
        TEST(threads_find_one_value),
        TEST(results_travel_with_a_delta),
        TEST(results_of_ended_code_are_left_out),
        TEST(a_value_may_collect_when_it_ends),
        TEST(attaching_survives_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
