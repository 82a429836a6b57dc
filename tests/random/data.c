/* data.c - arguments for random kernels, and checks of the results. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

typedef struct p_struct { /* the struct P of the program */
    int32_t p;
    double q;
    uint8_t r;
} p_struct;

static const char *const scalar_types[TRIAL_SCALARS] = {
    "i64", "i32", "u16", "f32", "f64", "Bool", "(i32, f64)"};

const char *trial_type(const generated *program, size_t index)
{
    if (index < GENERATED_OUTPUTS)
        return program->output_types[index];
    if (index < GENERATED_OUTPUTS + 2)
        return index == GENERATED_OUTPUTS ? "f64[:]" : "i64[:]";
    if (index < TRIAL_ARRAYS)
        return program->array_types[index - GENERATED_OUTPUTS - 2];
    return scalar_types[index - TRIAL_ARRAYS];
}

/* ---- values ---- */

static size_t bytes_of(int32_t kind)
{
    return kind == KILN_TYPE_STRUCT ? sizeof(p_struct)
                                    : ((size_t)kind_bits(kind) + 7) / 8;
}

static double random_double(generator *g)
{
    static const double rare[] = {0.0,       -0.0,     1.0,   -1.0, 1e30,
                                  0x1p-1040, 0x1p-130, 65504, 1e-7};

    switch (random_below(g, 12)) {
    case 0:
        return (double)NAN;
    case 1:
        return random_chance(g, 50) ? (double)INFINITY : -(double)INFINITY;
    case 2:
    case 3:
        return rare[random_below(g, 9)];
    default:
        return (random_below(g, 4001) - 2000) / 16.0;
    }
}

static uint64_t random_bits(generator *g)
{
    switch (random_below(g, 5)) {
    case 0:
        return random_next(g);
    case 1:
        return (uint64_t)1 << random_below(g, 64);
    case 2:
        return (uint64_t)0 - (uint64_t)random_below(g, 20);
    default:
        return (uint64_t)random_below(g, 100);
    }
}

static void put_value(generator *g, int32_t kind, unsigned char *to)
{
    const double value = random_double(g);
    const float narrow = (float)value;
    uint64_t bits = random_bits(g);
    const p_struct p = {(int32_t)bits, value, (uint8_t)(bits >> 3)};

    switch (kind) {
    case KILN_TYPE_F64:
        memcpy(to, &value, sizeof value);
        break;
    case KILN_TYPE_F32:
        memcpy(to, &narrow, sizeof narrow);
        break;
    case KILN_TYPE_F16: /* both finite, of either sign */
    case KILN_TYPE_BF16:
        bits &= 0xbbff;
        memcpy(to, &bits, 2);
        break;
    case KILN_TYPE_BOOL:
        *to = bits & 1;
        break;
    case KILN_TYPE_STRUCT:
        memcpy(to, &p, sizeof p);
        break;
    default:
        memcpy(to, &bits, bytes_of(kind));
        break;
    }
}

/* ---- arrays ---- */

static int32_t kind_of(const char *type)
{
    const size_t size = strcspn(type, "[");

    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (kind_bits(kind) > 0 && strlen(kind_name(kind)) == size &&
            strncmp(type, kind_name(kind), size) == 0)
            return kind;
    return KILN_TYPE_STRUCT;
}

/* Strided arrays have gaps, and some run backwards. */
static void lay_out(trial_array *a, generator *g)
{
    const int strided = strstr(a->type, "strided") != NULL;
    const int backwards = strided && random_chance(g, 30);
    int64_t end = 1, first = 0;

    for (uint32_t d = 0; d < a->rank; d++) {
        a->array.strides[d] = end + (strided ? random_below(g, 3) : 0);
        end = a->array.strides[d] * a->array.sizes[d];
    }
    a->size = (size_t)end * bytes_of(a->kind);
    a->bytes = calloc(3, a->size == 0 ? 1 : a->size);
    if (a->bytes == NULL)
        abort();
    a->initial = a->bytes + a->size;
    a->expected = a->initial + a->size;
    if (backwards) {
        first = end == 0 ? 0 : a->array.strides[0] * (a->array.sizes[0] - 1);
        a->array.strides[0] = -a->array.strides[0];
    }
    a->array.data = a->bytes + (size_t)first * bytes_of(a->kind);
    for (int64_t i = 0; i < end; i++)
        put_value(g, a->kind, a->initial + (size_t)i * bytes_of(a->kind));
}

static void fill_array(trial_array *a, generator *g, size_t index,
                       uint64_t items, int may_be_empty)
{
    const char *colon = a->type;

    a->kind = kind_of(a->type);
    for (a->rank = 0; (colon = strchr(colon, ':')) != NULL; colon++)
        a->array.sizes[a->rank++] =
            may_be_empty && random_chance(g, 4) ? 0 : 1 + random_below(g, 9);
    if (index < GENERATED_OUTPUTS + 1)
        a->array.sizes[0] = (int64_t)items;
    else if (index == GENERATED_OUTPUTS + 1)
        a->array.sizes[0] = 8;
    else if (index == GENERATED_OUTPUTS + 2 && a->rank == 1)
        a->array.sizes[0] = (int64_t)items + random_below(g, 5) + 1;
    lay_out(a, g);
}

