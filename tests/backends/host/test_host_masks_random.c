/* test_host_masks_random.c - masks over pictures do at the edges what they
   did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host random */
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * Each item goes through the neighbours of its point in a picture. Those beyond
 * an edge are taken from the nearest point, from the other edge or from a
 * mirror, or left out. What is found may have to fit into a byte. Each kernel
 * is compiled without optimisation and with it, with checks and without, and
 * must do the same.
 */

#define MOST 700 /* points */
#define KERNELS 50

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

#define ONE_OF(texts) random_text(&seed, texts, sizeof(texts) / sizeof *(texts))

/* ---- kernels ---- */

/* What a place is along an axis with the number v and the size n, d away. */
typedef struct axis {
    const char *v, *n, *size, *d;
} axis;

static const axis x_axis = {"i", "w", "size(p, 0)", "dx"};
static const axis y_axis = {"j", "h", "size(p, 1)", "dy"};

static void put_place(written *text, const axis *a)
{
    const char *n = pick(3) ? a->n : a->size;

    switch (pick(9)) {
    case 0:
    case 1:
        written_put(text, "clamp(%s + %s, 0, %s - 1)", a->v, a->d, n);
        break;
    case 2:
        written_put(text, "max(min(%s - %s, %s - 1), 0)", a->v, a->d, n);
        break;
    case 3:
        written_put(text, "(%s + %s + 4 * %s) %% %s", a->v, a->d, n, n);
        break;
    case 4:
        written_put(text, "mirrored(i64(%s + %s), i64(%s))", a->v, a->d, n);
        break;
    case 5:
        written_put(text, "min(abs(%s + %s), %s - 1)", a->v, a->d, n);
        break;
    case 6:
        written_put(text, "nearest(i64(%s + 2 * %s), i64(%s))", a->v, a->d, n);
        break;
    case 7:
        written_put(text, "clamp(%s + %s * q, 0, %s - 1)", a->v, a->d, n);
        break;
    default:
        written_put(text, "clamp(%s, 0, %s - 1)", a->v, n);
    }
}

static void put_inside(written *text, const axis *a)
{
    switch (pick(3)) {
    case 0:
        written_put(text, "!(%s + %s < 0 || ", a->v, a->d);
        written_put(text, "%s + %s >= %s)", a->v, a->d, a->n);
        break;
    case 1:
        written_put(text, "%s + %s > -1 && ", a->v, a->d);
        written_put(text, "%s + %s <= %s - 1", a->v, a->d, a->n);
        break;
    default:
        written_put(text, "%s + %s >= 0 && ", a->v, a->d);
        written_put(text, "%s + %s < %s", a->v, a->d, a->n);
    }
}

static void put_sum(written *text)
{
    static const char *const sums[] = {"s += t", "s += t * f32(dx + 2 * dy)",
                                       "s = max(s, t)", "s += abs(t - s)",
                                       "s += g[dx + 3, dy + 3] * t"};

    written_put(text, "%s\n", ONE_OF(sums));
}

/* Leaves neighbours out that are beyond an edge, and maybe others. */
static void put_asked(written *text)
{
    static const char *const more[] = {
        " && j > 0 && j < h - 1", " && (dx != 0 || dy != 0)", " && i != 5",
        " && j < h - q",          " && p[i, j] > 40",         ""};

    written_put(text, "if ");
    put_inside(text, &x_axis);
    written_put(text, " && ");
    put_inside(text, &y_axis);
    written_put(text, "%s\nt = f32(p[i + dx, j + dy])\n", ONE_OF(more));
    put_sum(text);
    written_put(text, "end\n");
}

static void put_taken(written *text)
{
    written_put(text, "t = f32(p[");
    put_place(text, &x_axis);
    written_put(text, ", ");
    put_place(text, &y_axis);
    written_put(text, "])\n");
    put_sum(text);
}

static void put_mask(written *text)
{
    static const char *const small[] = {"-1..2", "0..2", "-1..1", "-1..2",
                                        "static(-1..2)"};
    static const char *const large[] = {"-2..3", "-1..3", "-3..3", "-2..3"};

    written_put(text, "for dy in %s\nfor dx in %s\n",
                pick(4) ? ONE_OF(small) : ONE_OF(large),
                pick(4) ? ONE_OF(small) : ONE_OF(large));
    if (pick(3))
        put_taken(text);
    else
        put_asked(text);
    written_put(text, "end\nend\n");
}

static void put_kernel(written *text)
{
    static const char *const results[] = {
        "s", "f32(trunc(u8, s))", "f32(u8(floor(s * scale)))",
        "f32(u8(i32(s) // 200 + 9))", "f32(i16(round(s * scale)))"};
    static const char *const guards[] = {"i < w && j < h", "i < w",
                                         "i < w && j < h && j > 0",
                                         "i > 0 && i < w - 1 && j < h"};
    const char *type = pick(3) ? "i64" : "i32";

    written_put(
        text,
        "fn mirrored(i, n) = min(i < 0 ? -i - 1 : i < n ? i : 2 * n - 1 - "
        "i, n - 1)\n"
        "fn nearest(i, n) = i < 0 ? 0 : i >= n ? n - 1 : i\n"
        "kernel k(out, p, g, scale, q: %s, w: %s, h: %s)\n"
        "i = %s(global_id(0))\n"
        "j = %s(global_id(1))\n"
        "if %s\n"
        "s: f32 = 0\n",
        type, type, type, type, type, ONE_OF(guards));
    put_mask(text);
    if (pick(3) == 0)
        put_mask(text);
    written_put(text, "out[i, j] = %s\nend\nend\n", ONE_OF(results));
}

