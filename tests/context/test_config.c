/* test_config.c - configs: checked, resolved, interned. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread fault host */
#include <string.h>

#include "base/digest/digest.h"
#include "context/keys/settings.h"
#include "support/harness.h"

static kiln_context *context;

static int setup(void **state)
{
    (void)state;
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kiln_context_free(context);
    return 0;
}

static const kiln_config *config_of(const kiln_config_options *options)
{
    const kiln_config *config = NULL;

    assert_ok(kiln_config_new(&config, context, options, &test_error));
    return config;
}

/* ---- defaults ---- */

static void nothing_asked_for_is_the_host_with_all_defaults(void **state)
{
    const kiln_config *config = config_of(NULL);

    (void)state;

    assert_string_equal(kiln_config_backend(config), "host");
    assert_memory_equal(kiln_config_target(config), "host:", 5);
    assert_string_equal(config->overlays, "host");
    assert_int_equal(config->opt_level, KILN_OPT_3);
    assert_int_equal(config->bounds_checks, KILN_SWITCH_ON);
    assert_int_equal(config->fast_math, KILN_SWITCH_OFF);
    assert_int_equal(config->contract, KILN_SWITCH_ON);
    assert_null(config->entry_name);
}

static void a_default_that_is_spelt_out_is_the_same_config(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    (void)state;
    options.target = "host";
    options.opt_level = KILN_OPT_3;
    options.bounds_checks = KILN_SWITCH_ON;
    options.fast_math = KILN_SWITCH_OFF;
    options.contract = KILN_SWITCH_ON;
    options.overlays = "";

    assert_ptr_equal(config_of(&options), config_of(NULL));
    options.overlays = "host";
    assert_ptr_equal(config_of(&options), config_of(NULL));
    options.target = "host:";
    assert_ptr_equal(config_of(&options), config_of(NULL));
}

static void overlays_end_with_the_backends_own(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    (void)state;
    options.overlays = "mine,yours";
    assert_string_equal(config_of(&options)->overlays, "mine,yours,host");
    options.overlays = "host,mine";
    assert_string_equal(config_of(&options)->overlays, "host,mine");
}

/* ---- interning and keys ---- */

#define OWNER 1
#define RUNTIME 2
#define FULL 4

/* Which digests differ from those of the default config. */
static int changed_by(const kiln_config_options *options)
{
    const kiln_config *plain = config_of(NULL);
    const kiln_config *config = config_of(options);
    int changed = 0;

    assert_ptr_not_equal(config, plain);
    assert_ptr_equal(config, config_of(options));
    if (!kiln__digest_equal(config->owner, plain->owner))
        changed |= OWNER;
    if (!kiln__digest_equal(config->runtime, plain->runtime))
        changed |= RUNTIME;
    if (!kiln__digest_equal(config->full, plain->full))
        changed |= FULL;
    return changed;
}

#define CHANGES(expected, member, value) \
    do { \
        kiln_config_options options_ = KILN_CONFIG_OPTIONS_INIT; \
        options_.member = (value); \
        assert_int_equal(changed_by(&options_), (expected)); \
    } while (0)

static void typed_settings_change_every_digest(void **state)
{
    (void)state;
    CHANGES(OWNER | RUNTIME | FULL, overlays, "mine");
}

static void runtime_settings_leave_the_owner_token(void **state)
{
    (void)state;
    CHANGES(RUNTIME | FULL, debug_level, KILN_DEBUG_LINES);
    CHANGES(RUNTIME | FULL, debug_level, KILN_DEBUG_FULL);
    CHANGES(RUNTIME | FULL, bounds_checks, KILN_SWITCH_OFF);
    CHANGES(RUNTIME | FULL, fast_math, KILN_SWITCH_ON);
    CHANGES(RUNTIME | FULL, contract, KILN_SWITCH_OFF);
    CHANGES(RUNTIME | FULL, math, KILN_MATH_VENDOR);
}

