/* bench_cubin.c - from a kernel's text to a cubin, in a running process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_program.h"

/*
 * Each iteration makes a cubin of the text of a new kernel, without a cache and
 * without a device. peers/nvrtc_saxpy.c does the same through NVRTC. The size
 * says which tool makes the cubin, and whether bounds are checked.
 */

#define PTXAS 1
#define UNCHECKED 2
#define PTX 4 /* without a tool: the share of Kiln and LLVM */

struct cubins {
    struct program program;
    const kiln_config *config;
    int32_t form;
    int number; /* number of kernels so far */
};

static void open_program(struct cubins *cubins, const struct bench *bench)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    setenv("KILN_CACHE", "off", 1);
    program_open(&cubins->program, BENCH_SAXPY, 1);
    unsetenv("KILN_CACHE");
    cubins->form = bench->size & PTX ? KILN_EMIT_ASM : KILN_EMIT_BINARY;
    options.target =
        bench->size & PTXAS ? "cuda:sm_90:ptxas" : "cuda:sm_90:nvjitlink";
    if (bench->size & UNCHECKED)
        options.bounds_checks = KILN_SWITCH_OFF;
    bench_check(kiln_config_new(&cubins->config, cubins->program.context,
                                &options, &error),
                &error);
}

static void define_next(struct cubins *cubins)
{
    kiln_error *error = NULL;
    char text[512];

    snprintf(text, sizeof text,
             "kernel saxpy(y, a, x)\n"
             "    i = global_id(0)\n"
             "    if i < length(y)\n"
             "        y[i] = a * x[i] + y[i] + %d\n"
             "    end\n"
             "end\n",
             ++cubins->number);
    bench_check(kiln_package_define(cubins->program.package, "bench.kiln", text,
                                    strlen(text), NULL, &error),
                &error);
}

/* Returns false when there is no such tool, and the result is PTX instead of a
   cubin. */
static int make_cubin(struct cubins *cubins)
{
    kiln_error *error = NULL;
    kiln_blob made = {0};
    int is_cubin;

    bench_check(kiln_emit(&made, cubins->program.context,
                          &cubins->program.signature, cubins->config, 0,
                          cubins->form, &error),
                &error);
    is_cubin = made.size > 4 && memcmp(made.data, "\177ELF", 4) == 0;
    kiln_blob_release(&made);
    return is_cubin || cubins->form == KILN_EMIT_ASM;
}

static void cubins_teardown(void *state)
{
    struct cubins *cubins = state;

    program_close(&cubins->program);
    free(cubins);
}

static void *cubins_setup(const struct bench *bench, const char **reason)
{
    struct cubins *cubins = calloc(1, sizeof *cubins);

    if (!cubins)
        bench_check(KILN_ENOMEM, NULL);
    open_program(cubins, bench);
    if (make_cubin(cubins))
        return cubins;
    *reason = "the vendor's tool is not here";
    cubins_teardown(cubins);
    return NULL;
}

static void cubins_run(void *state, uint64_t iterations)
{
    struct cubins *cubins = state;
    uint64_t start;

    (void)iterations;
    define_next(cubins);
    start = bench_now_ns();
    BENCH_KEEP(make_cubin(cubins));
    bench_set_time(bench_now_ns() - start);
}

#define CUBIN(title, what) \
    { \
        .name = "cubin/again/" title, .setup = cubins_setup, \
        .run = cubins_run, .teardown = cubins_teardown, .whole = 1, \
        .size = (what), .samples = 31 \
    }

const struct bench bench_cubins[] = {
    CUBIN("ptx", PTX),     CUBIN("ptx/unchecked", PTX | UNCHECKED),
    CUBIN("nvjitlink", 0), CUBIN("nvjitlink/unchecked", UNCHECKED),
    CUBIN("ptxas", PTXAS), CUBIN("ptxas/unchecked", PTXAS | UNCHECKED),
    {.name = NULL},
};
