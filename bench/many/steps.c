/* steps.c - an application that needs new instances with each step. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "many.h"

#define ITEMS 64

/* The initialisation and each of four steps add a fifth of the instances. Each
   step runs all instances of the steps before it again. */
#define PARTS 5

struct run {
    struct session *s;
    struct instance all[INSTANCES_MAX];
    const kiln_type *elements[ELEMENT_COUNT];
    const kiln_type *arrays[ELEMENT_COUNT];
    kiln_buffer *x[ELEMENT_COUNT];
    kiln_buffer *y[ELEMENT_COUNT];
    kiln_buffer *out;
};

/* ---- values ---- */

static double x_at(int element, int i)
{
    return element <= REAL_F64 ? 0.5 + 0.1875 * (i % 13) : 1 + i % 13;
}

static double y_at(int element, int i)
{
    return element <= REAL_F64 ? 0.25 + 0.5 * (i % 5) : 1 + i % 5;
}

static size_t element_size(int element)
{
    return element == REAL_F32 || element == WHOLE_I32 ? 4 : 8;
}

static void put_value(void *values, int element, int i, double value)
{
    if (element == REAL_F32)
        ((float *)values)[i] = (float)value;
    else if (element == REAL_F64)
        ((double *)values)[i] = value;
    else if (element == WHOLE_I32)
        ((int32_t *)values)[i] = (int32_t)value;
    else
        ((int64_t *)values)[i] = (int64_t)value;
}

static double get_value(const void *values, int element, int i)
{
    if (element == REAL_F32)
        return (double)((const float *)values)[i];
    if (element == REAL_F64)
        return ((const double *)values)[i];
    if (element == WHOLE_I32)
        return ((const int32_t *)values)[i];
    return (double)((const int64_t *)values)[i];
}

/* ---- what all instances share ---- */

static kiln_buffer *filled(struct run *r, int element,
                           double (*at)(int element, int i))
{
    uint64_t values[ITEMS];

    for (int i = 0; i < ITEMS; i++)
        put_value(values, element, i, at(element, i));
    return buffer_of(r->s, values, ITEMS * element_size(element));
}

static int open_values(struct run *r)
{
    static const uint64_t zeros[ITEMS];
    kiln_error *error = NULL;

    for (int e = 0; e < ELEMENT_COUNT; e++) {
        kiln_status status = kiln_type_parse(&r->elements[e], r->s->context,
                                             NULL, element_name(e), &error);

        if (status == KILN_OK)
            status = kiln_type_array(&r->arrays[e], r->s->context,
                                     r->elements[e], 1, 0, &error);
        if (!good(r->s, status, &error))
            return 0;
        r->x[e] = filled(r, e, x_at);
        r->y[e] = filled(r, e, y_at);
    }
    r->out = buffer_of(r->s, zeros, sizeof zeros);
    return r->s->status == KILN_OK;
}

static void close_values(struct run *r)
{
    for (int e = 0; e < ELEMENT_COUNT; e++) {
        kiln_buffer_free(r->x[e]);
        kiln_buffer_free(r->y[e]);
    }
    kiln_buffer_free(r->out);
}

/* ---- one instance ---- */

#define ARGUMENTS_MAX 5

struct call {
    const kiln_type *types[ARGUMENTS_MAX];
    const void *values[ARGUMENTS_MAX];
    size_t count;
    kiln_array arrays[3];
    int array_count;
    int64_t exponent;
};

static void add_array(struct run *r, struct call *call, int element,
                      const kiln_buffer *buffer)
{
    kiln_array *array = &call->arrays[call->array_count++];

    array->data = kiln_buffer_address(buffer);
    array->sizes[0] = ITEMS;
    call->types[call->count] = r->arrays[element];
    call->values[call->count++] = array;
}

static void add_function(struct run *r, struct call *call,
                         const struct operation *of)
{
    const kiln_function *function = NULL;
    kiln_error *error = NULL;
    kiln_status status =
        kiln_package_function(&function, r->s->package, of->name, &error);

    if (status == KILN_OK)
        status = kiln_type_function(&call->types[call->count], r->s->context,
                                    function, &error);
    call->values[call->count++] = NULL;
    (void)good(r->s, status, &error);
}

