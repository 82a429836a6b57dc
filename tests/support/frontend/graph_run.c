/* graph_run.c - contexts of graphs, and kernels that run in them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/graph_inside.h"

/* ---- a context ---- */

static kiln_status make_configs(graph *g, kiln_error **error)
{
    kiln_status status = KILN_OK;

    for (int i = 0; status == KILN_OK && i < GRAPH_SETTINGS; i++) {
        kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

        settings.opt_level = i == GRAPH_OPTIMISED ? KILN_OPT_1 : KILN_OPT_0;
        settings.overlays = i == GRAPH_OVERLAID ? "mine" : NULL;
        status = kiln_config_new(&g->configs[i], g->context, &settings, error);
    }
    g->config = g->configs[GRAPH_USUAL];
    return status;
}

static kiln_status make_types(graph *g, kiln_error **error)
{
    static const char *const texts[GRAPH_TYPES] = {"i64[:]", "u64[:]"};
    kiln_status status = KILN_OK;

    for (int i = 0; status == KILN_OK && i < GRAPH_TYPES; i++)
        status =
            kiln_type_parse(&g->arrays[i], g->context, NULL, texts[i], error);
    return status;
}

kiln_status graph_open_context(graph *g, const kiln_cache_options *cache,
                               kiln_error **error)
{
    kiln_cache_options none = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_status status;

    none.mode = KILN_CACHE_MODE_OFF;
    options.cache = cache ? cache : &none;
    options.codegen = KILN_CODEGEN_THREAD;
    status = kiln_context_new(&g->context, &options, error);
    if (status == KILN_OK)
        status = make_configs(g, error);
    if (status == KILN_OK)
        status = make_types(g, error);
    if (status == KILN_OK)
        status = kiln_device_open(&g->device, g->context, "host", 0, error);
    if (status == KILN_OK)
        status = kiln_queue_new(&g->queue, g->device, error);
    return status;
}

/* ---- running ---- */

kiln_signature graph_job_kernel(const graph *g, const graph_job *job)
{
    return graph_signature(g, job, 1);
}

kiln_signature graph_kernel(const graph *g, int which, int function)
{
    const graph_job job = {.which = which, .function = function};

    return graph_signature(g, &job, 1);
}

kiln_status graph_run_job(uint64_t *value, graph *g, const graph_job *job,
                          kiln_queue *queue, kiln_error **error)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_signature signature = graph_job_kernel(g, job);
    const kiln_launch launch = {.grid = {1}};
    const kiln_array array = {.data = value, .sizes = {1}};
    const void *arguments[] = {&array};
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    options.world = job->world;
    options.source = queue == g->queue ? &g->source : NULL;
    *value = 0;
    status = kiln_compile(&kernel, g->context, &signature,
                          g->configs[job->settings], &options, error);
    if (status == KILN_OK)
        status = kiln_queue_launch(queue, kernel, &launch, arguments, 1, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(queue, error);
    return status;
}

kiln_status graph_run(uint64_t *value, graph *g, int which, int function,
                      uint64_t world, kiln_error **error)
{
    const graph_job job = {
        .which = which, .function = function, .world = world};

    return graph_run_job(value, g, &job, g->queue, error);
}

kiln_status graph_infer_job(const kiln_code **out, graph *g,
                            const graph_job *job, kiln_error **error)
{
    const kiln_signature signature = graph_signature(g, job, 0);

    return kiln_infer(out, g->context, &signature, g->configs[job->settings],
                      job->world, error);
}

kiln_status graph_infer(const kiln_code **out, graph *g, int which,
                        int function, uint64_t world, kiln_error **error)
{
    const graph_job job = {
        .which = which, .function = function, .world = world};

    return graph_infer_job(out, g, &job, error);
}
