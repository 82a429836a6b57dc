/* test_depend.c - what depends on typed IR that it does not call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host thread */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/cache_tools.h"
#include "support/frontend/gradient.h"
#include "support/frontend/graph.h"
#include "support/harness.h"

/*
 * A second compiler differentiates functions of the kernel language. A context
 * stands for a process.
 */
static const char *folder;
static kiln_context *context;
static kiln_package *package;
static const kiln_config *config;
static gradient derivatives;
static int32_t source; /* of the last kernel */

static void begin_as(uint8_t mode)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode = mode;
    cache.directory = folder;
    options.cache = &cache;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(gradient_open(&derivatives, context, &test_error));
    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
}

static void begin(void)
{
    begin_as(KILN_CACHE_MODE_READ_WRITE);
}

static void end(void)
{
    kiln_context_free(context);
}

static void define_under(const char *text, kiln_change_report *report)
{
    assert_ok(kiln_package_define(package, "t.kiln", text, strlen(text), report,
                                  &test_error));
}

static void define(const char *text)
{
    define_under(text, NULL);
}

static const kiln_type *type_of(const char *text)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, context, NULL, text, &test_error));
    return type;
}

static kiln_status compile(const kiln_kernel **out, const char *function,
                           kiln_error **error)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *types[] = {type_of("f64[:]"), type_of("f64")};
    kiln_signature signature = {NULL, types, 2};

    options.source = &source;
    assert_ok(
        gradient_of(&signature.function, &derivatives, function, &test_error));
    return kiln_compile(out, context, &signature, config, &options, error);
}