static void binary_settings_change_the_full_digest_alone(void **state)
{
    (void)state;
    CHANGES(FULL, target, "host:x86-64-v2");
    CHANGES(FULL, opt_level, KILN_OPT_0);
    CHANGES(FULL, opt_level, KILN_OPT_2);
    CHANGES(FULL, entry_abi, KILN_ABI_DEVICE);
    CHANGES(FULL, entry_name, "main_saxpy");
    CHANGES(FULL, sites, KILN_SITES_PATCH);
    CHANGES(FULL, maximum_group_size, 64);
    CHANGES(FULL, minimum_groups, 2);
    CHANGES(FULL, maximum_registers, 32);
    CHANGES(FULL, unroll, KILN_UNROLL_OFF);
    CHANGES(FULL, required_group_size[0], 64);
    CHANGES(FULL, required_group_size[1], 64);
    CHANGES(FULL, required_group_size[2], 64);
}

static void load_settings_enter_no_digest(void **state)
{
    (void)state;
    CHANGES(0, device, 3);
}

static void digests_are_the_same_in_another_context(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_context *second = NULL;
    const kiln_config *there = NULL;

    (void)state;
    options.target = "host:x86-64-v2";
    options.overlays = "mine";
    assert_ok(kiln_context_new(&second, NULL, &test_error));
    assert_ok(kiln_config_new(&there, second, &options, &test_error));

    assert_true(kiln__digest_equal(kiln_config_digest(config_of(&options)),
                                   kiln_config_digest(there)));
    assert_true(kiln__digest_equal(kiln_config_owner(config_of(&options)),
                                   kiln_config_owner(there)));
    kiln_context_free(second);
}

static void options_are_copied(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    char name[] = "my_entry";
    const kiln_config *config;

    (void)state;
    options.entry_name = name;
    config = config_of(&options);
    name[0] = 'M';

    assert_string_equal(config->entry_name, "my_entry");
}

/* ---- what is refused ---- */

#define REFUSES(text, member, value) \
    do { \
        kiln_config_options options_ = KILN_CONFIG_OPTIONS_INIT; \
        const kiln_config *config_ = NULL; \
        options_.member = (value); \
        assert_fails( \
            KILN_EINVAL, (text), \
            kiln_config_new(&config_, context, &options_, &test_error)); \
        assert_null(config_); \
    } while (0)

static void a_bad_setting_is_named(void **state)
{
    (void)state;
    REFUSES("opt_level is 5", opt_level, 5);
    REFUSES("debug_level is 3", debug_level, 3);
    REFUSES("bounds_checks is 3", bounds_checks, 3);
    REFUSES("fast_math is 9", fast_math, 9);
    REFUSES("contract is 255", contract, 255);
    REFUSES("entry_abi is 2", entry_abi, 2);
    REFUSES("sites is 2", sites, 2);
    REFUSES("math is 3", math, 3);
    REFUSES("minimum_groups is 65536", minimum_groups, 65536);
    REFUSES("maximum_registers is 513", maximum_registers, 513);
    REFUSES("unroll is 65536", unroll, 65536);
    REFUSES("required_group_size", required_group_size[1], 0x80000000u);
    REFUSES("entry_name is ''", entry_name, "");
    REFUSES("entry_name is '1a'", entry_name, "1a");
    REFUSES("entry_name is 'a b'", entry_name, "a b");
    REFUSES("entry_name is 'a '", entry_name, "a\n");
    REFUSES("those of compilers", entry_name, "__divti3");
    REFUSES("overlays is 'a,'", overlays, "a,");
    REFUSES("overlays is ',a'", overlays, ",a");
    REFUSES("overlays is 'a, b'", overlays, "a, b");
    REFUSES("overlays names 'b' twice", overlays, "a,b,c,b");
}

static void a_group_that_no_device_has_is_refused(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;

    (void)state;
    for (int d = 0; d < 3; d++)
        options.required_group_size[d] = 65536;

    assert_fails(KILN_EINVAL, "65536 x 65536 x 65536",
                 kiln_config_new(&config, context, &options, &test_error));
}

static void a_size_of_0_beside_others_is_1(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *short_form = NULL, *long_form = NULL;

    (void)state;
    options.required_group_size[1] = 8;
    assert_ok(kiln_config_new(&short_form, context, &options, &test_error));
    options.required_group_size[0] = 1;
    options.required_group_size[2] = 1;
    assert_ok(kiln_config_new(&long_form, context, &options, &test_error));

    assert_ptr_equal(short_form, long_form);
    assert_int_equal(short_form->required_group_x, 1);
}

