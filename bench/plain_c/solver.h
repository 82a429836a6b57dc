/* solver.h - the state of a run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SOLVER_H
#define SOLVER_H

#include "plain.h"

#define LEVELS_MAX 12

/* One grid of the multigrid solver; the finest shares mu0, p and sigma. */
struct level {
    int64_t n;
    REAL *l, *d, *id, *x, *e, *r, *q;
};

struct solver {
    int log2n, steps, threads, quiet, profile;
    int64_t cells, n;
    REAL nu;
    int level_count;
    struct level levels[LEVELS_MAX];
    REAL *u, *u0, *f, *p, *sigma, *v, *mu0, *mu1;
    double dt_used, dt;
    int cycles[2];
    double residuals[2];
    int64_t launches;
    uint64_t kernel_ns[K_COUNT];
    uint64_t kernel_count[K_COUNT];
};

uint64_t now_ns(void);
/* Makes the fields; ends the program when memory runs out. */
void solver_open(struct solver *t);
void initialise(struct solver *t);
void advance(struct solver *t);

#endif /* SOLVER_H */
