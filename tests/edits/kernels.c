/* kernels.c - launches of a program's kernels, as text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "run.h"

#define ARGUMENT_MAX 16384

/* What one launch is made of. */
typedef struct launching {
    run_process *p;
    int kernel;
    double out[OUTPUTS];
    const kiln_type *types[2];
    const void *values[2];
    kiln_array array;
    size_t count;
    _Alignas(64) unsigned char argument[ARGUMENT_MAX];
} launching;

/* Each number in a value is another one. */
static void fill(unsigned char *bytes, const kiln_type *type, int *number)
{
    const double f64 = ++*number + 0.25;
    const float f32 = (float)f64;
    const int64_t i64 = *number;

    switch (kiln_type_kind(type)) {
    case KILN_TYPE_F64:
        memcpy(bytes, &f64, sizeof f64);
        break;
    case KILN_TYPE_F32:
        memcpy(bytes, &f32, sizeof f32);
        break;
    case KILN_TYPE_I64:
        memcpy(bytes, &i64, sizeof i64);
        break;
    default:
        for (size_t i = 0; i < kiln_type_field_count(type); i++)
            fill(bytes + kiln_type_field_offset(type, i),
                 kiln_type_field(type, i), number);
        break;
    }
}

static kiln_status add_array(launching *l, kiln_error **error)
{
    const kiln_type *f64 = kiln_type_scalar(l->p->context, KILN_TYPE_F64);

    l->array = (kiln_array){.data = l->out, .sizes = {OUTPUTS}, .strides = {1}};
    l->values[l->count] = &l->array;
    return kiln_type_array(&l->types[l->count++], l->p->context, f64, 1, 0,
                           error);
}

static kiln_status add_struct(launching *l, kiln_error **error)
{
    const kiln_type *type = NULL;
    const kiln_status status =
        kiln_type_parse(&type, l->p->context, l->p->packages[EDIT_MAIN],
                        l->p->texts.argument, error);
    int number = 0;

    if (status != KILN_OK)
        return status;
    if (kiln_type_size(type) > ARGUMENT_MAX)
        return KILN_EUNSUPPORTED;
    fill(l->argument, type, &number);
    l->values[l->count] = l->argument;
    l->types[l->count++] = type;
    return KILN_OK;
}

static kiln_status launch(launching *l, const char *name, kiln_error **error)
{
    const int turn = l->kernel + l->p->texts.turn;
    const kiln_config *config = l->p->configs[turn % RUN_CONFIGS];
    const kiln_launch one = {.grid = {1, 1, 1}};
    kiln_signature signature = {.types = l->types};
    const kiln_kernel *kernel = NULL;
    kiln_status status = add_array(l, error);

    if (status == KILN_OK && l->kernel == KERNELS - 1)
        status = add_struct(l, error);
    signature.count = l->count;
    if (status == KILN_OK)
        status = kiln_package_function(&signature.function,
                                       l->p->packages[EDIT_MAIN], name, error);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, l->p->context, &signature, config, NULL,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(l->p->queue, kernel, &one, l->values,
                                   l->count, error);
    return status == KILN_OK ? kiln_queue_wait(l->p->queue, error) : status;
}

/* A NaN's sign says nothing about the program. */
static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    return number != number ? UINT64_C(0x7ff8) << 48 : bits;
}

static void run_kernel(char *outcome, run_process *p, int index)
{
    launching l = {.p = p, .kernel = index};
    kiln_error *error = NULL;
    kiln_status status;
    char name[8];

    (void)snprintf(name, sizeof name, "k%d", index);
    status = launch(&l, name, &error);
    run_say(outcome, "%s:", name);
    if (status == KILN_OK || status == KILN_EEXCEPTION) {
        for (int i = 0; i < OUTPUTS; i++)
            run_say(outcome, " %.17g (%llx)", l.out[i],
                    (unsigned long long)bits_of(l.out[i]));
        run_say(outcome, "\n");
    }
    if (status != KILN_OK)
        run_say_error(outcome, status, error);
}

void run_kernels(char *outcome, run_process *p)
{
    if (p->packages[EDIT_MAIN] == NULL)
        return;
    for (int i = 0; i < KERNELS; i++)
        run_kernel(outcome, p, i);
}
