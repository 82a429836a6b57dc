/* kiln_jobs.c - compiles the jobs of a workload without a device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln_explain.h"
#include "kiln_precompile.h"
#include "kiln_progress.h"

/*
 * An offline device of each config stands for the hardware. So a kernel for
 * another processor is compiled in the same way as one for this machine's.
 */

/* ---- signals ---- */

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void jobs_catch_signals(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    action.sa_flags = (int)SA_RESETHAND; /* a second signal ends the process */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

int jobs_interrupted(void)
{
    return interrupted;
}

/* ---- one job ---- */

#define NAME_SIZE ((size_t)512)

/* Returns "main.saxpy(f32[:], f32, f32[:]) for cuda:sm_90"; a long name is
   cut. */
static const char *job_name(char out[NAME_SIZE], const job_list *list,
                            size_t job)
{
    const workload_line *line = list->lines[job];
    size_t at = (size_t)snprintf(out, NAME_SIZE, "%s.%s(", line->package,
                                 line->function);

    for (size_t i = 0; i < line->type_count && at < NAME_SIZE; i++)
        at += (size_t)snprintf(out + at, NAME_SIZE - at, "%s%s",
                               i > 0 ? ", " : "", line->types[i]);
    if (at < NAME_SIZE)
        (void)snprintf(out + at, NAME_SIZE - at, ") for %s",
                       list->targets[job]);
    return out;
}

int jobs_fail(const job_list *list, const workload *from, size_t job,
              kiln_error *error)
{
    char name[NAME_SIZE];

    (void)tool_complain(0, "%s:%u: %s", from->path, list->lines[job]->number,
                        job_name(name, list, job));
    return tool_fail(error);
}

static int read_signature(job_list *list, size_t at, const workload *from)
{
    const workload_line *line = list->lines[at];
    const kiln_type **types = list->types + at * TOOL_ARGUMENTS_MAX;
    kiln_batch_job *job = &list->jobs[at];
    kiln_error *error = NULL;
    tool_source source;

    if (tool_source_find(&source, list->context, line->package) != KILN_OK)
        return tool_complain(TOOL_FAILED, "%s:%u: no file gives package %s",
                             from->path, line->number, line->package);
    if (tool_source_function(&job->signature.function, &source, line->function,
                             &error) != KILN_OK)
        return jobs_fail(list, from, at, error);
    job->signature.types = types;
    job->signature.count = line->type_count;
    for (size_t i = 0; i < line->type_count; i++)
        if (tool_type_find(&types[i], list->context, source.package,
                           line->types[i], &error) != KILN_OK)
            return jobs_fail(list, from, at, error);
    return TOOL_OK;
}

/* Opens an offline device for a config that has none yet. */
static kiln_status open_device(job_list *out, const kiln_config *config,
                               size_t job, kiln_error **error)
{
    for (size_t i = 0; i < job; i++)
        if (out->jobs[i].config == config)
            return KILN_OK;
    return kiln_device_open_offline(&out->devices[out->device_count++],
                                    out->context, config, error);
}

static int add_job(job_list *out, const workload *list,
                   const workload_line *line, const char *target)
{
    const size_t at = out->count++;
    kiln_batch_job *job = &out->jobs[at];
    kiln_config_options settings = line->settings;
    kiln_error *error = NULL;
    kiln_status status;

    if (settings.target == NULL)
        settings.target = target;
    out->lines[at] = line;
    out->targets[at] = settings.target != NULL ? settings.target : "host";
    status = kiln_config_new(&job->config, out->context, &settings, &error);
    if (status == KILN_OK) {
        status = open_device(out, job->config, at, &error);
        if (status != KILN_OK)
            out->device_count--;
    }
    if (status != KILN_OK)
        return jobs_fail(out, list, at, error);
    return read_signature(out, at, list);
}

/* ---- all jobs ---- */

static int load_files(kiln_context *context, const tool_options *options)
{
    for (size_t i = 0; i < options->word_count; i++) {
        kiln_error *error = NULL;
        tool_source source;

        if (tool_source_load(&source, context, options->words[i], options,
                             &error) != KILN_OK)
            return tool_fail(error);
    }
    return TOOL_OK;
}

static int allocate(job_list *out, size_t count)
{
    out->jobs = calloc(count, sizeof *out->jobs);
    out->lines = calloc(count, sizeof *out->lines);
    out->targets = calloc(count, sizeof *out->targets);
    out->types = calloc(count * TOOL_ARGUMENTS_MAX, sizeof *out->types);
    out->devices = calloc(count, sizeof *out->devices);
    return out->jobs && out->lines && out->targets && out->types && out->devices
               ? TOOL_OK
               : tool_complain(TOOL_FAILED, "out of memory");
}

int jobs_open(job_list *out, kiln_context *context, const workload *list,
              const tool_options *options)
{
    const size_t targets =
        options->target_count > 0 ? options->target_count : 1;
    int status;

    memset(out, 0, sizeof *out);
    out->context = context;
    status = allocate(out, list->count * targets);
    if (status == TOOL_OK)
        status = load_files(context, options);
    for (size_t i = 0; status == TOOL_OK && i < list->count; i++) {
        const workload_line *line = &list->lines[i];
        const size_t count = line->settings.target != NULL ? 1 : targets;

        for (size_t k = 0; status == TOOL_OK && k < count; k++)
            status = add_job(out, list, line, options->targets[k]);
    }
    return status;
}

void jobs_close(job_list *list)
{
    for (size_t i = 0; i < list->device_count; i++)
        kiln_device_close(list->devices[i]);
    kiln_context_free(list->context);
    free(list->jobs);
    free(list->lines);
    free((void *)list->targets);
    free((void *)list->types);
    free(list->devices);
    memset(list, 0, sizeof *list);
}

/* ---- compiling ---- */

typedef struct step {
    const progress *bar;
    const job_list *list;
    size_t before; /* jobs in finished slices */
} step;

static void show_step(size_t done, size_t count, const kiln_batch_job *job,
                      void *env)
{
    const step *s = env;
    char name[NAME_SIZE];

    (void)count;
    (void)job_name(name, s->list, (size_t)(job - s->list->jobs));
    progress_step(s->bar, s->before + done, name, job->status == KILN_OK);
}

static void tell_answer(void *env, const kiln_cache_answer *answer)
{
    (void)env;
    if (answer->found != KILN_CACHE_FOUND)
        tool_explain(stderr, answer);
}

/* Tells why the pack lacks what the job wants. If that cannot be found out, the
   error before it has to do. */
static void tell_reason(const job_list *list, const kiln_batch_job *job)
{
    kiln_error *error = NULL;

    if (kiln_cache_explain(list->context, &job->signature, job->config,
                           tell_answer, NULL, &error) != KILN_OK)
        kiln_error_free(error);
}

/* Reports failures in the order of the list. */
static void tell_failures(const job_list *list, const workload *from)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->jobs[i].status != KILN_OK) {
            (void)jobs_fail(list, from, i, list->jobs[i].error);
            list->jobs[i].error = NULL;
            if (list->jobs[i].status == KILN_ENOTFOUND)
                tell_reason(list, &list->jobs[i]);
            count++;
        }
    if (count > 0)
        (void)tool_complain(0, "%zu of %zu jobs failed", count, list->count);
}

/* Jobs are compiled in slices; signals are checked between two slices. */
#define SLICE ((size_t)16)

int jobs_compile(const job_list *list, const workload *from, const char *what)
{
    int status = TOOL_OK;
    progress bar;
    step s = {&bar, list, 0};

    progress_begin(&bar, what, list->count);
    for (; s.before < list->count && !interrupted; s.before += SLICE) {
        const size_t left = list->count - s.before;

        if (kiln_compile_batch(list->context, list->jobs + s.before,
                               left < SLICE ? left : SLICE, show_step,
                               &s) != KILN_OK)
            status = TOOL_FAILED;
    }
    progress_end(&bar);
    tell_failures(list, from);
    return interrupted ? tool_complain(TOOL_FAILED, "interrupted") : status;
}
