/* run.c - a program in a process: opened, defined, edited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void run_say(char *outcome, const char *format, ...)
{
    const size_t used = strlen(outcome);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(outcome + used, RUN_OUTCOME_MAX - used, format, arguments);
    va_end(arguments);
}

void run_say_error(char *outcome, kiln_status status, kiln_error *error)
{
    kiln_blob text = {0};

    run_say(outcome, " ! %s\n", kiln_status_text(status));
    if (error != NULL &&
        kiln_error_render(&text, error, KILN_RENDER_PLAIN) == KILN_OK) {
        run_say(outcome, "%s", (const char *)text.data);
        kiln_blob_release(&text);
    }
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

void run_insert(const run_process *p, const char *path)
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
                 : options->has_pack     ? KILN_CACHE_MODE_READ_ONLY
                                         : KILN_CACHE_MODE_OFF;
    cache.directory = options->folder != NULL ? options->folder : "/nowhere";
    context.cache = &cache;
    context.workers = context.threads = 1;
    context.codegen = KILN_CODEGEN_THREAD;
    config.opt_level = KILN_OPT_0;
    check(kiln_context_new(&p->context, &context, &error), error);
    check(kiln_config_new(&p->configs[0], p->context, &config, &error), error);
    config.overlays = "extra";
    check(kiln_config_new(&p->configs[1], p->context, &config, &error), error);
    check(kiln_device_open(&p->device, p->context, "host", 0, &error), error);
    check(kiln_queue_new(&p->queue, p->device, &error), error);
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

/* ---- leaving what was defined ---- */

static int is_piece_other(const run_process *p, const edit_texts *texts,
                          int package, int piece)
{
    return p->texts.place[package] != texts->place[package] ||
           strcmp(p->texts.text[package][piece], texts->text[package][piece]) !=
               0;
}

static int is_other(const run_process *p, const edit_texts *texts, int package)
{
    int other = 0;

    for (int piece = 0; piece < EDIT_PIECES; piece++)
        other |= is_piece_other(p, texts, package, piece);
    return other;
}

static void unload(run_process *p, const edit_texts *texts, int way)
{
    if (way == RUN_CHANGED || way == RUN_DELETED)
        return;
    for (int i = EDIT_PACKAGES - 1; i >= 0; i--) {
        const int package = texts->order[i];

        if (package == EDIT_CORE || p->packages[package] == NULL ||
            (way == RUN_RELOADED && !is_other(p, texts, package)))
            continue;
        check(kiln_package_unload(p->packages[package], NULL, NULL), NULL);
        p->packages[package] = NULL;
    }
}

static int has_function(const edit_program *program, const edit_item *item)
{
    for (int i = 0; i < program->count; i++) {
        const edit_item *at = &program->items[i];

        if (at->kind == ITEM_FUNCTION && at->package == item->package &&
            strcmp(at->name, item->name) == 0 &&
            strcmp(at->overlay, item->overlay) == 0 &&
            strcmp(at->takes, item->takes) == 0)
            return 1;
    }
    return 0;
}

/* "n: i64, x" has the types "i64, Any". */
static void write_types(char *out, size_t size, const char *takes)
{
    size_t used = 0;

    out[0] = '\0';
    while (*takes != '\0') {
        const size_t part = strcspn(takes, ",");
        const char *colon = memchr(takes, ':', part);
        const char *type = colon == NULL ? "Any" : colon + 2;
        const size_t length = colon == NULL ? 3 : part - (size_t)(type - takes);

        used += (size_t)snprintf(out + used, size - used, "%s%.*s",
                                 used > 0 ? ", " : "", (int)length, type);
        takes += part;
        takes += strspn(takes, ", ");
    }
}

