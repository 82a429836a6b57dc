/* test_foreign_warm.c - what another frontend's processes leave each other. */
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
 * A context stands for a process: what survives it lies in a folder. f0 calls
 * f1, which calls f2; f3 and f4 call each other.
 */
typedef struct process {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
    int32_t source; /* of the last kernel */
} process;

static const char *folder;
static process p;
static int objects[2];
static int which; /* of them is `object` today */

static kiln_status resolve(void *env, const char *name, void **address)
{
    (void)env;
    if (strcmp(name, "object") != 0)
        return KILN_ENOTFOUND;
    *address = &objects[which];
    return KILN_OK;
}

static const kiln_host_ops host = {.size = sizeof host, .resolve = resolve};

static void begin_with(unsigned offers, uint8_t sites)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    options.host = &host;
    settings.sites = sites;
    assert_ok(kiln_context_new(&p.context, &options, &test_error));
    assert_ok(toy_open_with(&p.toy, p.context, "toy", offers, &test_error));
    assert_ok(kiln_config_new(&p.config, p.context, &settings, &test_error));
    assert_ok(toy_define(&p.toy, 2, 7, NULL, NULL));
    assert_ok(toy_define(&p.toy, 1, 6, (const int[]){2, -1}, NULL));
    assert_ok(toy_define(&p.toy, 0, 5, (const int[]){1, -1}, NULL));
    assert_ok(toy_define(&p.toy, 3, 8, (const int[]){4, -1}, NULL));
    assert_ok(toy_define(&p.toy, 4, 9, (const int[]){3, -1}, NULL));
}

static void begin(unsigned offers)
{
    begin_with(offers, 0);
}

static void end(void)
{
    kiln_context_free(p.context);
}

static void compile(int id)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_signature signature = toy_signature(&p.toy, id);
    const kiln_kernel *kernel;

    options.source = &p.source;
    assert_ok(kiln_compile(&kernel, p.context, &signature, p.config, &options,
                           &test_error));
}

static int inferred(void)
{
    int sum = 0;

    for (int id = 0; id < TOY_FUNCTIONS; id++)
        sum += p.toy.inferred[id];
    return sum;
}

static int setup(void **state)
{
    const int status = temporary_folder_setup(state);

    folder = *state;
    return status;
}

/* ---- what is found ---- */

static void without_callbacks_leaves_and_kernels_are_found(void **state)
{
    (void)state;
    begin(0);
    compile(0);
    assert_int_equal(p.source, KILN_SOURCE_BUILT);
    assert_int_equal(inferred(), 3);
    end();
    begin(0);
    compile(0);
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    assert_int_equal(p.toy.lowered[0], 0);
    /* Who calls is asked again: nobody can find the callee of an entry. */
    assert_int_equal(p.toy.inferred[0], 1);
    assert_int_equal(p.toy.inferred[2], 0);
    end();
}

static void with_all_callbacks_nothing_is_inferred(void **state)
{
    (void)state;
    begin(TOY_ALL);
    compile(0);
    compile(3);
    end();
    begin(TOY_ALL);
    compile(0);
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    compile(3);
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    assert_int_equal(inferred(), 0);
    end();
}

/* A query that is of two subjects: either one ends what was found by it. */
static void a_query_of_two_subjects_is_asked_again_for_either(void **state)
{
    const uint64_t second = 1000;
    kiln_change_report report = {.size = sizeof report};

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(TOY_ALL);
        p.toy.second_subject[2] = second;
        compile(0);
        if (i == 0)
            end();
    }
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    assert_int_equal(inferred(), 0);
    p.toy.world++;
    p.toy.versions[2][p.toy.version_counts[2]++] =
        (struct toy_version){.world = p.toy.world, .number = 77};
    assert_ok(
        kiln_world_changed(p.toy.frontend, p.toy.world, &second, 1, &report));
    assert_true(report.invalidated_count > 0);
    kiln_change_report_dispose(&report);
    compile(0);
    assert_int_equal(p.source, KILN_SOURCE_BUILT);
    end();
}

static uint64_t stale(void)
{
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, p.context);
    return s.stores[KILN_TIER_TYPED].misses[KILN_MISS_STALE];
}

/* What cannot be asked now says nothing about the entry. */
static void an_answer_that_fails_for_the_moment_drops_nothing(void **state)
{
    (void)state;
    begin(TOY_ALL & ~TOY_PROGRAM);
    compile(0);
    end();
    begin(TOY_ALL & ~TOY_PROGRAM);
    p.toy.answer_fails = KILN_EIO;
    compile(0);
    assert_int_equal(stale(), 0);
    end();
    begin(TOY_ALL & ~TOY_PROGRAM);
    p.toy.answer_fails = KILN_ENOTFOUND;
    compile(0);
    assert_true(stale() > 0);
    end();
}

static void define_another(struct toy *toy)
{
    assert_ok(toy_define(toy, 9, 1, NULL, NULL));
}

/* It is found that a binary is missing; meanwhile another function is
   defined, and nobody but the request holds its world. */
