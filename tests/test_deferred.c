/* test_deferred.c - texts that are known are not parsed, and nobody sees it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend thread */
/* WRAPS: kiln__stores_mode kiln__stores_read kiln__stores_write */
/* WRAPS: kiln__stores_get kiln__stores_put kiln__stores_reject */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/deferred.h"
#include "hasher.h"
#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "runtime_sources.h"
#include "support/memory_store.h"
#include "tiers/state.h"

/* ---- the stores of this program ---- */

static kiln__cache_mode mode;

kiln__cache_mode __wrap_kiln__stores_mode(const kiln_context *context);
int __wrap_kiln__stores_read(const kiln_context *context, int32_t kind);
int __wrap_kiln__stores_write(const kiln_context *context, int32_t kind);
kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key);
void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace);
void __wrap_kiln__stores_reject(kiln_context *context,
                                const kiln__stored *stored,
                                kiln__entry_fault fault);

kiln__cache_mode __wrap_kiln__stores_mode(const kiln_context *context)
{
    (void)context;
    return mode;
}

/* Results of inference are not kept: only texts are the matter here. */
int __wrap_kiln__stores_read(const kiln_context *context, int32_t kind)
{
    (void)context;
    return kind == KILN__ENTRY_SOURCE && mode != KILN__CACHE_OFF &&
           mode != KILN__CACHE_REFRESH;
}

int __wrap_kiln__stores_write(const kiln_context *context, int32_t kind)
{
    (void)context;
    return kind == KILN__ENTRY_SOURCE && mode != KILN__CACHE_OFF &&
           mode != KILN__CACHE_READ_ONLY && mode != KILN__CACHE_MUST_HIT;
}

kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key)
{
    (void)context;
    return memory_store_get(out, kind, key);
}

void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace)
{
    (void)context;
    memory_store_put(entry, replace);
}

void __wrap_kiln__stores_reject(kiln_context *context,
                                const kiln__stored *stored,
                                kiln__entry_fault fault)
{
    (void)context;
    (void)fault;
    memory_store_reject(stored);
}

/* ---- a process ---- */

typedef struct process {
    kiln_context *context;
    kiln__language *language;
    const kiln_config *config;
} process;

static void start(process *p)
{
    assert_ok(kiln_context_new(&p->context, NULL, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, NULL, &test_error));
    p->language = p->context->language->self;
}

static void end(process *p)
{
    kiln_context_free(p->context);
}

static int is_ready(const process *p)
{
    return atomic_load(&p->language->ready);
}

static kiln_package *package_of(process *p, const char *name)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_new(&package, p->context, name, &test_error));
    return package;
}

static kiln_change_report define(process *p, const char *package,
                                 const char *text)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(kiln_package_define(package_of(p, package), "test.kiln", text,
                                  strlen(text), &report, &test_error));
    return report;
}

static const kiln_function *function_of(process *p, const char *package,
                                        const char *name)
{
    const kiln_function *function = NULL;

    assert_ok(kiln_package_function(&function, package_of(p, package), name,
                                    &test_error));
    return function;
}

static kiln_status infer(const kiln_code **out, process *p, const char *package,
                         const char *name, kiln_error **error)
{
    const kiln_type *type = kiln_type_scalar(p->context, KILN_TYPE_F32);
    const kiln_signature signature = {function_of(p, package, name), &type, 1};

    return kiln_infer(out, p->context, &signature, p->config, 0, error);
}

static kiln_digest inferred(process *p, const char *package, const char *name)
{
    const kiln_code *code = NULL;

    assert_ok(infer(&code, p, package, name, &test_error));
    return kiln_code_digest(code);
}

static kiln_digest program_of(process *p, const char *package, const char *name)
{
    const kiln_signature signature = {function_of(p, package, name), NULL, 0};
    kiln_digest digest;

    assert_ok(p->context->language->ops.program(
        p->language, &signature, p->config, kiln_world(p->context->language),
        &digest));
    assert_false(kiln__digest_is_zero(digest));
    return digest;
}

#define assert_same(a, b) assert_true(kiln__digest_equal((a), (b)))

/* ---- programs, as lists of texts ---- */

typedef struct definition {
    const char *package;
    const char *text;
} definition;

