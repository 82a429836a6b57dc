/* test_host_choices.c - items that load from one of two places. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"

/* Bodies are compiled without optimisation and with it, with checks and
   without, and must do the same. Of `c`, a third is 0. */

#define ITEMS 97

static const char *const bodies[] = {
    "y[i] = c[i] != 0 ? a[i] : b[i]",
    "y[i] = c[i] != 0 ? a[i] : i > 0 ? b[i - 1] : b[i]",
    "y[i] = i < 40 ? a[i] : b[i - 40]",
    "y[i] = i + 1 < n ? a[i + 1] : b[0]",
    "y[i] = a[i] > b[i] ? a[n - 1 - i] : b[i] + 1",
    "y[i] = c[i] > 1 ? a[i] : c[i] > 0 ? b[i] : a[c[i]]",
    "y[i] = a[c[i] > 1 ? i : n - 1 - i] + b[c[i] > 0 ? i : 0]",
    "y[i] = y[c[i] != 0 ? i : i] + (c[i] != 0 ? a[i] : b[i])",
    "if c[i] > 0\n"
    "        y[i] = a[i]\n"
    "    elseif i > 3\n"
    "        y[i] = b[i - 3]\n"
    "    end",
    "for k in 0..i % 4\n"
    "        y[i] += c[k] > 1 ? a[i] : b[(i + k) % n]\n"
    "    end"};

static struct {
    float y[ITEMS], a[ITEMS], b[ITEMS];
    int32_t c[ITEMS];
} memory;

typedef struct going {
    kernels *k;
    kiln_package *package;
} going;

static kiln_status run(void *env, const kiln_config *config)
{
    static const int64_t n = ITEMS;
    const going *g = env;
    const kiln_array y = kernels_array(memory.y, ITEMS);
    const kiln_array a = kernels_array(memory.a, ITEMS);
    const kiln_array b = kernels_array(memory.b, ITEMS);
    const kiln_array c = kernels_array(memory.c, ITEMS);
    const kernels_argument arguments[] = {{"f32[:]", &y},
                                          {"i32[:]", &c},
                                          {"f32[:]", &a},
                                          {"f32[:]", &b},
                                          {"i64", &n}};
    const kiln_launch launch = {{ITEMS, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < ITEMS; i++) {
        memory.y[i] = (float)i;
        memory.a[i] = (float)(i * 13 % 31);
        memory.b[i] = (float)(i * 7 % 29 + 100);
        memory.c[i] = i * i % 3;
    }
    return kernels_launch(g->k, g->package, "k", config, &launch, arguments, 5,
                          &test_error);
}

static void optimised_kernels_do_the_same(void **state)
{
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[512], name[16];

        (void)snprintf(text, sizeof text,
                       "kernel k(y, c, a, b, n)\n"
                       "    i = global_id(0)\n"
                       "    %s\n"
                       "end\n",
                       bodies[i]);
        (void)snprintf(name, sizeof name, "choice%zu", i);
        going g = {*state, kernels_define(*state, name, text)};

        kernels_assert_agree(
            *state, &(kernels_trial){run, &g, &memory, sizeof memory}, 0, text);
    }
}

/* What is loaded is chosen, not where from. */
static void places_are_not_gathered(void **state)
{
    static const char *const types[] = {"f32[:]", "i32[:]", "f32[:]", "f32[:]"};
    kernels *k = *state;
    kiln_blob code =
        kernels_optimised(k, kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_OFF),
                          kernels_define(k, "places",
                                         "kernel k(y, c, a, b)\n"
                                         "    i = global_id(0)\n"
                                         "    y[i] = c[i] != 0 ? a[i] : b[i]\n"
                                         "end\n"),
                          types, 4);

    assert_non_null(strstr(code.data, "load float"));
    assert_null(strstr(code.data, "masked.gather"));
    kiln_blob_release(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_kernels_do_the_same),
        cmocka_unit_test(places_are_not_gathered),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
