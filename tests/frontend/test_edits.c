/* test_edits.c - an edit is seen by all that relied on what was edited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend host */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

#include "support/harness.h"

/*
 * Each program is run before and after each edit, by turns, over one cache
 * folder. What comes of it must be what comes of it without stores. What is
 * edited stands before the rest of the program.
 */

#define KERNEL(statements) "kernel k(out: f64[:])\n" statements "end\n"
#define MAKE "fn make() = P(0.25, 0.5)\n"
#define EDITED(text) "struct P\n" text "end\n"

static const char two[] = EDITED("a: f64\nb: f64\n");

static const char *const edits[] = {
    EDITED("b: f64\na: f64\n"),
    EDITED("z: f64\nb: f64\n"),
    EDITED("a: f32\nb: f64\n"),
    EDITED("a: f64\nb: f64\nc: Static{3}\n"),
    EDITED("a: f64\nb: f64\nc: f64\n"),
    "abstract Q\nstruct P: Q\na: f64\nb: f64\nend\n",
    "abstract P\n",
    "struct P{T}\na: T\nb: f64\nend\n",
};

static const char *const rests[] = {
    /* the result of a function */
    MAKE KERNEL("out[0] = f64(make().a)\n"),
    /* a tuple of it */
    MAKE "fn pair() = (make(), 1)\n" KERNEL("out[0] = f64(pair()[0].a)\n"),
    /* in another struct */
    MAKE "struct Outer\np: P\nend\nfn outer() = Outer(make())\n" KERNEL(
        "out[0] = f64(outer().p.a)\n"),
    /* through a function that takes anything */
    MAKE "fn same(x) = x\n" KERNEL("out[0] = f64(same(make()).a)\n"),
    /* through a function that is a value */
    MAKE "fn call(f) = f()\n" KERNEL("out[0] = f64(call(make).a)\n"),
    /* in an array */
    MAKE "fn room() = allocate(P, 4)\n" KERNEL(
        "s = room()\ns[0] = make()\nout[0] = f64(s[0].a)\nfree(s)\n"),
    /* a field that is assigned */
    MAKE KERNEL("p = make()\np.a = 2\nout[0] = f64(p.b) + f64(p.a) * 4\n"),
    /* a field that is assigned and one that is read */
    MAKE KERNEL("p = make()\np.b += 1\nout[0] = f64(p.a)\n"),
    /* a function of a function */
    MAKE "fn far() = make()\nfn further() = far()\n" KERNEL(
        "out[0] = f64(further().a)\n"),
    /* a field of what a recursion gives */
    MAKE "fn down(n: i64) -> P\nreturn n <= 0 ? make() : down(n - 1)\n"
         "end\n" KERNEL("out[0] = f64(down(2).a)\n"),
    /* the type of a value, called */
    MAKE KERNEL("T = typeof(make())\nout[0] = f64(T(1, 2).a)\n"),
    /* a parameter of another struct */
    MAKE "struct Box{T}\nx: T\nend\nfn box() = Box(make())\n" KERNEL(
        "out[0] = f64(box().x.a)\n"),
    /* chosen by its type */
    MAKE
    "fn kind(x) = 1.0\nfn kind(x: P) = 2.0\n" KERNEL("out[0] = kind(make())\n"),
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What came of a program: numbers, or its errors. */
typedef struct outcome {
    double values[4];
    char error[200];
} outcome;

typedef struct process {
    kiln_context *context;
    kiln_package *package;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_config *config;
} process;

static void start(process *p, const char *folder)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options config = KILN_CONFIG_OPTIONS_INIT;

    cache.mode = folder ? KILN_CACHE_MODE_READ_WRITE : KILN_CACHE_MODE_OFF;
    cache.directory = folder;
    options.cache = &cache;
    options.workers = options.threads = 1;
    config.opt_level = KILN_OPT_0;
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, &config, &test_error));
    assert_ok(kiln_device_open(&p->device, p->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&p->queue, p->device, &test_error));
    p->package = NULL;
}