void trial_fill(trial_data *data, const generated *program, uint64_t seed,
                uint64_t items)
{
    generator g = {.state = seed * 77 + items};
    const void *scalars[] = {&data->n, &data->s, &data->u, &data->x,
                             &data->y, &data->q, &data->t};

    memset(data, 0, sizeof *data);
    data->n = random_below(&g, 12);
    data->s = random_below(&g, 200) - 100;
    data->u = (uint16_t)random_next(&g);
    data->x = (float)random_double(&g);
    data->y = random_double(&g);
    data->q = random_next(&g) & 1;
    data->t.first = random_below(&g, 5);
    data->t.second = random_double(&g);
    for (size_t i = 0; i < TRIAL_ARRAYS; i++) {
        trial_array *a = &data->arrays[i];

        snprintf(a->type, sizeof a->type, "%s", trial_type(program, i));
        fill_array(a, &g, i, items, program->may_fail);
        data->values[i] = &a->array;
    }
    memcpy(&data->values[TRIAL_ARRAYS], scalars, sizeof scalars);
    /* Arguments may alias; each item has one element of each of the two. */
    if (strcmp(data->arrays[0].type, data->arrays[1].type) == 0)
        data->arrays[1].array = data->arrays[0].array;
}

void trial_reset(trial_data *data)
{
    for (size_t i = 0; i < TRIAL_ARRAYS; i++)
        memcpy(data->arrays[i].bytes, data->arrays[i].initial,
               data->arrays[i].size);
}

void trial_expect(trial_data *data)
{
    for (size_t i = 0; i < TRIAL_ARRAYS; i++)
        memcpy(data->arrays[i].expected, data->arrays[i].bytes,
               data->arrays[i].size);
}

void trial_dispose(trial_data *data)
{
    for (size_t i = 0; i < TRIAL_ARRAYS; i++)
        free(data->arrays[i].bytes);
}

/* ---- comparisons ---- */

static int same_float(int32_t kind, const unsigned char *a,
                      const unsigned char *b)
{
    uint16_t halves[2];
    float narrow[2];
    double wide[2];

    memcpy(halves, a, sizeof *halves);
    memcpy(halves + 1, b, sizeof *halves);
    if (kind == KILN_TYPE_F16)
        return (halves[0] & 0x7fff) > 0x7c00 && (halves[1] & 0x7fff) > 0x7c00;
    if (kind == KILN_TYPE_BF16)
        return (halves[0] & 0x7fff) > 0x7f80 && (halves[1] & 0x7fff) > 0x7f80;
    if (kind == KILN_TYPE_F32) {
        memcpy(narrow, a, sizeof *narrow);
        memcpy(narrow + 1, b, sizeof *narrow);
        return isnan(narrow[0]) && isnan(narrow[1]);
    }
    memcpy(wide, a, sizeof *wide);
    memcpy(wide + 1, b, sizeof *wide);
    return isnan(wide[0]) && isnan(wide[1]);
}

static int same_value(int32_t kind, const unsigned char *a,
                      const unsigned char *b)
{
    if (memcmp(a, b, bytes_of(kind)) == 0)
        return 1;
    if (kind == KILN_TYPE_STRUCT)
        return memcmp(a, b, sizeof(int32_t)) == 0 &&
               a[offsetof(p_struct, r)] == b[offsetof(p_struct, r)] &&
               same_value(KILN_TYPE_F64, a + offsetof(p_struct, q),
                          b + offsetof(p_struct, q));
    return kind_is_float(kind) && same_float(kind, a, b);
}

/* Functions that are not exact are compared with the C library's f64, with a
   tolerance. */
static int is_near(const unsigned char *a, const unsigned char *b)
{
    double one, other;

    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return fabs(one - other) <= fabs(other) * 0x1p-49;
}

/* Appends the bytes as a number, the lowest byte last. */
static void add_bytes(char *text, size_t size, const unsigned char *bytes,
                      size_t count)
{
    const size_t used = strlen(text);

    snprintf(text + used, size - used, " 0x");
    for (size_t i = count; i-- > 0;)
        snprintf(text + strlen(text), size - strlen(text), "%02x", bytes[i]);
}

const char *trial_compare(const trial_data *data, char *text, size_t size)
{
    for (size_t i = 0; i < TRIAL_ARRAYS; i++) {
        const trial_array *a = &data->arrays[i];
        const size_t step = bytes_of(a->kind);

        for (size_t at = 0; at < a->size; at += step) {
            if (same_value(a->kind, a->bytes + at, a->expected + at) ||
                (i == GENERATED_OUTPUTS &&
                 is_near(a->bytes + at, a->expected + at)))
                continue;
            snprintf(
                text, size,
                "argument %zu, %s, element %zu in memory, is and should be:", i,
                a->type, at / step);
            add_bytes(text, size, a->bytes + at, step);
            add_bytes(text, size, a->expected + at, step);
            return text;
        }
    }
    return NULL;
}
