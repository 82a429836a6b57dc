/* test_frontend_warm.c - what the language says of results found in stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/program.h"

#include <string.h>

#include "core.h"
#include "hasher.h"
#include "kiln/compile.h"
#include "tiers/state.h"
#include "types.h"

/* A call of a function of package main, with up to two arguments. */
typedef struct call {
    kiln_signature signature;
    const kiln_type *types[2];
} call;

static void call_init(call *c, program *p, const char *function,
                      const char *first, const char *second)
{
    const char *const texts[2] = {first, second};

    *c = (call){.signature = {.types = c->types}};
    assert_ok(kiln_package_function(&c->signature.function, p->main, function,
                                    &test_error));
    while (c->signature.count < 2 && texts[c->signature.count] != NULL) {
        c->types[c->signature.count] =
            program_type(p, texts[c->signature.count]);
        c->signature.count++;
    }
}

static const kiln_config *any_config(const program *p)
{
    const kiln_config *config = NULL;

    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    return config;
}

static const kiln_frontend_ops *ops_of(const program *p)
{
    return &p->context->language->ops;
}

static uint64_t today(const program *p)
{
    return kiln_world(p->context->language);
}

static kiln_digest root_at(program *p, const call *c, uint64_t world)
{
    kiln_digest digest = {1, 1};

    assert_ok(ops_of(p)->root(p->language, &c->signature, any_config(p), world,
                              &digest));
    return digest;
}

static kiln_digest root_of(program *p, const char *function, const char *first,
                           const char *second)
{
    call c;

    call_init(&c, p, function, first, second);
    return root_at(p, &c, today(p));
}

/* ---- root ---- */

static void the_root_is_what_inference_reports(void **state)
{
    program *p = *state;
    const kiln_code *code = NULL;
    kiln_digest root;
    call c;

    program_define(p, "fn f(x) = x + 1\nfn f(x: f32) = x * 2.0\n");
    call_init(&c, p, "f", "f32", NULL);
    root = root_at(p, &c, today(p));
    assert_false(kiln__digest_is_zero(root));
    assert_false(kiln__digest_equal(root, root_of(p, "f", "f64", NULL)));
    assert_ok(kiln_infer(&code, p->context, &c.signature, any_config(p), 0,
                         &test_error));
    assert_true(kiln__digest_equal(root, code->root));
}

static void a_call_that_gets_no_method_or_two_has_no_root(void **state)
{
    program *p = *state;

    program_define(p, "fn f(x: f32) = x\n"
                      "fn g(x: f32, y) = x\nfn g(x, y: f32) = y\n");
    assert_true(kiln__digest_is_zero(root_of(p, "f", "f64", NULL)));
    assert_true(kiln__digest_is_zero(root_of(p, "f", NULL, NULL)));
    assert_true(kiln__digest_is_zero(root_of(p, "g", "f32", "f32")));
    assert_false(kiln__digest_is_zero(root_of(p, "g", "f32", "f64")));
}

static void an_overlay_that_the_config_names_gives_the_root(void **state)
{
    program *p = *state;
    kiln_digest before;

    program_define(p, "fn f(x) = 1\n");
    before = root_of(p, "f", "f32", NULL);
    program_define(p, "overlay cuda fn f(x) = 2\n");
    assert_true(kiln__digest_equal(before, root_of(p, "f", "f32", NULL)));
    program_define(p, "overlay host fn f(x) = 3\n");
    assert_false(kiln__digest_equal(before, root_of(p, "f", "f32", NULL)));
}

static void the_root_is_that_of_the_world_asked_about(void **state)
{
    program *p = *state;
    kiln_digest before;
    uint64_t world;
    call c;

    program_define(p, "fn f(x) = 1\n");
    call_init(&c, p, "f", "f32", NULL);
    world = today(p);
    before = root_at(p, &c, world);
    program_define(p, "fn f(x) = 2\n");
    assert_true(kiln__digest_equal(before, root_at(p, &c, world)));
    assert_false(kiln__digest_equal(before, root_at(p, &c, today(p))));
    kiln_context_collect(p->context);
    assert_true(kiln__digest_is_zero(root_at(p, &c, world)));
}

