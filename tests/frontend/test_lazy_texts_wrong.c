/* test_lazy_texts_wrong.c - deferred texts when something goes wrong. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault frontend thread */
/* WRAPS: kiln__stores_mode kiln__stores_read kiln__stores_write */
/* WRAPS: kiln__stores_load */
/* WRAPS: kiln__stores_get kiln__stores_put kiln__stores_reject */
#include "support/process/process.h"

/* ---- summaries that are not true ---- */

/* Says of `text` what is true of `other`. */
static void lie(const char *package, const char *text, const char *other)
{
    const kiln__text_entry_subject truth = {
        package, {{0}}, kiln__digest_bytes(other, strlen(other))};
    const kiln__text_entry_subject subject = {
        package, {{0}}, kiln__digest_bytes(text, strlen(text))};
    kiln__text_entry summary;
    kiln__encoder encoder;
    kiln__arena arena;
    process p;

    process_start(&p);
    (void)process_define(&p, package, other);
    kiln__arena_init(&arena, &kiln__malloc);
    assert_ok(kiln__text_entry_find(&summary, &arena, p.language, &truth));
    kiln__encoder_init(&encoder, &kiln__malloc);
    encoder.bytes = (void *)(uintptr_t)summary.bytes;
    encoder.size = summary.size;
    kiln__text_entry_keep(p.language, &subject, &encoder);
    kiln__arena_dispose(&arena);
    process_end(&p);
}

static void a_wrong_text_is_the_error_of_the_call_that_needs_it(void **state)
{
    static const struct {
        const char *text;
        kiln_status status;
        const char *message;
    } wrong[] = {{"fn f(x = 1\n", KILN_ESYNTAX, "default values"},
                 {"import nowhere\nfn f(x) = 1\n", KILN_ECOMPILE,
                  "no package `nowhere`"}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const kiln_code *code = NULL;
        kiln_change_report report;
        kiln_signature none = {0};
        kiln_digest digest;
        process p;

        lie("main", wrong[i].text, "fn f(x) = 1\n");
        process_start(&p);
        report = process_define(&p, "main", wrong[i].text);
        assert_false(process_is_ready(&p));
        none.function = process_function(&p, "main", "f");
        assert_fails(wrong[i].status, wrong[i].message,
                     process_infer(&code, &p, "main", "f", &test_error));
        assert_true(process_is_ready(&p));
        assert_int_equal(memory_store_counted().rejects, 1);
        assert_fails(KILN_ENOTFOUND, "has no function",
                     kiln_package_function(&none.function,
                                           process_package(&p, "main"), "f",
                                           &test_error));
        assert_ok(p.context->language->ops.program(
            p.language, &none, p.config, kiln_world(p.context->language),
            &digest));
        assert_true(kiln__digest_is_zero(digest));
        assert_int_equal(process_define(&p, "main", "fn f(x) = 2\n").world,
                         report.world + 1);
        assert_false(kiln__digest_is_zero(process_inferred(&p, "main", "f")));
        process_end(&p);
        memory_store_clear();
    }
}

static void a_text_means_what_it_says_whatever_was_stored(void **state)
{
    static const char text[] = "fn f(x) = 1\nfn g(x) = f(x)\n";
    kiln_digest digest;
    process p;

    (void)state;
    process_start(&p);
    (void)process_define(&p, "main", text);
    digest = process_inferred(&p, "main", "f");
    process_end(&p);
    memory_store_clear();
    lie("main", text, "fn h(x) = 1\n");
    process_start(&p);
    (void)process_define(&p, "main", text);
    assert_false(process_is_ready(&p));
    (void)process_function(&p, "main", "h");
    assert_same(digest, process_inferred(&p, "main", "f"));
    assert_int_equal(memory_store_counted().rejects, 1);
    process_end(&p);
    process_start(&p); /* what was rejected is known the next time but one */
    (void)process_define(&p, "main", text);
    assert_true(process_is_ready(&p));
    process_end(&p);
    process_start(&p);
    (void)process_define(&p, "main", text);
    assert_false(process_is_ready(&p));
    process_end(&p);
}

typedef struct flip {
    size_t at;
    int was_done;
} flip;

static void flip_byte(unsigned char *meta, size_t size, void *env)
{
    flip *f = env;

    if (f->at < size) {
        meta[f->at] ^= 0x15;
        f->was_done = 1;
    }
}

