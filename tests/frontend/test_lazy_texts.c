/* test_lazy_texts.c - texts that are known are not parsed, unseen. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend thread */
/* WRAPS: kiln__stores_mode kiln__stores_read kiln__stores_write */
/* WRAPS: kiln__stores_load */
/* WRAPS: kiln__stores_get kiln__stores_put kiln__stores_reject */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/process/process.h"
#include "tiers/typed/code_state.h"

/* ---- the same as without ---- */

static void a_known_program_is_the_same_without_parsing(void **state)
{
    process_observed off, cold, warm;
    unsigned puts;

    (void)state;
    memory_store_mode = KILN__CACHE_OFF;
    off = process_observe();
    assert_true(off.was_ready);
    assert_int_equal(memory_store_counted().gets, 0);
    memory_store_mode = KILN__CACHE_READ_WRITE;
    cold = process_observe();
    puts = memory_store_counted().puts;
    assert_int_equal(puts, PROCESS_SAMPLE_COUNT + 1); /* and reduce */
    warm = process_observe();
    assert_false(warm.was_ready);
    assert_int_equal(memory_store_counted().puts, puts);
    assert_int_equal(memory_store_counted().rejects, 0);
    assert_equal_observed(&off, &cold);
    assert_equal_observed(&off, &warm);
}

static void other_modes_know_what_they_may(void **state)
{
    static const struct {
        kiln__cache_mode mode;
        int is_deferred;
    } modes[] = {{KILN__CACHE_READ_ONLY, 1},
                 {KILN__CACHE_MUST_HIT, 1},
                 {KILN__CACHE_VERIFY, 0},
                 {KILN__CACHE_REFRESH, 0}};

    (void)state;
    process_learn();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        memory_store_mode = modes[i].mode;
        assert_int_equal(!process_observe().was_ready, modes[i].is_deferred);
    }
    assert_int_equal(memory_store_counted().replaced, PROCESS_SAMPLE_COUNT + 1);
    memory_store_clear();
    memory_store_mode = KILN__CACHE_READ_ONLY;
    assert_true(process_observe().was_ready);
    assert_int_equal(memory_store_counted().puts, 0);
}

/* ---- what needs the language, and what does not ---- */

static void find_and_look(process *p)
{
    const kiln_type *type = NULL;
    kiln_package *package = NULL;
    const kiln_function *function = NULL;
    uint64_t world = 0;

    assert_ok(kiln_package_find(&package, p->context, "main"));
    assert_status(KILN_ENOTFOUND,
                  kiln_package_find(&package, p->context, "none"));
    assert_ok(
        p->context->language->ops.function(p->language, "main.g", &function));
    assert_ptr_equal(function, process_function(p, "main", "g"));
    assert_ok(p->context->language->ops.type(p->language, "f32[:]", 1, &type));
    assert_ok(kiln_world_hold(&world, p->context->language));
    kiln_world_release(p->context->language, world);
    kiln_context_collect(p->context);
    (void)process_program(p, "main", "f");
}

static void ask_imported(process *p)
{
    assert_string_equal(kiln_function_name(process_function(p, "main", "area")),
                        "shapes.area");
}

static void ask_unknown(process *p)
{
    const kiln_function *function = NULL;

    assert_fails(KILN_ENOTFOUND, "did you mean `twice`?",
                 kiln_package_function(&function, process_package(p, "numbers"),
                                       "twise", &test_error));
}

static void ask_type(process *p)
{
    const kiln_type *type = NULL;

    assert_ok(p->context->language->ops.type(p->language, "shapes.Square{f32}",
                                             kiln_world(p->context->language),
                                             &type));
}

static void ask_function_type(process *p)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, p->context, NULL, "typeof(core.sqrt)",
                              &test_error));
}

static void ask_answer(process *p)
{
    kiln_digest digest;

    assert_ok(p->context->language->ops.answer(p->language, "Bmain\0f", 8,
                                               p->config, 1, &digest));
}

static void ask_root(process *p)
{
    const kiln_type *type = kiln_type_scalar(p->context, KILN_TYPE_F32);
    const kiln_signature signature = {process_function(p, "main", "f"), &type,
                                      1};
    kiln_digest digest;

    assert_ok(p->context->language->ops.root(p->language, &signature, p->config,
                                             kiln_world(p->context->language),
                                             &digest));
    assert_false(kiln__digest_is_zero(digest));
}

static void define_again(process *p)
{
    const kiln_change_report report =
        process_define(p, "numbers", "fn twice(x) = x\n");

    assert_int_equal(report.methods_replaced, 1);
}

static void delete_one(process *p)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(kiln_method_delete(process_package(p, "numbers"),
                                 process_function(p, "numbers", "twice"), "i8",
                                 NULL, &report, &test_error));
    assert_int_equal(report.methods_removed, 1);
}

static void unload(process *p)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(
        kiln_package_unload(process_package(p, "extra"), &report, &test_error));
    assert_int_equal(report.methods_removed, 2);
}

