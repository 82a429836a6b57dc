/* test_deep.c - what nests too deeply for a stack is an error. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend tiers thread */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "support/harness.h"
#include "support/process/stacks.h"

/*
 * Each program nests in another way. On small stacks it is an error, which
 * names what lacks and is not remembered; on a large one it is right. What
 * these tests look for is a process that dies, so stacks end in memory that
 * may not be touched, and sizes are tried in small steps.
 */

#define TEXT_SIZE ((size_t)1 << 20)
#define LARGE (4096 * STACKS_KIB)

typedef struct text {
    char *bytes;
    size_t size;
} text;

static void add(text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(text *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    t->size += (size_t)vsnprintf(t->bytes + t->size, TEXT_SIZE - t->size,
                                 format, arguments);
    va_end(arguments);
    assert_true(t->size < TEXT_SIZE);
}

static void repeat(text *t, const char *part, int count)
{
    for (int i = 0; part && i < count; i++)
        add(t, "%s", part);
}

/* ---- programs; `f` takes an i64 ---- */

/* One part again and again, in the middle of two texts, and what closes it. */
typedef struct nest {
    const char *before;
    int count;
    const char *part;
    const char *inside;
    const char *closing; /* NULL: nothing does */
    const char *after;
} nest;

static const nest long_sum = {"fn f(x) = x", 990, " + x", "", NULL, "\n"};
static const nest signs = {"fn f(x) = ", 240, "-", "x", NULL, "\n"};
static const nest parentheses = {"fn f(x) = ", 240, "(", "x", ")", "\n"};
static const nest calls_in_calls = {"fn f(x) = ", 200, "max(1, ",
                                    "x",          ")", "\n"};
static const nest conditions = {"fn f(x) = x < 1", 900,  " && x < 2",
                                " ? 1 : 2",        NULL, "\n"};
static const nest static_conditions = {
    "fn f(x)\n    static_assert(1 < 2", 900,  " && 1 < 2",
    ")\n    return x\nend\n",           NULL, ""};
static const nest blocks = {
    "fn f(x)\n", 120,          "while x > 1\nif x > 2\n",
    "x -= 1\n",  "end\nend\n", "return x\nend\n"};
static const nest other_blocks = {
    "fn f(x)\nif x < 1\n",  900,  "elseif x > 2\nx -= 1\n",
    "end\nreturn x\nend\n", NULL, ""};
static const nest types_in_text = {"fn h(x: ", 55,   "(",
                                   "i64",      ",)", ") = 1\nfn f(x) = x\n"};

static void write_nest(text *t, const nest *n)
{
    add(t, "%s", n->before);
    repeat(t, n->part, n->count);
    add(t, "%s", n->inside);
    repeat(t, n->closing, n->count);
    add(t, "%s", n->after);
}

static void chain_of_calls(text *t)
{
    for (int i = 0; i < 190; i++)
        add(t, "fn g%d_(x) = g%d_(x + 1)\n", i, i + 1);
    add(t, "fn g190_(x) = x\nfn f(x) = g0_(x)\n");
}

static void cycle_of_calls(text *t)
{
    add(t, "fn f(x) = x < 1 ? 0 : g0_(x - 1)\n");
    for (int i = 0; i < 100; i++)
        add(t, "fn g%d_(x) = x < 1 ? 0 : g%d_(x - 1)\n", i, i + 1);
    add(t, "fn g100_(x) = f(x)\n");
}

static void structs_in_structs(text *t)
{
    add(t, "struct S0\na: i64\nend\n");
    for (int i = 0; i < 55; i++)
        add(t, "struct S%d\na: S%d\nend\n", i + 1, i);
    add(t, "fn h(s: S55) = s\nfn f(x) = x + (false ? h(S55(");
    for (int i = 54; i >= 0; i--)
        add(t, "S%d(", i);
    add(t, "x");
    repeat(t, ")", 56);
    add(t, ")");
    repeat(t, ".a", 56);
    add(t, " : 1)\n");
}

static void many_structs(text *t)
{
    add(t, "struct S0\na: i64\nend\n");
    for (int i = 0; i < 200; i++)
        add(t, "struct S%d\na: S%d\nend\n", i + 1, i);
    add(t, "fn f(x) = x\n");
}

static void constants(text *t)
{
    add(t, "const C0 = 1\n");
    for (int i = 0; i < 400; i++)
        add(t, "const C%d = C%d + 1\n", i + 1, i);
    add(t, "fn f(x) = x + C400\n");
}

static void collectives(text *t)
{
    for (int i = 0; i < 150; i++)
        add(t, "fn g%d_(x) = g%d_(x + 1)\n", i, i + 1);
    add(t, "fn g150_(x)\nbarrier()\nreturn x\nend\n"
           "fn f(x) = x\nkernel k(a)\na[0] = g0_(1)\nend\n");
}

typedef struct program {
    const char *name;
    const nest *nest; /* or: */
    void (*write)(text *t);
} program;

static const program programs[] = {
    {"chain_of_calls", NULL, chain_of_calls},
    {"cycle_of_calls", NULL, cycle_of_calls},
    {"long_sum", &long_sum, NULL},
    {"signs", &signs, NULL},
    {"parentheses", &parentheses, NULL},
    {"calls_in_calls", &calls_in_calls, NULL},
    {"conditions", &conditions, NULL},
    {"static_conditions", &static_conditions, NULL},
    {"blocks", &blocks, NULL},
    {"other_blocks", &other_blocks, NULL},
    {"types_in_text", &types_in_text, NULL},
    {"structs_in_structs", NULL, structs_in_structs},
    {"many_structs", NULL, many_structs},
    {"constants", NULL, constants},
};

#define PROGRAMS (sizeof programs / sizeof *programs)

/* ---- one program on one stack ---- */

typedef struct attempt {
    kiln_context *context;
    const char *text;
    const char *function; /* a kernel is compiled, too */
    const char *type;
    kiln_blob shown; /* its typed IR */
    kiln_status status;
    kiln_error *error;
} attempt;

static kiln_status show(attempt *a, const kiln_signature *signature,
                        const kiln_config *config)
{
    const kiln_code *code = NULL;
    const kiln_kernel *kernel = NULL;
    kiln_status status =
        kiln_infer(&code, a->context, signature, config, 0, &a->error);

    if (status == KILN_OK)
        status = kiln_emit(&a->shown, a->context, signature, config, 0,
                           KILN_EMIT_TYPED, &a->error);
    if (status == KILN_OK && a->function[0] == 'k')
        status = kiln_compile(&kernel, a->context, signature, config, NULL,
                              &a->error);
    return status;
}

static kiln_status go(attempt *a)
{
    kiln_package *package = NULL;
    const kiln_config *config = NULL;
    const kiln_type *type = NULL;
    kiln_signature signature = {NULL, &type, 1};
    kiln_status status =
        kiln_package_new(&package, a->context, "main", &a->error);

    if (status == KILN_OK)
        status = kiln_package_define(package, "deep.kiln", a->text,
                                     strlen(a->text), NULL, &a->error);
    if (status == KILN_OK)
        status = kiln_package_function(&signature.function, package,
                                       a->function, &a->error);
    if (status == KILN_OK)
        status = kiln_type_parse(&type, a->context, NULL, a->type, &a->error);
    if (status == KILN_OK)
        status = kiln_config_new(&config, a->context, NULL, &a->error);
    return status == KILN_OK ? show(a, &signature, config) : status;
}

static void try_it(void *env)
{
    attempt *a = env;

    a->status = go(a);
}

/* KILN_OK, or KILN_ESTACK, with its words. */
static kiln_status finish(attempt *a, const char *name, size_t size)
{
    const kiln_status status = a->status;

    if (status != KILN_OK && status != KILN_ESTACK)
        print_error("%s on %zu bytes: %s: %s\n", name, size,
                    kiln_status_name(status), kiln_error_message(a->error));
    assert_true(status == KILN_OK || status == KILN_ESTACK);
    if (status == KILN_ESTACK)
        assert_contains(kiln_error_message(a->error), "nests too deeply");
    kiln_error_free(a->error);
    kiln_blob_release(&a->shown);
    a->error = NULL;
    return status;
}

/* On stacks that are too small at first: how much is too small is another size
   with each compiler and sanitizer. */
static void fails_on_small_stacks(attempt *a, void (*body)(void *env))
{
    int failed = 0;

    for (size_t kib = 25; kib <= 36; kib++) {
        stacks_run_thread(kib * STACKS_KIB, body, a);
        failed += a->status == KILN_ESTACK;
        kiln_error_free(a->error);
        kiln_blob_release(&a->shown);
        a->error = NULL;
    }
    assert_true(failed > 0);
}

/* In a context of its own, and then once more there, where there is room. */
static kiln_status attempt_on(size_t size, attempt *a, const char *name)
{
    kiln_status status;

    assert_ok(kiln_context_new(&a->context, NULL, &test_error));
    stacks_run_thread(size, try_it, a);
    status = finish(a, name, size);
    stacks_run_thread(LARGE, try_it, a);
    assert_ok(finish(a, name, LARGE));
    kiln_context_free(a->context);
    return status;
}

/* One of the two is NULL. */
static void write_text(text *t, const nest *n, void (*write)(text *t))
{
    t->bytes = malloc(TEXT_SIZE);
    t->size = 0;
    assert_non_null(t->bytes);
    if (n)
        write_nest(t, n);
    else
        write(t);
}

/* ---- tests ---- */

static void nesting_is_an_error_on_any_small_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++) {
        attempt a = {.function = "f", .type = "i64"};
        int failed = 0, worked = 0;
        text t;

        write_text(&t, programs[i].nest, programs[i].write);
        a.text = t.bytes;
        for (size_t kib = 20; !worked && kib <= 1024; kib += kib / 8)
            if (attempt_on(kib * STACKS_KIB, &a, programs[i].name) == KILN_OK)
                worked = 1;
            else
                failed++;
        if (!failed || !worked)
            print_error("%s\n", programs[i].name);
        assert_true(failed > 0);
        assert_true(worked);
        free(t.bytes);
    }
}

