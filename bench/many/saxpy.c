/* saxpy.c - one kernel, run twice. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>

#include "many.h"

static const float a = 2;

/* x counts from 0 and y is all ones. Values are small enough for every result
   to be exact. */
static float x_at(size_t i)
{
    return (float)(i % 4096);
}

static kiln_buffer *filled(struct session *s, size_t items, int is_x)
{
    float *values = malloc(items * sizeof *values);
    kiln_buffer *buffer = NULL;

    if (!good(s, values ? KILN_OK : KILN_ENOMEM, NULL))
        return NULL;
    for (size_t i = 0; i < items; i++)
        values[i] = is_x ? x_at(i) : 1;
    buffer = buffer_of(s, values, items * sizeof *values);
    free(values);
    return buffer;
}

static void execute(struct session *s, size_t items, kiln_buffer *x,
                    kiln_buffer *y)
{
    const kiln_array xs = {.data = kiln_buffer_address(x),
                           .sizes = {(int64_t)items}};
    const kiln_array ys = {.data = kiln_buffer_address(y),
                           .sizes = {(int64_t)items}};
    const void *arguments[] = {&ys, &a, &xs};
    const kiln_type *f32 = kiln_type_scalar(s->context, KILN_TYPE_F32);
    const kiln_type *array = NULL;
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    if (!good(s, kiln_type_array(&array, s->context, f32, 1, 0, &error),
              &error))
        return;
    kernel =
        compile(s, "saxpy", (const kiln_type *const[]){array, f32, array}, 3);
    launch(s, kernel, items, arguments, 3);
    wait_for_all(s);
}

static void check(struct session *s, size_t items, const kiln_buffer *y)
{
    float *values = malloc(items * sizeof *values);
    kiln_error *error = NULL;

    if (!good(s, values ? KILN_OK : KILN_ENOMEM, NULL) ||
        !good(s, kiln_buffer_read(y, 0, values, items * sizeof *values, &error),
              &error)) {
        free(values);
        return;
    }
    for (size_t i = 0; i < items; i++) {
        const float want = 2 * a * x_at(i) + 1;

        s->wrong += values[i] < want || values[i] > want;
    }
    s->checked += items;
    free(values);
}

void saxpy_run(struct session *s)
{
    const size_t items = (size_t)1 << s->options.log2n;
    kiln_buffer *x = NULL, *y = NULL;
    char what[64];

    execution_begin(s, "initialisation");
    if (!session_open(s))
        return;
    execution_begin(s, "data");
    x = filled(s, items, 1);
    y = filled(s, items, 0);
    execution_begin(s, "first");
    if (s->status == KILN_OK)
        execute(s, items, x, y);
    execution_begin(s, "second");
    if (s->status == KILN_OK)
        execute(s, items, x, y);
    execution_begin(s, NULL);
    if (s->status == KILN_OK)
        check(s, items, y);
    (void)snprintf(what, sizeof what, "%zu items, f32", items);
    if (s->status == KILN_OK)
        report(s, what);
    kiln_buffer_free(x);
    kiln_buffer_free(y);
}
