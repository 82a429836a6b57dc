/* output.c - the columns of section 11, timings and progress. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tgv.h"

void print_case(const struct tgv *tgv)
{
    printf("# log2n %d %s levels %d nu %.*g\n", tgv->options.log2n,
           tgv->options.single ? "f32" : "f64", tgv->level_count,
           tgv->options.single ? 9 : 17, tgv->nu);
    printf("# step dt_used dt_next kinetic_energy max_div cycles1 cycles2 "
           "residual1 residual2 launches\n");
}

/* Accumulates over inside points: `at` is called for one point; strides are 1,
   n and n * n. */
struct summary {
    double energy;
    double divergence;
};

static void add_point(struct summary *sums, const double *u, int64_t c,
                      int64_t n)
{
    const int64_t strides[3] = {1, n, n * n};
    double divergence = 0;
    double energy = 0;

    for (int i = 0; i < 3; i++) {
        const double *a = u + i * n * n * n + c;
        double mean = 0.5 * (a[0] + a[strides[i]]);

        divergence += a[strides[i]] - a[0];
        energy += mean * mean;
    }
    sums->energy += 0.5 * energy;
    if (fabs(divergence) > sums->divergence)
        sums->divergence = fabs(divergence);
}

void print_step(struct tgv *tgv, int step)
{
    int64_t n = tgv->n;
    int digits = tgv->options.single ? 9 : 17;
    struct summary sums = {0, 0};
    double *u = field_read(tgv, &tgv->u);

    if (!u)
        return;
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            for (int64_t x = 1; x < n - 1; x++)
                add_point(&sums, u, x + n * (y + n * z), n);
    free(u);
    printf("%d %.*g %.*g %.15g %.6e %d %d %.6e %.6e %lld\n", step, digits,
           tgv->dt_used, digits, tgv->dt, sums.energy, sums.divergence,
           tgv->cycles[0], tgv->cycles[1], tgv->residuals[0], tgv->residuals[1],
           (long long)tgv->launches);
    fflush(stdout);
}

/* sqrt of the sum of (a - mean)^2 over the inside. */
static double norm(const double *a, int64_t n, int about_mean)
{
    double count = (double)((n - 2) * (n - 2) * (n - 2));
    double mean = 0;
    double sum = 0;

    for (int pass = about_mean ? 0 : 1; pass < 2; pass++)
        for (int64_t z = 1; z < n - 1; z++)
            for (int64_t y = 1; y < n - 1; y++)
                for (int64_t x = 1; x < n - 1; x++) {
                    double v = a[x + n * (y + n * z)];

                    if (pass == 0)
                        mean += v / count;
                    else
                        sum += (v - mean) * (v - mean);
                }
    return sqrt(sum);
}

void print_norms(struct tgv *tgv)
{
    static const char names[] = "uvw";
    int64_t n = tgv->n;
    double *u = field_read(tgv, &tgv->u);
    double *p = field_read(tgv, &tgv->p);
    long long px = n / 2, py = n / 3, pz = n / 4;

    for (int i = 0; u && p && i < 3; i++)
        printf("L2 %c %.15g\n", names[i], norm(u + i * n * n * n, n, 0));
    if (u && p)
        printf("L2 p %.15g\n", norm(p, n, 1));
    for (int i = 0; u && p && i < 3; i++)
        printf("probe %c[%lld,%lld,%lld] %.15g\n", names[i], px, py, pz,
               u[i * n * n * n + px + n * (py + n * pz)]);
    free(u);
    free(p);
}

void progress(size_t done, size_t count, const kiln_batch_job *job, void *env)
{
    (void)job;
    (void)env;
    if (!isatty(STDERR_FILENO) && done != count)
        return;
    fprintf(stderr, "%scompiled %zu of %zu kernels%s",
            isatty(STDERR_FILENO) ? "\r" : "", done, count,
            done == count ? "\n" : "");
}

static double ms(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e6;
}

static void print_stages(const kiln_statistics *statistics)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        KILN_STAGE_MAP(NAME)
#undef NAME
    };

    printf("\n%-10s %8s %12s\n", "stage", "count", "ms");
    for (int i = 0; i < KILN_STAGE_COUNT; i++)
        printf("%-10s %8llu %12.3f\n", names[i],
               (unsigned long long)statistics->stage_count[i],
               ms(statistics->stage_ns[i]));
}

static void print_tiers(const kiln_statistics *statistics)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        KILN_TIER_MAP(NAME)
#undef NAME
    };

    printf("\n%-10s %8s %8s %8s %8s %8s\n", "tier", "asked", "hit", "built",
           "waited", "failed");
    for (int i = 0; i < KILN_TIER_COUNT; i++) {
        const kiln_tier_statistics *tier = &statistics->tiers[i];

        printf("%-10s %8llu %8llu %8llu %8llu %8llu\n", names[i],
               (unsigned long long)tier->requests,
               (unsigned long long)tier->hits, (unsigned long long)tier->built,
               (unsigned long long)tier->waited,
               (unsigned long long)tier->failed);
    }
}

void print_timing(const struct tgv *tgv, const uint64_t *steps_ns, int count,
                  uint64_t compile_ns)
{
    kiln_statistics statistics = {.size = sizeof statistics};
    uint64_t first = compile_ns + (count > 0 ? steps_ns[0] : 0);

    kiln_statistics_get(&statistics, tgv->context);
    printf("\n%-18s %12s %12s\n", "execution", "ms", "compilation");
    printf("%-18s %12.3f %11.1f%%\n", "first", ms(first),
           first ? 100 * ms(compile_ns) / ms(first) : 0);
    if (count > 1)
        printf("%-18s %12.3f %11.1f%%\n", "second", ms(steps_ns[1]), 0.0);
    print_stages(&statistics);
    print_tiers(&statistics);
}
