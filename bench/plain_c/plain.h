/* plain.h - the Taylor-Green vortex in plain C, as a reference for kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef PLAIN_H
#define PLAIN_H

#include <math.h>
#include <stdint.h>

/*
 * These are the kernels of examples/tgv/tgv.kiln as loops over C arrays, with
 * the same arithmetic in the same order. REAL is float or double.
 */
#ifndef REAL
#define REAL float
#endif

#define IS_FLOAT (sizeof(REAL) == sizeof(float))
#define EPSILON (IS_FLOAT ? (REAL)0x1p-23 : (REAL)0x1p-52)

#define PLAIN_KERNELS(X) \
    X(init_field) \
    X(bc_normal_low) \
    X(bc_normal_high) \
    X(bc_tangent_low) \
    X(bc_tangent_high) \
    X(exit_advect) \
    X(exit_correct) \
    X(diag_D) \
    X(diag_iD) \
    X(restrict_L) \
    X(scale_u) \
    X(conv_lower) \
    X(conv_inner) \
    X(conv_subtract) \
    X(conv_upper) \
    X(bdim_f) \
    X(bdim_u) \
    X(divergence) \
    X(correct_u) \
    X(residual) \
    X(subtract_mean) \
    X(jacobi) \
    X(increment) \
    X(restrict_r) \
    X(prolongate) \
    X(cg_start) \
    X(cg_matvec) \
    X(cg_update) \
    X(cg_precond) \
    X(cg_direction) \
    X(flux_out) \
    X(copy_vector) \
    X(fill_vector) \
    X(fill_scalar) \
    X(times) \
    X(divide) \
    X(dot) \
    X(sum) \
    X(sum_exit) \
    X(max_value) \
    X(max_abs)

#define PLAIN_ENUM(name) K_##name,
enum { PLAIN_KERNELS(PLAIN_ENUM) K_COUNT };
#undef PLAIN_ENUM

/* ---- kernels_*.c; n is the number of points of a side, with ghosts ---- */
void init_field(REAL *u, int64_t n, int64_t cells);
void bc_normal_low(REAL *a, int64_t n, REAL value, int64_t i, int64_t k);
void bc_normal_high(REAL *a, int64_t n, REAL value, int64_t i);
void bc_tangent_low(REAL *a, int64_t n, int64_t i, int64_t j);
void bc_tangent_high(REAL *a, int64_t n, int64_t i, int64_t j);
void exit_advect(REAL *u, int64_t n, REAL a0);
void exit_correct(REAL *u, int64_t n, REAL m);
void diag_D(REAL *d, const REAL *l, int64_t n);
void diag_iD(REAL *id, const REAL *d, int64_t n);
void restrict_L(REAL *coarse, const REAL *fine, int64_t n, int64_t fine_n,
                int64_t i);
void scale_u(REAL *u, int64_t n, REAL factor);
void conv_lower(REAL *f, const REAL *u, int64_t n, REAL nu, int64_t i,
                int64_t j);
void conv_inner(REAL *phi, REAL *f, const REAL *u, int64_t n, REAL nu,
                int64_t i, int64_t j);
void conv_subtract(REAL *f, const REAL *phi, int64_t n, int64_t i, int64_t j);
void conv_upper(REAL *f, const REAL *u, int64_t n, REAL nu, int64_t i,
                int64_t j);
void bdim_f(REAL *f, const REAL *u0, const REAL *v, int64_t n, REAL dt);
void bdim_u(REAL *u, const REAL *mu1, const REAL *f, const REAL *v,
            const REAL *mu0, int64_t n);
void divergence(REAL *q, const REAL *u, int64_t n);
void correct_u(REAL *u, const REAL *mu0, const REAL *p, int64_t n, int64_t i);
void flux_out(REAL *sigma, const REAL *u, int64_t n);
void residual(REAL *r, const REAL *q, const REAL *v, const REAL *d,
              const REAL *l, const REAL *id, int64_t n);
void subtract_mean(REAL *r, int64_t n, REAL mean);
void jacobi(REAL *e, const REAL *r, const REAL *id, int64_t n);
void increment(REAL *r, REAL *v, const REAL *e, const REAL *d, const REAL *l,
               int64_t n);
void restrict_r(REAL *coarse, const REAL *fine, int64_t n, int64_t fine_n);
void prolongate(REAL *e, const REAL *coarse, int64_t n, int64_t coarse_n);
void cg_start(REAL *q, REAL *e, const REAL *r, const REAL *id, int64_t n);
void cg_matvec(REAL *q, const REAL *e, const REAL *d, const REAL *l, int64_t n);
void cg_update(REAL *v, REAL *r, const REAL *e, const REAL *q, int64_t n,
               REAL alpha);
void cg_precond(REAL *q, const REAL *r, const REAL *id, int64_t n);
void cg_direction(REAL *e, const REAL *q, int64_t n, REAL beta);
void copy_vector(REAL *to, const REAL *from, int64_t n);
void fill_vector(REAL *a, int64_t n, REAL value);
void fill_scalar(REAL *a, int64_t n, REAL value);
void times(REAL *a, int64_t n, REAL factor);
void divide(REAL *a, int64_t n, REAL divisor);
double dot(const REAL *a, const REAL *b, int64_t n);
double sum(const REAL *a, int64_t n);
double sum_exit(const REAL *u, int64_t n);
double max_value(const REAL *a, int64_t n, REAL offset);
double max_abs(const REAL *a, int64_t n);

#endif /* PLAIN_H */
