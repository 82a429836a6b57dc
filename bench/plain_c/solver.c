/* solver.c - the vortex's time steps, and the time that each kernel takes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "solver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CYCLES_MAX 32
#define SMOOTH_STEPS 6
#define TOLERANCE 2e-4
#define ALPHA_MIN 1e-2

uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Counts a launch and, if asked for, its time. */
#define RUN(name, ...) \
    do { \
        const uint64_t begin = t->profile ? now_ns() : 0; \
        name(__VA_ARGS__); \
        t->launches++; \
        if (t->profile) { \
            t->kernel_ns[K_##name] += now_ns() - begin; \
            t->kernel_count[K_##name]++; \
        } \
    } while (0)

#define REDUCE_TO(result, name, ...) \
    do { \
        const uint64_t begin = t->profile ? now_ns() : 0; \
        (result) = name(__VA_ARGS__); \
        t->launches++; \
        if (t->profile) { \
            t->kernel_ns[K_##name] += now_ns() - begin; \
            t->kernel_count[K_##name]++; \
        } \
    } while (0)

static REAL *field(int64_t n, int64_t components, REAL value)
{
    const int64_t count = n * n * n * components;
    REAL *a = malloc((size_t)count * sizeof *a);

    if (a == NULL)
        exit(1);
    for (int64_t i = 0; i < count; i++)
        a[i] = value;
    return a;
}

void solver_open(struct solver *t)
{
    int64_t n = t->n;

    t->u = field(n, 3, 0);
    t->u0 = field(n, 3, 0);
    t->f = field(n, 3, 0);
    t->p = field(n, 1, 0);
    t->sigma = field(n, 1, 0);
    t->v = field(n, 3, 0);
    t->mu0 = field(n, 3, 1);
    t->mu1 = field(n, 9, 0);
    t->level_count = t->log2n;
    for (int k = 0; k < t->level_count; k++) {
        struct level *level = &t->levels[k];

        level->n = n;
        level->l = k == 0 ? t->mu0 : field(n, 3, 0);
        level->x = k == 0 ? t->p : field(n, 1, 0);
        level->q = k == 0 ? t->sigma : field(n, 1, 0);
        level->d = field(n, 1, 0);
        level->id = field(n, 1, 0);
        level->e = field(n, 1, 0);
        level->r = field(n, 1, 0);
        n = 1 + n / 2;
    }
}

static void boundary(struct solver *t, REAL *a, int64_t n)
{
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            if (i == j) {
                RUN(bc_normal_low, a, n, 0, i, 0);
                RUN(bc_normal_low, a, n, 0, i, 1);
                RUN(bc_normal_high, a, n, 0, i);
            } else {
                RUN(bc_tangent_low, a, n, i, j);
                RUN(bc_tangent_high, a, n, i, j);
            }
        }
}

static void poisson_coefficients(struct solver *t)
{
    for (int k = 0; k < t->level_count; k++) {
        struct level *level = &t->levels[k];

        if (k > 0) {
            for (int64_t i = 0; i < 3; i++)
                RUN(restrict_L, level->l, t->levels[k - 1].l, level->n,
                    t->levels[k - 1].n, i);
            boundary(t, level->l, level->n);
        }
        RUN(diag_D, level->d, level->l, level->n);
        RUN(diag_iD, level->id, level->d, level->n);
    }
}

static void smooth(struct solver *t, struct level *k)
{
    const double tiny = 10 * (double)EPSILON;
    double rho, rest;

    RUN(cg_start, k->q, k->e, k->r, k->id, k->n);
    REDUCE_TO(rest, dot, k->r, k->q, k->n);
    rho = (double)(REAL)rest;
    if (fabs(rho) < tiny)
        return;
    for (int it = 1; it <= SMOOTH_STEPS; it++) {
        REAL alpha, beta;
        double rho2;

        RUN(cg_matvec, k->q, k->e, k->d, k->l, k->n);
        REDUCE_TO(rest, dot, k->q, k->e, k->n);
        alpha = (REAL)(rho / (double)(REAL)rest);
        RUN(cg_update, k->x, k->r, k->e, k->q, k->n, alpha);
        if (it == SMOOTH_STEPS || fabs((double)alpha) < ALPHA_MIN)
            return;
        RUN(cg_precond, k->q, k->r, k->id, k->n);
        REDUCE_TO(rest, dot, k->r, k->q, k->n);
        rho2 = (double)(REAL)rest;
        if (fabs(rho2) < tiny)
            return;
        beta = (REAL)(rho2 / rho);
        RUN(cg_direction, k->e, k->q, k->n, beta);
        rho = rho2;
    }
}

static void vcycle(struct solver *t, int k)
{
    struct level *a = &t->levels[k], *b = &t->levels[k + 1];

    RUN(jacobi, a->e, a->r, a->id, a->n);
    RUN(increment, a->r, a->x, a->e, a->d, a->l, a->n);
    RUN(restrict_r, b->r, a->r, b->n, a->n);
    RUN(fill_scalar, b->x, b->n, 0);
    if (k + 2 < t->level_count)
        vcycle(t, k + 1);
    smooth(t, b);
    RUN(prolongate, a->e, b->x, a->n, b->n);
    RUN(increment, a->r, a->x, a->e, a->d, a->l, a->n);
}

static void solve(struct solver *t, int which)
{
    struct level *top = &t->levels[0];
    const int64_t m = top->n - 2;
    int cycles = 0;
    double mean, rest;

    RUN(residual, top->r, top->q, top->x, top->d, top->l, top->id, top->n);
    REDUCE_TO(mean, sum, top->r, top->n);
    mean = (double)(REAL)((double)(REAL)mean / (double)(m * m * m));
    if (fabs(mean) > 2 * (double)EPSILON)
        RUN(subtract_mean, top->r, top->n, (REAL)mean);
    REDUCE_TO(rest, max_abs, top->r, top->n);
    while (rest > TOLERANCE && cycles < CYCLES_MAX) {
        vcycle(t, 0);
        smooth(t, top);
        REDUCE_TO(rest, max_abs, top->r, top->n);
        cycles++;
    }
    t->cycles[which] = cycles;
    t->residuals[which] = rest;
}

void initialise(struct solver *t)
{
    const int64_t n = t->n;
    double exit_sum;

    boundary(t, t->mu0, n);
    RUN(init_field, t->u, n, t->cells);
    boundary(t, t->u, n);
    RUN(exit_advect, t->u, n, 0);
    REDUCE_TO(exit_sum, sum_exit, t->u, n);
    RUN(exit_correct, t->u, n, (REAL)(exit_sum / (double)((n - 2) * (n - 2))));
    RUN(copy_vector, t->u0, t->u, n);
    poisson_coefficients(t);
}

static void convect(struct solver *t, const REAL *u)
{
    const int64_t n = t->n;

    RUN(fill_vector, t->f, n, 0);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            RUN(conv_lower, t->f, u, n, t->nu, i, j);
            RUN(conv_inner, t->sigma, t->f, u, n, t->nu, i, j);
            RUN(conv_subtract, t->f, t->sigma, n, i, j);
            RUN(conv_upper, t->f, u, n, t->nu, i, j);
        }
}

static void immerse(struct solver *t)
{
    RUN(bdim_f, t->f, t->u0, t->v, t->n, (REAL)t->dt);
    RUN(bdim_u, t->u, t->mu1, t->f, t->v, t->mu0, t->n);
}

static void project(struct solver *t, double weight, int which)
{
    const REAL d = (REAL)(weight * t->dt);

    RUN(divergence, t->sigma, t->u, t->n);
    RUN(times, t->p, t->n, d);
    solve(t, which);
    for (int64_t i = 0; i < 3; i++)
        RUN(correct_u, t->u, t->mu0, t->p, t->n, i);
    RUN(divide, t->p, t->n, d);
}

void advance(struct solver *t)
{
    const int64_t n = t->n;
    double most;

    t->launches = 0;
    t->dt_used = t->dt;
    poisson_coefficients(t);
    RUN(copy_vector, t->u0, t->u, n);
    RUN(scale_u, t->u, n, 0);

    convect(t, t->u0);
    immerse(t);
    boundary(t, t->u, n);
    project(t, 1.0, 0);
    boundary(t, t->u, n);

    convect(t, t->u);
    immerse(t);
    RUN(scale_u, t->u, n, (REAL)0.5);
    boundary(t, t->u, n);
    project(t, 0.5, 1);
    boundary(t, t->u, n);

    RUN(flux_out, t->sigma, t->u, n);
    REDUCE_TO(most, max_value, t->sigma, n, (REAL)(5 * (double)t->nu));
    t->dt = 1 / most > 10 ? 10 : (double)(REAL)(1 / most);
}
