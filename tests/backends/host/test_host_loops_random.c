/* test_host_loops_random.c - items that sum up in memory do what they did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host random */
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * Each item has an element of its own in x and in w, and goes through loops, in
 * one another and one behind the other, whose bounds may differ by item. They
 * sum up what they read in y and z into these elements, now and then under a
 * condition, or leave early. Either id may be the one along memory. Each kernel
 * is compiled without optimisation and with it, with checks and without, and
 * must do the same. A single item may have arrays that overlap.
 */

#define SIDE 40 /* at most, of the grid */
#define ROOM 80 /* of a dimension of y and z */
#define KERNELS 60

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

typedef struct writing {
    written text;
    unsigned loops; /* so far: their counters are k1, k2, ... */
    unsigned around[3];
    unsigned depth;
    int is_turned; /* i is the id of dimension 1 */
    int is_across; /* elements are x[j, i] */
} writing;

static void put_indent(writing *w)
{
    written_put(&w->text, "%*s", (int)(4 * (2 + w->depth)), "");
}

/* Puts an id, or the counter of a loop around. */
static void put_number(writing *w)
{
    const uint32_t which = pick(2 + w->depth);

    if (which < 2)
        written_put(&w->text, which == 0 ? "i" : "j");
    else
        written_put(&w->text, "k%u", w->around[which - 2]);
}

static void put_element(writing *w)
{
    written_put(&w->text, "%s[%s]", pick(4) ? "x" : "w",
                w->is_across ? "j, i" : "i, j");
}

static void put_value(writing *w)
{
    switch (pick(5)) {
    case 0:
        put_element(w);
        break;
    case 1:
        written_put(&w->text, "%u", pick(4));
        break;
    case 2:
        written_put(&w->text, "y[");
        put_number(w);
        written_put(&w->text, " + 1]");
        break;
    default:
        written_put(&w->text, "z[");
        put_number(w);
        written_put(&w->text, ", ");
        put_number(w);
        written_put(&w->text, "]");
    }
}

static void put_update(writing *w)
{
    static const char *const operators[] = {"+=", "+=", "-=", "*=", "="};

    put_indent(w);
    put_element(w);
    written_put(&w->text, " %s ", operators[pick(5)]);
    put_value(w);
    written_put(&w->text, "\n");
}

static void put_condition(writing *w, const char *then)
{
    put_indent(w);
    written_put(&w->text, "if y[");
    put_number(w);
    written_put(&w->text, "] > %u\n", 2 + pick(4));
    w->depth++;
    if (then == NULL) {
        w->around[w->depth - 1] = w->around[0]; /* no counter of its own */
        put_update(w);
    } else {
        put_indent(w);
        written_put(&w->text, "%s\n", then);
    }
    w->depth--;
    put_indent(w);
    written_put(&w->text, "end\n");
}

static void put_loop(writing *w);

static void put_statement(writing *w)
{
    static const char *const jumps[] = {"break", "continue"};
    const uint32_t which = pick(10);

    if (which == 0 && w->depth > 0 && w->depth < 3)
        put_condition(w, jumps[pick(2)]);
    else if (which < 3 && w->depth > 0 && w->depth < 3)
        put_condition(w, NULL);
    else if (which < 5 && w->depth < 2)
        put_loop(w);
    else
        put_update(w);
}

static void put_bound(writing *w, int is_end)
{
    const uint32_t which = pick(5);

    if (which < 2)
        written_put(&w->text, is_end ? "m" : "0");
    else if (which == 2)
        written_put(&w->text, "%d", is_end ? 3 : 1);
    else
        put_number(w);
    if (is_end && which == 4)
        written_put(&w->text, " + 1");
}

static void put_loop(writing *w)
{
    const uint32_t statements = 1 + pick(2);

    if (pick(2) == 0) {
        put_indent(w);
        put_element(w);
        written_put(&w->text, " = %u\n", pick(2));
    }
    put_indent(w);
    written_put(&w->text, "for k%u in ", ++w->loops);
    put_bound(w, 0);
    written_put(&w->text, "..");
    put_bound(w, 1);
    written_put(&w->text, pick(6) ? "\n" : " by 2\n");
    w->around[w->depth++] = w->loops;
    for (uint32_t i = 0; i < statements; i++)
        put_statement(w);
    w->depth--;
    put_indent(w);
    written_put(&w->text, "end\n");
}