/* Each text stands for things that others may refer to. The last one has f. */
static const definition sample[] = {
    {"shapes", "# lines\n\nabstract Shape\nstruct Square{T} : Shape\n"
               "    side: T\nend\nconst sides = 4\n"
               "fn area(s: Square) = s.side * s.side\n"
               "fn +(a: Square, b: Square) = Square(a.side + b.side)\n"},
    {"numbers", "fn twice(x) = x + x\nfn twice(x: i8) = x\n"
                "overlay host fn twice(x: f32) = x * 2.0\n"},
    {"extra", "import shapes\nimport numbers: twice\n"
              "fn shapes.area(x: i32) = x\nfn twice(x: Bool) = 1\n"},
    {"main", "import shapes: Square, area, sides\nimport numbers\n"
             "import reduce\nimport core\n"
             "fn f(x) = area(Square(numbers.twice(x)) + Square(x)) * sides\n"
             "fn g(x) = x\nkernel k(y)\n    y[0] = f(y[0])\nend\n"},
    {"main", "fn h(x) = f(x) + f(x)\nfn g(x: Square) = 2\n"},
};

#define SAMPLE_COUNT (sizeof sample / sizeof *sample)

static void define_sample(process *p, kiln_change_report *reports)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        const kiln_change_report report =
            define(p, sample[i].package, sample[i].text);

        if (reports != NULL)
            reports[i] = report;
    }
}

/* Fills the store with what is known of the texts. */
static void learn(void)
{
    process p;

    mode = KILN__CACHE_READ_WRITE;
    start(&p);
    define_sample(&p, NULL);
    end(&p);
}

static int setup(void **state)
{
    (void)state;
    memory_store_clear();
    mode = KILN__CACHE_READ_WRITE;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_store_clear();
    return 0;
}

/* ---- the same as without ---- */

typedef struct observed {
    kiln_change_report reports[SAMPLE_COUNT];
    uint64_t world;
    kiln_digest program, f, h;
    int was_ready;
} observed;

static observed observe(void)
{
    observed o = {.world = 0};
    process p;

    start(&p);
    define_sample(&p, o.reports);
    o.world = kiln_world(p.context->language);
    o.program = program_of(&p, "main", "f");
    o.was_ready = is_ready(&p);
    o.h = inferred(&p, "main", "h");
    o.f = inferred(&p, "main", "f");
    assert_true(is_ready(&p));
    assert_int_equal(o.world, kiln_world(p.context->language));
    assert_same(o.program, program_of(&p, "main", "f"));
    end(&p);
    return o;
}

static void assert_equal_reports(const kiln_change_report *a,
                                 const kiln_change_report *b)
{
    assert_int_equal(a->world, b->world);
    assert_int_equal(a->methods_added, b->methods_added);
    assert_int_equal(a->methods_replaced, b->methods_replaced);
    assert_int_equal(a->methods_removed, b->methods_removed);
    assert_int_equal(a->methods_unchanged, b->methods_unchanged);
    assert_int_equal(a->invalidated_count, b->invalidated_count);
}

static void assert_equal_observed(const observed *a, const observed *b)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        assert_equal_reports(&a->reports[i], &b->reports[i]);
    assert_int_equal(a->world, b->world);
    assert_same(a->program, b->program);
    assert_same(a->f, b->f);
    assert_same(a->h, b->h);
}

static void a_known_program_is_the_same_without_parsing(void **state)
{
    observed off, cold, warm;
    unsigned puts;

    (void)state;
    mode = KILN__CACHE_OFF;
    off = observe();
    assert_true(off.was_ready);
    assert_int_equal(memory_store_counted().gets, 0);
    mode = KILN__CACHE_READ_WRITE;
    cold = observe();
    puts = memory_store_counted().puts;
    assert_int_equal(puts, SAMPLE_COUNT + 1); /* and reduce */
    warm = observe();
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
    learn();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        mode = modes[i].mode;
        assert_int_equal(!observe().was_ready, modes[i].is_deferred);
    }
    assert_int_equal(memory_store_counted().replaced, SAMPLE_COUNT + 1);
    memory_store_clear();
    mode = KILN__CACHE_READ_ONLY;
    assert_true(observe().was_ready);
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
    assert_ptr_equal(function, function_of(p, "main", "g"));
    assert_ok(p->context->language->ops.type(p->language, "f32[:]", 1, &type));
    assert_ok(kiln_world_hold(&world, p->context->language));
    kiln_world_release(p->context->language, world);
    kiln_context_collect(p->context);
    (void)program_of(p, "main", "f");
}

static void ask_imported(process *p)
{
    assert_string_equal(kiln_function_name(function_of(p, "main", "area")),
                        "shapes.area");
}

