/* run.c - what a program does in a process, as text that can be compared. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(char *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(char *outcome, const char *format, ...)
{
    const size_t used = strlen(outcome);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(outcome + used, RUN_OUTCOME_MAX - used, format, arguments);
    va_end(arguments);
}

/* Codes and messages: neither hints nor lines. */
static void say_error(char *outcome, kiln_status status, kiln_error *error)
{
    const kiln_diagnostic *d;

    if (kiln_error_diagnostic(error, 0) == NULL)
        say(outcome, " ! %s: %s\n", kiln_status_text(status),
            error == NULL ? "" : kiln_error_message(error));
    for (size_t i = 0; (d = kiln_error_diagnostic(error, i)) != NULL; i++)
        say(outcome, " ! %s: %s\n", d->code, d->message);
    kiln_error_free(error);
}

static void check(kiln_status status, kiln_error *error)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s\n",
            error == NULL ? kiln_status_text(status)
                          : kiln_error_message(error));
    _Exit(3);
}

static void insert(const run_process *p, const char *path)
{
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;

    check(kiln_pack_open(&pack, path, &error), error);
    check(kiln_insert(p->context, pack, &error), error);
}

void run_open(run_process *p, const run_options *options)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options context = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options config = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    memset(p, 0, sizeof *p);
    cache.mode = options->folder != NULL ? KILN_CACHE_MODE_READ_WRITE
                 : options->pack != NULL ? KILN_CACHE_MODE_READ_ONLY
                                         : KILN_CACHE_MODE_OFF;
    cache.directory = options->folder != NULL ? options->folder : "/nowhere";
    context.cache = &cache;
    context.workers = context.threads = 1;
    context.codegen = KILN_CODEGEN_THREAD;
    config.opt_level = KILN_OPT_0;
    check(kiln_context_new(&p->context, &context, &error), error);
    check(kiln_config_new(&p->config, p->context, &config, &error), error);
    check(kiln_device_open(&p->device, p->context, "host", 0, &error), error);
    check(kiln_queue_new(&p->queue, p->device, &error), error);
    if (options->pack != NULL && !options->inserts_late)
        insert(p, options->pack);
}

void run_close(run_process *p)
{
    kiln_queue_free(p->queue);
    kiln_device_close(p->device);
    kiln_context_free(p->context);
}

void run_save(run_process *p, const char *pack)
{
    kiln_error *error = NULL;

    check(kiln_delta_save(p->context, pack, NULL, NULL, &error), error);
}

/* ---- the program ---- */

static int is_other(const run_process *p, const edit_texts *texts, int index)
{
    return strcmp(p->texts.text[index], texts->text[index]) != 0;
}

static void unload(run_process *p, const edit_texts *texts, int way)
{
    for (int i = EDIT_PACKAGES - 1; i >= 0; i--) {
        if (p->packages[i] == NULL || way == RUN_CHANGED ||
            (way == RUN_RELOADED && !is_other(p, texts, i)))
            continue;
        check(kiln_package_unload(p->packages[i], NULL, NULL), NULL);
        p->packages[i] = NULL;
    }
}

static void define(char *outcome, run_process *p, const edit_texts *texts,
                   int index)
{
    const char *name = edit_package_names[index], *text = texts->text[index];
    kiln_error *error = NULL;
    kiln_status status;
    char file[32];

    (void)snprintf(file, sizeof file, "%s.kiln", name);
    check(kiln_package_new(&p->packages[index], p->context, name, &error),
          error);
    status = kiln_package_define(p->packages[index], file, text, strlen(text),
                                 NULL, &error);
    if (status == KILN_OK)
        return;
    say(outcome, "%s:", name);
    say_error(outcome, status, error);
}

static void define_all(char *outcome, run_process *p, const edit_texts *texts,
                       int way)
{
    unload(p, texts, way);
    for (int i = 0; i < EDIT_PACKAGES; i++)
        if (p->packages[i] == NULL || is_other(p, texts, i))
            define(outcome, p, texts, i);
    p->texts = *texts;
}

/* ---- kernels ---- */

static kiln_status launch(run_process *p, const char *name, double *out,
                          kiln_error **error)
{
    const kiln_type *f64 = kiln_type_scalar(p->context, KILN_TYPE_F64);
    const kiln_array array = {.data = out, .sizes = {OUTPUTS}, .strides = {1}};
    const kiln_launch one = {.grid = {1, 1, 1}};
    const void *values[1] = {&array};
    const kiln_type *types[1] = {NULL};
    kiln_signature signature = {.types = types, .count = 1};
    const kiln_kernel *kernel = NULL;
    kiln_status status =
        kiln_type_array(&types[0], p->context, f64, 1, 0, error);

    if (status == KILN_OK)
        status = kiln_package_function(&signature.function,
                                       p->packages[EDIT_MAIN], name, error);
    if (status == KILN_OK)
        status = kiln_compile(&kernel, p->context, &signature, p->config, NULL,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(p->queue, kernel, &one, values, 1, error);
    return status == KILN_OK ? kiln_queue_wait(p->queue, error) : status;
}

/* A NaN's sign says nothing about the program. */
static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    return number != number ? UINT64_C(0x7ff8) << 48 : bits;
}

static void run_kernel(char *outcome, run_process *p, const char *name)
{
    double out[OUTPUTS] = {0};
    kiln_error *error = NULL;
    const kiln_status status = launch(p, name, out, &error);

    say(outcome, "%s:", name);
    if (status != KILN_OK) {
        say_error(outcome, status, error);
        return;
    }
    for (int i = 0; i < OUTPUTS; i++)
        say(outcome, " %.17g (%llx)", out[i],
            (unsigned long long)bits_of(out[i]));
    say(outcome, "\n");
}

void run_define(run_process *p, const edit_texts *texts, int way)
{
    char unheard[RUN_OUTCOME_MAX] = "";

    define_all(unheard, p, texts, way);
}

void run_program(char *outcome, run_process *p, const run_options *options,
                 const edit_texts *texts, int way)
{
    outcome[0] = '\0';
    define_all(outcome, p, texts, way);
    if (options->pack != NULL && options->inserts_late)
        insert(p, options->pack);
    for (int i = 0; i < KERNELS; i++) {
        char name[8];

        (void)snprintf(name, sizeof name, "k%d", i);
        run_kernel(outcome, p, name);
    }
}