static void ask_core(process *p)
{
    kiln_package *core = NULL;

    assert_ok(kiln_package_find(&core, p->context, "core"));
}

static void locate(process *p)
{
    kiln_location at = {0};

    assert_status(KILN_ENOTFOUND,
                  p->context->language->ops.locate(
                      p->language, "main.f#0123456789abcdef", 1, &at));
}

static void what_needs_the_program_defines_it_first(void **state)
{
    static void (*const needs[])(process * p) = {
        ask_imported, ask_unknown, ask_type,     ask_function_type,
        ask_answer,   ask_root,    define_again, delete_one,
        unload,       ask_core,    locate};

    (void)state;
    process_learn();
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        process p;

        process_start(&p);
        process_define_sample(&p, NULL);
        find_and_look(&p);
        assert_false(process_is_ready(&p));
        needs[i](&p);
        assert_true(process_is_ready(&p));
        process_end(&p);
    }
}

static void an_exception_finds_its_line(void **state)
{
    char label[64], digest[KILN_DIGEST_TEXT_SIZE];
    const kiln_code *code = NULL;
    kiln_location at = {0};
    process p;

    (void)state;
    process_learn();
    process_start(&p);
    process_define_sample(&p, NULL);
    assert_ok(process_infer(&code, &p, "main", "g", &test_error));
    kiln_digest_text(code->root, digest);
    (void)snprintf(label, sizeof label, "main.g#%.16s", digest);
    process_end(&p);
    process_start(&p);
    process_define_sample(&p, NULL);
    assert_ok(p.context->language->ops.locate(p.language, label, 0, &at));
    assert_string_equal(at.file, "test.kiln");
    assert_int_equal(at.line, 6);
    process_end(&p);
}

static void an_old_world_is_what_it_was(void **state)
{
    const kiln_type *type = NULL;
    const kiln_code *code = NULL;
    kiln_signature signature = {.types = &type, .count = 1};
    kiln_error *error = NULL;
    uint64_t world = 0;
    process p;

    (void)state;
    process_learn();
    process_start(&p);
    type = kiln_type_scalar(p.context, KILN_TYPE_BOOL);
    (void)process_define(&p, process_sample[0].package, process_sample[0].text);
    (void)process_define(&p, process_sample[1].package, process_sample[1].text);
    assert_ok(kiln_world_hold(&world, p.context->language));
    (void)process_define(&p, process_sample[2].package, process_sample[2].text);
    assert_false(process_is_ready(&p));
    signature.function = process_function(&p, "numbers", "twice");
    assert_ok(
        kiln_infer(&code, p.context, &signature, p.config, 0, &test_error));
    assert_int_equal(code->min_world, world + 1);
    assert_status(KILN_ECOMPILE, kiln_infer(&code, p.context, &signature,
                                            p.config, world, &error));
    kiln_error_free(error);
    process_end(&p);
}

/* ---- what cannot be deferred ---- */

static void a_text_with_an_error_has_it_at_once(void **state)
{
    static const char *const texts[] = {"fn (\n", "import nowhere\n",
                                        "import shapes: nothing\n"};

    (void)state;
    process_learn();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int round = 0; round < 2; round++) {
            kiln_error *error = NULL;
            process p;

            process_start(&p);
            (void)process_define(&p, process_sample[0].package,
                                 process_sample[0].text);
            assert_int_not_equal(
                kiln_package_define(process_package(&p, "wrong"), "test.kiln",
                                    texts[i], strlen(texts[i]), NULL, &error),
                KILN_OK);
            assert_non_null(error);
            kiln_error_free(error);
            process_end(&p);
        }
}

static void a_text_is_another_one_after_other_imports(void **state)
{
    process p;

    (void)state;
    process_learn();
    process_start(&p);
    (void)process_define(&p, "numbers", "fn twice(x) = x\n");
    (void)process_define(&p, process_sample[0].package, process_sample[0].text);
    (void)process_define(&p, process_sample[2].package, process_sample[2].text);
    assert_true(process_is_ready(&p));
    process_end(&p);
}

static void what_replaces_is_defined_at_once(void **state)
{
    static const char *const texts[] = {
        "fn f(x) = 1\nconst n = 1\n", "fn f(x) = 2\n", "const n = 2\n",
        "const n = 2\n# again\n", "# nothing\n"};

    (void)state;
    for (int round = 0; round < 2; round++) {
        process p;

        process_start(&p);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            (void)process_define(&p, "main", texts[i]);
            assert_int_equal(process_is_ready(&p), round == 0 || i > 0);
        }
        process_end(&p);
        assert_int_equal(memory_store_counted().puts, 1);
    }
}