static void collective_calls_that_nest_are_an_error(void **state)
{
    attempt a = {.function = "k", .type = "i64[:]"};
    text t;

    (void)state;
    write_text(&t, NULL, collectives);
    a.text = t.bytes;
    assert_int_equal(attempt_on(64 * STACKS_KIB, &a, "k"), KILN_ESTACK);
    assert_int_equal(attempt_on(1024 * STACKS_KIB, &a, "k"), KILN_OK);
    free(t.bytes);
}

/* ---- coroutines ---- */

static const void *tell_limit(void *env)
{
    (void)env;
    return stacks_coroutine_limit();
}

static kiln_status attempt_in_coroutine(size_t size, attempt *a, int told)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .stack_limit = told ? tell_limit : NULL};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_status status;

    options.host = &host;
    assert_ok(kiln_context_new(&a->context, &options, &test_error));
    stacks_run_coroutine(size, try_it, a);
    status = finish(a, "in a coroutine", size);
    kiln_context_free(a->context);
    return status;
}

static void a_coroutine_has_what_its_host_tells(void **state)
{
    attempt a = {.function = "f", .type = "i64"};
    text t;

    (void)state;
    write_text(&t, NULL, chain_of_calls);
    a.text = t.bytes;
    assert_int_equal(attempt_in_coroutine(64 * STACKS_KIB, &a, 0), KILN_ESTACK);
    assert_int_equal(attempt_in_coroutine(64 * STACKS_KIB, &a, 1), KILN_ESTACK);
    assert_int_equal(attempt_in_coroutine(LARGE, &a, 0), KILN_ESTACK);
    assert_int_equal(attempt_in_coroutine(LARGE, &a, 1), KILN_OK);
    free(t.bytes);
}

