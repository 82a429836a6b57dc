/* test_key_fields.c - what an encoded key says, field by field. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers fault */
#include <stdio.h>
#include <string.h>

#include "context/keys/key.h"
#include "context/types/types.h"
#include "support/harness.h"

static kiln_context context;
static char frontend_name[] = "toy 1";
static kiln_frontend frontend = {.context = &context, .name = frontend_name};

static char text_overlays[] = "mine,host", text_backend[] = "host",
            text_triple[] = "x86_64-unknown-linux-gnu",
            text_processor[] = "x86-64", text_features[] = "+avx2",
            text_function[] = "main.f";

static const kiln_config config = {.context = &context,
                                   .overlays = text_overlays,
                                   .backend = text_backend,
                                   .triple = text_triple,
                                   .processor = text_processor,
                                   .features = text_features,
                                   .opt_level = KILN_OPT_2,
                                   .bounds_checks = KILN_SWITCH_OFF,
                                   .fast_math = KILN_SWITCH_ON,
                                   .contract = KILN_SWITCH_ON,
                                   .required_group_y = 8};

static const kiln_digest one = {{1, 2}};
#define ZEROS "000000000000000000000000000000000000000000000000000000000000"
#define ONE "0102" ZEROS

/* All fields as "name=value;". */
typedef struct seen {
    char text[8192];
    size_t size;
    size_t count;
} seen;

static void note(void *env, const char *section, const char *name,
                 const char *value)
{
    seen *s = env;

    assert_string_equal(section, "key");
    s->count++;
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size,
                                "%s=%s;", name, value);
    assert_true(s->size < sizeof s->text);
}

static seen describe(const kiln__encoder *key)
{
    seen s = {.size = 0};

    assert_ok(
        kiln__key_describe(&kiln__malloc, key->bytes, key->size, note, &s));
    return s;
}

static kiln__encoder begin(void)
{
    kiln__encoder key;

    context.alloc = kiln__malloc;
    kiln__encoder_init(&key, &kiln__malloc);
    return key;
}

static void a_binary_key_names_every_setting(void **state)
{
    kiln__encoder key = begin();
    seen s;

    (void)state;
    assert_ok(kiln__key_binary(&key, one, &config));
    s = describe(&key);
    assert_contains(s.text, "key of=binary;");
    assert_contains(s.text, "typed digest=" ONE ";");
#define NAMED(member, kind, mask) \
    if ((mask)&KILN__SCOPE_BINARY) \
        assert_contains(s.text, ";" #member "=");
    KILN__SETTING_MAP(NAMED)
#undef NAMED
    assert_contains(s.text, "opt_level=2;");
    assert_contains(s.text, "bounds_checks=off;");
    assert_contains(s.text, "fast_math=on;");
    assert_contains(s.text, "required_group_y=8;");
    assert_contains(s.text, "entry_name=;");
    assert_contains(s.text, "code generator=kiln ");
    kiln__encoder_dispose(&key);
}

static void an_instance_key_names_function_and_arguments(void **state)
{
    const kiln_function function = {.frontend = &frontend,
                                    .name = text_function};
    char scalar[] = "f32", ball[] = "toy.Ball", package[] = "toy",
         name[] = "Ball";
    const kiln_type first = {.text = scalar};
    const kiln_type second = {
        .text = ball, .package = package, .name = name, .definition = {{5}}};
    const kiln_type *const types[] = {&first, &second};
    const kiln_signature signature = {&function, types, 2};
    kiln__encoder key = begin();
    seen s;

    (void)state;
    assert_ok(kiln__key_instance(&key, &signature, &config, one));
    s = describe(&key);
    assert_string_equal(s.text,
                        "key of=instance;frontend=toy 1;overlays=mine,host;"
                        "function=main.f;argument 1=f32;argument 2=toy.Ball;"
                        "argument 2's definition=05" ZEROS "00;"
                        "root method=" ONE ";");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_program(&key, &signature, &config, one));
    s = describe(&key);
    assert_contains(s.text, "key of=program;");
    assert_contains(s.text, "program text=0102");
    kiln__encoder_dispose(&key);
}

