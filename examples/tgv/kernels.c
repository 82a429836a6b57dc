/* kernels.c - compiles all kernels in one batch, and launches them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tgv.h"

#define ARGUMENTS_MAX 8

#define TGV_NAME(name, arguments) {#name, arguments},
static const struct {
    const char *name;
    const char *arguments;
} kernels[] = {TGV_KERNELS(TGV_NAME)};
#undef TGV_NAME

void failed(struct tgv *tgv, kiln_status status, kiln_error *error)
{
    if (tgv->status == KILN_OK) {
        tgv->status = status;
        tgv->error = error;
    } else {
        kiln_error_free(error);
    }
}

double rounded(const struct tgv *tgv, double value)
{
    return tgv->options.single ? (double)(float)value : value;
}

static int types_open(struct tgv *tgv)
{
    const kiln_type *real = kiln_type_scalar(
        tgv->context, tgv->options.single ? KILN_TYPE_F32 : KILN_TYPE_F64);
    const kiln_type *f64 = kiln_type_scalar(tgv->context, KILN_TYPE_F64);
    kiln_error *error = NULL;
    kiln_status status;

    tgv->types['R'] = real;
    tgv->types['I'] = kiln_type_scalar(tgv->context, KILN_TYPE_I64);
    status =
        kiln_type_array(&tgv->types['V'], tgv->context, real, 4, 0, &error);
    if (status == KILN_OK)
        status =
            kiln_type_array(&tgv->types['S'], tgv->context, real, 3, 0, &error);
    if (status == KILN_OK)
        status =
            kiln_type_array(&tgv->types['D'], tgv->context, f64, 1, 0, &error);
    if (status != KILN_OK)
        failed(tgv, status, error);
    return status == KILN_OK;
}

static int compile_all(struct tgv *tgv, kiln_package *package)
{
    kiln_batch_job jobs[TGV_KERNEL_COUNT];
    const kiln_type *types[TGV_KERNEL_COUNT][ARGUMENTS_MAX];
    kiln_error *error = NULL;
    kiln_status status;

    memset(jobs, 0, sizeof jobs);
    for (int k = 0; k < TGV_KERNEL_COUNT; k++) {
        kiln_signature *signature = &jobs[k].signature;

        status = kiln_package_function(&signature->function, package,
                                       kernels[k].name, &error);
        if (status != KILN_OK) {
            failed(tgv, status, error);
            return 0;
        }
        signature->count = strlen(kernels[k].arguments);
        signature->types = types[k];
        for (size_t a = 0; a < signature->count; a++)
            types[k][a] = tgv->types[(unsigned char)kernels[k].arguments[a]];
        jobs[k].config = tgv->config;
    }
    (void)!kiln_compile_batch(tgv->context, jobs, TGV_KERNEL_COUNT,
                              tgv->options.quiet ? NULL : progress, NULL);
    for (int k = 0; k < TGV_KERNEL_COUNT; k++) {
        tgv->kernels[k] = jobs[k].kernel;
        if (jobs[k].status != KILN_OK)
            failed(tgv, jobs[k].status, jobs[k].error);
    }
    return tgv->status == KILN_OK;
}

int kernels_open(struct tgv *tgv)
{
    kiln_package *package;
    kiln_error *error = NULL;
    kiln_status status;

    if (!types_open(tgv))
        return 0;
    status = kiln_package_new(&package, tgv->context, "tgv", &error);
    if (status == KILN_OK)
        status = kiln_package_define(package, "tgv.kiln", tgv_source,
                                     (size_t)(tgv_source_end - tgv_source),
                                     NULL, &error);
    if (status != KILN_OK) {
        failed(tgv, status, error);
        return 0;
    }
    return compile_all(tgv, package);
}

/* The bytes of one argument during a launch. */
union value {
    float f32;
    double f64;
    int64_t i64;
};

static size_t take_arguments(const struct tgv *tgv, const char *letters,
                             union value *values, const void **arguments,
                             va_list list)
{
    size_t count = 0;

    for (; letters[count]; count++) {
        arguments[count] = &values[count];
        if (letters[count] == 'I')
            values[count].i64 = va_arg(list, int64_t);
        else if (letters[count] != 'R')
            arguments[count] = &va_arg(list, const struct field *)->array;
        else if (tgv->options.single)
            values[count].f32 = (float)va_arg(list, double);
        else
            values[count].f64 = va_arg(list, double);
    }
    return count;
}

void print_profile(const struct tgv *tgv)
{
    for (int k = 0; k < TGV_KERNEL_COUNT; k++)
        printf("kernel %-18s %8llu %12.3f\n", kernels[k].name,
               (unsigned long long)tgv->kernel_launches[k],
               (double)tgv->kernel_ns[k] / 1e6);
}

uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void run_list(struct tgv *tgv, int kernel, const kiln_launch *launch,
                     va_list list)
{
    union value values[ARGUMENTS_MAX];
    const void *arguments[ARGUMENTS_MAX];
    kiln_error *error = NULL;
    kiln_status status;
    uint64_t start;
    size_t count;

    if (tgv->status != KILN_OK)
        return;
    count =
        take_arguments(tgv, kernels[kernel].arguments, values, arguments, list);
    tgv->launches++;
    start = tgv->options.profile ? now_ns() : 0;
    status = kiln_queue_launch(tgv->queue, tgv->kernels[kernel], launch,
                               arguments, count, &error);
    if (status == KILN_OK && tgv->options.profile)
        status = kiln_queue_wait(tgv->queue, &error);
    if (tgv->options.profile) {
        tgv->kernel_ns[kernel] += now_ns() - start;
        tgv->kernel_launches[kernel]++;
    }
    if (status != KILN_OK)
        failed(tgv, status, error);
}

void run(struct tgv *tgv, int kernel, int64_t x, int64_t y, int64_t z, ...)
{
    const kiln_launch launch = {.grid = {(uint64_t)x, (uint64_t)y, (uint64_t)z},
                                .block = {0, 0, 0}};
    va_list list;

    va_start(list, z);
    run_list(tgv, kernel, &launch, list);
    va_end(list);
}

void run_groups(struct tgv *tgv, int kernel, const kiln_launch *launch, ...)
{
    va_list list;

    va_start(list, launch);
    run_list(tgv, kernel, launch, list);
    va_end(list);
}