static void a_small_coroutine_is_enough_for_a_kernel(void **state)
{
    attempt a = {.function = "k",
                 .type = "f32[:]",
                 .text = "kernel k(a)\n    i = global_id(0)\n"
                         "    if i < length(a)\n        a[i] = 2 * a[i]\n"
                         "    end\nend\n"};

    (void)state;
    assert_int_equal(attempt_in_coroutine(64 * STACKS_KIB, &a, 0), KILN_OK);
    assert_int_equal(attempt_in_coroutine(64 * STACKS_KIB, &a, 1), KILN_OK);
}

/* ---- what is stored ---- */

static kiln_tier_statistics typed_tier(const kiln_context *context)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, context);
    return statistics.tiers[KILN_TIER_TYPED];
}

static void open_with_folder(kiln_context **out, const char *folder)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    assert_ok(kiln_context_new(out, &options, &test_error));
}

/* What was not followed to its end is not known to be wrong. */
static void a_stored_chain_outlives_a_small_stack(void **state)
{
    attempt a = {.function = "f", .type = "i64"};
    text t;

    write_text(&t, NULL, chain_of_calls);
    a.text = t.bytes;
    open_with_folder(&a.context, *state);
    stacks_run_thread(LARGE, try_it, &a);
    assert_ok(finish(&a, "first", LARGE));
    kiln_context_free(a.context);

    open_with_folder(&a.context, *state);
    stacks_run_thread(64 * STACKS_KIB, try_it, &a);
    assert_int_equal(finish(&a, "second", 64 * STACKS_KIB), KILN_ESTACK);
    kiln_context_free(a.context);

    open_with_folder(&a.context, *state);
    stacks_run_thread(LARGE, try_it, &a);
    assert_ok(finish(&a, "third", LARGE));
    assert_int_equal(typed_tier(a.context).built, 0);
    assert_int_equal(typed_tier(a.context).store_hits, 191 + 1);
    kiln_context_free(a.context);
    free(t.bytes);
}

