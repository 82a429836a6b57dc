/* test_frontend_warm.c - what the language says of results found in stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <stdio.h>
#include <string.h>

#include "base/digest/digest.h"
#include "context/context.h"
#include "context/types/types.h"
#include "kiln/compile.h"
#include "kiln/runtime.h"
#include "tiers/typed/code_state.h"

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
    kiln_digest digest = {{1}};

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

/* ---- program ---- */

static kiln_digest program_at(program *p, const call *c, uint64_t world)
{
    kiln_digest digest = {{1}};

    assert_ok(ops_of(p)->program(p->language, &c->signature, any_config(p),
                                 world, &digest));
    return digest;
}

/* Of `fn f(x) = 1` and of `fn g(x: P) = x`, in package main. */
static kiln_digest program_of(program *p, const char *function,
                              const char *type)
{
    call c;

    call_init(&c, p, function, type, NULL);
    return program_at(p, &c, today(p));
}

#define assert_same(a, b) assert_true(kiln__digest_equal((a), (b)))
#define assert_other(a, b) assert_false(kiln__digest_equal((a), (b)))

static void define_in(program *p, const char *package, const char *text)
{
    program_define_in(program_package(p, package), text, NULL);
}

static void equal_texts_are_equal_programs_whatever_they_are_called(
    void **state)
{
    static const char text[] = "fn f(x) = 1\n";
    program *p = *state;
    kiln_digest first;
    void *other = NULL;
    program *q;

    program_define(p, text);
    first = program_of(p, "f", "f32");
    assert_false(kiln__digest_is_zero(first));
    assert_int_equal(program_setup(&other), 0);
    q = other;
    define_in(q, "unrelated", "fn h(x) = x + 1\n");
    assert_ok(kiln_package_define(q->main, "elsewhere/main.kiln", text,
                                  strlen(text), NULL, &test_error));
    assert_same(first, program_of(q, "f", "f32"));
    assert_same(first, program_of(q, "f", "f64"));
    assert_int_equal(program_teardown(&other), 0);
}

static void what_changes_no_meaning_changes_no_program(void **state)
{
    static const char text[] = "const n = 2\nfn f(x) = n\n";
    program *p = *state;
    kiln_digest before;

    program_define(p, text);
    before = program_of(p, "f", "f32");
    program_define(p, text);
    program_define(p, "# a remark\n");
    assert_ok(kiln_package_define(p->main, "moved.kiln", text, strlen(text),
                                  NULL, &test_error));
    program_refuse(p, "unknown-package", "import nowhere\n");
    assert_same(before, program_of(p, "f", "f32"));
}

static void each_change_of_the_package_is_another_program(void **state)
{
    program *p = *state;
    kiln_digest seen[4];
    call c;

    program_define(p, "fn f(x) = 1\nfn f(x: f32) = 2\n");
    seen[0] = program_of(p, "f", "f32");
    program_define(p, "fn f(x: f32) = 3\n");
    seen[1] = program_of(p, "f", "f32");
    call_init(&c, p, "f", "f32", NULL);
    assert_ok(kiln_method_delete(p->main, c.signature.function, "f32", NULL,
                                 NULL, &test_error));
    seen[2] = program_of(p, "f", "f32");
    assert_ok(kiln_package_unload(p->main, NULL, &test_error));
    seen[3] = program_at(p, &c, today(p));
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_other(seen[i], seen[j]);
}

static void what_is_imported_counts_however_far_away(void **state)
{
    program *p = *state;
    kiln_digest before;

    define_in(p, "far", "fn h(x) = x\n");
    define_in(p, "near", "import far\nfn g(x) = far.h(x)\n");
    program_define(p, "import near\nfn f(x) = near.g(x)\n");
    before = program_of(p, "f", "f32");
    define_in(p, "other", "import near\nfn k(x) = x\n");
    assert_same(before, program_of(p, "f", "f32"));
    define_in(p, "far", "fn h(x) = x + x\n");
    assert_other(before, program_of(p, "f", "f32"));
}

static void the_packages_of_types_count(void **state)
{
    program *p = *state;
    kiln_digest plain, own;

    define_in(p, "shapes", "struct S{T}\n a: T\nend\nfn h(x) = x\n");
    program_define(p, "fn f(x) = 1\n");
    plain = program_of(p, "f", "f32");
    own = program_of(p, "f", "shapes.S{f32}[:]");
    assert_other(plain, own);
    assert_same(own, program_of(p, "f", "typeof(shapes.h)"));
    assert_same(own, program_of(p, "f", "Type{shapes.S{i8}}"));
    define_in(p, "shapes", "fn h(x) = x + x\n");
    assert_same(plain, program_of(p, "f", "f32"));
    assert_other(own, program_of(p, "f", "shapes.S{f32}[:]"));
}

