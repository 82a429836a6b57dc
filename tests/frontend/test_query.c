/* test_query.c - questions of inference: recorded, and asked again. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <string.h>

#include "context/keys/settings.h"
#include "frontend/program/program_tables.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"

/* An inference that only records. */
typedef struct recorder {
    program *program;
    kiln_code code;
    kiln_inference inference;
    kiln__facts facts; /* of today */
} recorder;

static void recorder_init(recorder *r, program *p)
{
    memset(r, 0, sizeof *r);
    r->program = p;
    r->inference.context = p->context;
    r->inference.code = &r->code;
    r->facts = (kiln__facts){.language = p->language,
                             .world = kiln__language_world(p->language),
                             .inference = &r->inference};
}

static void recorder_dispose(recorder *r)
{
    const kiln_alloc *alloc = &r->program->context->alloc;

    for (size_t i = 0; i < r->code.queries.count; i++) {
        const kiln_query *query = &r->code.queries.items[i];

        kiln__deallocate(alloc, (void *)(uintptr_t)query->data, query->size);
    }
    kiln__array_dispose(alloc, &r->code.queries);
}

static kiln_status ask_call(recorder *r, const char *function,
                            const kiln__argument *arguments, size_t count,
                            const char *overlays)
{
    kiln__binding binding;
    kiln__match match;

    r->facts.world = kiln__language_world(r->program->language);
    r->facts.overlays = overlays;
    assert_ok(kiln__binding_find(&binding, r->program->main, function,
                                 r->facts.world));
    return kiln__ask_method(&match, &r->facts, binding.generic, arguments,
                            count);
}

static kiln_status ask_types(recorder *r, const char *function,
                             const char *type)
{
    const kiln__argument argument = {program_type(r->program, type), 0};

    return ask_call(r, function, &argument, 1, NULL);
}

static kiln_status ask_name(recorder *r, const char *name)
{
    kiln__binding binding;

    r->facts.world = kiln__language_world(r->program->language);
    return kiln__ask_binding(&binding, &r->facts, r->program->main, name);
}

static kiln_digest answer(recorder *r, size_t index, const char *overlays)
{
    const kiln_query *query = &r->code.queries.items[index];
    kiln_digest digest;
    char tables[64];
    kiln_config config = {.overlays = NULL};

    if (overlays != NULL)
        config.overlays = strcpy(tables, overlays);
    assert_ok(kiln__query_answer(
        r->program->language, query->data, query->size, &config,
        kiln__language_world(r->program->language), &digest));
    return digest;
}

static int is_unchanged(recorder *r, size_t index)
{
    return kiln__digest_equal(answer(r, index, NULL),
                              r->code.queries.items[index].answer);
}

static void every_kind_of_type_survives_the_way_through_bytes(void **state)
{
    static const char *const types[] = {"f32",
                                        "Bool",
                                        "f32[:,:]",
                                        "i8[strided :]",
                                        "(f32, i64)",
                                        "(f32,)",
                                        "()",
                                        "Vec{f32,4}",
                                        "Static{-3}",
                                        "Type{f32}",
                                        "P{f32, P{i8, u8}}",
                                        "P{f32, i8}[:]",
                                        "typeof(f)",
                                        "typeof(+)",
                                        "Type{P{f32, f32}}"};
    program *p = *state;
    recorder r;

    program_define(p, "struct P{A, B}\n a: A\n b: B\nend\nfn f(x) = 1\n");
    recorder_init(&r, p);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_ok(ask_types(&r, "f", types[i]));
        assert_true(is_unchanged(&r, i));
        assert_false(kiln__digest_is_zero(answer(&r, i, NULL)));
    }
    recorder_dispose(&r);
}

static void answers_change_exactly_with_what_was_asked(void **state)
{
    program *p = *state;
    recorder r;

    program_define(p, "fn f(x) = 1\nfn g(x) = 1\nconst C = 1\n"
                      "struct S\n x: f32\nend\n");
    recorder_init(&r, p);
    assert_ok(ask_types(&r, "f", "f32"));
    assert_ok(ask_types(&r, "g", "f32"));
    assert_ok(ask_name(&r, "C"));
    assert_ok(ask_name(&r, "S"));
    assert_ok(ask_name(&r, "f"));

    program_define(p, "# moved\n\nfn f(x) = 1  # the same\nfn h() = 1\n");
    for (size_t i = 0; i < 5; i++)
        assert_true(is_unchanged(&r, i));

    program_define(p, "fn f(x: Real) = 2\n");
    assert_false(is_unchanged(&r, 0));
    assert_true(is_unchanged(&r, 1));
    assert_true(is_unchanged(&r, 4));

    program_define(p, "const C = 2\n");
    assert_false(is_unchanged(&r, 2));
    assert_true(is_unchanged(&r, 3));

    program_define(p, "struct S\n x: f64\nend\n");
    assert_false(is_unchanged(&r, 3));
    program_define(p, "struct S\n x: f32\nend\nconst C = 1\n");
    assert_true(is_unchanged(&r, 3));
    assert_true(is_unchanged(&r, 2));
    recorder_dispose(&r);
}