static void add_size(struct run *r, struct call *call, int size)
{
    kiln_error *error = NULL;

    (void)good(r->s,
               kiln_type_static(&call->types[call->count], r->s->context, size,
                                &error),
               &error);
    call->values[call->count++] = NULL;
}

/* Makes the arguments in the order of many.kiln. */
static void make_call(struct run *r, struct call *call,
                      const struct instance *of)
{
    memset(call, 0, sizeof *call);
    call->exponent = EXPONENT;
    add_array(r, call, of->element, r->out);
    add_function(r, call, of->f);
    if (of->g)
        add_function(r, call, of->g);
    add_array(r, call, of->element, r->x[of->element]);
    if (strcmp(of->kernel, "both") == 0)
        add_array(r, call, of->element, r->y[of->element]);
    if (strcmp(of->kernel, "powers") == 0) {
        call->types[call->count] =
            kiln_type_scalar(r->s->context, KILN_TYPE_I64);
        call->values[call->count++] = &call->exponent;
    }
    if (of->size > 0)
        add_size(r, call, of->size);
}

static double expected(const struct instance *of, int i)
{
    const double x = x_at(of->element, i);

    if (of->g)
        return of->f->one(of->g->one(x));
    if (strcmp(of->kernel, "both") == 0)
        return of->f->two(x, y_at(of->element, i));
    if (strcmp(of->kernel, "powers") == 0)
        return pow(of->f->one(x), EXPONENT);
    if (strcmp(of->kernel, "fold") == 0) {
        double result = x_at(of->element, i * of->size);

        for (int k = 1; k < of->size; k++)
            result = of->f->two(result, x_at(of->element, i * of->size + k));
        return result;
    }
    return of->f->one(x);
}

/* The result of a mathematical function may differ by some units in the last
   place. */
static int is_near(double got, double want, int element)
{
    const double near = element == REAL_F32 ? 2e-5 : 1e-12;

    if (isnan(want))
        return isnan(got);
    return fabs(got - want) <= near * fmax(fabs(want), 1e-3);
}

static void check(struct run *r, const struct instance *of)
{
    const int is_fold = strcmp(of->kernel, "fold") == 0;
    const int count = is_fold ? ITEMS / of->size : ITEMS;
    uint64_t values[ITEMS];
    kiln_error *error = NULL;

    if (!good(r->s,
              kiln_buffer_read(r->out, 0, values,
                               (size_t)count * element_size(of->element),
                               &error),
              &error))
        return;
    for (int i = 0; i < count; i++) {
        const double got = get_value(values, of->element, i);

        r->s->wrong += !is_near(got, expected(of, i), of->element);
    }
    r->s->checked += (size_t)count;
}

static void execute(struct run *r, const struct instance *of, int is_checked)
{
    const kiln_kernel *kernel;
    struct call call;

    make_call(r, &call, of);
    kernel = compile(r->s, of->kernel, call.types, call.count);
    launch(r->s, kernel, ITEMS, call.values, call.count);
    if (is_checked) {
        wait_for_all(r->s);
        if (r->s->status == KILN_OK)
            check(r, of);
    }
}

/* ---- the run ---- */

/* Runs the instances before `end`. The results of the new ones, from `begin`
   on, are compared. */
static void step(struct run *r, int begin, int end)
{
    for (int i = 0; i < end && r->s->status == KILN_OK; i++)
        execute(r, &r->all[i], i >= begin);
    wait_for_all(r->s);
}

void many_run(struct session *s)
{
    static const char *const names[PARTS] = {"initialisation", "step-1",
                                             "step-2", "step-3", "step-4"};
    static struct run r;
    const int count = s->options.instances;
    char what[64];

    r.s = s;
    instances_list(r.all);
    execution_begin(s, names[0]);
    if (session_open(s) && open_values(&r)) {
        for (int part = 0; part < PARTS; part++) {
            if (part > 0)
                execution_begin(s, names[part]);
            step(&r, count * part / PARTS, count * (part + 1) / PARTS);
        }
        execution_begin(s, "again");
        step(&r, count, count);
        execution_begin(s, NULL);
    }
    (void)snprintf(what, sizeof what, "%d instances", count);
    if (s->status == KILN_OK)
        report(s, what);
    close_values(&r);
}