/* ---- type, function ---- */

static const kiln_type *type_at(const program *p, const char *text,
                                uint64_t world)
{
    const kiln_type *type = NULL;
    const kiln_status status = ops_of(p)->type(p->language, text, world, &type);

    assert_status(type == NULL ? KILN_ENOTFOUND : KILN_OK, status);
    return type;
}

static void canonical_texts_give_their_types(void **state)
{
    static const char *const texts[] = {"f32",
                                        "f32[:,:]",
                                        "i64[strided :]",
                                        "Static{-3}",
                                        "P{f32, P{i8, u8}}",
                                        "P{f32, i8}[:]",
                                        "typeof(f)",
                                        "typeof(+)",
                                        "(typeof(f), typeof(+))",
                                        "Type{P{f32, f32}}"};
    program *p = *state;

    program_define(p, "struct P{A, B}\n a: A\n b: B\nend\nfn f(x) = 1\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const kiln_type *type = program_type(p, texts[i]);

        assert_ptr_equal(type_at(p, kiln_type_text(type), today(p)), type);
    }
}

static void a_text_that_nothing_defines_is_no_type(void **state)
{
    program *p = *state;

    program_define(p, "struct P\n a: f32\nend\nfn f(x) = 1\n");
    assert_null(type_at(p, "main.Q", today(p)));
    assert_null(type_at(p, "other.P", today(p)));
    assert_null(type_at(p, "typeof(main.g)", today(p)));
    assert_null(type_at(p, "main.f", today(p)));
    assert_null(type_at(p, "f32[", today(p)));
}

static void a_struct_is_the_one_of_the_world_asked_about(void **state)
{
    program *p = *state;
    const kiln_type *before, *now;
    uint64_t world;

    world = today(p);
    program_define(p, "struct P\n a: f32\nend\n");
    assert_null(type_at(p, "main.P", world));
    world = today(p);
    before = type_at(p, "main.P", world);
    program_define(p, "struct P\n a: f64\nend\n");
    now = type_at(p, "main.P", today(p));
    assert_ptr_equal(type_at(p, "main.P", world), before);
    assert_ptr_not_equal(now, before);
    assert_int_equal(kiln_type_size(now), 8);
}

static void qualified_names_give_their_functions(void **state)
{
    program *p = *state;
    const kiln_function *function = NULL, *other = NULL;

    program_define(p, "fn f(x) = 1\nstruct P\n a: f32\nend\nconst n = 1\n");
    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    assert_ok(ops_of(p)->function(p->language, "main.f", &other));
    assert_ptr_equal(function, other);
    assert_ok(ops_of(p)->function(p->language, "core.sqrt", &other));
    assert_string_equal(kiln_function_name(other), "core.sqrt");
    assert_ok(ops_of(p)->function(p->language, "core.ipow", &other));
    assert_status(KILN_ENOTFOUND,
                  ops_of(p)->function(p->language, "main.g", &other));
    assert_status(KILN_ENOTFOUND,
                  ops_of(p)->function(p->language, "f", &other));
    assert_status(KILN_ENOTFOUND,
                  ops_of(p)->function(p->language, "main.n", &other));
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_root_is_what_inference_reports),
        TEST(a_call_that_gets_no_method_or_two_has_no_root),
        TEST(an_overlay_that_the_config_names_gives_the_root),
        TEST(the_root_is_that_of_the_world_asked_about),
        TEST(canonical_texts_give_their_types),
        TEST(a_text_that_nothing_defines_is_no_type),
        TEST(a_struct_is_the_one_of_the_world_asked_about),
        TEST(qualified_names_give_their_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
