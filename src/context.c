/* context.c - making and ending the one long-lived object. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "cache_settings.h"
#include "codegen_place.h"
#include "core.h"
#include "environment.h"
#include "log.h"
#include "options.h"
#include "report.h"
#include "sites.h"
#include "stack.h"
#include "stores.h"
#include "tiers.h"
#include "toolchain.h"
#include "toolchain_tools.h"
#include "trace.h"

/*
 * A context is its options and one state per module. Modules are set up in
 * the order of the table below and torn down in the reverse; each module's
 * free function takes a state that was never made. Workers come last and so
 * end first: what they run uses all the others.
 */

static kiln_status types_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__types_new(context);
}

static kiln_status sites_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    atomic_init(&context->roots, NULL);
    return KILN_OK;
}

static kiln_status trace_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__trace_new(context, kiln__stores_trace(context));
}

static kiln_status counters_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__counters_new(context);
}

static kiln_status registry_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__registry_new(context);
}

static kiln_status configs_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__configs_new(context);
}

static kiln_status libraries_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__libraries_new(context);
}

static kiln_status door_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__door_new(context);
}

static kiln_status helpers_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__helpers_new(context);
}

static kiln_status toolchain_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__toolchain_new(context);
}

static kiln_status tools_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__tools_new(context);
}

static kiln_status workers_new(kiln_context *context, kiln_error **error)
{
    (void)error;
    return kiln__workers_new(context);
}

static const struct {
    kiln_status (*make)(kiln_context *context, kiln_error **error);
    void (*end)(kiln_context *context);
} modules[] = {
    {sites_new, kiln__sites_free},
    {trace_new, kiln__trace_free},
    {counters_new, kiln__counters_free},
    {types_new, kiln__types_free},
    {registry_new, kiln__registry_free},
    {configs_new, kiln__configs_free},
    {libraries_new, kiln__libraries_free},
    {door_new, kiln__door_free},
    {helpers_new, kiln__helpers_free},
    {kiln__stores_new, kiln__stores_free},
    {tools_new, kiln__tools_free},
    {toolchain_new, kiln__toolchain_free},
    /* backends, tiers and the kernel language */
    {kiln__modules_new, kiln__modules_free},
    {workers_new, kiln__workers_free},
};

#define MODULE_COUNT (sizeof modules / sizeof *modules)

static void modules_end(kiln_context *context, size_t count)
{
    while (count > 0)
        modules[--count].end(context);
}

static kiln_status modules_make(kiln_context *context, kiln_error **error)
{
    for (size_t i = 0; i < MODULE_COUNT; i++) {
        kiln_error *cause = NULL;
        kiln_status status = modules[i].make(context, &cause);

        if (status == KILN_OK)
            continue;
        modules_end(context, i);
        if (cause && error)
            *error = cause;
        else if (cause)
            kiln_error_free(cause);
        else
            kiln__error_set(error, status, "%s", kiln_status_text(status));
        return status;
    }
    return KILN_OK;
}

/* A bracket of which one side is missing is no bracket. */
static void drop_half_pairs(kiln_host_ops *host)
{
    if (!host->blocking_enter || !host->blocking_leave) {
        host->blocking_enter = NULL;
        host->blocking_leave = NULL;
    }
    if (!host->thread_enter || !host->thread_leave) {
        host->thread_enter = NULL;
        host->thread_leave = NULL;
    }
    if (!host->root || !host->unroot) {
        host->root = NULL;
        host->unroot = NULL;
    }
    if (!host->rank || !host->fetch) {
        host->rank = NULL;
        host->fetch = NULL;
    }
}

void kiln__stack_enter(const kiln_context *context)
{
    const kiln_host_ops *host = &context->host;

    kiln__stack_begin(host->stack_limit ? host->stack_limit(context->host_env)
                                        : NULL);
}

static kiln_status read_tables(kiln_context *context,
                               const kiln_context_options *options,
                               kiln_error **error)
{
    context->alloc = kiln__malloc;
    if (options->alloc) {
        if (kiln__options_read(&context->alloc, sizeof context->alloc,
                               options->alloc) != KILN_OK ||
            !context->alloc.realloc)
            return kiln__error_set(error, KILN_EINVAL,
                                   "the allocator's table has no realloc or "
                                   "members that this library does not know");
    }
    if (kiln__options_read(&context->host, sizeof context->host,
                           options->host) != KILN_OK)
        return kiln__error_set(error, KILN_EINVAL,
                               "the host's table has members that this "
                               "library does not know");
    drop_half_pairs(&context->host);
    context->host_env = options->host_env;
    context->codegen_exchange = options->codegen_exchange;
    return KILN_OK;
}

static uint32_t first_count(uint32_t option, uint32_t variable)
{
    if (option)
        return option;
    if (variable)
        return variable;
    return kiln__core_count() < KILN__THREADS_MAX ? kiln__core_count()
                                                  : KILN__THREADS_MAX;
}

