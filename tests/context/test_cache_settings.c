/* test_cache_settings.c - options before variables before defaults. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include "context/cache_settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kiln/context.h"
#include "support/harness.h"

static const kiln__cache_variables nothing;

static kiln__cache_settings *made(const kiln_cache_options *options,
                                  const kiln__cache_variables *variables)
{
    kiln__cache_settings *settings = NULL;

    assert_ok(kiln__cache_settings_new(&settings, &kiln__malloc, options,
                                       variables, &test_error));
    return settings;
}

static void refused(const char *text, const kiln__cache_variables *variables)
{
    kiln__cache_settings *settings = NULL;

    assert_fails(KILN_EINVAL, text,
                 kiln__cache_settings_new(&settings, &kiln__malloc, NULL,
                                          variables, &test_error));
    assert_null(settings);
}

static void without_a_word_there_are_defaults(void **state)
{
    const kiln__cache_variables home = {.home = "/home/x"};
    kiln__cache_settings *s = made(NULL, &home);

    (void)state;
    assert_int_equal(s->mode, KILN_CACHE_MODE_READ_WRITE);
    assert_true(s->locks);
    assert_int_equal(s->tiers_off, 0);
    assert_int_equal(s->max_size, (uint64_t)2 << 30);
    assert_int_equal(s->max_entries, 65536);
    assert_int_equal(s->max_age_s, 30 * 24 * 3600);
    assert_int_equal(s->mem_size, 256 << 20);
    assert_int_equal(s->wait_ms, 30000);
    assert_string_equal(s->directory, "/home/x/.cache/kiln");
    assert_false(s->is_given);
    assert_false(s->local_is_given);
    assert_null(s->search_path);
    assert_null(s->salt);
    assert_null(s->name_space);
    assert_null(s->trace);
    kiln__cache_settings_free(s);
}

static const kiln__cache_variables all = {
    .mode = "ro",
    .directory = "/d",
    .search_path = "/p:/q.kilnpack",
    .local_directory = "/l",
    .max_size = "3M",
    .max_entries = "12",
    .max_age = "2h",
    .mem_size = "4k",
    .lock = "none",
    .wait = "5",
    .salt = "salt",
    .name_space = "site-1",
    .trace = "/t",
    .tiers = "binary,typed_ir",
    .home = "/home/x",
};

static void variables_come_before_defaults(void **state)
{
    kiln__cache_settings *s = made(NULL, &all);

    (void)state;
    assert_int_equal(s->mode, KILN_CACHE_MODE_READ_ONLY);
    assert_false(s->locks);
    assert_int_equal(s->tiers_off, 1 << KILN_TIER_RUNTIME);
    assert_int_equal(s->max_size, 3 << 20);
    assert_int_equal(s->max_entries, 12);
    assert_int_equal(s->max_age_s, 7200);
    assert_int_equal(s->mem_size, 4096);
    assert_int_equal(s->wait_ms, 5000);
    assert_string_equal(s->directory, "/d");
    assert_true(s->is_given);
    assert_string_equal(s->local_directory, "/l");
    assert_true(s->local_is_given);
    assert_string_equal(s->search_path, "/p:/q.kilnpack");
    assert_string_equal(s->salt, "salt");
    assert_string_equal(s->name_space, "site-1");
    assert_string_equal(s->trace, "/t");
    kiln__cache_settings_free(s);
}

static void options_come_before_variables(void **state)
{
    const kiln_cache_options options = {
        .size = sizeof options,
        .mode = KILN_CACHE_MODE_VERIFY,
        .lock = KILN_CACHE_LOCK_AUTO,
        .tiers_off = 1 << KILN_TIER_BINARY,
        .directory = "/D",
        .search_path = "/P",
        .local_directory = "/L",
        .max_size = 7,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = 9,
        .mem_size = 10,
        .wait_ms = 11,
        .salt = "pepper",
        .name_space = "other",
        .trace = "/T",
    };
    kiln__cache_settings *s = made(&options, &all);

    (void)state;
    assert_int_equal(s->mode, KILN_CACHE_MODE_VERIFY);
    assert_true(s->locks);
    assert_int_equal(s->tiers_off, 1 << KILN_TIER_BINARY);
    assert_string_equal(s->directory, "/D");
    assert_string_equal(s->search_path, "/P");
    assert_string_equal(s->local_directory, "/L");
    assert_int_equal(s->max_size, 7);
    assert_true(s->max_entries == KILN_CACHE_UNBOUNDED);
    assert_int_equal(s->max_age_s, 9);
    assert_int_equal(s->mem_size, 10);
    assert_int_equal(s->wait_ms, 11);
    assert_string_equal(s->salt, "pepper");
    assert_string_equal(s->name_space, "other");
    assert_string_equal(s->trace, "/T");
    kiln__cache_settings_free(s);
}

static void an_empty_option_says_nothing(void **state)
{
    const kiln_cache_options options = {
        .size = sizeof options, .directory = "", .salt = "", .search_path = ""};
    kiln__cache_settings *s = made(&options, &all);

    (void)state;
    assert_string_equal(s->directory, "/d");
    assert_string_equal(s->salt, "salt");
    assert_string_equal(s->search_path, "/p:/q.kilnpack");
    kiln__cache_settings_free(s);
}

static void every_mode_has_a_word(void **state)
{
    static const char *const words[] = {"off",      "ro",      "rw",
                                        "must-hit", "refresh", "verify"};

    (void)state;
    for (int32_t i = 0; i < 6; i++) {
        const kiln__cache_variables v = {.mode = words[i]};
        kiln__cache_settings *s = made(NULL, &v);

        assert_int_equal(s->mode, i + 1);
        kiln__cache_settings_free(s);
    }
}

static void tiers_are_turned_off_one_by_one(void **state)
{
    static const struct {
        const char *list;
        uint32_t off;
    } cases[] = {
        {"none", 7},   {"typed_ir", 6},         {"runtime", 5},
        {"binary", 3}, {"typed_ir,runtime", 4}, {"binary,runtime,typed_ir", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kiln__cache_variables v = {.tiers = cases[i].list};
        kiln__cache_settings *s = made(NULL, &v);

        assert_int_equal(s->tiers_off, cases[i].off);
        kiln__cache_settings_free(s);
    }
}

static void what_makes_no_sense_is_named(void **state)
{
    static const char *const numbers[] = {"-1",
                                          "x",
                                          "1x",
                                          "1KB",
                                          " 1",
                                          "1 ",
                                          "2.5",
                                          "1Gi",
                                          "0",
                                          "99999999999999999999",
                                          "18446744073709551615K"};
    kiln__cache_variables v = nothing;

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        v = nothing;
        v.max_size = numbers[i];
        refused("KILN_CACHE_MAX_SIZE is", &v);
        v = nothing;
        v.max_age = numbers[i];
        refused("KILN_CACHE_MAX_AGE is", &v);
        v = nothing;
        v.max_entries = numbers[i];
        refused("KILN_CACHE_MAX_ENTRIES is", &v);
    }
    v = (kiln__cache_variables){.mem_size = "some"};
    refused("KILN_CACHE_MEM_SIZE is 'some'", &v);
    v = (kiln__cache_variables){.wait = "none"};
    refused("KILN_CACHE_WAIT is 'none'", &v);
    v = (kiln__cache_variables){.mode = "on"};
    refused("KILN_CACHE is 'on'", &v);
    v = (kiln__cache_variables){.lock = "yes"};
    refused("KILN_CACHE_LOCK is 'yes'", &v);
    v = (kiln__cache_variables){.disk = "none"};
    refused("KILN_CACHE_DISK is 'none'", &v);
    v = (kiln__cache_variables){.tiers = "binary,"};
    refused("KILN_CACHE_TIERS is 'binary,'", &v);
    v = (kiln__cache_variables){.tiers = "all"};
    refused("KILN_CACHE_TIERS is 'all'", &v);
}

static void the_disk_may_be_off(void **state)
{
    kiln_cache_options options = {
        .size = sizeof options, .disk = KILN_SWITCH_OFF, .directory = "/D"};
    const kiln__cache_variables on = {.disk = "on"};
    const kiln__cache_variables off = {.disk = "off", .directory = "/d"};
    kiln__cache_settings *s = made(&options, &on);

    (void)state;
    assert_null(s->directory);
    assert_string_equal(s->why_not, "it is switched off");
    kiln__cache_settings_free(s);
    s = made(NULL, &off);
    assert_null(s->directory);
    kiln__cache_settings_free(s);
    options.disk = KILN_SWITCH_ON;
    s = made(&options, &off);
    assert_string_equal(s->directory, "/D");
    kiln__cache_settings_free(s);
}

static void a_bound_may_be_none_and_a_wait_nothing(void **state)
{
    const kiln__cache_variables v = {.max_size = "none",
                                     .max_entries = "none",
                                     .max_age = "none",
                                     .mem_size = "none",
                                     .wait = "0"};
    kiln__cache_settings *s = made(NULL, &v);

    (void)state;
    assert_true(s->max_size == KILN_CACHE_UNBOUNDED);
    assert_true(s->max_entries == KILN_CACHE_UNBOUNDED);
    assert_true(s->max_age_s == KILN_CACHE_UNBOUNDED);
    assert_true(s->mem_size == KILN_CACHE_UNBOUNDED);
    assert_int_equal(s->wait_ms, 0);
    kiln__cache_settings_free(s);
}

static void a_name_space_is_one_plain_name(void **state)
{
    static const char *const bad[] = {"..",  "a/b", ".x", "v1",
                                      "a b", "é",   "/",  "a\n"};
    char longest[66];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const kiln__cache_variables v = {.name_space = bad[i]};

        refused("name space", &v);
    }
    memset(longest, 'n', sizeof longest);
    longest[65] = '\0';
    refused("name space", &(kiln__cache_variables){.name_space = longest});
    longest[64] = '\0';
    kiln__cache_settings_free(
        made(NULL, &(kiln__cache_variables){.name_space = longest}));
}

static void the_default_folder_is_where_caches_belong(void **state)
{
    kiln__cache_variables v = {.home = "/h", .cache_home = "/c"};
    kiln__cache_settings *s = made(NULL, &v);

    (void)state;
    assert_string_equal(s->directory, "/c/kiln");
    kiln__cache_settings_free(s);

    v.cache_home = "relative";
    s = made(NULL, &v);
    assert_string_equal(s->directory, "/h/.cache/kiln");
    kiln__cache_settings_free(s);
}

static void assert_below(const char *folder, const char *path, const char *made)
{
    char expected[2 * PATH_MAX];

    (void)snprintf(expected, sizeof expected, "%s/%s", folder, path);
    assert_string_equal(made, expected);
}

/* Where the process goes later, the cache stays. */
static void relative_paths_are_below_the_folder_of_the_moment(void **state)
{
    const kiln__cache_variables v = {.directory = "d:e",
                                     .search_path = "p::/q:../r/",
                                     .local_directory = "./l",
                                     .trace = "t.json"};
    char here[PATH_MAX], list[3 * PATH_MAX];
    kiln__cache_settings *s;

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    s = made(NULL, &v);
    assert_below(here, "d:e", s->directory);
    assert_below(here, "./l", s->local_directory);
    assert_below(here, "t.json", s->trace);
    (void)snprintf(list, sizeof list, "%s/p::/q:%s/../r/", here, here);
    assert_string_equal(s->search_path, list);
    kiln__cache_settings_free(s);
}