static void other_keys_are_named_too(void **state)
{
    kiln__encoder key = begin();
    seen s;

    (void)state;
    assert_ok(kiln__key_runtime(&key, one, &config));
    s = describe(&key);
    assert_contains(s.text, "key of=runtime;overlays=mine,host;backend=host;");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_closure(&key, one, "sinf", &config));
    s = describe(&key);
    assert_contains(s.text, ";symbol=sinf;code generator=kiln ");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_source(&key, &frontend, "v1", "main", one, one));
    s = describe(&key);
    assert_contains(s.text, ";runtime texts=v1;package=main;history=0102");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_attached(&key, &context, one, "adjoint", NULL));
    s = describe(&key);
    assert_contains(s.text, "key of=attached;consumer=adjoint;code instance=");
    assert_contains(s.text, ";of a config=0;");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_attached(&key, &context, one, "adjoint", &config));
    s = describe(&key);
    assert_contains(s.text, ";of a config=1;overlays=mine,host;backend=host;");
    kiln__encoder_dispose(&key);
    key = begin();
    assert_ok(kiln__key_toolchain(&key, &context, "abc"));
    s = describe(&key);
    assert_contains(s.text, "of=abc;");
    kiln__encoder_dispose(&key);
}

static void what_follows_a_key_is_its_salt(void **state)
{
    kiln__encoder key = begin();
    seen s;

    (void)state;
    assert_ok(kiln__key_binary(&key, one, &config));
    kiln__encode_text(&key, "mine");
    s = describe(&key);
    assert_contains(s.text, ";salt=mine;");
    kiln__encoder_dispose(&key);
}

static void an_unknown_key_is_numbered(void **state)
{
    kiln__encoder key = begin();
    seen s;

    (void)state;
    kiln__encode_text(&key, "poem");
    kiln__encode_u64(&key, 7);
    kiln__encode_i64(&key, -7);
    kiln__encode_bytes(&key, "\x01\xff", 2);
    kiln__encode_digest(&key, one);
    kiln__encode_text(&key, NULL);
    s = describe(&key);
    assert_string_equal(s.text, "field 0=poem;field 1=7;field 2=-7;"
                                "field 3=01ff;"
                                "field 4=" ONE ";"
                                "field 5=;");
    kiln__encoder_dispose(&key);
}

static void ignore(void *env, const char *section, const char *name,
                   const char *value)
{
    size_t *count = env;

    (void)section;
    assert_non_null(name);
    assert_non_null(value);
    (*count)++;
}

static void a_cut_or_flipped_key_is_shown_as_far_as_it_goes(void **state)
{
    kiln__encoder key = begin();
    size_t count = 0;

    (void)state;
    assert_ok(kiln__key_binary(&key, one, &config));
    for (size_t size = 0; size < key.size; size++)
        assert_ok(
            kiln__key_describe(&kiln__malloc, key.bytes, size, ignore, &count));
    for (size_t i = 0; i < key.size; i++) {
        key.bytes[i] ^= 0x55;
        assert_ok(kiln__key_describe(&kiln__malloc, key.bytes, key.size, ignore,
                                     &count));
        key.bytes[i] ^= 0x55;
    }
    assert_true(count > key.size);
    kiln__encoder_dispose(&key);
}

static kiln_status describe_with(const kiln_alloc *alloc, void *env)
{
    const kiln__encoder *key = env;
    size_t count = 0;

    return kiln__key_describe(alloc, key->bytes, key->size, ignore, &count);
}

static void describing_survives_a_failing_allocator(void **state)
{
    kiln__encoder key = begin();

    (void)state;
    assert_ok(kiln__key_binary(&key, one, &config));
    assert_survives_failing_alloc(describe_with, &key);
    kiln__encoder_dispose(&key);
}

static void a_key_is_told_by_its_name(void **state)
{
    kiln__encoder encoder = begin();
    kiln_key key;

    (void)state;
    assert_ok(kiln__key_runtime(&encoder, one, &config));
    key = (kiln_key){one, encoder.bytes, encoder.size};
    assert_true(kiln__key_is_named(&key, "runtime"));
    assert_false(kiln__key_is_named(&key, "run"));
    assert_false(kiln__key_is_named(&key, "closure"));
    key.encoded_size = 3;
    assert_false(kiln__key_is_named(&key, "runtime"));
    kiln__encoder_dispose(&encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_key_names_every_setting),
        cmocka_unit_test(an_instance_key_names_function_and_arguments),
        cmocka_unit_test(other_keys_are_named_too),
        cmocka_unit_test(what_follows_a_key_is_its_salt),
        cmocka_unit_test(an_unknown_key_is_numbered),
        cmocka_unit_test(a_cut_or_flipped_key_is_shown_as_far_as_it_goes),
        cmocka_unit_test(describing_survives_a_failing_allocator),
        cmocka_unit_test(a_key_is_told_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
