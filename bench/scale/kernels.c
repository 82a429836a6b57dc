/* kernels.c - compiles kernels over one array of f32, and runs them on the
   host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bench.h"

void kernels_open(struct kernels *k, const kiln_alloc *alloc)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_error *error = NULL;

    options.alloc = alloc;
    bench_check(kiln_context_new(&k->context, &options, &error), &error);
    bench_check(kiln_config_new(&k->config, k->context, NULL, &error), &error);
    bench_check(kiln_device_open(&k->device, k->context, "host", 0, &error),
                &error);
    bench_check(kiln_queue_new(&k->queue, k->device, &error), &error);
    bench_check(kiln_package_new(&k->package, k->context, "kernels", &error),
                &error);
    bench_check(kiln_type_array(&k->array, k->context,
                                kiln_type_scalar(k->context, KILN_TYPE_F32), 1,
                                0, &error),
                &error);
}

void kernels_close(struct kernels *k)
{
    kiln_queue_free(k->queue);
    kiln_device_close(k->device);
    kiln_context_free(k->context);
}

void kernels_define(struct kernels *k, const char *text, size_t size)
{
    kiln_error *error = NULL;

    bench_check(kiln_package_define(k->package, "kernels.kiln", text, size,
                                    NULL, &error),
                &error);
}

const kiln_kernel *kernels_compile(struct kernels *k, const char *name,
                                   int32_t *source)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    kiln_signature signature = {NULL, &k->array, 1};
    const kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;

    options.source = source;
    bench_check(
        kiln_package_function(&signature.function, k->package, name, &error),
        &error);
    bench_check(kiln_compile(&kernel, k->context, &signature, k->config,
                             &options, &error),
                &error);
    return kernel;
}

void kernels_run(struct kernels *k, const kiln_kernel *kernel, float *items,
                 int count)
{
    const kiln_array array = {.data = items, .sizes = {count}, .strides = {1}};
    const kiln_launch launch = {.grid = {(uint64_t)count, 1, 1}};
    const void *const arguments[] = {&array};
    kiln_error *error = NULL;

    bench_check(
        kiln_queue_launch(k->queue, kernel, &launch, arguments, 1, &error),
        &error);
    bench_check(kiln_queue_wait(k->queue, &error), &error);
}

void kernels_check(const float *items, int count, int factor, int64_t sum)
{
    for (int i = 0; i < count; i++) {
        const int64_t wanted = (int64_t)factor * i + sum;

        if ((int64_t)items[i] != wanted) {
            fprintf(stderr, "%s: item %d is %g instead of %lld\n",
                    program_invocation_short_name, i, (double)items[i],
                    (long long)wanted);
            exit(1);
        }
    }
}
