/* test_key.c - every key there is, and what enters it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers fault */
#include <string.h>

#include "context/keys/key.h"
#include "context/types/types.h"
#include "support/harness.h"

/* A context as far as keys look at one: its allocator. */
static kiln_context context;
static char frontend_name[] = "toy 1";
static kiln_frontend frontend = {.context = &context, .name = frontend_name};

static char text_overlays[] = "mine,host", text_backend[] = "host",
            text_triple[] = "x86_64-unknown-linux-gnu",
            text_processor[] = "x86-64", text_features[] = "+avx2",
            text_target[] = "host:x86-64+avx2", text_other[] = "other";

static kiln_config plain(void)
{
    kiln_config config = {.context = &context,
                          .overlays = text_overlays,
                          .backend = text_backend,
                          .triple = text_triple,
                          .processor = text_processor,
                          .features = text_features,
                          .target = text_target,
                          .opt_level = KILN_OPT_3,
                          .bounds_checks = KILN_SWITCH_ON,
                          .fast_math = KILN_SWITCH_OFF,
                          .contract = KILN_SWITCH_ON};

    context.alloc = kiln__malloc;
    assert_ok(kiln__key_config(&config));
    return config;
}

/* ---- keys as digests ---- */

static const kiln_digest some_digest = {{1, 2}};