static void put_kernel(writing *w)
{
    const uint32_t statements = pick(3);

    w->is_turned = (int)pick(2);
    w->is_across = (int)pick(2);
    written_put(&w->text,
                "kernel k(x, w, y, z, m, n0, n1)\n"
                "    i = global_id(%d)\n"
                "    j = global_id(%d)\n"
                "    if i < n0 && j < n1\n",
                w->is_turned, 1 - w->is_turned);
    put_loop(w);
    for (uint32_t i = 0; i < statements; i++)
        put_statement(w);
    written_put(&w->text, "    end\nend\n");
}

/* ---- running ---- */

typedef struct shape {
    int64_t m, n0, n1;
    uint32_t block[2];
    int overlap; /* x, y and z begin at the same address */
} shape;

static float memory[2 * SIDE * SIDE + ROOM + ROOM * ROOM];

/* What is run. */
typedef struct going {
    kernels *k;
    kiln_package *package;
    const writing *w;
    const shape *s;
} going;

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const writing *w = g->w;
    const shape *s = g->s;
    const int64_t rows = w->is_across ? s->n1 : s->n0;
    float *const y = s->overlap ? memory : memory + 2 * SIDE * SIDE;
    const kiln_array arrays[] = {
        kernels_array2(memory, rows, s->n0 * s->n1 / rows),
        kernels_array2(memory + SIDE * SIDE, rows, s->n0 * s->n1 / rows),
        kernels_array(y, ROOM),
        kernels_array2(s->overlap ? memory : y + ROOM, ROOM, ROOM)};
    const kernels_argument arguments[] = {
        {"f32[:,:]", &arrays[0]}, {"f32[:,:]", &arrays[1]},
        {"f32[:]", &arrays[2]},   {"f32[:,:]", &arrays[3]},
        {"i64", &s->m},           {"i64", &s->n0},
        {"i64", &s->n1}};
    const uint64_t n[] = {(uint64_t)s->n0, (uint64_t)s->n1};
    const kiln_launch launch = {
        {n[w->is_turned] + 1, n[1 - w->is_turned] + 2, 1},
        {s->block[0], s->block[1], s->block[0] > 0},
        0};

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        memory[i] = (float)(i * 7 % 9);
    assert_ok(kernels_launch(g->k, g->package, "k", config, &launch, arguments,
                             7, &test_error));
    return KILN_OK;
}

static const shape shapes[] = {
    {5, 1, 1, {0, 0}, 1},   {9, 1, 1, {0, 0}, 0},     {3, 16, 16, {0, 0}, 0},
    {17, 33, 8, {0, 0}, 0}, {2, 40, 17, {16, 16}, 0}, {0, 3, 40, {1, 64}, 0}};

static void compare(kernels *k, kiln_package *package, const writing *w)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        going g = {k, package, w, &shapes[i]};

        kernels_assert_agree(k,
                             &(kernels_trial){run, &g, memory, sizeof memory},
                             (int)i, w->text.bytes);
    }
}

static void optimised_kernels_do_the_same(void **state)
{
    static char text[8192];

    for (int i = 0; i < KERNELS; i++) {
        writing w = {.text = {.bytes = text, .room = sizeof text}};
        char name[16];

        put_kernel(&w);
        (void)snprintf(name, sizeof name, "random%d", i);
        compare(*state, kernels_define(*state, name, text), &w);
    }
}

/* Items that sum up rows go through their loops together as scalars. That a
   loop ends earlier for some of them has to hold for these, too. */
static void rows_may_have_ends_of_their_own(void **state)
{
    static const char text[] = "kernel k(x, w, y, z, m, n0, n1)\n"
                               "    i = global_id(1)\n"
                               "    j = global_id(0)\n"
                               "    if i >= n0 || j >= n1\n"
                               "        return\n"
                               "    end\n"
                               "    s = x[j, i]\n"
                               "    for k in 0..i\n"
                               "        s += z[k, j]\n"
                               "    end\n"
                               "    x[j, i] = s\n"
                               "    s = 1\n"
                               "    for k in 1..j + 1\n"
                               "        s *= y[i + 1]\n"
                               "    end\n"
                               "    w[j, i] = s\n"
                               "end\n";
    writing w = {.text = {.bytes = (char[]){"rows"}}, .is_turned = 1};

    w.is_across = 1;
    compare(*state, kernels_define(*state, "rows", text), &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_kernels_do_the_same),
        cmocka_unit_test(rows_may_have_ends_of_their_own),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