/* The derivative of the function at x. */
static double slope(const char *function, double x)
{
    const kiln_launch launch = {.grid = {1}};
    double value = 0;
    const kiln_array array = {.data = &value, .sizes = {1}};
    const void *arguments[] = {&array, &x};
    const kiln_kernel *kernel = NULL;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;

    assert_ok(compile(&kernel, function, &test_error));
    assert_ok(kiln_device_open(&device, context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(
        kiln_queue_launch(queue, kernel, &launch, arguments, 2, &test_error));
    assert_ok(kiln_queue_wait(queue, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
    return value;
}

#define assert_slope(expected, function, x) \
    assert_true(slope((function), (x)) == (expected))

static const kiln_code *derived_code(const char *function)
{
    const kiln_type *type = type_of("f64");
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;

    assert_ok(
        gradient_of(&signature.function, &derivatives, function, &test_error));
    assert_ok(kiln_infer(&code, context, &signature, config, 0, &test_error));
    return code;
}

/* ---- redefinitions ---- */

static void a_derivative_is_of_what_is_defined_today(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_code *code;

    (void)state;
    begin();
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(12, "main.f", 2);
    code = derived_code("main.f");
    define_under("fn f(x) = x * x * x\n", &report);
    /* The function, its derivative, and the kernel. */
    assert_int_equal(report.invalidated_count, 3);
    kiln_change_report_dispose(&report);
    assert_false(kiln_code_is_valid(code));
    assert_slope(27, "main.f", 3);
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(18, "main.f", 3);
    end();
}

static void what_the_primal_calls_is_a_part_of_it(void **state)
{
    (void)state;
    begin();
    define("fn g(x) = x * x\nfn f(x) = 2.0 * g(x) + x\n");
    assert_slope(13, "main.f", 3);
    define("fn g(x) = x * x * x\n");
    assert_slope(55, "main.f", 3);
    end();
}

static void a_new_process_derives_nothing_that_is_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin();
        define("fn g(x) = x * x\nfn f(x) = 2.0 * g(x) + x\n");
        assert_slope(13, "main.f", 3);
        assert_int_equal(source, i ? KILN_SOURCE_STORE : KILN_SOURCE_BUILT);
        assert_int_equal(derivatives.inferred != 0, !i);
        end();
    }
}

static void a_new_process_sees_an_edit(void **state)
{
    static const struct {
        const char *text;
        double at_3;
    } versions[] = {
        {"fn g(x) = x * x\nfn f(x) = 2.0 * g(x) + x\n", 13},
        {"fn g(x) = x * x * x\nfn f(x) = 2.0 * g(x) + x\n", 55},
        {"fn g(x) = x * x\nfn f(x) = 5.0 * g(x) + x\n", 31},
    };

    (void)state;
    for (int i = 0; i < 6; i++) {
        begin();
        define(versions[i % 3].text);
        assert_slope(versions[i % 3].at_3, "main.f", 3);
        if (i >= 3)
            assert_int_equal(source, KILN_SOURCE_STORE);
        /* And an edit in a process that loaded the derivative. */
        define(versions[(i + 1) % 3].text);
        assert_slope(versions[(i + 1) % 3].at_3, "main.f", 3);
        end();
    }
}

/* Equal typed IR, from another primal. */
static void the_primal_is_in_the_typed_digest(void **state)
{
    kiln_digest first, second;
    size_t size, other_size;
    const void *bytes;
    const kiln_code *code;

    (void)state;
    begin();
    define("fn f(x) = x * x + 1.0\n");
    code = derived_code("main.f");
    first = kiln_code_digest(code);
    bytes = kiln_code_ir(code, &size);
    define("fn f(x) = x * x + 2.0\n");
    code = derived_code("main.f");
    second = kiln_code_digest(code);
    assert_memory_equal(bytes, kiln_code_ir(code, &other_size), size);
    assert_int_equal(size, other_size);
    assert_memory_not_equal(&first, &second, sizeof first);
    end();
}

/* ---- packs ---- */

static void a_pack_serves_what_it_was_made_of_and_nothing_else(void **state)
{
    kiln_error *error = NULL;
    const kiln_kernel *kernel = NULL;
    kiln_blob bytes = {0};
    kiln_pack *pack = NULL;

    (void)state;
    begin_as(KILN_CACHE_MODE_OFF);
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(12, "main.f", 2);
    assert_ok(kiln_delta(&bytes, context, NULL, NULL, &test_error));
    end();

    begin_as(KILN_CACHE_MODE_MUST_HIT);
    assert_ok(
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    assert_ok(kiln_insert(context, pack, &test_error));
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(12, "main.f", 2);
    assert_int_equal(derivatives.inferred, 0);
    define("fn f(x) = x * x * x\n");
    assert_int_equal(compile(&kernel, "main.f", &error), KILN_ENOTFOUND);
    assert_contains(kiln_error_message(error), "must-hit");
    kiln_error_free(error);
    end();

    begin_as(KILN_CACHE_MODE_READ_ONLY);
    assert_ok(
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    assert_ok(kiln_insert(context, pack, &test_error));
    define("fn f(x) = x * x * x\n");
    assert_slope(27, "main.f", 3);
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(12, "main.f", 2);
    end();
    kiln_blob_release(&bytes);
}

/* ---- collections ---- */

static void what_is_depended_on_stays_as_long(void **state)
{
    const kiln_code *code;
    uint64_t world = 0;

    (void)state;
    begin();
    define("fn f(x) = 3.0 * x * x\n");
    code = derived_code("main.f");
    kiln_context_collect(context);
    assert_true(kiln_code_is_valid(code));
    assert_ok(kiln_world_hold(&world, kiln_context_language(context)));
    for (int i = 0; i < 3; i++) {
        define(i % 2 ? "fn f(x) = x\n" : "fn f(x) = x * x\n");
        assert_slope(i % 2 ? 1 : 4, "main.f", 2);
        kiln_context_collect(context);
    }
    kiln_world_release(kiln_context_language(context), world);
    kiln_context_collect(context);
    assert_slope(4, "main.f", 2);
    end();
}

/* ---- what people see ---- */

static void take_dependency(void *env, const char *section, const char *name,
                            const char *value)
{
    if (strcmp(section, "meta") == 0 && strcmp(name, "depends on") == 0)
        (void)snprintf(env, 256, "%s", value);
}

static int32_t look(void *env, const kiln_cache_entry *entry)
{
    if (strcmp(entry->name, "grad.main.f(f64)") == 0)
        assert_ok(kiln_cache_describe(entry, take_dependency, env));
    return 1;
}

static void an_entry_says_what_it_depends_on(void **state)
{
    char text[256] = "";

    (void)state;
    begin();
    define("fn f(x) = 3.0 * x * x\n");
    assert_slope(12, "main.f", 2);
    assert_ok(kiln_cache_each(context, NULL, look, text, &test_error));
    assert_contains(text, "main.f(f64) -> f64, of kiln ");
    end();
}

/* ---- what is refused ---- */

/* A frontend whose infer() does what the test says. */
typedef struct fixed {
    kiln_frontend *frontend;
    kiln_status (*infer)(struct fixed *f, const kiln_function *function,
                         const kiln_config *under, kiln_inference *out,
                         kiln_error **error);
    const kiln_function *functions[2];
    const kiln_code *code;
    int inferred;
} fixed;

static uint64_t only_world(void *self)
{
    (void)self;
    return 1;
}

static kiln_status infer_fixed(void *self, const kiln_signature *signature,
                               const kiln_config *under, uint64_t world,
                               kiln_inference *out, kiln_error **error)
{
    fixed *f = self;
    kiln_status status;

    (void)world;
    f->inferred++;
    status = f->infer(f, signature->function, under, out, error);
    return status == KILN_OK ? kiln_inference_set_ir(out, "ir", 2) : status;
}

static kiln_status answer_fixed(void *self, const void *query, size_t size,
                                const kiln_config *under, uint64_t world,
                                kiln_digest *out)
{
    (void)self, (void)query, (void)size, (void)under, (void)world, (void)out;
    return KILN_EINVAL;
}

static void end_fixed(void *self)
{
    (void)self;
}

static void open_fixed(fixed *f, __typeof__(f->infer) infer)
{
    static const kiln_frontend_ops ops = {.size = sizeof ops,
                                          .name = "fixed 1",
                                          .world = only_world,
                                          .infer = infer_fixed,
                                          .answer = answer_fixed,
                                          .free = end_fixed};

    *f = (fixed){.infer = infer};
    assert_ok(kiln_frontend_add(&f->frontend, context, &ops, f, &test_error));
    assert_ok(kiln_function_new(&f->functions[0], f->frontend, "a", NULL,
                                &test_error));
    assert_ok(kiln_function_new(&f->functions[1], f->frontend, "b", NULL,
                                &test_error));
}

static kiln_status infer_first(const fixed *f, kiln_error **error)
{
    const kiln_signature signature = {f->functions[0], NULL, 0};
    const kiln_code *code = NULL;

    return kiln_infer(&code, context, &signature, config, 0, error);
}

static kiln_status depend_on_code(fixed *f, const kiln_function *function,
                                  const kiln_config *under, kiln_inference *out,
                                  kiln_error **error)
{
    (void)function, (void)under, (void)error;
    return kiln_inference_depend(out, f->code);
}

static const kiln_code *primal(kiln_context *in, const kiln_config *under)
{
    const kiln_type *type = kiln_type_scalar(in, KILN_TYPE_F64);
    kiln_signature signature = {NULL, &type, 1};
    const kiln_code *code = NULL;
    kiln_package *owner = NULL;

    assert_ok(kiln_package_find(&owner, in, "main"));
    assert_ok(
        kiln_package_function(&signature.function, owner, "f", &test_error));
    assert_ok(kiln_infer(&code, in, &signature, under, 0, &test_error));
    return code;
}

static void code_of_other_worlds_or_settings_is_refused(void **state)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *rough = NULL;
    fixed f;

    (void)state;
    begin();
    open_fixed(&f, depend_on_code);
    assert_fails(KILN_EINVAL, "code", infer_first(&f, &test_error));
    define("fn f(x) = x\n");
    settings.overlays = "rough";
    assert_ok(kiln_config_new(&rough, context, &settings, &test_error));
    f.code = primal(context, rough);
    assert_fails(KILN_EINVAL,
                 "a cannot depend on main.f(f64): it was inferred "
                 "under other settings",
                 infer_first(&f, &test_error));
    f.code = primal(context, config);
    f.inferred = 0;
    define("fn f(x) = x * x\n");
    assert_fails(KILN_EINVAL, "it is not valid in the worlds of this",
                 infer_first(&f, &test_error));
    /* A definition might have come between: it was tried again, not for ever.
     */
    assert_in_range(f.inferred, 2, 16);
    f.code = primal(context, config);
    assert_ok(infer_first(&f, &test_error));
    end();
}

static void code_of_another_context_is_refused(void **state)
{
    static const char text[] = "fn f(x) = x\n";
    kiln_context *other = NULL;
    kiln_package *owner = NULL;
    const kiln_config *under = NULL;
    fixed f;

    (void)state;
    begin();
    open_fixed(&f, depend_on_code);
    assert_ok(kiln_context_new(&other, NULL, &test_error));
    assert_ok(kiln_package_new(&owner, other, "main", &test_error));
    assert_ok(kiln_config_new(&under, other, NULL, &test_error));
    assert_ok(kiln_package_define(owner, "t.kiln", text, sizeof text - 1, NULL,
                                  &test_error));
    f.code = primal(other, under);
    assert_fails(KILN_EINVAL, "it is of another context",
                 infer_first(&f, &test_error));
    kiln_context_free(other);
    end();
}

/* a calls b, which calls a; a depends on b before either has ended. */
static kiln_status depend_in_cycle(fixed *f, const kiln_function *function,
                                   const kiln_config *under,
                                   kiln_inference *out, kiln_error **error)
{
    const int is_first = function == f->functions[0];
    const kiln_signature callee = {f->functions[is_first], NULL, 0};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    const kiln_status status =
        kiln_inference_callee(out, &callee, &code, NULL, &head, error);

    (void)under;
    if (!is_first)
        return status == KILN_ERECURSION && head ? KILN_OK : status;
    return status == KILN_OK ? kiln_inference_depend(out, code) : status;
}

static void a_member_of_an_open_cycle_is_refused(void **state)
{
    fixed f;

    (void)state;
    begin();
    open_fixed(&f, depend_in_cycle);
    assert_fails(KILN_ERECURSION,
                 "a cannot depend on b(): it is part of a recursion",
                 infer_first(&f, &test_error));
    end();
}

static void what_derives_from_itself_is_refused(void **state)
{
    static const graph_edge derives[] = {{1, GRAPH_LOW_B, 0, 0},
                                         {1, GRAPH_LOW_A, 0, 0}};
    graph_definition d = {.number = 1, .edge_count = 1};
    graph *g = malloc(sizeof *g);
    uint64_t value = 0;
    int turns;

    (void)state;
    assert_non_null(g);
    assert_ok(graph_open(g, NULL, GRAPH_ALL, &test_error));
    d.edges[0] = derives[0];
    assert_ok(graph_define(g, GRAPH_LOW_A, 0, &d, NULL));
    d.edges[0] = derives[1];
    assert_ok(graph_define(g, GRAPH_LOW_B, 0, &d, NULL));
    assert_fails(KILN_ERECURSION, "nested",
                 graph_run(&value, g, GRAPH_LOW_A, 0, 0, &test_error));
    turns = g->frontends[GRAPH_LOW_A].inferred[0];
    assert_in_range(turns, 1, 100);
    /* With a call on the way, and from the other end. */
    d.edges[0] = (graph_edge){0, GRAPH_LOW_B, 0, 0};
    assert_ok(graph_define(g, GRAPH_LOW_A, 0, &d, NULL));
    assert_fails(KILN_ERECURSION, "nested",
                 graph_run(&value, g, GRAPH_LOW_A, 0, 0, &test_error));
    assert_fails(KILN_ERECURSION, "nested",
                 graph_run(&value, g, GRAPH_LOW_B, 0, 0, &test_error));
    graph_close(g);
    free(g);
}

/* ---- definitions in between ---- */

/* Both functions, as long as the second one is inferred for the first times. */
static void redefine(graph_frontend *f, int function)
{
    int *turn = f->hook_data;

    if (function == 0 || ++*turn >= 3)
        return;
    for (int i = 0; i < 2; i++) {
        const graph_definition d = {.number = (uint64_t)*turn};

        assert_ok(graph_define(f->graph, f->which, i, &d, NULL));
    }
}

static kiln_status no_language(void *env, int function, int settings,
                               uint64_t *hash)
{
    (void)env, (void)function, (void)settings, (void)hash;
    return KILN_EIO;
}

/* Two primals are redefined between the one question and the other, by one that
   asks for what is there today. */
static void a_definition_in_between_begins_anew(void **state)
{
    const graph_definition derived = {
        .number = 1,
        .edge_count = 2,
        .edges = {{1, GRAPH_TYPED, 1, 0}, {1, GRAPH_TYPED, 0, 0}}};
    const graph_definition plain = {.number = 50};
    uint64_t value = 0, expected = 0;
    graph *g = malloc(sizeof *g);
    int turn = 0;

    (void)state;
    assert_non_null(g);
    assert_ok(graph_open(g, NULL, GRAPH_ALL, &test_error));
    g->frontends[GRAPH_LOW_A].asks_today = 1;
    assert_ok(graph_define(g, GRAPH_LOW_A, 0, &derived, NULL));
    for (int i = 0; i < 2; i++)
        assert_ok(graph_define(g, GRAPH_TYPED, i, &plain, NULL));
    g->frontends[GRAPH_TYPED].hook = redefine;
    g->frontends[GRAPH_TYPED].hook_data = &turn;
    assert_ok(graph_run(&value, g, GRAPH_LOW_A, 0, 0, &test_error));
    assert_int_equal(turn, 3);
    assert_ok(graph_value(&expected, g, GRAPH_LOW_A, 0, 0, no_language, NULL));
    assert_int_equal(value, expected);
    graph_close(g);
    free(g);
}

static int setup(void **state)
{
    const int status = temporary_folder_setup(state);

    folder = *state;
    return status;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_derivative_is_of_what_is_defined_today),
        TEST(what_the_primal_calls_is_a_part_of_it),
        TEST(a_new_process_derives_nothing_that_is_the_same),
        TEST(a_new_process_sees_an_edit),
        TEST(the_primal_is_in_the_typed_digest),
        TEST(a_pack_serves_what_it_was_made_of_and_nothing_else),
        TEST(what_is_depended_on_stays_as_long),
        TEST(an_entry_says_what_it_depends_on),
        TEST(code_of_other_worlds_or_settings_is_refused),
        TEST(code_of_another_context_is_refused),
        TEST(a_member_of_an_open_cycle_is_refused),
        TEST(what_derives_from_itself_is_refused),
        TEST(a_definition_in_between_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
