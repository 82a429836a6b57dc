/* kiln_run.c - kiln run: compiles a kernel, launches it, prints its
   arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kiln/sys/frontend.h"
#include "kiln_tool.h"

static const char known_options[] =
    "--grid --block --local --target --set --heap --print --save --stats "
    "--time --time-limit --with -D";

/* One run, from the command line to the results. */
typedef struct run {
    tool_options options;
    tool_session session;
    tool_argument arguments[TOOL_ARGUMENTS_MAX];
    size_t count; /* number of arguments */
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    uint64_t compile_ns;
    uint64_t *launch_ns; /* of each launch, from malloc */
    size_t launches;     /* that have ended */
} run;

static uint64_t clock_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- before the launch ---- */

static int check_options(const tool_options *options)
{
    const size_t count = options->word_count < 2 ? 0 : options->word_count - 2;

    if (options->word_count < 2)
        return tool_complain(TOOL_USAGE,
                             "run wants FILE and KERNEL; see kiln --help");
    if (!options->has_grid)
        return tool_complain(TOOL_USAGE, "run wants --grid N[,N[,N]]");
    for (size_t i = 0; i < options->print_count; i++)
        if (options->prints[i] >= count)
            return tool_complain(TOOL_USAGE, "--print %zu: no such argument",
                                 options->prints[i]);
    for (size_t i = 0; i < options->save_count; i++)
        if (options->saves[i].index >= count)
            return tool_complain(TOOL_USAGE, "--save %zu: no such argument",
                                 options->saves[i].index);
    return TOOL_OK;
}

/* An array may be saved over the file that it came from. */
static int check_saves(const tool_options *options)
{
    int status = TOOL_OK;

    for (size_t i = 0; i < options->save_count && status == TOOL_OK; i++)
        status = tool_output_spares(options->saves[i].path, options->words, 1);
    return status;
}

static int read_arguments(run *r)
{
    for (size_t i = 2; i < r->options.word_count; i++) {
        const int status =
            tool_argument_read(&r->arguments[r->count], r->session.context,
                               r->session.source.package, r->options.words[i]);

        r->count++;
        if (status != TOOL_OK)
            return status;
    }
    for (size_t i = 0; i < r->options.save_count; i++)
        if (r->arguments[r->options.saves[i].index].bytes == NULL)
            return tool_complain(TOOL_USAGE, "--save %zu: not an array",
                                 r->options.saves[i].index);
    return TOOL_OK;
}

/* Pointers to group memory lie one behind the other, each aligned as its type,
   and no type is aligned to more. */
#define LOCAL_ALIGNMENT ((uint64_t)128)

/* Gives each group as much memory as such arguments take, beside --local. */
static int add_local_memory(run *r)
{
    uint64_t bytes = r->options.launch.dynamic_local_bytes;

    for (size_t i = 0; i < r->count; i++) {
        const uint64_t size = r->arguments[i].local_size;

        if (size > UINT32_MAX)
            return tool_complain(TOOL_USAGE, "local:%" PRIu64 ": too large",
                                 size);
        bytes += (size + LOCAL_ALIGNMENT - 1) & ~(LOCAL_ALIGNMENT - 1);
    }
    if (bytes > UINT32_MAX)
        return tool_complain(TOOL_USAGE, "too much group memory");
    r->options.launch.dynamic_local_bytes = (uint32_t)bytes;
    return TOOL_OK;
}

static int compile(run *r)
{
    const kiln_type *types[TOOL_ARGUMENTS_MAX];
    kiln_signature signature = {
        .function = r->session.function, .types = types, .count = r->count};
    kiln_error *error = NULL;
    const uint64_t start = clock_ns();

    for (size_t i = 0; i < r->count; i++)
        types[i] = r->arguments[i].type;
    if (kiln_compile(&r->kernel, r->session.context, &signature,
                     r->session.config, NULL, &error) != KILN_OK)
        return tool_fail(error);
    r->compile_ns = clock_ns() - start;
    return TOOL_OK;
}

/* ---- the launch ---- */

static kiln_status open_device(run *r, kiln_error **error)
{
    kiln_status status =
        kiln_device_open(&r->device, r->session.context,
                         kiln_config_backend(r->session.config), 0, error);

    if (status == KILN_OK)
        status = kiln_queue_new(&r->queue, r->device, error);
    if (status == KILN_OK)
        status = kiln_queue_set_heap(
            r->queue, (uint64_t)r->options.heap_kib * 1024, error);
    if (status == KILN_OK)
        status = kiln_queue_set_time_limit(
            r->queue, r->options.time_limit_s * 1000, error);
    for (size_t i = 0; i < r->count && status == KILN_OK; i++)
        status = tool_argument_send(&r->arguments[i], r->device, error);
    return status;
}