static void methods_for_the_functions_of_others_count_everywhere(void **state)
{
    static const char *const texts[] = {
        "struct Q\n a: f32\nend\nfn +(a: Q, b) = b\n",
        "overlay host fn sqrt(x: f32) = x\n",
        "import base\nfn base.h(x: f32) = x\n",
        "import base: h\nfn h(x: f64) = x\n"};
    program *p = *state;
    kiln_digest before, now;
    char name[] = "a";

    define_in(p, "base", "fn h(x) = x\n");
    program_define(p, "fn f(x) = 1\n");
    before = program_of(p, "f", "f32");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        name[0]++;
        define_in(p, name, texts[i]);
        now = program_of(p, "f", "f32");
        assert_other(before, now);
        before = now;
    }
}

static void what_core_is_given_counts(void **state)
{
    program *p = *state;
    kiln_package *core = NULL;
    kiln_digest before;

    program_define(p, "fn f(x) = 1\n");
    before = program_of(p, "f", "f32");
    assert_ok(kiln_runtime_package(&core, p->context, &test_error));
    program_define_in(core, "fn ipow(x: f32, n: i8) = x\n", NULL);
    assert_other(before, program_of(p, "f", "f32"));
}

static void what_a_text_saw_when_it_was_defined_counts(void **state)
{
    static const char *const numbers[] = {"const n = 2\n", "const n = 3\n"};
    static const char text[] = "import far: n\nfn f(x: Vec{f32, n}) = 1\n";
    program *p = *state;
    kiln_digest digests[2];

    for (int first = 0; first < 2; first++) {
        void *other = NULL;
        program *q;

        assert_int_equal(program_setup(&other), 0);
        q = other;
        define_in(q, "far", numbers[0]);
        if (first)
            program_define(q, text);
        define_in(q, "far", numbers[1]);
        if (!first)
            program_define(q, text);
        digests[first] = program_of(q, "f", "f32");
        assert_int_equal(program_teardown(&other), 0);
    }
    assert_other(digests[0], digests[1]);
    (void)p;
}

static void without_certainty_there_is_no_program(void **state)
{
    program *p = *state;
    uint64_t world;
    call c;

    program_define(p, "struct Q\n a: f32\nend\nfn f(x) = 1\n");
    call_init(&c, p, "f", "f32", NULL);
    world = today(p);
    program_define(p, "fn g(x) = 1\n");
    assert_true(kiln__digest_is_zero(program_at(p, &c, world)));
    define_in(p, "first", "import main: Q\nfn +(a: Q, b: Q) = a\n");
    assert_false(kiln__digest_is_zero(program_at(p, &c, today(p))));
    define_in(p, "second", "import main: Q\nfn +(a: Q, b: Q) = b\n");
    assert_true(kiln__digest_is_zero(program_at(p, &c, today(p))));
}

static void hundreds_of_packages_are_one_program(void **state)
{
    program *p = *state;
    char name[16], text[64];
    kiln_digest before;

    define_in(p, "p0", "fn h(x) = x\n");
    for (int i = 1; i < 200; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        (void)snprintf(text, sizeof text, "import p%d\nfn h(x) = p%d.h(x)\n",
                       i - 1, i - 1);
        define_in(p, name, text);
    }
    program_define(p, "import p199\nfn f(x) = p199.h(x)\n");
    before = program_of(p, "f", "f32");
    assert_same(before, program_of(p, "f", "f32"));
    define_in(p, "p0", "fn h(x) = x + x\n");
    assert_other(before, program_of(p, "f", "f32"));
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
        TEST(equal_texts_are_equal_programs_whatever_they_are_called),
        TEST(what_changes_no_meaning_changes_no_program),
        TEST(each_change_of_the_package_is_another_program),
        TEST(what_is_imported_counts_however_far_away),
        TEST(the_packages_of_types_count),
        TEST(methods_for_the_functions_of_others_count_everywhere),
        TEST(what_core_is_given_counts),
        TEST(what_a_text_saw_when_it_was_defined_counts),
        TEST(without_certainty_there_is_no_program),
        TEST(hundreds_of_packages_are_one_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
