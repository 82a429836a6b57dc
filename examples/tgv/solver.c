/* solver.c - the multigrid Poisson solver, sections 4, 8 and 9. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <float.h>
#include <math.h>

#include "tgv.h"

#define CYCLES_MAX 32
#define SMOOTH_STEPS 6
#define TOLERANCE 2e-4
#define ALPHA_MIN 1e-2

static double epsilon(const struct tgv *tgv)
{
    return tgv->options.single ? (double)FLT_EPSILON : DBL_EPSILON;
}

void boundary(struct tgv *tgv, struct field *a)
{
    int64_t n = a->array.sizes[0];

    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            if (i == j) {
                run(tgv, K_bc_normal_low, n, n, 1, a, 0.0, i, (int64_t)0);
                run(tgv, K_bc_normal_low, n, n, 1, a, 0.0, i, (int64_t)1);
                run(tgv, K_bc_normal_high, n, n, 1, a, 0.0, i);
            } else {
                run(tgv, K_bc_tangent_low, n, n, 1, a, i, j);
                run(tgv, K_bc_tangent_high, n, n, 1, a, i, j);
            }
        }
}

void poisson_coefficients(struct tgv *tgv)
{
    for (int k = 0; k < tgv->level_count; k++) {
        struct level *level = &tgv->levels[k];
        int64_t inside = level->n - 2;

        if (k > 0) {
            for (int64_t i = 0; i < 3; i++)
                run(tgv, K_restrict_L, inside, inside, inside, &level->l,
                    &tgv->levels[k - 1].l, i);
            boundary(tgv, &level->l);
        }
        run(tgv, K_diag_D, inside, inside, inside, &level->d, &level->l);
        run(tgv, K_diag_iD, inside, inside, inside, &level->id, &level->d);
    }
}

/* At most six steps of conjugate gradients, preconditioned by iD. */
static void smooth(struct tgv *tgv, struct level *level)
{
    int64_t m = level->n - 2;
    double tiny = 10 * epsilon(tgv);
    double rho;

    run(tgv, K_cg_start, m, m, m, &level->q, &level->e, &level->r, &level->id);
    rho = dot(tgv, &level->r, &level->q);
    if (fabs(rho) < tiny)
        return;
    for (int it = 1; it <= SMOOTH_STEPS && tgv->status == KILN_OK; it++) {
        double alpha, rho2, beta;

        run(tgv, K_cg_matvec, m, m, m, &level->q, &level->e, &level->d,
            &level->l);
        alpha = rounded(tgv, rho / dot(tgv, &level->q, &level->e));
        run(tgv, K_cg_update, m, m, m, &level->x, &level->r, &level->e,
            &level->q, alpha);
        if (it == SMOOTH_STEPS || fabs(alpha) < ALPHA_MIN)
            return;
        run(tgv, K_cg_precond, m, m, m, &level->q, &level->r, &level->id);
        rho2 = dot(tgv, &level->r, &level->q);
        if (fabs(rho2) < tiny)
            return;
        beta = rounded(tgv, rho2 / rho);
        run(tgv, K_cg_direction, m, m, m, &level->e, &level->q, beta);
        rho = rho2;
    }
}

static void increment(struct tgv *tgv, struct level *level)
{
    int64_t m = level->n - 2;

    run(tgv, K_increment, m, m, m, &level->r, &level->x, &level->e, &level->d,
        &level->l);
}

static void vcycle(struct tgv *tgv, int k)
{
    struct level *fine = &tgv->levels[k];
    struct level *coarse = &tgv->levels[k + 1];
    int64_t m = fine->n - 2;
    int64_t c = coarse->n - 2;

    run(tgv, K_jacobi, m, m, m, &fine->e, &fine->r, &fine->id);
    increment(tgv, fine);
    run(tgv, K_restrict_r, c, c, c, &coarse->r, &fine->r);
    run(tgv, K_fill_scalar, coarse->n, coarse->n, coarse->n, &coarse->x, 0.0);
    if (k + 2 < tgv->level_count)
        vcycle(tgv, k + 1);
    smooth(tgv, coarse);
    run(tgv, K_prolongate, m, m, m, &fine->e, &coarse->x);
    increment(tgv, fine);
}

void solve(struct tgv *tgv, int which)
{
    struct level *top = &tgv->levels[0];
    int64_t m = top->n - 2;
    int cycles = 0;
    double mean, rest;

    run(tgv, K_residual, m, m, m, &top->r, &top->q, &top->x, &top->d, &top->l,
        &top->id);
    mean = rounded(tgv, sum_of(tgv, &top->r) / (double)(m * m * m));
    if (fabs(mean) > 2 * epsilon(tgv))
        run(tgv, K_subtract_mean, m, m, m, &top->r, mean);
    rest = max_abs(tgv, &top->r);
    while (rest > TOLERANCE && cycles < CYCLES_MAX && tgv->status == KILN_OK) {
        vcycle(tgv, 0);
        smooth(tgv, top);
        rest = max_abs(tgv, &top->r);
        cycles++;
    }
    tgv->cycles[which] = cycles;
    tgv->residuals[which] = rest;
}