static void no_answer_is_zero_until_there_is_one(void **state)
{
    program *p = *state;
    const kiln_function *function;
    recorder r;

    program_define(p, "fn f(x: f64) = 1\n");
    recorder_init(&r, p);
    assert_status(KILN_ENOTFOUND, ask_types(&r, "f", "f32"));
    assert_status(KILN_ENOTFOUND, ask_name(&r, "later"));
    assert_true(kiln__digest_is_zero(r.code.queries.items[0].answer));
    assert_true(kiln__digest_is_zero(r.code.queries.items[1].answer));

    program_define(p, "fn f(x) = 1\nconst later = 1\n");
    assert_false(is_unchanged(&r, 0));
    assert_false(is_unchanged(&r, 1));

    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    assert_ok(
        kiln_method_delete(p->main, function, "Any", NULL, NULL, &test_error));
    assert_true(is_unchanged(&r, 0));
    recorder_dispose(&r);
}

static void ambiguity_is_an_answer_of_its_own(void **state)
{
    program *p = *state;
    const kiln_type *f32 = program_type(p, "f32");
    const kiln__argument arguments[2] = {{f32, 0}, {f32, 0}};
    recorder r;

    program_define(p, "fn f(a: f32, b) = 1\nfn f(a, b: f32) = 2\n");
    recorder_init(&r, p);
    assert_status(KILN_ECOMPILE, ask_call(&r, "f", arguments, 2, NULL));
    assert_true(is_unchanged(&r, 0));
    assert_false(kiln__digest_is_zero(answer(&r, 0, NULL)));

    program_define(p, "fn f(a: f32, b: f32) = 3\n");
    assert_false(is_unchanged(&r, 0));
    recorder_dispose(&r);
}

static void literals_and_overlays_are_part_of_the_question(void **state)
{
    program *p = *state;
    const kiln_type *f64 = program_type(p, "f64");
    const kiln__argument literal = {f64, KILN__LITERAL_FLOAT};
    const kiln__argument value = {f64, KILN__LITERAL_NONE};
    recorder r;

    program_define(p, "fn f(x: f32) = 1\noverlay gpu fn f(x) = 2\n");
    recorder_init(&r, p);
    assert_ok(ask_call(&r, "f", &literal, 1, "host"));
    assert_status(KILN_ENOTFOUND, ask_call(&r, "f", &value, 1, "host"));
    assert_status(KILN_ENOTFOUND, ask_call(&r, "f", &value, 1, "host"));

    assert_int_equal(r.code.queries.count, 2);
    assert_true(is_unchanged(&r, 0));
    assert_true(is_unchanged(&r, 1));
    assert_false(kiln__digest_equal(answer(&r, 0, "gpu"),
                                    r.code.queries.items[0].answer));
    recorder_dispose(&r);
}

static void shadowing_and_imports_change_the_meaning_of_names(void **state)
{
    program *p = *state;
    kiln_package *lib = program_package(p, "lib");
    recorder r;

    program_define_in(lib, "const C = 1\n", NULL);
    program_define(p, "import lib: C\n");
    recorder_init(&r, p);
    assert_ok(ask_name(&r, "C"));
    assert_ok(ask_name(&r, "exp"));

    program_define_in(lib, "const C = 2\n", NULL);
    assert_false(is_unchanged(&r, 0));

    program_define(p, "const exp = 1\n");
    assert_false(is_unchanged(&r, 1));
    recorder_dispose(&r);
}

static void an_unloaded_package_answers_nothing(void **state)
{
    program *p = *state;
    kiln_package *lib = program_package(p, "lib");
    recorder r;

    program_define_in(lib, "struct S\n x: f32\nend\n", NULL);
    program_define(p, "import lib\nfn f(x) = 1\n");
    recorder_init(&r, p);
    assert_ok(ask_types(&r, "f", "lib.S"));
    assert_ok(kiln_package_unload(lib, NULL, &test_error));

    assert_true(kiln__digest_is_zero(answer(&r, 0, NULL)));
    recorder_dispose(&r);
}