static kiln_digest instance_key(const kiln_function *function,
                                const kiln_type *const *types, size_t count,
                                const kiln_config *config, kiln_digest root)
{
    const kiln_signature signature = {function, types, count};
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    assert_ok(kiln__key_instance(&encoder, &signature, config, root));
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

static kiln_digest plain_instance_key(const kiln_config *config)
{
    static char name[] = "main.f";
    const kiln_function function = {.frontend = &frontend, .name = name};

    return instance_key(&function, NULL, 0, config, some_digest);
}

static kiln_digest binary_key(kiln_digest typed, const kiln_config *config)
{
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    assert_ok(kiln__key_binary(&encoder, typed, config));
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

static kiln_digest runtime_key(kiln_digest typed, const kiln_config *config)
{
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    assert_ok(kiln__key_runtime(&encoder, typed, config));
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

static kiln_digest closure_key(kiln_digest library, const char *symbol,
                               const kiln_config *config)
{
    kiln__encoder encoder;
    kiln_digest digest;

    kiln__encoder_init(&encoder, &kiln__malloc);
    assert_ok(kiln__key_closure(&encoder, library, symbol, config));
    digest = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return digest;
}

/* ---- settings ---- */

static int differ(kiln_digest a, kiln_digest b)
{
    return !kiln__digest_equal(a, b);
}

static int meets(uint32_t scopes, uint32_t mask)
{
    return (scopes & mask) != 0;
}

/* `flipped` differs from `before` in one setting of the scopes `mask`. */
static void check_flip(const kiln_config *before, kiln_config *flipped,
                       uint32_t mask)
{
    const uint32_t typed = KILN__SCOPE_TYPED;
    const uint32_t runtime = typed | KILN__SCOPE_RUNTIME;
    const uint32_t full = runtime | KILN__SCOPE_BINARY;

    assert_ok(kiln__key_config(flipped));
    assert_int_equal(differ(before->owner, flipped->owner), meets(mask, typed));
    assert_int_equal(differ(before->runtime, flipped->runtime),
                     meets(mask, runtime));
    assert_int_equal(differ(before->full, flipped->full), meets(mask, full));
    assert_int_equal(
        differ(plain_instance_key(before), plain_instance_key(flipped)),
        meets(mask, typed));
    assert_int_equal(differ(runtime_key(some_digest, before),
                            runtime_key(some_digest, flipped)),
                     meets(mask, runtime));
    assert_int_equal(differ(closure_key(some_digest, "pow", before),
                            closure_key(some_digest, "pow", flipped)),
                     meets(mask, KILN__SCOPE_RUNTIME));
    assert_int_equal(differ(binary_key(some_digest, before),
                            binary_key(some_digest, flipped)),
                     meets(mask, KILN__SCOPE_BINARY));
}

#define FLIP_TEXT(member) flipped.member = text_other
#define FLIP_NUMBER(member) flipped.member += 1
#define FLIP(member, kind, mask) \
    flipped = before; \
    FLIP_##kind(member); \
    check_flip(&before, &flipped, (mask));

static void flipping_a_setting_changes_exactly_the_keys_of_its_scopes(
    void **state)
{
    const kiln_config before = plain();
    kiln_config flipped;

    (void)state;

    KILN__SETTING_MAP(FLIP)
}

static void the_targets_display_name_enters_no_key(void **state)
{
    const kiln_config before = plain();
    kiln_config renamed = before;

    (void)state;
    renamed.target = text_other;
    renamed.hash = 99;

    check_flip(&before, &renamed, 0);
}

static void an_unset_entry_name_is_not_an_empty_one(void **state)
{
    static char empty[] = "";
    const kiln_config before = plain();
    kiln_config named = before;

    (void)state;
    named.entry_name = empty;

    check_flip(&before, &named, KILN__SCOPE_BINARY);
}

/* Bytes that move from one setting to its neighbour make another key. */
static void neighbouring_settings_do_not_run_together(void **state)
{
    static char ab[] = "ab", c[] = "c", a[] = "a", bc[] = "bc";
    kiln_config first = plain(), second = plain();

    (void)state;
    first.processor = ab;
    first.features = c;
    second.processor = a;
    second.features = bc;

    check_flip(&first, &second, KILN__SCOPE_BINARY);
}

/* ---- the other parts ---- */

static kiln_type type_of(const char *text, const char *package,
                         const char *name, uint64_t definition)
{
    kiln_type type = {.text = text,
                      .package = package,
                      .name = name,
                      .definition = harness_digest(definition, 0)};

    type.id = kiln__digest_combine(kiln__digest_text(text), type.definition);
    return type;
}

static void an_instance_key_holds_function_types_and_root(void **state)
{
    static char f_name[] = "main.f", g_name[] = "main.g", toy[] = "toy 2";
    kiln_frontend other_frontend = {.context = &context, .name = toy};
    const kiln_function f = {.frontend = &frontend, .name = f_name};
    const kiln_function g = {.frontend = &frontend, .name = g_name};
    const kiln_function h = {.frontend = &other_frontend, .name = f_name};
    const kiln_type a = type_of("main.A", "main", "A", 1);
    const kiln_type edited = type_of("main.A", "main", "A", 2);
    const kiln_type *const types[] = {&a, &a};
    const kiln_type *const edits[] = {&a, &edited};
    const kiln_digest root = {{5}}, other_root = {{0, 5}};
    const kiln_config config = plain();
    const kiln_digest key = instance_key(&f, types, 2, &config, root);

    (void)state;

    assert_false(differ(key, instance_key(&f, types, 2, &config, root)));
    assert_true(differ(key, instance_key(&g, types, 2, &config, root)));
    assert_true(differ(key, instance_key(&h, types, 2, &config, root)));
    assert_true(differ(key, instance_key(&f, types, 1, &config, root)));
    assert_true(differ(key, instance_key(&f, edits, 2, &config, root)));
    assert_true(differ(key, instance_key(&f, types, 2, &config, other_root)));
}

static void a_binary_key_holds_the_typed_digest(void **state)
{
    const kiln_config config = plain();
    const kiln_digest other = {{2, 1}};

    (void)state;

    assert_true(
        differ(binary_key(some_digest, &config), binary_key(other, &config)));
    assert_true(
        differ(runtime_key(some_digest, &config), runtime_key(other, &config)));
    assert_true(differ(binary_key(some_digest, &config),
                       runtime_key(some_digest, &config)));
}

static void a_closure_key_holds_library_and_symbol(void **state)
{
    const kiln_config config = plain();
    const kiln_digest other = {{2, 1}};
    const kiln_digest key = closure_key(some_digest, "pow", &config);

    (void)state;

    assert_true(differ(key, closure_key(other, "pow", &config)));
    assert_true(differ(key, closure_key(some_digest, "powf", &config)));
    assert_true(differ(key, runtime_key(some_digest, &config)));
}

static void the_codegen_identity_names_all_three_versions(void **state)
{
    (void)state;

    assert_contains(kiln__codegen_identity(), "kiln " KILN_VERSION_STRING);
    assert_contains(kiln__codegen_identity(), " pipeline ");
    assert_contains(kiln__codegen_identity(), " llvm 22.");
}

/*
 * Keys outlive the process, so they may change only together with a version:
 * of the schema, the pipeline, Kiln or LLVM. Whoever changes one of these
 * writes the new digests here.
 */
static void keys_are_what_they_were(void **state)
{
    const kiln_config config = plain();
    char owner[KILN_DIGEST_TEXT_SIZE], full[KILN_DIGEST_TEXT_SIZE],
        instance[KILN_DIGEST_TEXT_SIZE];

    (void)state;
    kiln_digest_text(config.owner, owner);
    kiln_digest_text(config.full, full);
    kiln_digest_text(plain_instance_key(&config), instance);

    assert_string_equal(
        owner,
        "ee12deb741e09e73fb02ab2033758ec6d937551f167964fe433ecf6260e77ac6");
    assert_string_equal(
        full,
        "63c7ee4f08925aac1a6ed74f00f849c5688349bfc4bec547bb32d6c95e3b29ea");
    assert_string_equal(
        instance,
        "81417c61e30f0b5471e3e311f95433da5f6d0751c190255ab0f2297ef16cf83a");
}

static kiln_status make_keys(const kiln_alloc *alloc, void *env)
{
    kiln_context own = {.alloc = *alloc};
    kiln_config config = plain();
    kiln__encoder encoder;
    kiln_status status;

    (void)env;
    config.context = &own;
    kiln__encoder_init(&encoder, &own.alloc);
    status = kiln__key_config(&config);
    if (status == KILN_OK)
        status = kiln__key_binary(&encoder, some_digest, &config);
    if (status == KILN_OK)
        status = kiln__key_runtime(&encoder, some_digest, &config);
    if (status == KILN_OK)
        status = kiln__key_closure(&encoder, some_digest, "pow", &config);
    kiln__encoder_dispose(&encoder);
    return status;
}

static void out_of_memory_at_any_call_is_survived(void **state)
{
    (void)state;
    assert_survives_failing_alloc(make_keys, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            flipping_a_setting_changes_exactly_the_keys_of_its_scopes),
        cmocka_unit_test(the_targets_display_name_enters_no_key),
        cmocka_unit_test(an_unset_entry_name_is_not_an_empty_one),
        cmocka_unit_test(neighbouring_settings_do_not_run_together),
        cmocka_unit_test(an_instance_key_holds_function_types_and_root),
        cmocka_unit_test(a_binary_key_holds_the_typed_digest),
        cmocka_unit_test(a_closure_key_holds_library_and_symbol),
        cmocka_unit_test(the_codegen_identity_names_all_three_versions),
        cmocka_unit_test(keys_are_what_they_were),
        cmocka_unit_test(out_of_memory_at_any_call_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
