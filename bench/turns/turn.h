/* turn.h - programs that run one kernel, whenever it is their turn. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_TURNS_TURN_H
#define BENCH_TURNS_TURN_H

#include <stddef.h>
#include <stdint.h>

/*
 *     turn-SIDE CASE [OPTION...]
 *
 * compiles the kernel of a file, and prints `ready`, how long that took in ms,
 * and the side's version. Then it reads lines:
 *
 *     check FOLDER   launches the kernel once, on the arrays as they begin, and
 *                    writes array N to FOLDER/N; prints `checked`
 *     time NS        launches it until that many ns were spent in launches, and
 *                    three times at least, after one that does not count;
 *                    prints `took` and the median of the launches in ns
 *
 * The case has lines of words:
 *
 *     source PATH
 *     kernel NAME
 *     grid N N N         in items
 *     block N N N        0: the system chooses
 *     scalar TYPE VALUE
 *     array TYPE PATH SIZE...   its bytes, and its sizes: the contiguous first
 *
 * What fails is told on standard error, and the exit status is 1.
 */

#define TURN_ARGUMENTS_MAX 32
#define TURN_WORD_MAX 512
#define TURN_RANK_MAX 3

typedef struct turn_argument {
    char type[8];
    int rank; /* 0: a scalar */
    int64_t sizes[TURN_RANK_MAX];
    size_t bytes;
    void *initial; /* bytes of an array as it begins, or of a scalar */
    void *data;    /* of an array: what kernels work on */
    int is_reset;  /* before each launch: the kernel changes what it reads */
} turn_argument;

typedef struct turn_case {
    char source[TURN_WORD_MAX], kernel[TURN_WORD_MAX];
    int64_t grid[3], block[3];
    turn_argument arguments[TURN_ARGUMENTS_MAX];
    size_t count;
} turn_case;

/* A side. Functions return 0 after they have told what failed. */
typedef struct turn_side {
    const char *usage; /* of its options */
    /* Compiles, and stores how long that took. */
    int (*open)(const turn_case *c, int count, char **options, double *ms);
    int (*launch)(void); /* and waits */
    /* Both may be NULL: kernels work on `data` itself. */
    int (*write)(size_t argument); /* from `data` to the device */
    int (*read)(size_t argument);  /* and back */
    const char *(*version)(void);
} turn_side;

/* Of the program: one is linked to turn_main.c. */
extern const turn_side turn_side_here;

/* Reads a file; what it allocates stays until the process ends. */
int turn_case_read(turn_case *out, const char *path);
int turn_complain(const char *what, const char *detail);
double turn_now_ns(void);

#endif /* BENCH_TURNS_TURN_H */