static void an_unknown_backend_or_processor_is_refused(void **state)
{
    (void)state;
    REFUSES("nosuch", target, "nosuch");
    REFUSES("nosuch", target, "nosuch:sm_90");
    REFUSES("bogus", target, "host:bogus");
}

static void a_newer_callers_unknown_setting_is_refused(void **state)
{
    struct {
        kiln_config_options options;
        uint64_t later;
    } newer = {.options = {.size = sizeof newer}, .later = 1};
    const kiln_config *config = NULL;

    (void)state;
    assert_fails(
        KILN_EINVAL, "does not know",
        kiln_config_new(&config, context, &newer.options, &test_error));

    newer.later = 0;
    assert_ptr_equal(config_of(&newer.options), config_of(NULL));
}

/* ---- description ---- */

static void the_description_names_every_setting_and_scope(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_blob text;

    (void)state;
    options.opt_level = KILN_OPT_2;
    options.overlays = "mine";
    assert_ok(kiln_config_describe(&text, config_of(&options)));

    assert_contains(text.data, "overlays = \"mine,host\" [typed]\n");
    assert_contains(text.data, "opt_level = 2 [binary]\n");
    assert_contains(text.data, "bounds_checks = on [runtime, binary]\n");
    assert_contains(text.data, "fast_math = off [runtime, binary]\n");
    assert_contains(text.data, "device = 0 [load]\n");
#define NAMED(member, kind, scopes) assert_contains(text.data, #member " = ");
    KILN__SETTING_MAP(NAMED)
    kiln_blob_release(&text);
}

/* ---- threads and memory ---- */

typedef struct race {
    thread_report report;
    pthread_mutex_t lock;
    const kiln_config *seen[16];
} race;

static void *make_all(void *argument)
{
    race *r = argument;

    for (uint32_t i = 0; i < 16; i++) {
        kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
        const kiln_config *config = NULL;

        options.required_group_size[0] = 100 + i;
        thread_assert_ok(&r->report,
                         kiln_config_new(&config, context, &options, NULL));
        pthread_mutex_lock(&r->lock);
        if (!r->seen[i])
            r->seen[i] = config;
        thread_assert(&r->report, r->seen[i] == config);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

static void threads_that_race_get_the_same_configs(void **state)
{
    race r = {.report = THREAD_REPORT_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

    (void)state;

    harness_run_threads(8, make_all, &r);

    assert_threads_ok(&r.report);
}

static kiln_status fill(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_context *own = NULL;
    const kiln_config *config = NULL;
    kiln_blob text = {0};
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    settings.entry_name = "entry";
    settings.overlays = "mine";
    status = kiln_context_new(&own, &options, NULL);
    if (status == KILN_OK)
        status = kiln_config_new(&config, own, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_config_new(&config, own, &settings, NULL);
    if (status == KILN_OK)
        status = kiln_config_describe(&text, config);
    kiln_blob_release(&text);
    kiln_context_free(own);
    return status;
}

static void out_of_memory_at_any_call_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_for_is_the_host_with_all_defaults),
        cmocka_unit_test(a_default_that_is_spelt_out_is_the_same_config),
        cmocka_unit_test(overlays_end_with_the_backends_own),
        cmocka_unit_test(typed_settings_change_every_digest),
        cmocka_unit_test(runtime_settings_leave_the_owner_token),
        cmocka_unit_test(binary_settings_change_the_full_digest_alone),
        cmocka_unit_test(load_settings_enter_no_digest),
        cmocka_unit_test(digests_are_the_same_in_another_context),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(a_bad_setting_is_named),
        cmocka_unit_test(a_group_that_no_device_has_is_refused),
        cmocka_unit_test(a_size_of_0_beside_others_is_1),
        cmocka_unit_test(an_unknown_backend_or_processor_is_refused),
        cmocka_unit_test(a_newer_callers_unknown_setting_is_refused),
        cmocka_unit_test(the_description_names_every_setting_and_scope),
        cmocka_unit_test(threads_that_race_get_the_same_configs),
        cmocka_unit_test(out_of_memory_at_any_call_is_survived),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