/* ---- running ---- */

typedef struct picture {
    int64_t w, h;
    float scale;
    int64_t q;
} picture;

static const picture pictures[] = {
    {1, 1, 0.01F, 1},   {2, 3, 0.01F, 1},  {37, 5, 0.01F, 2}, {64, 9, 0.01F, 0},
    {4, 40, 0.05F, 60}, {200, 3, 2, -300}, {33, 8, -1, 1},    {3, 3, 0.01F, 1},
};

static struct {
    float out[MOST];
    uint8_t p[MOST];
    float g[49];
} memory;

typedef struct going {
    kernels *k;
    kiln_package *package;
    const picture *of;
    int is_narrow; /* numbers are i32 */
} going;

static void fill(void)
{
    for (int i = 0; i < MOST; i++) {
        memory.out[i] = -7;
        memory.p[i] = (uint8_t)(i * 37 % 251);
    }
    for (int i = 0; i < 49; i++)
        memory.g[i] = (float)(i % 5);
}

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const picture *of = g->of;
    const int32_t narrow[] = {(int32_t)of->q, (int32_t)of->w, (int32_t)of->h};
    const char *type = g->is_narrow ? "i32" : "i64";
    const kiln_array out = kernels_array2(memory.out, of->w, of->h);
    const kiln_array p = kernels_array2(memory.p, of->w, of->h);
    const kiln_array weights = kernels_array2(memory.g, 7, 7);
    const kernels_argument arguments[] = {
        {"f32[:,:]", &out},
        {"u8[:,:]", &p},
        {"f32[:,:]", &weights},
        {"f32", &of->scale},
        {type, g->is_narrow ? (const void *)&narrow[0] : &of->q},
        {type, g->is_narrow ? (const void *)&narrow[1] : &of->w},
        {type, g->is_narrow ? (const void *)&narrow[2] : &of->h}};
    const kiln_launch launch = {
        {(uint64_t)of->w + 3, (uint64_t)of->h, 1}, {0, 0, 0}, 0};

    fill();
    return kernels_launch(g->k, g->package, "k", config, &launch, arguments, 7,
                          &test_error);
}

static void optimised_kernels_do_the_same(void **state)
{
    static char text[8192];

    for (int i = 0; i < KERNELS; i++) {
        written w = {.bytes = text, .room = sizeof text};
        char name[16];

        put_kernel(&w);
        (void)snprintf(name, sizeof name, "masks%d", i);
        kiln_package *package = kernels_define(*state, name, text);

        for (size_t c = 0; c < sizeof pictures / sizeof *pictures; c++) {
            going g = {*state, package, &pictures[c],
                       strstr(text, "q: i32") != NULL};

            kernels_assert_agree(
                *state, &(kernels_trial){run, &g, &memory, sizeof memory},
                (int)c, text);
        }
    }
}

/* ---- that edges are split off ---- */

static void assert_edges(kernels *k, const char *name, const char *at,
                         const char *condition, const char *result)
{
    static const char *const types[] = {"u8[:,:]", "u8[:,:]"};
    static char text[1024];

    (void)snprintf(text, sizeof text,
                   "kernel k(out, p)\n"
                   "    i = global_id(0); j = global_id(1)\n"
                   "    w = size(p, 0); h = size(p, 1)\n"
                   "    s: f32 = 0\n"
                   "    for dy in -2..3\n"
                   "        for dx in -2..3\n"
                   "            if %s\n"
                   "                s += f32(p[%s])\n"
                   "            end\n"
                   "        end\n"
                   "    end\n"
                   "    out[i, j] = %s\n"
                   "end\n",
                   condition, at, result);
    kernels_assert_emits(k, name, text, types, 2, ".edge");
}

/* Otherwise there would be nothing to compare. */
static void edges_get_loops_of_their_own(void **state)
{
    static const char clamped[] =
        "clamp(i + dx, 0, w - 1), clamp(j + dy, 0, h - 1)";

    assert_edges(*state, "clamp", clamped, "true", "trunc(u8, s)");
    assert_edges(*state, "checked", clamped, "true", "u8(floor(s / 30))");
    assert_edges(*state, "mirror", "min(abs(i + dx), w - 1), j", "true",
                 "trunc(u8, s)");
    assert_edges(*state, "asked", "i + dx, j + dy",
                 "i + dx >= 0 && i + dx < w && j + dy >= 0 && j + dy < h",
                 "trunc(u8, s)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_kernels_do_the_same),
        cmocka_unit_test(edges_get_loops_of_their_own),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