static void a_world_that_passes_is_held_while_it_is_compiled_in(void **state)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    kiln_signature signature;
    const kiln_kernel *kernel;

    (void)state;
    assert_int_equal(setenv("KILN_CACHE_TIERS", "typed_ir", 1), 0);
    begin(TOY_ALL);
    compile(0);
    end();
    begin(TOY_ALL);
    assert_int_equal(unsetenv("KILN_CACHE_TIERS"), 0);
    signature = toy_signature(&p.toy, 0);
    options.world = kiln_world(p.toy.frontend);
    p.toy.program_hook = define_another;
    assert_ok(kiln_compile(&kernel, p.context, &signature, p.config, &options,
                           &test_error));
    assert_int_equal(kiln_world(p.toy.frontend), options.world + 1);
    assert_int_equal(inferred(), 0);
    end();
}

/* Every choice of callbacks is right, if not as quick. */
static void any_choice_of_callbacks_is_right(void **state)
{
    (void)state;
    for (unsigned offers = 0; offers <= TOY_ALL; offers++) {
        begin(offers);
        compile(0);
        compile(3);
        end();
        begin(offers);
        compile(0);
        assert_int_equal(p.source, KILN_SOURCE_STORE);
        compile(3);
        assert_int_equal(p.source, KILN_SOURCE_STORE);
        if (offers & (TOY_FUNCTION | TOY_PROGRAM))
            assert_int_equal(inferred(), 0);
        /* A callee that means something else. */
        assert_ok(toy_define(&p.toy, 2, 100 + (int)offers, NULL, NULL));
        compile(0);
        assert_int_equal(p.source, KILN_SOURCE_BUILT);
        end();
    }
}

/* Of instances, with an edit elsewhere: the program's digest is of no use. */
static void instances_are_found_one_by_one(void **state)
{
    (void)state;
    begin(TOY_ALL);
    compile(0);
    compile(3);
    end();
    begin(TOY_ALL);
    assert_ok(toy_define(&p.toy, 9, 1, NULL, NULL));
    compile(0);
    compile(3);
    assert_int_equal(inferred(), 0);
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    end();
}

static void a_callee_that_changed_is_seen_by_its_callers(void **state)
{
    static const unsigned choices[] = {0, TOY_ROOT, TOY_FUNCTION,
                                       TOY_ROOT | TOY_FUNCTION, TOY_ALL};

    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        begin(choices[i]);
        compile(0);
        end();
        begin(choices[i]);
        assert_ok(toy_define(&p.toy, 2, 200 + (int)i, NULL, NULL));
        compile(0);
        assert_int_equal(p.source, KILN_SOURCE_BUILT);
        assert_true(p.toy.inferred[2] == 1);
        end();
        /* The first text again: its kernel is still there. */
        begin(choices[i]);
        compile(0);
        assert_int_equal(p.source, KILN_SOURCE_STORE);
        end();
    }
}

static void a_recursion_that_changed_is_seen(void **state)
{
    (void)state;
    begin(TOY_ALL);
    compile(3);
    end();
    begin(TOY_ALL);
    assert_ok(toy_define(&p.toy, 4, 77, (const int[]){3, -1}, NULL));
    compile(3);
    assert_int_equal(p.source, KILN_SOURCE_BUILT);
    end();
}

/* ---- host objects ---- */

#define SITE "@kiln_site_object = external global i32\n"
#define STORE "  store i32 1, ptr @kiln_site_object\n"

static void begin_with_site(uint8_t sites)
{
    begin_with(TOY_ALL, sites);
    p.toy.sites[2][0] = "object";
    p.toy.head = SITE;
    p.toy.body = STORE;
}

static size_t binaries_of_delta(void)
{
    kiln_blob bytes = {0};
    kiln_pack *pack = NULL;
    size_t count = 0;

    assert_ok(kiln_delta(&bytes, p.context, NULL, NULL, &test_error));
    assert_ok(
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    for (size_t i = 0; i < kiln__pack_count(pack); i++) {
        kiln__packed at = {0};

        assert_ok(kiln__pack_at(&at, pack, i));
        count += at.entry.kind == KILN__ENTRY_BINARY;
        assert_int_not_equal(at.entry.relocation, KILN_RELOCATION_SESSION);
        kiln_blob_release(&at.bytes);
    }
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
    return count;
}

static void what_holds_an_address_stays_in_its_process(void **state)
{
    (void)state;
    begin_with_site(KILN_SITES_RESOLVE);
    compile(2);
    assert_int_equal(binaries_of_delta(), 0);
    end();
    begin_with_site(KILN_SITES_RESOLVE);
    compile(2);
    assert_int_equal(p.source, KILN_SOURCE_BUILT);
    end();
}

static void what_is_patched_serves_a_host_that_moved(void **state)
{
    (void)state;
    begin_with_site(KILN_SITES_PATCH);
    compile(2);
    assert_int_equal(binaries_of_delta(), 1);
    end();
    which = 1;
    begin_with_site(KILN_SITES_PATCH);
    compile(2);
    assert_int_equal(p.source, KILN_SOURCE_STORE);
    end();
    which = 0;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_callbacks_leaves_and_kernels_are_found),
        TEST(with_all_callbacks_nothing_is_inferred),
        TEST(a_query_of_two_subjects_is_asked_again_for_either),
        TEST(an_answer_that_fails_for_the_moment_drops_nothing),
        TEST(a_world_that_passes_is_held_while_it_is_compiled_in),
        TEST(any_choice_of_callbacks_is_right),
        TEST(instances_are_found_one_by_one),
        TEST(a_callee_that_changed_is_seen_by_its_callers),
        TEST(a_recursion_that_changed_is_seen),
        TEST(what_holds_an_address_stays_in_its_process),
        TEST(what_is_patched_serves_a_host_that_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