/* A text of which a store knows what it defines is parsed when it is needed:
   that there was no room for it says nothing about the text. */
static void a_deferred_text_outlives_a_small_stack(void **state)
{
    attempt a = {.function = "f", .type = "i64"};
    text t;

    write_text(&t, &parentheses, NULL);
    a.text = t.bytes;
    open_with_folder(&a.context, *state);
    stacks_run_thread(LARGE, try_it, &a);
    assert_ok(finish(&a, "first", LARGE));
    kiln_context_free(a.context);

    open_with_folder(&a.context, *state);
    a.function = "missing"; /* so the text is looked at */
    fails_on_small_stacks(&a, try_it);
    a.function = "f";
    stacks_run_thread(LARGE, try_it, &a);
    assert_ok(finish(&a, "third", LARGE));
    kiln_context_free(a.context);
    free(t.bytes);
}

/* ---- packages ---- */

static void load_first(void *env)
{
    attempt *a = env;
    kiln_package *package;

    a->status =
        kiln_package_load(&package, a->context, a->text, NULL, &a->error);
}

static void imports_that_nest_are_an_error(void **state)
{
    char path[300] = "", name[32], bytes[64];
    attempt a = {.text = path};

    for (int i = 0; i <= 60; i++) {
        snprintf(name, sizeof name, "p%d.kiln", i);
        snprintf(bytes, sizeof bytes, "import p%d\nfn f() = %d\n", i + 1, i);
        if (i == 60)
            snprintf(bytes, sizeof bytes, "fn f() = 60\n");
        harness_write_file(path, sizeof path, *state, name, bytes,
                           strlen(bytes));
        if (i == 0)
            a.text = strdup(path);
    }
    assert_ok(kiln_context_new(&a.context, NULL, &test_error));
    fails_on_small_stacks(&a, load_first);
    stacks_run_thread(LARGE, load_first, &a);
    assert_ok(finish(&a, "p0", LARGE));
    kiln_context_free(a.context);
    free((char *)(uintptr_t)a.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_is_an_error_on_any_small_stack),
        cmocka_unit_test(collective_calls_that_nest_are_an_error),
        cmocka_unit_test(a_coroutine_has_what_its_host_tells),
        cmocka_unit_test(a_small_coroutine_is_enough_for_a_kernel),
        cmocka_unit_test_setup_teardown(a_stored_chain_outlives_a_small_stack,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(a_deferred_text_outlives_a_small_stack,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(imports_that_nest_are_an_error,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