static void each_byte_may_be_wrong(void **state)
{
    static const char base[] = "struct Q\n    a: f32\nend\n";
    static const char text[] = "import base: Q\nimport reduce\n"
                               "fn f(x) = 1\nfn +(a: Q, b: Q) = a\n";
    kiln_digest digest = {0};
    flip f = {0, 1};

    (void)state;
    for (f.at = 0; f.was_done; f.at++) {
        kiln_digest now;
        process p;

        memory_store_clear();
        memory_store_mode = KILN__CACHE_READ_WRITE;
        process_start(&p);
        (void)process_define(&p, "base", base);
        (void)process_define(&p, "main", text);
        process_end(&p);
        f.was_done = 0;
        memory_store_alter(flip_byte, &f);
        process_start(&p);
        (void)process_define(&p, "base", base);
        (void)process_define(&p, "main", text);
        now = process_inferred(&p, "main", "f");
        if (f.at == 0)
            digest = now;
        assert_same(digest, now);
        assert_int_equal(process_is_ready(&p), 1);
        process_end(&p);
    }
    assert_true(f.at > 100);
}

/* ---- files ---- */

#define FILE_COUNT 60

static void write_file(const char *folder, int i, const char *more, char *path,
                       size_t capacity)
{
    char name[32], text[256];

    (void)snprintf(name, sizeof name, "p%d.kiln", i);
    if (i == 0)
        (void)snprintf(text, sizeof text, "fn f(x) = x + 1.0\n%s", more);
    else
        (void)snprintf(text, sizeof text,
                       "import p%d\nimport p%d\n"
                       "fn f(x) = p%d.f(x) + p%d.f2(x)\n%s",
                       i - 1, i / 2, i - 1, i / 2, more);
    harness_write_file(path, capacity, folder, name, text, strlen(text));
}

static process_observed load_files(const char *path, int is_deferred)
{
    process_observed o = {.world = 0};
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln_package *package = NULL;
    char name[16];
    process p;

    process_start(&p);
    assert_ok(
        kiln_package_load(&package, p.context, path, &report, &test_error));
    assert_int_equal(process_is_ready(&p), !is_deferred);
    o.reports[0] = report;
    o.world = kiln_world(p.context->language);
    (void)snprintf(name, sizeof name, "p%d", FILE_COUNT - 1);
    assert_string_equal(kiln_package_name(package), name);
    o.program = process_program(&p, name, "f");
    o.f = process_inferred(&p, name, "f");
    process_end(&p);
    return o;
}

static void packages_of_files_are_read_and_not_parsed(void **state)
{
    char folder[] = "/tmp/kiln-deferred-XXXXXX", path[256];
    char command[300];
    process_observed off, cold, warm, edited;

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILE_COUNT; i++)
        write_file(folder, i, "fn f2(x) = x\n", path, sizeof path);
    memory_store_mode = KILN__CACHE_OFF;
    off = load_files(path, 0);
    memory_store_mode = KILN__CACHE_READ_WRITE;
    cold = load_files(path, 0);
    warm = load_files(path, 1);
    assert_equal_observed(&off, &cold);
    assert_equal_observed(&off, &warm);
    write_file(folder, 5, "fn f2(x) = x # remarkable\n", path, sizeof path);
    write_file(folder, FILE_COUNT - 1, "fn f2(x) = x\n", path, sizeof path);
    edited = load_files(path, 0);
    assert_same(off.f, edited.f);
    edited = load_files(path, 1);
    assert_same(off.f, edited.f);
    assert_false(kiln__digest_equal(off.program, edited.program));
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- threads and processes ---- */

typedef struct crew {
    process *process;
    thread_report report;
    unsigned next;
} crew;

static void *work(void *argument)
{
    crew *c = argument;
    const unsigned i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
    const kiln_type *type =
        kiln_type_scalar(c->process->context, KILN_TYPE_F32);
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;
    kiln_package *package = NULL;
    char name[16], text[64];

    (void)snprintf(name, sizeof name, "t%u", i);
    (void)snprintf(text, sizeof text, "fn f(x) = x + %u.0\n", i);
    thread_assert_ok(&c->report, kiln_package_new(&package, c->process->context,
                                                  name, NULL));
    thread_assert_ok(&c->report, kiln_package_define(package, "t.kiln", text,
                                                     strlen(text), NULL, NULL));
    thread_assert_ok(&c->report, kiln_package_function(&signature.function,
                                                       package, "f", NULL));
    thread_assert_ok(&c->report,
                     kiln_infer(&code, c->process->context, &signature,
                                c->process->config, 0, NULL));
    return NULL;
}