static void without_a_home_there_is_no_disk(void **state)
{
    kiln__cache_settings *s = made(NULL, &nothing);

    (void)state;
    assert_null(s->directory);
    assert_string_equal(s->why_not, "HOME is not set");
    kiln__cache_settings_free(s);
}

static void more_rights_than_the_user_has_mean_no_disk(void **state)
{
    const kiln__cache_variables v = {.home = "/h", .is_privileged = 1};
    const kiln_cache_options options = {
        .size = sizeof options, .directory = "/d", .search_path = "/p"};
    kiln__cache_settings *s = made(&options, &v);

    (void)state;
    assert_null(s->directory);
    assert_null(s->search_path);
    assert_string_equal(s->why_not,
                        "the process has more rights than its user");
    kiln__cache_settings_free(s);
}

static void the_local_folder_is_the_users_own(void **state)
{
    kiln__cache_variables v = {.runtime_directory = "/run/user/1",
                               .temporary = "/scratch"};
    kiln__cache_settings *s = made(NULL, &v);
    char own[64];

    (void)state;
    assert_string_equal(s->local_directory, "/run/user/1/kiln");
    kiln__cache_settings_free(s);

    v.runtime_directory = NULL;
    s = made(NULL, &v);
    (void)snprintf(own, sizeof own, "/scratch/kiln-%lu",
                   (unsigned long)geteuid());
    assert_string_equal(s->local_directory, own);
    kiln__cache_settings_free(s);

    v.temporary = NULL;
    s = made(NULL, &v);
    (void)snprintf(own, sizeof own, "/tmp/kiln-%lu", (unsigned long)geteuid());
    assert_string_equal(s->local_directory, own);
    kiln__cache_settings_free(s);
}

