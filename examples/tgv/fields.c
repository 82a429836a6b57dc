/* fields.c - the arrays of the specification's section 2. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

#include "tgv.h"

static size_t real_size(const struct tgv *tgv)
{
    return tgv->options.single ? sizeof(float) : sizeof(double);
}

/* Makes a field of n * n * n points and `components`, all `value`. */
static int field_open(struct tgv *tgv, struct field *field, int64_t n,
                      int64_t components, double value)
{
    int64_t points = n * n * n * components;
    size_t bytes = (size_t)points * real_size(tgv);
    void *host = malloc(bytes);
    kiln_error *error = NULL;
    kiln_status status = KILN_ENOMEM;

    if (host) {
        for (int64_t i = 0; i < points; i++)
            if (tgv->options.single)
                ((float *)host)[i] = (float)value;
            else
                ((double *)host)[i] = value;
        status = kiln_buffer_new(&field->buffer, tgv->device, bytes, &error);
    }
    if (status == KILN_OK)
        status = kiln_buffer_write(field->buffer, 0, host, bytes, &error);
    free(host);
    if (status != KILN_OK) {
        failed(tgv, status, error);
        return 0;
    }
    field->points = points;
    field->array = (kiln_array){.data = kiln_buffer_address(field->buffer),
                                .sizes = {n, n, n, components}};
    return 1;
}

static int partial_open(struct tgv *tgv)
{
    const kiln_launch shape = reduction_shape(tgv->n - 2);
    const int64_t points = reduction_groups(&shape) + 1;
    uint64_t bytes = (uint64_t)points * sizeof(double);
    kiln_error *error = NULL;
    kiln_status status =
        kiln_buffer_new(&tgv->partial.buffer, tgv->device, bytes, &error);

    if (status != KILN_OK) {
        failed(tgv, status, error);
        return 0;
    }
    tgv->partial.points = points;
    tgv->partial.array = (kiln_array){
        .data = kiln_buffer_address(tgv->partial.buffer), .sizes = {points}};
    return 1;
}

static int level_open(struct tgv *tgv, struct level *level, int64_t n,
                      int finest)
{
    level->n = n;
    if (finest) {
        level->l = tgv->mu0;
        level->x = tgv->p;
        level->q = tgv->sigma;
    } else if (!field_open(tgv, &level->l, n, 3, 0) ||
               !field_open(tgv, &level->x, n, 1, 0) ||
               !field_open(tgv, &level->q, n, 1, 0)) {
        return 0;
    }
    return field_open(tgv, &level->d, n, 1, 0) &&
           field_open(tgv, &level->id, n, 1, 0) &&
           field_open(tgv, &level->e, n, 1, 0) &&
           field_open(tgv, &level->r, n, 1, 0);
}

int fields_open(struct tgv *tgv)
{
    int64_t n = tgv->n;

    if (!field_open(tgv, &tgv->u, n, 3, 0) ||
        !field_open(tgv, &tgv->u0, n, 3, 0) ||
        !field_open(tgv, &tgv->f, n, 3, 0) ||
        !field_open(tgv, &tgv->p, n, 1, 0) ||
        !field_open(tgv, &tgv->sigma, n, 1, 0) ||
        !field_open(tgv, &tgv->v, n, 3, 0) ||
        !field_open(tgv, &tgv->mu0, n, 3, 1) ||
        !field_open(tgv, &tgv->mu1, n, 9, 0) || !partial_open(tgv))
        return 0;
    tgv->level_count = tgv->options.log2n;
    for (int k = 0; k < tgv->level_count; k++) {
        if (!level_open(tgv, &tgv->levels[k], n, k == 0))
            return 0;
        n = 1 + n / 2;
    }
    return 1;
}

void fields_close(struct tgv *tgv)
{
    struct field *const own[] = {&tgv->u,   &tgv->u0,    &tgv->f,
                                 &tgv->p,   &tgv->sigma, &tgv->v,
                                 &tgv->mu0, &tgv->mu1,   &tgv->partial};

    for (int k = 0; k < tgv->level_count; k++) {
        struct level *level = &tgv->levels[k];

        if (k > 0) {
            kiln_buffer_free(level->l.buffer);
            kiln_buffer_free(level->x.buffer);
            kiln_buffer_free(level->q.buffer);
        }
        kiln_buffer_free(level->d.buffer);
        kiln_buffer_free(level->id.buffer);
        kiln_buffer_free(level->e.buffer);
        kiln_buffer_free(level->r.buffer);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        kiln_buffer_free(own[i]->buffer);
}

double *field_read(struct tgv *tgv, const struct field *field)
{
    size_t count = (size_t)field->points;
    double *wide = malloc(count * sizeof *wide);
    kiln_error *error = NULL;
    kiln_status status = KILN_ENOMEM;

    if (wide)
        status = kiln_buffer_read(field->buffer, 0, wide,
                                  count * real_size(tgv), &error);
    if (status != KILN_OK) {
        failed(tgv, status, error);
        free(wide);
        return NULL;
    }
    /* Widens in place, beginning with the last element. */
    if (tgv->options.single)
        for (size_t i = count; i-- > 0;)
            wide[i] = (double)((const float *)wide)[i];
    return wide;
}