static void ask_unknown(process *p)
{
    const kiln_function *function = NULL;

    assert_fails(KILN_ENOTFOUND, "did you mean `twice`?",
                 kiln_package_function(&function, package_of(p, "numbers"),
                                       "twise", &test_error));
}

static void ask_type(process *p)
{
    const kiln_type *type = NULL;

    assert_ok(p->context->language->ops.type(p->language, "shapes.Square{f32}",
                                             kiln_world(p->context->language),
                                             &type));
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
    const kiln_signature signature = {function_of(p, "main", "f"), &type, 1};
    kiln_digest digest;

    assert_ok(p->context->language->ops.root(p->language, &signature, p->config,
                                             kiln_world(p->context->language),
                                             &digest));
    assert_false(kiln__digest_is_zero(digest));
}

static void define_again(process *p)
{
    const kiln_change_report report = define(p, "numbers", "fn twice(x) = x\n");

    assert_int_equal(report.methods_replaced, 1);
}

static void delete_one(process *p)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(kiln_method_delete(package_of(p, "numbers"),
                                 function_of(p, "numbers", "twice"), "i8", NULL,
                                 &report, &test_error));
    assert_int_equal(report.methods_removed, 1);
}

static void unload(process *p)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(
        kiln_package_unload(package_of(p, "extra"), &report, &test_error));
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
        ask_imported, ask_unknown, ask_type, ask_answer, ask_root,
        define_again, delete_one,  unload,   ask_core,   locate};

    (void)state;
    learn();
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        process p;

        start(&p);
        define_sample(&p, NULL);
        find_and_look(&p);
        assert_false(is_ready(&p));
        needs[i](&p);
        assert_true(is_ready(&p));
        end(&p);
    }
}

static void an_exception_finds_its_line(void **state)
{
    char label[64], digest[KILN_DIGEST_TEXT_SIZE];
    const kiln_code *code = NULL;
    kiln_location at = {0};
    process p;

    (void)state;
    learn();
    start(&p);
    define_sample(&p, NULL);
    assert_ok(infer(&code, &p, "main", "g", &test_error));
    kiln_digest_text(code->root, digest);
    (void)snprintf(label, sizeof label, "main.g#%.16s", digest);
    end(&p);
    start(&p);
    define_sample(&p, NULL);
    assert_ok(p.context->language->ops.locate(p.language, label, 0, &at));
    assert_string_equal(at.file, "test.kiln");
    assert_int_equal(at.line, 6);
    end(&p);
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
    learn();
    start(&p);
    type = kiln_type_scalar(p.context, KILN_TYPE_BOOL);
    (void)define(&p, sample[0].package, sample[0].text);
    (void)define(&p, sample[1].package, sample[1].text);
    assert_ok(kiln_world_hold(&world, p.context->language));
    (void)define(&p, sample[2].package, sample[2].text);
    assert_false(is_ready(&p));
    signature.function = function_of(&p, "numbers", "twice");
    assert_ok(
        kiln_infer(&code, p.context, &signature, p.config, 0, &test_error));
    assert_int_equal(code->min_world, world + 1);
    assert_status(KILN_ECOMPILE, kiln_infer(&code, p.context, &signature,
                                            p.config, world, &error));
    kiln_error_free(error);
    end(&p);
}

/* ---- what cannot be deferred ---- */

static void a_text_with_an_error_has_it_at_once(void **state)
{
    static const char *const texts[] = {"fn (\n", "import nowhere\n",
                                        "import shapes: nothing\n"};

    (void)state;
    learn();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int round = 0; round < 2; round++) {
            kiln_error *error = NULL;
            process p;

            start(&p);
            (void)define(&p, sample[0].package, sample[0].text);
            assert_int_not_equal(
                kiln_package_define(package_of(&p, "wrong"), "test.kiln",
                                    texts[i], strlen(texts[i]), NULL, &error),
                KILN_OK);
            assert_non_null(error);
            kiln_error_free(error);
            end(&p);
        }
}

static void a_text_is_another_one_after_other_imports(void **state)
{
    process p;

    (void)state;
    learn();
    start(&p);
    (void)define(&p, "numbers", "fn twice(x) = x\n");
    (void)define(&p, sample[0].package, sample[0].text);
    (void)define(&p, sample[2].package, sample[2].text);
    assert_true(is_ready(&p));
    end(&p);
}