static void end(process *p)
{
    kiln_queue_free(p->queue);
    kiln_device_close(p->device);
    kiln_context_free(p->context);
}

static kiln_status define(process *p, const char *text, kiln_error **error)
{
    if (p->package)
        assert_ok(kiln_package_unload(p->package, NULL, &test_error));
    assert_ok(kiln_package_new(&p->package, p->context, "main", &test_error));
    return kiln_package_define(p->package, "main.kiln", text, strlen(text),
                               NULL, error);
}

static kiln_status launch(process *p, double *out, kiln_error **error)
{
    const kiln_type *f64 = kiln_type_scalar(p->context, KILN_TYPE_F64);
    const kiln_array array = {.data = out, .sizes = {4}, .strides = {1}};
    const kiln_launch one = {.grid = {1, 1, 1}};
    const void *values[1] = {&array};
    const kiln_type *types[1] = {NULL};
    kiln_signature signature = {.types = types, .count = 1};
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    assert_ok(kiln_type_array(&types[0], p->context, f64, 1, 0, &test_error));
    status = kiln_package_function(&signature.function, p->package, "k", error);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, p->context, &signature, p->config, NULL,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(p->queue, kernel, &one, values, 1, error);
    return status == KILN_OK ? kiln_queue_wait(p->queue, error) : status;
}

static void add_codes(outcome *o, const kiln_error *error)
{
    const kiln_diagnostic *d;
    size_t used = 0;

    for (size_t i = 0; (d = kiln_error_diagnostic(error, i)) != NULL; i++)
        if (used < sizeof o->error)
            used += (size_t)snprintf(o->error + used, sizeof o->error - used,
                                     "%s: %s; ", d->code, d->message);
}

static void run(outcome *o, process *p, const char *text)
{
    kiln_error *error = NULL;
    kiln_status status;

    *o = (outcome){0};
    status = define(p, text, &error);
    if (status == KILN_OK)
        status = launch(p, o->values, &error);
    if (status != KILN_OK)
        add_codes(o, error);
    kiln_error_free(error);
}

static void run_alone(outcome *o, const char *folder, const char *text)
{
    process p;

    start(&p, folder);
    run(o, &p, text);
    end(&p);
}

static int is_same(const outcome *a, const outcome *b)
{
    return memcmp(a->values, b->values, sizeof a->values) == 0 &&
           strcmp(a->error, b->error) == 0;
}

static int compare(const outcome *wanted, const outcome *got, const char *how,
                   const char *text)
{
    if (is_same(wanted, got))
        return 0;
    fprintf(stderr, "%s: %g %g %g %g %s in place of %g %g %g %g %s, of\n%s\n",
            how, got->values[0], got->values[1], got->values[2], got->values[3],
            got->error, wanted->values[0], wanted->values[1], wanted->values[2],
            wanted->values[3], wanted->error, text);
    return 1;
}

/* Runs both texts by turns in fresh contexts over one folder, and in one
   context; gives how many outcomes were wrong. */
static int try_edit(const char *folder, const char *before, const char *after)
{
    const char *const texts[] = {before, after, before, after};
    outcome wanted[2], got;
    process lasting;
    int wrong = 0;

    run_alone(&wanted[0], NULL, before);
    run_alone(&wanted[1], NULL, after);
    start(&lasting, folder);
    for (size_t i = 0; i < COUNT(texts); i++) {
        run_alone(&got, folder, texts[i]);
        wrong += compare(&wanted[i % 2], &got, "another context", texts[i]);
        run(&got, &lasting, texts[i]);
        wrong += compare(&wanted[i % 2], &got, "one context", texts[i]);
    }
    end(&lasting);
    return wrong;
}

static void an_edited_struct_is_seen(void **state)
{
    int wrong = 0;

    for (size_t i = 0; i < COUNT(rests); i++)
        for (size_t j = 0; j < COUNT(edits); j++) {
            char folder[600], before[1000], after[1000];

            (void)snprintf(folder, sizeof folder, "%s/%zu-%zu",
                           (const char *)*state, i, j);
            (void)snprintf(before, sizeof before, "%s%s", two, rests[i]);
            (void)snprintf(after, sizeof after, "%s%s", edits[j], rests[i]);
            wrong += try_edit(folder, before, after);
        }
    assert_int_equal(wrong, 0);
}