static void packages_that_meet_in_a_method_are_defined_at_once(void **state)
{
    static const process_text texts[] = {
        {"base", "struct Q\n    a: f32\nend\nfn f(x) = 1\n"},
        {"first", "import base: Q\nfn +(a: Q, b: Q) = a\n"},
        {"second", "import base: Q\nfn +(a: Q, b: T) where T: Q = b\n"},
    };

    (void)state;
    for (int first = 1; first <= 2; first++) { /* each is known alone */
        process p;

        process_start(&p);
        (void)process_define(&p, texts[0].package, texts[0].text);
        (void)process_define(&p, texts[first].package, texts[first].text);
        process_end(&p);
    }
    for (int first = 1; first <= 2; first++) {
        kiln_change_report report;
        process p;

        process_start(&p);
        (void)process_define(&p, texts[0].package, texts[0].text);
        (void)process_define(&p, texts[first].package, texts[first].text);
        assert_false(process_is_ready(&p));
        report =
            process_define(&p, texts[3 - first].package, texts[3 - first].text);
        assert_true(process_is_ready(&p));
        assert_int_equal(report.methods_replaced, 1);
        process_end(&p);
    }
}

static void a_new_text_is_known_the_next_time(void **state)
{
    kiln_digest digests[2];

    (void)state;
    process_learn();
    for (int round = 0; round < 2; round++) {
        process p;

        process_start(&p);
        process_define_sample(&p, NULL);
        assert_false(process_is_ready(&p));
        (void)process_define(&p, "new", "import main\nfn f(x) = main.f(x)\n");
        assert_int_equal(process_is_ready(&p), round == 0);
        digests[round] = process_inferred(&p, "new", "f");
        process_end(&p);
    }
    assert_same(digests[0], digests[1]);
}

/* ---- several threads ---- */

/* A world whose change is being told, as a thread has it that defers a text. */
typedef struct delayed_notice {
    process *p;
    kiln__notice notice;
    atomic_int is_begun, may_end, has_ended;
    kiln_status statuses[2];
} delayed_notice;

static void *begin_and_send(void *argument)
{
    delayed_notice *one = argument;
    kiln__language *language = one->p->language;

    kiln__mutex_lock(&language->change);
    one->notice =
        (kiln__notice){.language = language, .world = ++language->made};
    atomic_store(&language->newest, one->notice.world);
    kiln__notice_begin(&one->notice);
    kiln__mutex_unlock(&language->change);
    atomic_store(&one->is_begun, 1);
    while (!atomic_load(&one->may_end))
        sched_yield();
    one->statuses[0] = kiln__notice_send(&one->notice, NULL, NULL);
    return NULL;
}

static void *define_another(void *argument)
{
    static const char text[] = "fn other(x) = 2\n";
    delayed_notice *older = argument;
    kiln_package *package;

    older->statuses[1] = kiln_package_find(&package, older->p->context, "main");
    if (older->statuses[1] == KILN_OK)
        older->statuses[1] = kiln_package_define(package, "other.kiln", text,
                                                 strlen(text), NULL, NULL);
    atomic_store(&older->has_ended, 1);
    return NULL;
}

/* Until the newer one is told, or over. */
static void wait_for_notified(delayed_notice *older)
{
    kiln__language *language = older->p->language;
    int is_notified = 0;

    while (!is_notified && !atomic_load(&older->has_ended)) {
        kiln__mutex_lock(&language->notice_lock);
        is_notified = language->notified > older->notice.world;
        kiln__mutex_unlock(&language->notice_lock);
        sched_yield();
    }
}

static void a_world_is_shown_after_those_before_it(void **state)
{
    pthread_t threads[2];
    delayed_notice older = {0};
    uint64_t world;
    process p;

    (void)state;
    process_start(&p);
    older.p = &p;
    (void)process_define(&p, "main", "fn f(x) = 1\n");
    world = kiln_world(p.context->language);
    assert_int_equal(pthread_create(&threads[0], NULL, begin_and_send, &older),
                     0);
    while (!atomic_load(&older.is_begun))
        sched_yield();
    assert_int_equal(pthread_create(&threads[1], NULL, define_another, &older),
                     0);
    wait_for_notified(&older);
    assert_int_equal(kiln_world(p.context->language), world);
    assert_false(atomic_load(&older.has_ended));
    atomic_store(&older.may_end, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_ok(older.statuses[0]);
    assert_ok(older.statuses[1]);
    assert_int_equal(kiln_world(p.context->language), world + 2);
    process_end(&p);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, process_setup, process_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_known_program_is_the_same_without_parsing),
        TEST(other_modes_know_what_they_may),
        TEST(what_needs_the_program_defines_it_first),
        TEST(an_exception_finds_its_line),
        TEST(an_old_world_is_what_it_was),
        TEST(a_text_with_an_error_has_it_at_once),
        TEST(a_text_is_another_one_after_other_imports),
        TEST(what_replaces_is_defined_at_once),
        TEST(packages_that_meet_in_a_method_are_defined_at_once),
        TEST(a_new_text_is_known_the_next_time),
        TEST(a_world_is_shown_after_those_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