static kiln_status launch_once(run *r, kiln_error **error)
{
    const void *values[TOOL_ARGUMENTS_MAX];
    const uint64_t start = clock_ns();
    kiln_status status;

    for (size_t i = 0; i < r->count; i++)
        values[i] = r->arguments[i].bytes != NULL
                        ? (const void *)&r->arguments[i].array
                    : r->arguments[i].record != NULL
                        ? r->arguments[i].record
                        : (const void *)r->arguments[i].scalar;
    status = kiln_queue_launch(r->queue, r->kernel, &r->options.launch, values,
                               r->count, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(r->queue, error);
    r->launch_ns[r->launches++] = clock_ns() - start;
    return status;
}

/* Each launch finds the same data, so the result is that of one. */
static kiln_status launch(run *r, kiln_error **error)
{
    const size_t count = r->options.time > 0 ? r->options.time : 1;
    kiln_status status;

    r->launch_ns = calloc(count, sizeof *r->launch_ns);
    if (r->launch_ns == NULL)
        return kiln_error_set(error, KILN_ENOMEM, "out of memory");
    status = launch_once(r, error);
    while (r->launches < count && status == KILN_OK) {
        for (size_t i = 0; i < r->count && status == KILN_OK; i++)
            status = tool_argument_fill(&r->arguments[i], error);
        if (status == KILN_OK)
            status = launch_once(r, error);
    }
    return status;
}

static int execute(run *r)
{
    kiln_error *error = NULL;
    kiln_status status = open_device(r, &error);

    if (status == KILN_OK)
        status = launch(r, &error);
    for (size_t i = 0; i < r->count && status == KILN_OK; i++)
        status = tool_argument_fetch(&r->arguments[i], &error);
    if (status == KILN_OK)
        return TOOL_OK;
    (void)tool_fail(error);
    return status == KILN_EINVAL ? TOOL_USAGE : TOOL_FAILED;
}

/* ---- after the launch ---- */

static int show_results(const run *r)
{
    const tool_options *options = &r->options;

    for (size_t i = 0; i < options->print_count; i++)
        tool_argument_print(&r->arguments[options->prints[i]]);
    for (size_t i = 0; i < options->save_count; i++) {
        const int status = tool_argument_save(
            &r->arguments[options->saves[i].index], options->saves[i].path);

        if (status != TOOL_OK)
            return status;
    }
    return TOOL_OK;
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Of an even number of launches the median is the mean of the middle two. */
static void show_times(run *r)
{
    const size_t n = r->launches;
    uint64_t *ns = r->launch_ns;

    (void)fflush(stdout);
    (void)fprintf(stderr, "compile %.3f ms\n", (double)r->compile_ns / 1e6);
    if (n < 2) {
        (void)fprintf(stderr, "launch  %.3f ms\n",
                      n == 0 ? 0.0 : (double)ns[0] / 1e6);
        return;
    }
    qsort(ns, n, sizeof *ns, compare_times);
    (void)fprintf(stderr,
                  "launch  median %.6f ms, minimum %.6f ms, of %zu launches\n",
                  ((double)ns[(n - 1) / 2] + (double)ns[n / 2]) / 2e6,
                  (double)ns[0] / 1e6, n);
}

/* Prints the counters as one JSON object, the last line of the output. */
static int show_statistics(const run *r)
{
    kiln_blob json;

    if (kiln_statistics_json(&json, r->session.context) != KILN_OK)
        return tool_complain(TOOL_FAILED, "out of memory");
    (void)printf("%.*s\n", (int)json.size, (const char *)json.data);
    kiln_blob_release(&json);
    return TOOL_OK;
}

static int run_all(run *r)
{
    int status = tool_session_open(&r->session, &r->options);

    if (status == TOOL_OK)
        status = read_arguments(r);
    if (status == TOOL_OK)
        status = add_local_memory(r);
    if (status == TOOL_OK)
        status = compile(r);
    if (status == TOOL_OK)
        status = execute(r);
    if (status == TOOL_OK)
        status = show_results(r);
    return status;
}

static void dispose(run *r)
{
    for (size_t i = 0; i < r->count; i++)
        tool_argument_dispose(&r->arguments[i]);
    free(r->launch_ns);
    kiln_queue_free(r->queue);
    kiln_device_close(r->device);
    tool_session_close(&r->session);
}

int tool_run(int count, char **words)
{
    run r;
    int status;

    memset(&r, 0, sizeof r);
    status = tool_read_options(&r.options, count, words, known_options);
    if (status == TOOL_OK)
        status = check_options(&r.options);
    if (status == TOOL_OK)
        status = check_saves(&r.options);
    if (status != TOOL_OK)
        return status;
    status = run_all(&r);
    if (r.kernel != NULL && r.options.time > 0)
        show_times(&r);
    if (r.session.context != NULL && r.options.stats &&
        show_statistics(&r) != TOOL_OK)
        status = TOOL_FAILED;
    dispose(&r);
    return status;
}