static void threads_define_and_infer_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint64_t world;
        process p;
        crew c = {&p, THREAD_REPORT_INIT, 0};

        process_start(&p);
        harness_run_threads(6, work, &c);
        assert_threads_ok(&c.report);
        world = kiln_world(p.context->language);
        assert_int_equal(world, 1 + kiln__runtime_source_count + 6);
        process_end(&p);
    }
    assert_int_equal(memory_store_counted().rejects, 0);
}

static void a_child_of_fork_defines_what_was_deferred(void **state)
{
    kiln_digest digest;
    int status = 1;
    process p;
    pid_t child;

    (void)state;
    process_learn();
    process_start(&p);
    process_define_sample(&p, NULL);
    digest = process_inferred(&p, "main", "h");
    process_end(&p);
    process_start(&p);
    process_define_sample(&p, NULL);
    child = fork();
    if (child == 0)
        _exit(kiln__digest_equal(digest, process_inferred(&p, "main", "h"))
                  ? 0
                  : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(process_is_ready(&p));
    assert_same(digest, process_inferred(&p, "main", "h"));
    process_end(&p);
}

/* ---- without memory ---- */

/* Fewer texts say as much. */
#define RUN_OUT_COUNT 3

/* The method that twice is for an f32. */
static kiln_digest root_of(process *p)
{
    const kiln_type *type = kiln_type_scalar(p->context, KILN_TYPE_F32);
    const kiln_signature signature = {process_function(p, "numbers", "twice"),
                                      &type, 1};
    kiln_digest digest = {0};

    assert_ok(p->context->language->ops.root(p->language, &signature, p->config,
                                             kiln_world(p->context->language),
                                             &digest));
    assert_false(kiln__digest_is_zero(digest));
    return digest;
}

/* Core comes first, with memory: it is the same as ever. */
static kiln_status run_out(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_digest *expected = env;
    kiln_status status = KILN_OK;
    process p;

    options.alloc = alloc;
    failing_alloc_hold(alloc, 1);
    assert_ok(kiln_context_new(&p.context, &options, &test_error));
    assert_ok(kiln_config_new(&p.config, p.context, NULL, &test_error));
    p.language = p.context->language->self;
    for (size_t i = 0; i < RUN_OUT_COUNT; i++)
        (void)process_package(&p, process_sample[i].package);
    failing_alloc_hold(alloc, 0);
    for (size_t i = 0; status == KILN_OK && i < RUN_OUT_COUNT; i++)
        status = kiln_package_define(
            process_package(&p, process_sample[i].package), "test.kiln",
            process_sample[i].text, strlen(process_sample[i].text), NULL, NULL);
    failing_alloc_hold(alloc, 1);
    assert_ok(kiln__core_new(p.language, &test_error));
    failing_alloc_hold(alloc, 0);
    if (status == KILN_OK)
        status = kiln__language_ready(p.language, NULL);
    failing_alloc_hold(alloc, 1);
    for (size_t i = 0; i < RUN_OUT_COUNT; i++)
        (void)process_define(&p, process_sample[i].package,
                             process_sample[i].text);
    assert_same(*expected, root_of(&p));
    failing_alloc_hold(alloc, 0);
    kiln_context_free(p.context);
    return status;
}

static void memory_may_run_out_at_any_time(void **state)
{
    kiln_digest digest;
    process p;

    (void)state;
    process_learn();
    process_start(&p);
    process_define_sample(&p, NULL);
    digest = root_of(&p);
    process_end(&p);
    assert_survives_failing_alloc(run_out, &digest);
    assert_int_equal(memory_store_counted().rejects, 0);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, process_setup, process_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wrong_text_is_the_error_of_the_call_that_needs_it),
        TEST(a_text_means_what_it_says_whatever_was_stored),
        TEST(each_byte_may_be_wrong),
        TEST(packages_of_files_are_read_and_not_parsed),
        TEST(threads_define_and_infer_at_once),
        TEST(a_child_of_fork_defines_what_was_deferred),
        TEST(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
