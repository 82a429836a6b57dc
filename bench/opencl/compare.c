/* compare.c - compares what two systems left in the buffers of a case. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

#define TOLERANCE 1e-4

static double number_at(const case_argument *a, const void *bytes, size_t at)
{
    float single;
    double value;

    if (a->item_size == sizeof value) {
        memcpy(&value, (const char *)bytes + at, sizeof value);
        return value;
    }
    memcpy(&single, (const char *)bytes + at, sizeof single);
    return single;
}

static int is_close(double a, double b, double slack)
{
    const double larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return (isnan(a) && isnan(b)) || a == b;
    return fabs(a - b) <= TOLERANCE * larger + slack;
}

/* What sums of such numbers may differ by where they cancel. */
static double slack_of(const case_argument *a, const void *bytes, size_t size)
{
    double largest = 0;

    for (size_t at = 0; at < size; at += a->item_size)
        if (isfinite(number_at(a, bytes, at)))
            largest = fmax(largest, fabs(number_at(a, bytes, at)));
    return 1e-6 + 1e-7 * largest;
}

static int tell_element(size_t at, double ours, double theirs)
{
    (void)fprintf(stderr, "element %zu is %.9g and must be %.9g\n", at, ours,
                  theirs);
    return 0;
}

static int is_same(const case_argument *a, const void *ours, const void *theirs,
                   size_t size)
{
    double slack;

    if (!a->is_float)
        return memcmp(ours, theirs, size) == 0;
    slack = slack_of(a, theirs, size);
    for (size_t at = 0; at < size; at += a->item_size)
        if (!is_close(number_at(a, ours, at), number_at(a, theirs, at), slack))
            return tell_element(at / a->item_size, number_at(a, ours, at),
                                number_at(a, theirs, at));
    return 1;
}

int case_has_expectation(const cl_case *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->arguments[i].expected != NULL)
            return 1;
    return 0;
}

size_t case_difference(const cl_case *c, const case_run *ours,
                       const case_run *theirs)
{
    for (size_t i = 0; i < c->count; i++) {
        const case_argument *a = &c->arguments[i];
        const void *other = theirs != NULL ? theirs->results[i] : a->expected;

        if (a->kind == CASE_BUFFER && other != NULL &&
            !is_same(a, ours->results[i], other,
                     theirs != NULL ? a->size : a->expected_size))
            return i;
    }
    return c->count;
}