static kiln_status read_limits(kiln_context *context,
                               const kiln_context_options *options,
                               const kiln__environment *environment,
                               kiln_error **error)
{
    if (options->workers > KILN__THREADS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "workers is %u; it takes at most %u",
                               options->workers, KILN__THREADS_MAX);
    if (options->threads > KILN__THREADS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "threads is %u; it takes at most %u",
                               options->threads, KILN__THREADS_MAX);
    context->offline_only = options->offline_only != 0;
    context->worker_limit = first_count(options->workers, environment->workers);
    context->thread_limit = first_count(options->threads, environment->threads);
    return KILN_OK;
}

static kiln_status copy_path(char **out, const kiln_context *context,
                             const char *path)
{
    *out = path ? kiln__string_copy(&context->alloc, path) : NULL;
    return path && !*out ? KILN_ENOMEM : KILN_OK;
}

static kiln_status copy_paths(kiln_context *context,
                              const kiln_context_options *options,
                              const kiln__environment *environment,
                              kiln_error **error)
{
    const char *codegen = options->codegen_path ? options->codegen_path
                                                : environment->codegen_path;

    if (copy_path(&context->codegen_path, context, codegen) != KILN_OK ||
        copy_path(&context->import_path, context, environment->import_path) !=
            KILN_OK ||
        copy_path(&context->cuda_driver, context, environment->cuda_driver) !=
            KILN_OK ||
        copy_path(&context->rocm_driver, context, environment->rocm_driver) !=
            KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

static kiln_status choose_driver(kiln_context *context,
                                 const kiln_context_options *options,
                                 const kiln__environment *environment,
                                 kiln_error **error)
{
    const char *driver = options->spirv_driver ? options->spirv_driver
                                               : environment->spirv_driver;

    if (driver && strcmp(driver, "opencl") != 0 &&
        strcmp(driver, "level-zero") != 0)
        return kiln__error_set(error, KILN_EINVAL,
                               "the driver of backend spirv is '%s'; it can "
                               "be opencl or level-zero",
                               driver);
    if (copy_path(&context->spirv_driver, context, driver) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* Ends what is not a module's. */
static void context_release(kiln_context *context)
{
    const kiln_alloc alloc = context->alloc;

    kiln__string_free(&alloc, context->codegen_path);
    kiln__string_free(&alloc, context->codegen_worker);
    kiln__string_free(&alloc, context->import_path);
    kiln__string_free(&alloc, context->cuda_driver);
    kiln__string_free(&alloc, context->rocm_driver);
    kiln__string_free(&alloc, context->spirv_driver);
    kiln__cache_settings_free(context->cache);
    kiln__deallocate(&alloc, context, sizeof *context);
}

static kiln_status context_fill(kiln_context *context,
                                const kiln_context_options *options,
                                kiln_error **error)
{
    kiln__environment environment;
    kiln_status status;

    KILN_TRY(kiln__environment_read(&environment, error));
    KILN_TRY(read_limits(context, options, &environment, error));
    KILN_TRY(copy_paths(context, options, &environment, error));
    KILN_TRY(choose_driver(context, options, &environment, error));
    KILN_TRY(kiln__place_read(context, options, &environment, error));
    KILN_TRY(kiln__cache_settings_new(&context->cache, &context->alloc,
                                      options->cache, &environment.cache,
                                      error));
    if (kiln__fork_list_add(&context->fork) != KILN_OK)
        return kiln__error_no_memory(error);
    status = modules_make(context, error);
    if (status != KILN_OK)
        kiln__fork_list_remove(&context->fork);
    return status;
}

kiln_status kiln_context_new_(int32_t abi_version, kiln_context **out,
                              const kiln_context_options *options,
                              kiln_error **error)
{
    kiln_context_options known;
    kiln_context tables;
    kiln_context *context;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    if (abi_version != KILN_ABI_VERSION)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "this is Kiln " KILN_VERSION_STRING
                               " with binary interface %d; the caller was "
                               "built for %d",
                               KILN_ABI_VERSION, (int)abi_version);
    if (kiln__options_read(&known, sizeof known, options) != KILN_OK)
        return kiln__error_set(error, KILN_EINVAL,
                               "the context's options have members that this "
                               "library does not know");
    memset(&tables, 0, sizeof tables);
    KILN_TRY(read_tables(&tables, &known, error));
    context = kiln__allocate(&tables.alloc, sizeof *context);
    if (!context)
        return kiln__error_no_memory(error);
    *context = tables;
    status = context_fill(context, &known, error);
    if (status != KILN_OK) {
        context_release(context);
        return status;
    }
    /* From here on the environment is the context's to end. */
    context->host_finalize = known.host_finalize;
    *out = context;
    return KILN_OK;
}

void kiln_context_free(kiln_context *context)
{
    void (*finalize)(void *env);
    void *env;

    if (!context)
        return;
    if (kiln__stays_of_thread(context)) {
        kiln__log(context, KILN_LOG_WARNING,
                  "kiln_context_free() in a callback of the context does "
                  "nothing");
        return;
    }
    finalize = context->host_finalize;
    env = context->host_env;
    modules_end(context, MODULE_COUNT);
    kiln__fork_list_remove(&context->fork);
    context_release(context);
    if (finalize)
        finalize(env);
}

void kiln_context_collect(kiln_context *context)
{
    if (context)
        kiln__tiers_collect(context);
}
