/* tgv.h - the parts of the Taylor-Green vortex driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGV_H
#define TGV_H

#include <kiln.h>

/*
 * X(name, arguments): what each kernel takes. V and S are arrays of vectors and
 * scalars, D the partial results, R a real number of the chosen precision, and
 * I an i64.
 */
#define TGV_KERNELS(X) \
    X(init_field, "VI") \
    X(bc_normal_low, "VRII") \
    X(bc_normal_high, "VRI") \
    X(bc_tangent_low, "VII") \
    X(bc_tangent_high, "VII") \
    X(exit_advect, "VR") \
    X(exit_correct, "VR") \
    X(diag_D, "SV") \
    X(diag_iD, "SS") \
    X(restrict_L, "VVI") \
    X(scale_u, "VR") \
    X(conv_lower, "VVRII") \
    X(conv_inner, "SVVRII") \
    X(conv_subtract, "VSII") \
    X(conv_upper, "VVRII") \
    X(bdim_f, "VVVR") \
    X(bdim_u, "VVVVV") \
    X(divergence, "SV") \
    X(correct_u, "VVSI") \
    X(residual, "SSSSVS") \
    X(subtract_mean, "SR") \
    X(jacobi, "SSS") \
    X(increment, "SSSSV") \
    X(restrict_r, "SS") \
    X(prolongate, "SS") \
    X(cg_start, "SSSS") \
    X(cg_matvec, "SSSV") \
    X(cg_update, "SSSSR") \
    X(cg_precond, "SSS") \
    X(cg_direction, "SSR") \
    X(flux_out, "SV") \
    X(copy_vector, "VV") \
    X(fill_vector, "VR") \
    X(fill_scalar, "SR") \
    X(times, "SR") \
    X(divide, "SR") \
    X(dot_inside, "DSS") \
    X(sum_inside, "DS") \
    X(sum_exit, "DV") \
    X(max_inside, "DSR") \
    X(max_abs_inside, "DS") \
    X(sum, "DD") \
    X(maximum, "DD")

#define TGV_ENUM(name, arguments) K_##name,
enum { TGV_KERNELS(TGV_ENUM) TGV_KERNEL_COUNT };
#undef TGV_ENUM

#define TGV_LEVELS_MAX 12

struct field {
    kiln_buffer *buffer;
    kiln_array array; /* in the form that kernels take */
    int64_t points;   /* number of points of all components */
};

/* One grid of the multigrid solver; the finest shares mu0, p and sigma. */
struct level {
    int64_t n;
    struct field l, d, id, x, e, r, q;
};

struct options {
    int log2n;
    int steps;
    double re;
    int single;         /* 1: f32, 0: f64 */
    const char *target; /* or NULL */
    int threads;        /* 0: the library's choice */
    int unchecked;      /* without bounds checks */
    int quiet;          /* no progress and no tables */
    int profile;        /* the time of each kernel */
    const char *insert; /* a pack to load, or NULL */
    const char *save;   /* a pack to make from what was compiled, or NULL */
    int save_typed;     /* the pack has no binaries */
};

struct tgv {
    struct options options;
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_type *types[128]; /* types of arguments, by letter */
    const kiln_kernel *kernels[TGV_KERNEL_COUNT];

    int64_t cells, n;
    double nu; /* rounded to the chosen precision */
    int level_count;
    struct level levels[TGV_LEVELS_MAX];
    struct field u, u0, f, p, sigma, v, mu0, mu1;
    struct field partial; /* results of groups; the last one is that of all */

    double dt_used, dt;
    int cycles[2];
    double residuals[2];
    int64_t launches;
    uint64_t kernel_ns[TGV_KERNEL_COUNT];
    uint64_t kernel_launches[TGV_KERNEL_COUNT];
    kiln_status status; /* the first failure; later launches do nothing */
    kiln_error *error;
};

/* ---- kernels.c ---- */
/* Reads the kernels and compiles all of them in one batch. */
int kernels_open(struct tgv *tgv);
/* Launches over x * y * z items, and counts the launch. Arguments are as the
   kernel's letters say: struct field *, double for R, int64_t for I. */
void run(struct tgv *tgv, int kernel, int64_t x, int64_t y, int64_t z, ...);
void run_groups(struct tgv *tgv, int kernel, const kiln_launch *launch, ...);
/* Rounds to the precision of the run. */
double rounded(const struct tgv *tgv, double value);
/* Records the first failure. */
void failed(struct tgv *tgv, kiln_status status, kiln_error *error);

/* Prints launches and milliseconds of each kernel. */
void print_profile(const struct tgv *tgv);
uint64_t now_ns(void);

/* ---- fields.c ---- */
int fields_open(struct tgv *tgv);
void fields_close(struct tgv *tgv);
/* Reads all points, widened; the caller frees the result. */
double *field_read(struct tgv *tgv, const struct field *field);

/* ---- reduction.c ---- */
/* Returns the groups for a reduction over an inside of that many points per
   side. */
kiln_launch reduction_shape(int64_t inside);
int64_t reduction_groups(const kiln_launch *launch);
double dot(struct tgv *tgv, const struct field *a, const struct field *b);
double sum_of(struct tgv *tgv, const struct field *a);
double exit_sum(struct tgv *tgv);
double max_of(struct tgv *tgv, const struct field *a, double offset);
double max_abs(struct tgv *tgv, const struct field *a);

/* ---- solver.c ---- */
void boundary(struct tgv *tgv, struct field *a);
void poisson_coefficients(struct tgv *tgv);
void solve(struct tgv *tgv, int which);

/* ---- step.c ---- */
void initialise(struct tgv *tgv);
void advance(struct tgv *tgv);

/* ---- output.c ---- */
void print_case(const struct tgv *tgv);
void print_step(struct tgv *tgv, int step);
void print_norms(struct tgv *tgv);
void print_timing(const struct tgv *tgv, const uint64_t *seconds_ns, int count,
                  uint64_t compile_ns);
void progress(size_t done, size_t count, const kiln_batch_job *job, void *env);

/* ---- source.c ---- */
extern const char tgv_source[];
extern const char tgv_source_end[];

/* ---- packs.c ---- */
/* Do what the options say; false after a failure. */
int pack_insert(struct tgv *tgv);
int pack_save(struct tgv *tgv, uint64_t compile_ns);

#endif /* TGV_H */
