/* main.c - reads options, and prints the figures as the example does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver.h"

static const char *const kernel_names[] = {
#define NAME(name) #name,
    PLAIN_KERNELS(NAME)
#undef NAME
};

static void print_step(const struct solver *t, int step)
{
    const int64_t n = t->n, strides[3] = {1, n, n * n};
    const int digits = IS_FLOAT ? 9 : 17;
    double energy = 0, most = 0;

    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            for (int64_t x = 1; x < n - 1; x++) {
                double divergence = 0, squares = 0;

                for (int i = 0; i < 3; i++) {
                    const REAL *a = t->u + i * n * n * n + x + n * (y + n * z);
                    const double low = (double)a[0];
                    const double high = (double)a[strides[i]];

                    divergence += high - low;
                    squares += 0.5 * (low + high) * (0.5 * (low + high));
                }
                energy += 0.5 * squares;
                most = fabs(divergence) > most ? fabs(divergence) : most;
            }
    printf("%d %.*g %.*g %.15g %.6e %d %d %.6e %.6e %lld\n", step, digits,
           t->dt_used, digits, t->dt, energy, most, t->cycles[0], t->cycles[1],
           t->residuals[0], t->residuals[1], (long long)t->launches);
}

static double norm(const REAL *a, int64_t n, int about_mean)
{
    const double count = (double)((n - 2) * (n - 2) * (n - 2));
    double mean = 0, sum = 0;

    for (int pass = about_mean ? 0 : 1; pass < 2; pass++)
        for (int64_t z = 1; z < n - 1; z++)
            for (int64_t y = 1; y < n - 1; y++)
                for (int64_t x = 1; x < n - 1; x++) {
                    const double v = (double)a[x + n * (y + n * z)];

                    if (pass == 0)
                        mean += v / count;
                    else
                        sum += (v - mean) * (v - mean);
                }
    return sqrt(sum);
}

static void print_norms(const struct solver *t)
{
    const int64_t n = t->n, size = n * n * n;
    const long long x = n / 2, y = n / 3, z = n / 4;

    for (int i = 0; i < 3; i++)
        printf("L2 %c %.15g\n", "uvw"[i], norm(t->u + i * size, n, 0));
    printf("L2 p %.15g\n", norm(t->p, n, 1));
    for (int i = 0; i < 3; i++)
        printf("probe %c[%lld,%lld,%lld] %.15g\n", "uvw"[i], x, y, z,
               (double)t -> u[i * size + x + n * (y + n * z)]);
}

static int read_options(struct solver *t, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--quiet") == 0)
            t->quiet = 1;
        else if (strcmp(argv[i], "--profile") == 0)
            t->profile = 1;
        else if (strcmp(argv[i], "--type") == 0 &&
                 strcmp(value, IS_FLOAT ? "f32" : "f64") == 0)
            i++; /* decided when this was built */
        else if (strcmp(argv[i], "--log2n") == 0)
            t->log2n = atoi(value), i++;
        else if (strcmp(argv[i], "--steps") == 0)
            t->steps = atoi(value), i++;
        else if (strcmp(argv[i], "--threads") == 0)
            t->threads = atoi(value), i++;
        else
            return 0;
    }
    return t->log2n >= 3 && t->log2n <= 9 && t->steps >= 0;
}

int main(int argc, char **argv)
{
    static struct solver t = {.log2n = 6, .steps = 4};
    uint64_t second = 0;

    if (!read_options(&t, argc, argv)) {
        fprintf(stderr, "usage: plain [--log2n N] [--steps N] [--threads N]"
                        " [--quiet] [--profile]\n");
        return 2;
    }
    if (t.threads > 0)
        omp_set_num_threads(t.threads);
    t.cells = (int64_t)1 << t.log2n;
    t.n = t.cells + 2;
    t.nu = (REAL)((double)t.cells / 1e5);
    solver_open(&t);
    initialise(&t);
    t.dt = 0.25;
    printf("# log2n %d %s levels %d nu %.*g\n", t.log2n,
           IS_FLOAT ? "f32" : "f64", t.level_count, IS_FLOAT ? 9 : 17,
           (double)t.nu);
    printf("# step dt_used dt_next kinetic_energy max_div cycles1 cycles2 "
           "residual1 residual2 launches\n");
    print_step(&t, 0);
    for (int step = 1; step <= t.steps; step++) {
        const uint64_t begin = now_ns();

        advance(&t);
        if (step == 2)
            second = now_ns() - begin;
        print_step(&t, step);
    }
    print_norms(&t);
    if (!t.quiet)
        printf("\n%-18s %12.3f\n", "second", (double)second / 1e6);
    for (int k = 0; t.profile && k < K_COUNT; k++)
        printf("kernel %-18s %8llu %12.3f\n", kernel_names[k],
               (unsigned long long)t.kernel_count[k],
               (double)t.kernel_ns[k] / 1e6);
    return 0;
}