static void options_of_a_newer_caller_are_refused(void **state)
{
    struct {
        kiln_cache_options known;
        uint64_t unknown;
    } newer = {{.size = sizeof newer}, 1};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    (void)state;
    options.cache = &newer.known;
    assert_fails(KILN_EINVAL, "kiln_cache_options has members",
                 kiln_context_new(&context, &options, &test_error));
    newer.unknown = 0;
    newer.known.mode = 99;
    assert_fails(KILN_EINVAL, "the cache's mode is 99",
                 kiln_context_new(&context, &options, &test_error));
    newer.known.mode = KILN_CACHE_MODE_OFF;
    newer.known.lock = 9;
    assert_fails(KILN_EINVAL, "the cache's lock is 9",
                 kiln_context_new(&context, &options, &test_error));
    newer.known.lock = 0;
    newer.known.tiers_off = 1u << 31;
    assert_fails(KILN_EINVAL, "tiers_off",
                 kiln_context_new(&context, &options, &test_error));
}

static void the_environment_reaches_a_context(void **state)
{
    kiln_context *context = NULL;

    (void)state;
    setenv("KILN_CACHE_MAX_SIZE", "many", 1);
    assert_fails(KILN_EINVAL, "KILN_CACHE_MAX_SIZE is 'many'",
                 kiln_context_new(&context, NULL, &test_error));
    setenv("KILN_CACHE_MAX_SIZE", "", 1);
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    kiln_context_free(context);
    unsetenv("KILN_CACHE_MAX_SIZE");
}

