/* step.c - the initial state and one time step, sections 3 and 5 to 7. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tgv.h"

/* The mean of component 0 over the exit plane's inside. */
static double exit_mean(struct tgv *tgv)
{
    int64_t m = tgv->n - 2;

    return rounded(tgv, exit_sum(tgv) / (double)(m * m));
}

void initialise(struct tgv *tgv)
{
    int64_t n = tgv->n;

    boundary(tgv, &tgv->mu0);
    run(tgv, K_init_field, n, n, n, &tgv->u, tgv->cells);
    boundary(tgv, &tgv->u);
    run(tgv, K_exit_advect, n - 2, n - 2, 1, &tgv->u, 0.0);
    run(tgv, K_exit_correct, n - 2, n - 2, 1, &tgv->u, exit_mean(tgv));
    run(tgv, K_copy_vector, n, n, n, &tgv->u0, &tgv->u);
    poisson_coefficients(tgv);
}

static void convect(struct tgv *tgv, struct field *u)
{
    int64_t n = tgv->n;
    struct field *f = &tgv->f;
    struct field *phi = &tgv->sigma;

    run(tgv, K_fill_vector, n, n, n, f, 0.0);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            /* The direction j of the inner range is two points shorter. */
            int64_t x = n - 1 - 2 * (j == 0);
            int64_t y = n - 1 - 2 * (j == 1);
            int64_t z = n - 1 - 2 * (j == 2);

            run(tgv, K_conv_lower, n - 1, n - 1, 1, f, u, tgv->nu, i, j);
            run(tgv, K_conv_inner, x, y, z, phi, f, u, tgv->nu, i, j);
            run(tgv, K_conv_subtract, x, y, z, f, phi, i, j);
            run(tgv, K_conv_upper, n - 1, n - 1, 1, f, u, tgv->nu, i, j);
        }
}

static void immerse(struct tgv *tgv)
{
    int64_t n = tgv->n;

    run(tgv, K_bdim_f, n, n, n, &tgv->f, &tgv->u0, &tgv->v, tgv->dt);
    run(tgv, K_bdim_u, n - 2, n - 2, n - 2, &tgv->u, &tgv->mu1, &tgv->f,
        &tgv->v, &tgv->mu0);
}

static void project(struct tgv *tgv, double weight, int which)
{
    int64_t n = tgv->n;
    int64_t m = n - 2;
    double d = rounded(tgv, weight * tgv->dt);

    run(tgv, K_divergence, m, m, m, &tgv->sigma, &tgv->u);
    run(tgv, K_times, n, n, n, &tgv->p, d);
    solve(tgv, which);
    for (int64_t i = 0; i < 3; i++)
        run(tgv, K_correct_u, m, m, m, &tgv->u, &tgv->mu0, &tgv->p, i);
    run(tgv, K_divide, n, n, n, &tgv->p, d);
}

static double next_dt(struct tgv *tgv)
{
    int64_t m = tgv->n - 2;
    double most;

    run(tgv, K_flux_out, m, m, m, &tgv->sigma, &tgv->u);
    most = max_of(tgv, &tgv->sigma, rounded(tgv, 5 * tgv->nu));
    if (1 / most > 10)
        return 10;
    return rounded(tgv, 1 / most);
}

void advance(struct tgv *tgv)
{
    int64_t n = tgv->n;
    int64_t m = n - 2;

    tgv->launches = 0;
    tgv->dt_used = tgv->dt;
    poisson_coefficients(tgv);
    run(tgv, K_copy_vector, n, n, n, &tgv->u0, &tgv->u);
    run(tgv, K_scale_u, m, m, m, &tgv->u, 0.0);

    convect(tgv, &tgv->u0);
    immerse(tgv);
    boundary(tgv, &tgv->u);
    project(tgv, 1.0, 0);
    boundary(tgv, &tgv->u);

    convect(tgv, &tgv->u);
    immerse(tgv);
    run(tgv, K_scale_u, m, m, m, &tgv->u, 0.5);
    boundary(tgv, &tgv->u);
    project(tgv, 0.5, 1);
    boundary(tgv, &tgv->u);

    tgv->dt = next_dt(tgv);
}