static void delete_method(char *outcome, const run_process *p,
                          const edit_item *item)
{
    kiln_package *package = p->packages[item->package];
    const char *overlay = item->overlay[0] != '\0' ? item->overlay : NULL;
    const kiln_function *function = NULL;
    kiln_error *error = NULL;
    kiln_status status;
    char types[96];

    write_types(types, sizeof types, item->takes);
    status = kiln_package_function(&function, package, item->name, &error);
    if (status == KILN_OK)
        status =
            kiln_method_delete(package, function, types, overlay, NULL, &error);
    if (status == KILN_OK)
        return;
    run_say(outcome, "delete %s(%s):", item->name, types);
    run_say_error(outcome, status, error);
}

static void delete_methods(char *outcome, const run_process *p,
                           const edit_texts *texts)
{
    const edit_program *before = p->texts.program;

    for (int i = 0; before != NULL && i < before->count; i++)
        if (before->items[i].kind == ITEM_FUNCTION &&
            p->packages[before->items[i].package] != NULL &&
            !has_function(texts->program, &before->items[i]))
            delete_method(outcome, p, &before->items[i]);
}

/* ---- defining ---- */

static void say_undefined(char *outcome, int package, kiln_status status,
                          kiln_error *error)
{
    if (status == KILN_OK)
        return;
    run_say(outcome, "%s:", edit_package_names[package]);
    run_say_error(outcome, status, error);
}

static void open_package(run_process *p, int package)
{
    kiln_error *error = NULL;

    if (package == EDIT_CORE)
        check(kiln_runtime_package(&p->packages[package], p->context, &error),
              error);
    else
        check(kiln_package_new(&p->packages[package], p->context,
                               edit_package_names[package], &error),
              error);
}

static void define_text(char *outcome, run_process *p, const edit_texts *texts,
                        int package, int piece)
{
    const char *text = texts->text[package][piece];
    kiln_error *error = NULL;
    kiln_status status;
    char file[64];

    (void)snprintf(file, sizeof file, "%d/%s%d.kiln", texts->place[package],
                   edit_package_names[package], piece);
    open_package(p, package);
    status = kiln_package_define(p->packages[package], file, text, strlen(text),
                                 NULL, &error);
    say_undefined(outcome, package, status, error);
}

static void define_package(char *outcome, run_process *p,
                           const edit_texts *texts, int package)
{
    const int is_new = p->packages[package] == NULL;

    for (int piece = 0; piece < EDIT_PIECES; piece++)
        if (texts->text[package][piece][0] != '\0' &&
            (is_new || is_piece_other(p, texts, package, piece)))
            define_text(outcome, p, texts, package, piece);
}

void run_define(char *outcome, run_process *p, const edit_texts *texts, int way)
{
    outcome[0] = '\0';
    unload(p, texts, way);
    if (way == RUN_DELETED)
        delete_methods(outcome, p, texts);
    for (int i = 0; i < EDIT_PACKAGES; i++)
        define_package(outcome, p, texts, texts->order[i]);
    p->texts = *texts;
}

/* ---- files ---- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        _Exit(3);
    }
}

void run_load(char *outcome, run_process *p, const edit_texts *texts,
              const char *folder)
{
    kiln_error *error = NULL;
    kiln_status status;
    char path[600];

    outcome[0] = '\0';
    (void)snprintf(path, sizeof path, "%s/%d", folder, texts->place[EDIT_MAIN]);
    (void)mkdir(path, 0700);
    for (int i = 0; i < EDIT_OWN; i++) {
        (void)snprintf(path, sizeof path, "%s/%d/%s.kiln", folder,
                       texts->place[EDIT_MAIN], edit_package_names[i]);
        write_file(path, texts->text[i][0]);
    }
    if (texts->text[EDIT_CORE][0][0] != '\0')
        define_text(outcome, p, texts, EDIT_CORE, 0);
    (void)snprintf(path, sizeof path, "%s/%d/main.kiln", folder,
                   texts->place[EDIT_MAIN]);
    status = kiln_package_load(&p->packages[EDIT_MAIN], p->context, path, NULL,
                               &error);
    say_undefined(outcome, EDIT_MAIN, status, error);
    p->texts = *texts;
}
