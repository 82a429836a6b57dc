/* instances.c - the instances of kernels, and what they compute. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>

#include "many.h"

#define ONE(name, expression) \
    static double name##_of(double x) \
    { \
        return expression; \
    }
#define TWO(name, expression) \
    static double name##_of(double x, double y) \
    { \
        return expression; \
    }

/* Operations whose results can be raised to a power within an f32 come
   first. */
#define ONE_MAP(X) \
    X(square, x *x) \
    X(twice, x + x) \
    X(halve, x / 2) \
    X(inverse, 1 / x) \
    X(root, sqrt(x)) \
    X(cube, x *x *x) \
    X(sine, sin(x)) \
    X(cosine, cos(x)) \
    X(decay, exp(-x)) \
    X(arc, atan(x)) \
    X(logarithm, log(x)) \
    X(cubic_root, cbrt(x))

/* The last three are only for integers. */
#define TWO_MAP(X) \
    X(plus, x + y) \
    X(times, x *y) \
    X(least, x < y ? x : y) \
    X(greatest, x > y ? x : y) \
    X(minus, x - y) \
    X(gap, fabs(x - y)) \
    X(added, x + y) \
    X(clipped, x - y) \
    X(remainder, fmod(x, y))

ONE_MAP(ONE)
TWO_MAP(TWO)

#define ONE_ENTRY(name, expression) {#name, name##_of, NULL},
#define TWO_ENTRY(name, expression) {#name, NULL, name##_of},
static const struct operation ones[] = {ONE_MAP(ONE_ENTRY)};
static const struct operation twos[] = {TWO_MAP(TWO_ENTRY)};

#define ONES 12
#define TWOS_OF_ALL 6
#define TWOS 9
#define POWERED 5
#define FOLDED 4
#define COMPOSED 10

static const int sizes[] = {1, 2, 3, 4, 8};
#define SIZES 5

const char *element_name(int element)
{
    static const char *const names[] = {"f32", "f64", "i32", "i64"};

    return names[element];
}

/* ---- the list ---- */

struct list {
    struct instance *out;
    int count;
};

/* Adds `kernel` for operators from `first` on, for element types likewise, and
   for all sizes. */
static void add(struct list *list, const char *kernel,
                const struct operation *operations, int count, int element,
                int elements)
{
    for (int f = 0; f < count; f++)
        for (int e = element; e < element + elements; e++)
            for (int s = 0; s < SIZES; s++)
                list->out[list->count++] = (struct instance){
                    kernel, operations + f, NULL, e, sizes[s]};
}

void instances_list(struct instance out[INSTANCES_MAX])
{
    struct instance ordered[INSTANCES_MAX];
    struct list list = {ordered, 0};

    add(&list, "each", ones, ONES, REAL_F32, 2);
    add(&list, "both", twos, TWOS_OF_ALL, REAL_F32, 4);
    add(&list, "both", twos + TWOS_OF_ALL, TWOS - TWOS_OF_ALL, WHOLE_I32, 2);
    add(&list, "powers", ones, POWERED, REAL_F32, 2);
    add(&list, "fold", twos, FOLDED, REAL_F32, 4);
    for (int f = 0; f < COMPOSED; f++)
        for (int g = 0; g < COMPOSED; g++)
            ordered[list.count++] =
                (struct instance){"composed", ones + f, ones + g, REAL_F32, 0};
    /* 179 and 500 have no common divisor, so each instance is taken once. */
    for (int i = 0; i < INSTANCES_MAX; i++)
        out[i] = ordered[i * 179 % INSTANCES_MAX];
}

/* ---- as a workload ---- */

static void print_job(const struct instance *one)
{
    const char *element = element_name(one->element);

    (void)printf("many.%s(%s[:], fn:%s", one->kernel, element, one->f->name);
    if (one->g)
        (void)printf(", fn:%s", one->g->name);
    (void)printf(", %s[:]", element);
    if (one->f->two && one->kernel[0] == 'b')
        (void)printf(", %s[:]", element);
    if (one->kernel[0] == 'p')
        (void)printf(", i64");
    if (one->size > 0)
        (void)printf(", Static{%d}", one->size);
    (void)printf(")\n");
}

void instances_print_jobs(int count)
{
    struct instance all[INSTANCES_MAX];

    instances_list(all);
    for (int i = 0; i < count; i++)
        print_job(&all[i]);
}