static void two_processes_give_the_same_answers(void **state)
{
    program *p = *state;
    program *q = NULL;
    void *other = NULL;
    recorder r, s;
    const char *text = "struct S{T}\n x: T\nend\nconst C = 1\n"
                       "fn f(x: S{T}, y: T) where T: Real = 1\n"
                       "fn f(x) = 1\n";

    assert_int_equal(program_setup(&other), 0);
    q = other;
    program_package(q, "first");
    program_define(q, "fn unrelated(a, b) = 1\n");
    program_define(q, text);
    program_define(p, text);
    recorder_init(&r, p);
    recorder_init(&s, q);
    assert_ok(ask_types(&r, "f", "S{f32}"));
    assert_ok(ask_name(&r, "C"));
    assert_ok(ask_name(&r, "S"));
    assert_ok(ask_types(&s, "f", "S{f32}"));
    assert_ok(ask_name(&s, "C"));
    assert_ok(ask_name(&s, "S"));

    for (size_t i = 0; i < 3; i++) {
        const kiln_query *a = &r.code.queries.items[i];
        const kiln_query *b = &s.code.queries.items[i];

        assert_int_equal(a->subject, b->subject);
        assert_int_equal(a->size, b->size);
        assert_memory_equal(a->data, b->data, a->size);
        assert_true(kiln__digest_equal(a->answer, b->answer));
    }
    recorder_dispose(&r);
    recorder_dispose(&s);
    program_teardown(&other);
}

static void damaged_questions_are_refused(void **state)
{
    program *p = *state;
    kiln_config config = {.overlays = NULL};
    static const struct {
        const char *bytes;
        size_t size;
        kiln_status status;
    } questions[] = {
        {"", 0, KILN_ECORRUPT},
        {"X", 1, KILN_ECORRUPT},
        {"D", 1, KILN_ECORRUPT},
        {"Dmain.f", 7, KILN_ECORRUPT},
        {"Dmain.f\0", 8, KILN_OK},
        {"Dmain.f\0tf32", 12, KILN_ECORRUPT},
        {"Dmain.f\0xf32\0", 13, KILN_ECORRUPT},
        {"Dmain.f\0t(((\0", 13, KILN_OK},
        {"Dmain.f\0tmain.Gone\0", 19, KILN_OK},
        {"B", 1, KILN_ECORRUPT},
        {"Bmain\0", 6, KILN_ECORRUPT},
        {"Bmain\0f\0z", 9, KILN_ECORRUPT},
        {"Bgone\0f\0", 8, KILN_OK},
    };

    program_define(p, "fn f(x) = 1\n");
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        kiln_digest digest = {{1}};

        assert_status(questions[i].status,
                      kiln__query_answer(
                          p->language, questions[i].bytes, questions[i].size,
                          &config, kiln__language_world(p->language), &digest));
        assert_true(kiln__digest_is_zero(digest));
    }
}

static void long_questions_are_recorded_whole(void **state)
{
    program *p = *state;
    char text[2048] = "(";
    recorder r;

    for (int i = 0; i < 60; i++)
        strcat(text, "(f32, f64, i64, i32), ");
    strcat(text, "f32)");
    program_define(p, "fn f(x) = 1\n");
    recorder_init(&r, p);

    assert_ok(ask_types(&r, "f", text));

    assert_true(r.code.queries.items[0].size > 1024);
    assert_true(is_unchanged(&r, 0));
    recorder_dispose(&r);
}

static kiln_status record_and_answer(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const char *text = "struct S\n x: f32\nend\nfn f(x) = 1\n";
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const kiln_type *type = NULL;
    kiln_status status;
    program p = {0};
    recorder r;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "main", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "a.kiln", text, strlen(text),
                                     NULL, NULL);
    if (status == KILN_OK)
        status = kiln_type_parse(&type, context, package, "(S, S)", NULL);
    if (status == KILN_OK) {
        const kiln__argument argument = {type, 0};
        const uint64_t world = kiln__language_world(package->language);
        kiln_config config = {.overlays = NULL};
        kiln__binding binding;
        kiln__match match;
        kiln_digest digest;

        p.context = context;
        p.language = package->language;
        recorder_init(&r, &p);
        status = kiln__binding_find(&binding, package, "f", world);
        if (status == KILN_OK)
            status = kiln__ask_method(&match, &r.facts, binding.generic,
                                      &argument, 1);
        if (status == KILN_OK)
            status = kiln__query_answer(
                package->language, r.code.queries.items[0].data,
                r.code.queries.items[0].size, &config, world, &digest);
        recorder_dispose(&r);
    }
    kiln_context_free(context);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;

    assert_survives_failing_alloc(record_and_answer, NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_type_survives_the_way_through_bytes),
        TEST(answers_change_exactly_with_what_was_asked),
        TEST(no_answer_is_zero_until_there_is_one),
        TEST(ambiguity_is_an_answer_of_its_own),
        TEST(literals_and_overlays_are_part_of_the_question),
        TEST(shadowing_and_imports_change_the_meaning_of_names),
        TEST(an_unloaded_package_answers_nothing),
        TEST(two_processes_give_the_same_answers),
        TEST(damaged_questions_are_refused),
        TEST(long_questions_are_recorded_whole),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
