/* reduction.c - dot products, sums and maxima over the inside. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tgv.h"

#define GROUP_ITEMS 256

/* Each item takes a row. */
kiln_launch reduction_shape(int64_t inside)
{
    const int64_t y = inside < GROUP_ITEMS ? inside : GROUP_ITEMS;
    const int64_t z = inside < GROUP_ITEMS / y ? inside : GROUP_ITEMS / y;

    return (kiln_launch){.grid = {(uint64_t)inside, (uint64_t)inside, 1},
                         .block = {(uint32_t)y, (uint32_t)z, 1}};
}

int64_t reduction_groups(const kiln_launch *launch)
{
    int64_t groups = 1;

    for (int i = 0; i < 2; i++)
        groups *= (int64_t)((launch->grid[i] - 1) / launch->block[i] + 1);
    return groups;
}

static double last_partial(struct tgv *tgv)
{
    const uint64_t last = (uint64_t)(tgv->partial.points - 1);
    double result = 0;
    kiln_error *error = NULL;
    kiln_status status;

    if (tgv->status != KILN_OK)
        return 0;
    status = kiln_queue_wait(tgv->queue, &error);
    if (status == KILN_OK)
        status = kiln_buffer_read(tgv->partial.buffer, last * sizeof result,
                                  &result, sizeof result, &error);
    if (status != KILN_OK)
        failed(tgv, status, error);
    return result;
}

/* Where groups put their results. A single group has the final result at
   once. */
static struct field partial_of(const struct tgv *tgv, int64_t groups)
{
    struct field partial = tgv->partial;

    if (groups == 1)
        partial.array.data =
            (double *)tgv->partial.array.data + (tgv->partial.points - 1);
    partial.array.sizes[0] = groups;
    return partial;
}

/* One group combines the partial results. The two launches are one reduction in
   the specification's count. */
static double finished(struct tgv *tgv, int kernel, const struct field *partial)
{
    const kiln_launch one = {.grid = {64, 1, 1}, .block = {64, 1, 1}};
    struct field result;

    if (partial->array.sizes[0] > 1) {
        result = partial_of(tgv, 1);
        run_groups(tgv, kernel, &one, &result, partial);
        tgv->launches--;
    }
    return last_partial(tgv);
}

double dot(struct tgv *tgv, const struct field *a, const struct field *b)
{
    const kiln_launch shape = reduction_shape(a->array.sizes[0] - 2);
    const struct field partial = partial_of(tgv, reduction_groups(&shape));

    run_groups(tgv, K_dot_inside, &shape, &partial, a, b);
    return rounded(tgv, finished(tgv, K_sum, &partial));
}

double sum_of(struct tgv *tgv, const struct field *a)
{
    const kiln_launch shape = reduction_shape(a->array.sizes[0] - 2);
    const struct field partial = partial_of(tgv, reduction_groups(&shape));

    run_groups(tgv, K_sum_inside, &shape, &partial, a);
    return rounded(tgv, finished(tgv, K_sum, &partial));
}

double exit_sum(struct tgv *tgv)
{
    const kiln_launch shape = reduction_shape(tgv->n - 2);
    const struct field partial = partial_of(tgv, reduction_groups(&shape));

    run_groups(tgv, K_sum_exit, &shape, &partial, &tgv->u);
    return finished(tgv, K_sum, &partial);
}

double max_of(struct tgv *tgv, const struct field *a, double offset)
{
    const kiln_launch shape = reduction_shape(a->array.sizes[0] - 2);
    const struct field partial = partial_of(tgv, reduction_groups(&shape));

    run_groups(tgv, K_max_inside, &shape, &partial, a, offset);
    return finished(tgv, K_maximum, &partial);
}

double max_abs(struct tgv *tgv, const struct field *a)
{
    const kiln_launch shape = reduction_shape(a->array.sizes[0] - 2);
    const struct field partial = partial_of(tgv, reduction_groups(&shape));

    run_groups(tgv, K_max_abs_inside, &shape, &partial, a);
    return finished(tgv, K_maximum, &partial);
}