/* ---- single edits ---- */

#define VECTOR "struct V\nv: Vec{f64, N}\nend\n"
#define BOX \
    "struct Circle: Round\nr: f64\nend\nstruct Box{T: Shape}\nx: T\nend\n"

/* A program, and one edit of it. */
typedef struct pair {
    const char *before, *after;
} pair;

static const pair structs[] = {
    /* a constant behind the constant in a field's type */
    {"const M = 4\nconst N = M\n" VECTOR KERNEL(
         "out[0] = V(Vec(1.0, 2.0, 3.0, 4.0)).v[3]\n"),
     "const M = 2\nconst N = M\n" VECTOR KERNEL(
         "out[0] = V(Vec(1.0, 2.0, 3.0, 4.0)).v[3]\n")},
    /* what is above the type that is above a parameter */
    {"abstract Shape\nabstract Round: Shape\n" BOX KERNEL(
         "out[0] = Box(Circle(2.0)).x.r\n"),
     "abstract Shape\nabstract Round\n" BOX KERNEL(
         "out[0] = Box(Circle(2.0)).x.r\n")},
    {"abstract Shape\nabstract Round: Shape\n" BOX KERNEL(
         "out[0] = Box{Circle}(Circle(2.0)).x.r\n"),
     "abstract Shape\nabstract Round\n" BOX KERNEL(
         "out[0] = Box{Circle}(Circle(2.0)).x.r\n")},
};

/* Without overlays, and with one for each use of an operator. */
#define USES \
    "fn call(f, x) = f(x, x)\n" KERNEL( \
        "x = out[0] + 2.5\n" \
        "out[0] = x * 2\nout[1] = -x\nout[2] = x < 3 ? 1.0 : 2.0\n" \
        "out[3] = !(x == 2.5) ? 1.0 : 2.0\nx *= x\n" \
        "out[0] += call(*, x) + x ** 3\n")

static const pair operators[] = {
    {USES, "overlay host fn *(x: f64, y: f64) = 60.0\n" USES},
    {USES, "overlay host fn +(x: f64, y: f64) = 60.0\n" USES},
    {USES, "overlay host fn <(x: f64, y: f64) = false\n" USES},
    {USES, "overlay host fn ==(x: f64, y: f64) = false\n" USES},
    {USES, "overlay host fn !(x: Bool) = x\n" USES},
    {USES, "overlay host fn **(x: f64, y: f64) = 7.0\n" USES},
    {USES, "overlay host fn -(x: f64) = 60.0\n" USES},
    {USES, "overlay cuda fn -(x: f64) = 60.0\n" USES},
    {"overlay host fn *(x: f64, y: f64) = 60.0\n" USES,
     "overlay host fn *(x: f64, y: f64) = 61.0\n" USES},
    {"overlay host fn *(x: f64, y: f64) = 60.0\n" USES,
     "overlay host fn *(x: f64, y: f64) = 60.0\n"
     "overlay host fn -(x: f64) = 60.0\n" USES},
};

static int try_pairs(const char *folder, const pair *pairs, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        char inside[600];

        (void)snprintf(inside, sizeof inside, "%s/%zu", folder, i);
        wrong += try_edit(inside, pairs[i].before, pairs[i].after);
    }
    return wrong;
}

static void what_a_struct_is_made_of_is_seen(void **state)
{
    assert_int_equal(try_pairs(*state, structs, COUNT(structs)), 0);
}

static void an_operator_that_is_replaced_is_seen(void **state)
{
    assert_int_equal(try_pairs(*state, operators, COUNT(operators)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_edited_struct_is_seen,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(what_a_struct_is_made_of_is_seen,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(an_operator_that_is_replaced_is_seen,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