static void what_replaces_is_defined_at_once(void **state)
{
    static const char *const texts[] = {
        "fn f(x) = 1\nconst n = 1\n", "fn f(x) = 2\n", "const n = 2\n",
        "const n = 2\n# again\n", "# nothing\n"};

    (void)state;
    for (int round = 0; round < 2; round++) {
        process p;

        start(&p);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            (void)define(&p, "main", texts[i]);
            assert_int_equal(is_ready(&p), round == 0 || i > 0);
        }
        end(&p);
        assert_int_equal(memory_store_counted().puts, 1);
    }
}

static void packages_that_meet_in_a_method_are_defined_at_once(void **state)
{
    static const definition texts[] = {
        {"base", "struct Q\n    a: f32\nend\nfn f(x) = 1\n"},
        {"first", "import base: Q\nfn +(a: Q, b: Q) = a\n"},
        {"second", "import base: Q\nfn +(a: Q, b: T) where T: Q = b\n"},
    };

    (void)state;
    for (int first = 1; first <= 2; first++) { /* each is known alone */
        process p;

        start(&p);
        (void)define(&p, texts[0].package, texts[0].text);
        (void)define(&p, texts[first].package, texts[first].text);
        end(&p);
    }
    for (int first = 1; first <= 2; first++) {
        kiln_change_report report;
        process p;

        start(&p);
        (void)define(&p, texts[0].package, texts[0].text);
        (void)define(&p, texts[first].package, texts[first].text);
        assert_false(is_ready(&p));
        report = define(&p, texts[3 - first].package, texts[3 - first].text);
        assert_true(is_ready(&p));
        assert_int_equal(report.methods_replaced, 1);
        end(&p);
    }
}

static void a_new_text_is_known_the_next_time(void **state)
{
    kiln_digest digests[2];

    (void)state;
    learn();
    for (int round = 0; round < 2; round++) {
        process p;

        start(&p);
        define_sample(&p, NULL);
        assert_false(is_ready(&p));
        (void)define(&p, "new", "import main\nfn f(x) = main.f(x)\n");
        assert_int_equal(is_ready(&p), round == 0);
        digests[round] = inferred(&p, "new", "f");
        end(&p);
    }
    assert_same(digests[0], digests[1]);
}

/* ---- summaries that are not true ---- */

/* Says of `text` what is true of `other`. */
static void lie(const char *package, const char *text, const char *other)
{
    const kiln__summary_subject truth = {
        package, {0, 0}, kiln__digest_bytes(other, strlen(other))};
    const kiln__summary_subject subject = {
        package, {0, 0}, kiln__digest_bytes(text, strlen(text))};
    kiln__summary summary;
    kiln__encoder encoder;
    kiln__arena arena;
    process p;

    start(&p);
    (void)define(&p, package, other);
    kiln__arena_init(&arena, &kiln__malloc);
    assert_ok(kiln__summary_find(&summary, &arena, p.language, &truth));
    kiln__encoder_init(&encoder, &kiln__malloc);
    encoder.bytes = (void *)(uintptr_t)summary.bytes;
    encoder.size = summary.size;
    kiln__summary_keep(p.language, &subject, &encoder);
    kiln__arena_dispose(&arena);
    end(&p);
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
        start(&p);
        report = define(&p, "main", wrong[i].text);
        assert_false(is_ready(&p));
        none.function = function_of(&p, "main", "f");
        assert_fails(wrong[i].status, wrong[i].message,
                     infer(&code, &p, "main", "f", &test_error));
        assert_true(is_ready(&p));
        assert_int_equal(memory_store_counted().rejects, 1);
        assert_fails(KILN_ENOTFOUND, "has no function",
                     kiln_package_function(&none.function,
                                           package_of(&p, "main"), "f",
                                           &test_error));
        assert_ok(p.context->language->ops.program(
            p.language, &none, p.config, kiln_world(p.context->language),
            &digest));
        assert_true(kiln__digest_is_zero(digest));
        assert_int_equal(define(&p, "main", "fn f(x) = 2\n").world,
                         report.world + 1);
        assert_false(kiln__digest_is_zero(inferred(&p, "main", "f")));
        end(&p);
        memory_store_clear();
    }
}