static void unknown_variables_are_found_and_known_ones_are_not(void **state)
{
    size_t at = 0;
    const char *found;

    (void)state;
    setenv("KILN_CACHE_DIR", "/d", 1);
    setenv("KILN_CACHE_SIZE", "1", 1);
    setenv("KILN_OTHER", "1", 1);
    found = kiln__environment_unknown("KILN_CACHE", &at);
    assert_non_null(found);
    assert_string_equal(found, "KILN_CACHE_SIZE=1");
    assert_null(kiln__environment_unknown("KILN_CACHE", &at));
    unsetenv("KILN_CACHE_DIR");
    unsetenv("KILN_CACHE_SIZE");
    unsetenv("KILN_OTHER");
}

static kiln_status make_and_end(const kiln_alloc *alloc, void *env)
{
    kiln__cache_settings *settings = NULL;
    const kiln_status status =
        kiln__cache_settings_new(&settings, alloc, NULL, env, NULL);

    if (status == KILN_OK)
        kiln__cache_settings_free(settings);
    return status;
}

static void settings_survive_a_lack_of_memory(void **state)
{
    kiln__cache_variables v = all;

    (void)state;
    assert_survives_failing_alloc(make_and_end, &v);
    v.directory = NULL;
    v.local_directory = NULL;
    v.search_path = "a:b";
    assert_survives_failing_alloc(make_and_end, &v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_word_there_are_defaults),
        cmocka_unit_test(variables_come_before_defaults),
        cmocka_unit_test(options_come_before_variables),
        cmocka_unit_test(an_empty_option_says_nothing),
        cmocka_unit_test(every_mode_has_a_word),
        cmocka_unit_test(tiers_are_turned_off_one_by_one),
        cmocka_unit_test(what_makes_no_sense_is_named),
        cmocka_unit_test(the_disk_may_be_off),
        cmocka_unit_test(a_bound_may_be_none_and_a_wait_nothing),
        cmocka_unit_test(a_name_space_is_one_plain_name),
        cmocka_unit_test(the_default_folder_is_where_caches_belong),
        cmocka_unit_test(relative_paths_are_below_the_folder_of_the_moment),
        cmocka_unit_test(without_a_home_there_is_no_disk),
        cmocka_unit_test(more_rights_than_the_user_has_mean_no_disk),
        cmocka_unit_test(the_local_folder_is_the_users_own),
        cmocka_unit_test(options_of_a_newer_caller_are_refused),
        cmocka_unit_test(the_environment_reaches_a_context),
        cmocka_unit_test(unknown_variables_are_found_and_known_ones_are_not),
        cmocka_unit_test(settings_survive_a_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
