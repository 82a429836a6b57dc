/* process.c - what a process does with texts, over stores in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/process/process.h"

void process_start(process *p)
{
    assert_ok(kiln_context_new(&p->context, NULL, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, NULL, &test_error));
    p->language = p->context->language->self;
}

void process_end(process *p)
{
    kiln_context_free(p->context);
}

int process_is_ready(const process *p)
{
    return atomic_load(&p->language->ready);
}

kiln_package *process_package(process *p, const char *name)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_new(&package, p->context, name, &test_error));
    return package;
}

kiln_change_report process_define(process *p, const char *package,
                                  const char *text)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(kiln_package_define(process_package(p, package), "test.kiln",
                                  text, strlen(text), &report, &test_error));
    return report;
}

const kiln_function *process_function(process *p, const char *package,
                                      const char *name)
{
    const kiln_function *function = NULL;

    assert_ok(kiln_package_function(&function, process_package(p, package),
                                    name, &test_error));
    return function;
}

kiln_status process_infer(const kiln_code **out, process *p,
                          const char *package, const char *name,
                          kiln_error **error)
{
    const kiln_type *type = kiln_type_scalar(p->context, KILN_TYPE_F32);
    const kiln_signature signature = {process_function(p, package, name), &type,
                                      1};

    return kiln_infer(out, p->context, &signature, p->config, 0, error);
}

kiln_digest process_inferred(process *p, const char *package, const char *name)
{
    const kiln_code *code = NULL;

    assert_ok(process_infer(&code, p, package, name, &test_error));
    return kiln_code_digest(code);
}

kiln_digest process_program(process *p, const char *package, const char *name)
{
    const kiln_signature signature = {process_function(p, package, name), NULL,
                                      0};
    kiln_digest digest;

    assert_ok(p->context->language->ops.program(
        p->language, &signature, p->config, kiln_world(p->context->language),
        &digest));
    assert_false(kiln__digest_is_zero(digest));
    return digest;
}

/* ---- programs, as lists of texts ---- */

/* Each text defines things that others may refer to. The last one has f. */
const process_text process_sample[PROCESS_SAMPLE_COUNT] = {
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

void process_define_sample(process *p, kiln_change_report *reports)
{
    for (size_t i = 0; i < PROCESS_SAMPLE_COUNT; i++) {
        const kiln_change_report report = process_define(
            p, process_sample[i].package, process_sample[i].text);

        if (reports != NULL)
            reports[i] = report;
    }
}

/* Fills the store with entries for the texts. */
void process_learn(void)
{
    process p;

    memory_store_mode = KILN__CACHE_READ_WRITE;
    process_start(&p);
    process_define_sample(&p, NULL);
    process_end(&p);
}

int process_setup(void **state)
{
    (void)state;
    memory_store_clear();
    memory_store_mode = KILN__CACHE_READ_WRITE;
    return 0;
}

int process_teardown(void **state)
{
    (void)state;
    memory_store_clear();
    return 0;
}

process_observed process_observe(void)
{
    process_observed o = {.world = 0};
    process p;

    process_start(&p);
    process_define_sample(&p, o.reports);
    o.world = kiln_world(p.context->language);
    o.program = process_program(&p, "main", "f");
    o.was_ready = process_is_ready(&p);
    o.h = process_inferred(&p, "main", "h");
    o.f = process_inferred(&p, "main", "f");
    assert_true(process_is_ready(&p));
    assert_int_equal(o.world, kiln_world(p.context->language));
    assert_same(o.program, process_program(&p, "main", "f"));
    process_end(&p);
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

void assert_equal_observed(const process_observed *a, const process_observed *b)
{
    for (size_t i = 0; i < PROCESS_SAMPLE_COUNT; i++)
        assert_equal_reports(&a->reports[i], &b->reports[i]);
    assert_int_equal(a->world, b->world);
    assert_same(a->program, b->program);
    assert_same(a->f, b->f);
    assert_same(a->h, b->h);
}