static void a_text_means_what_it_says_whatever_was_stored(void **state)
{
    static const char text[] = "fn f(x) = 1\nfn g(x) = f(x)\n";
    kiln_digest digest;
    process p;

    (void)state;
    start(&p);
    (void)define(&p, "main", text);
    digest = inferred(&p, "main", "f");
    end(&p);
    memory_store_clear();
    lie("main", text, "fn h(x) = 1\n");
    start(&p);
    (void)define(&p, "main", text);
    assert_false(is_ready(&p));
    (void)function_of(&p, "main", "h");
    assert_same(digest, inferred(&p, "main", "f"));
    assert_int_equal(memory_store_counted().rejects, 1);
    end(&p);
    start(&p); /* what was rejected is known the next time but one */
    (void)define(&p, "main", text);
    assert_true(is_ready(&p));
    end(&p);
    start(&p);
    (void)define(&p, "main", text);
    assert_false(is_ready(&p));
    end(&p);
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
    kiln_digest digest = {0, 0};
    flip f = {0, 1};

    (void)state;
    for (f.at = 0; f.was_done; f.at++) {
        kiln_digest now;
        process p;

        memory_store_clear();
        mode = KILN__CACHE_READ_WRITE;
        start(&p);
        (void)define(&p, "base", base);
        (void)define(&p, "main", text);
        end(&p);
        f.was_done = 0;
        memory_store_alter(flip_byte, &f);
        start(&p);
        (void)define(&p, "base", base);
        (void)define(&p, "main", text);
        now = inferred(&p, "main", "f");
        if (f.at == 0)
            digest = now;
        assert_same(digest, now);
        assert_int_equal(is_ready(&p), 1);
        end(&p);
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

static observed load_files(const char *path, int is_deferred)
{
    observed o = {.world = 0};
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln_package *package = NULL;
    char name[16];
    process p;

    start(&p);
    assert_ok(
        kiln_package_load(&package, p.context, path, &report, &test_error));
    assert_int_equal(is_ready(&p), !is_deferred);
    o.reports[0] = report;
    o.world = kiln_world(p.context->language);
    (void)snprintf(name, sizeof name, "p%d", FILE_COUNT - 1);
    assert_string_equal(kiln_package_name(package), name);
    o.program = program_of(&p, name, "f");
    o.f = inferred(&p, name, "f");
    end(&p);
    return o;
}

static void packages_of_files_are_read_and_not_parsed(void **state)
{
    char folder[] = "/tmp/kiln-deferred-XXXXXX", path[256];
    char command[300];
    observed off, cold, warm, edited;

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILE_COUNT; i++)
        write_file(folder, i, "fn f2(x) = x\n", path, sizeof path);
    mode = KILN__CACHE_OFF;
    off = load_files(path, 0);
    mode = KILN__CACHE_READ_WRITE;
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

        start(&p);
        harness_run_threads(6, work, &c);
        assert_threads_ok(&c.report);
        world = kiln_world(p.context->language);
        assert_int_equal(world, 1 + kiln__runtime_source_count + 6);
        end(&p);
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
    learn();
    start(&p);
    define_sample(&p, NULL);
    digest = inferred(&p, "main", "h");
    end(&p);
    start(&p);
    define_sample(&p, NULL);
    child = fork();
    if (child == 0)
        _exit(kiln__digest_equal(digest, inferred(&p, "main", "h")) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_ready(&p));
    assert_same(digest, inferred(&p, "main", "h"));
    end(&p);
}

/* ---- without memory ---- */

static kiln_status run_out(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_digest *expected = env;
    const kiln_code *code = NULL;
    kiln_status status = KILN_OK;
    process p;

    options.alloc = alloc;
    failing_alloc_hold(alloc, 1);
    assert_ok(kiln_context_new(&p.context, &options, &test_error));
    assert_ok(kiln_config_new(&p.config, p.context, NULL, &test_error));
    p.language = p.context->language->self;
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        (void)package_of(&p, sample[i].package);
    failing_alloc_hold(alloc, 0);
    for (size_t i = 0; status == KILN_OK && i < SAMPLE_COUNT; i++)
        status = kiln_package_define(package_of(&p, sample[i].package),
                                     "test.kiln", sample[i].text,
                                     strlen(sample[i].text), NULL, NULL);
    if (status == KILN_OK)
        status = kiln__language_ready(p.language, NULL);
    failing_alloc_hold(alloc, 1);
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        (void)define(&p, sample[i].package, sample[i].text);
    assert_ok(infer(&code, &p, "main", "h", &test_error));
    assert_same(*expected, kiln_code_digest(code));
    failing_alloc_hold(alloc, 0);
    kiln_context_free(p.context);
    return status;
}

static void memory_may_run_out_at_any_time(void **state)
{
    kiln_digest digest;
    process p;

    (void)state;
    learn();
    start(&p);
    define_sample(&p, NULL);
    digest = inferred(&p, "main", "h");
    end(&p);
    assert_survives_failing_alloc(run_out, &digest);
    assert_int_equal(memory_store_counted().rejects, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
