/* main.c - reads options, and runs from the first kernel to the last result. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tgv.h"

#define STEPS_MAX 100000

static const char usage[] =
    "usage: tgv [--log2n N] [--steps N] [--re R] [--type f32|f64]\n"
    "           [--target TARGET] [--threads N] [--unchecked] [--quiet]\n"
    "           [--profile] [--insert PACK] [--save PACK] [--save-typed]\n";

static int read_number(const char *text, double low, double high, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return *text && !*end && *out >= low && *out <= high;
}

static int take_text(struct options *options, const char *name,
                     const char *value)
{
    const char **text = strcmp(name, "--target") == 0   ? &options->target
                        : strcmp(name, "--insert") == 0 ? &options->insert
                        : strcmp(name, "--save") == 0   ? &options->save
                                                        : NULL;

    if (text)
        *text = value;
    return text != NULL;
}

static int take_option(struct options *options, const char *name,
                       const char *value)
{
    double number = 0;
    int good;

    if (take_text(options, name, value))
        return 1;
    if (strcmp(name, "--type") == 0) {
        options->single = strcmp(value, "f32") == 0;
        return options->single || strcmp(value, "f64") == 0;
    }
    if (strcmp(name, "--re") == 0)
        return read_number(value, 1e-3, 1e12, &options->re);
    if (strcmp(name, "--log2n") == 0) {
        good = read_number(value, 3, 9, &number);
        options->log2n = (int)number;
    } else if (strcmp(name, "--steps") == 0) {
        good = read_number(value, 0, STEPS_MAX, &number);
        options->steps = (int)number;
    } else if (strcmp(name, "--threads") == 0) {
        good = read_number(value, 1, 4096, &number);
        options->threads = (int)number;
    } else {
        return 0;
    }
    return good && number == (double)(int)number;
}

static int take_switch(struct options *options, const char *name)
{
    int *option = strcmp(name, "--unchecked") == 0    ? &options->unchecked
                  : strcmp(name, "--profile") == 0    ? &options->profile
                  : strcmp(name, "--quiet") == 0      ? &options->quiet
                  : strcmp(name, "--save-typed") == 0 ? &options->save_typed
                                                      : NULL;

    if (option)
        *option = 1;
    return option != NULL;
}

static int read_options(struct options *options, int argc, char **argv)
{
    *options = (struct options){.log2n = 6, .steps = 4, .re = 1e5, .single = 1};
    for (int i = 1; i < argc; i++) {
        if (take_switch(options, argv[i]))
            continue;
        if (i + 1 >= argc || !take_option(options, argv[i], argv[i + 1])) {
            fprintf(stderr, "tgv: bad option %s\n%s", argv[i], usage);
            return 0;
        }
        i++;
    }
    return 1;
}

static int open_device(struct tgv *tgv)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    settings.target = tgv->options.target;
    if (tgv->options.unchecked)
        settings.bounds_checks = KILN_SWITCH_OFF;
    status = kiln_config_new(&tgv->config, tgv->context, &settings, &error);
    if (status == KILN_OK)
        status = kiln_device_open(&tgv->device, tgv->context,
                                  kiln_config_backend(tgv->config), 0, &error);
    if (status == KILN_OK)
        status = kiln_queue_new(&tgv->queue, tgv->device, &error);
    if (status != KILN_OK)
        failed(tgv, status, error);
    return status == KILN_OK;
}

static void simulate(struct tgv *tgv, uint64_t compile_ns)
{
    int steps = tgv->options.steps;
    uint64_t *steps_ns = calloc((size_t)steps + 1, sizeof *steps_ns);

    if (!steps_ns) {
        failed(tgv, KILN_ENOMEM, NULL);
        return;
    }
    initialise(tgv);
    tgv->dt = 0.25;
    print_case(tgv);
    print_step(tgv, 0);
    for (int step = 1; step <= steps && tgv->status == KILN_OK; step++) {
        uint64_t start = now_ns();

        advance(tgv);
        steps_ns[step - 1] = now_ns() - start;
        print_step(tgv, step);
    }
    if (tgv->status == KILN_OK)
        print_norms(tgv);
    if (tgv->status == KILN_OK && !tgv->options.quiet)
        print_timing(tgv, steps_ns, steps, compile_ns);
    if (tgv->options.profile)
        print_profile(tgv);
    free(steps_ns);
}

static void report_failure(const struct tgv *tgv)
{
    kiln_blob text = {0};

    if (tgv->error &&
        kiln_error_render(&text, tgv->error, KILN_RENDER_PLAIN) == KILN_OK)
        fputs(text.data, stderr);
    else
        fprintf(stderr, "tgv: %s\n", kiln_status_text(tgv->status));
    kiln_blob_release(&text);
}

static int run_case(struct tgv *tgv)
{
    uint64_t start = now_ns();
    uint64_t compiled;

    if (pack_insert(tgv) && open_device(tgv) && kernels_open(tgv)) {
        compiled = now_ns() - start;
        if (fields_open(tgv))
            simulate(tgv, compiled);
        pack_save(tgv, compiled);
    }
    if (tgv->status != KILN_OK)
        report_failure(tgv);
    fields_close(tgv);
    kiln_queue_free(tgv->queue);
    kiln_device_close(tgv->device);
    kiln_context_free(tgv->context);
    kiln_error_free(tgv->error);
    return tgv->status == KILN_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct tgv tgv;
    kiln_context_options context = KILN_CONTEXT_OPTIONS_INIT;
    kiln_status status;

    if (!read_options(&tgv.options, argc, argv))
        return 2;
    tgv.cells = (int64_t)1 << tgv.options.log2n;
    tgv.n = tgv.cells + 2;
    tgv.nu = rounded(&tgv, (double)tgv.cells / tgv.options.re);
    context.threads = (uint32_t)tgv.options.threads;
    status = kiln_context_new(&tgv.context, &context, &tgv.error);
    if (status != KILN_OK) {
        failed(&tgv, status, tgv.error);
        report_failure(&tgv);
        return 1;
    }
    return run_case(&tgv);
}
