/* random_kernel.h - kernels of random indices, conditions and loops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_RANDOM_KERNEL_H
#define KILN_TESTS_RANDOM_KERNEL_H

#include <stdint.h>
#include <stdio.h>

#define RANDOM_HEAD "kernel k(out, src, n, m)\n"

static uint64_t random_state;

static uint32_t random_below(uint32_t count)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % count);
}

static void add_expression(char *out, size_t size, int depth)
{
    static const char *const leaves[] = {
        "i", "j", "n", "m", "length(out)", "length(src)", "local_id(0)", "1",
        "3", "0", "i", "j", "2",           "-1",          "group_id(0)",
    };
    static const char *const forms[] = {
        "(%s + %s)",
        "(%s - %s)",
        "(%s * %s)",
        "(%s // (1 + %s))",
        "(%s %% (1 + %s))",
        "min(%s, %s)",
        "max(%s, %s)",
        "(%s & %s)",
        "(%s | %s)",
        "(%s < 3 ? %s : 2)",
        "select(%s > 1, %s, 4)",
        "(%s + 0 * %s)",
        "abs(%s - %s)",
        "(%s // 2 + %s)",
        "(%s %% 7 + %s)",
        "((%s >> 1) - %s)",
        "((%s << 2) + %s)",
        "(%s == 2 ? 5 : %s)",
        "i64(wrap(i16, %s + %s))",
        "i64(i32(min(max(%s, 0), 40)) - i32(1)) * %s",
    };
    char a[400], b[400];

    if (depth == 0 || random_below(4) == 0) {
        snprintf(out, size, "%s",
                 leaves[random_below(sizeof leaves / sizeof *leaves)]);
        return;
    }
    add_expression(a, sizeof a, depth - 1);
    add_expression(b, sizeof b, depth - 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, size, forms[random_below(sizeof forms / sizeof *forms)], a,
             b);
#pragma GCC diagnostic pop
}

static void add_condition(char *out, size_t size)
{
    static const char *const forms[] = {
        "%s < %s",           "%s >= 0 && %s < length(out)",
        "%s == %s",          "!(%s > %s)",
        "%s != 0 || %s < 3", "%s <= length(src) && %s > -1",
    };
    char a[400], b[400];

    add_expression(a, sizeof a, 1);
    add_expression(b, sizeof b, 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, size, forms[random_below(sizeof forms / sizeof *forms)], a,
             b);
#pragma GCC diagnostic pop
}

static void random_kernel(char *text, size_t size)
{
    static const char *const starts[] = {"0", "1", "n", "min(max(j, 0), 9)"};
    static const char *const steps[] = {"t *= 2", "t += 1", "t <<= 1",
                                        "t = t * 3", "t = 4 - t"};
    static const char *const swaps[] = {"1 - u", "u ^ 1", "7 - u", "u + 1"};
    char e[6][800], c[3][900];

    for (int i = 0; i < 6; i++)
        add_expression(e[i], sizeof e[i], i < 3 ? 2 : 1);
    for (int i = 0; i < 3; i++)
        add_condition(c[i], sizeof c[i]);
    snprintf(text, size,
             RANDOM_HEAD
             "i = global_id(0)\nj = 0\nif %s\nj = %s\nelse\nj = %s\nend\n"
             "if %s\nout[j] = src[i]\nelseif j >= 0 && j < length(out)\n"
             "out[j] = 2\nend\n"
             "for k in 0..min(4, length(src))\nif %s\ni = %s\nbreak\nend\n"
             "out[min(max(0, %s), length(out) - 1)] = src[k]\nend\n"
             "t = %s\nu = %s\nw = 0\nwhile t < 30 && w < 5\n"
             "if t >= u && u >= 0\nout[t - u] = w\nend\n"
             "out[u] = src[t]\nif w == 1\nout[src[u]] = 3\nend\n"
             "%s\nu = %s\nw += 1\nend\n"
             "if i >= 0 && i < length(out)\nout[i] = %s\nend\nend\n",
             c[0], e[3], e[4], c[1], c[2], e[5], e[0], starts[random_below(4)],
             starts[random_below(4)], steps[random_below(5)],
             swaps[random_below(4)], e[1]);
}

/* The kernels that follow depend on the seed alone. */
static void random_kernel_begin(uint64_t seed)
{
    random_state = seed;
}

#endif /* KILN_TESTS_RANDOM_KERNEL_H */
