/* context.c - makes and ends a context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "backends/backend.h"
#include "base/error.h"
#include "base/options.h"
#include "base/system/cores.h"
#include "base/system/stack.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_place.h"
#include "codegen_client/codegen_worker.h"
#include "codegen_client/provenance.h"
#include "codegen_client/tool_identity.h"
#include "context/cache_settings.h"
#include "context/callback.h"
#include "context/context.h"
#include "context/counters.h"
#include "context/environment.h"
#include "context/host_objects.h"
#include "context/host_ops.h"
#include "context/log.h"
#include "context/trace.h"
#include "context/types/types.h"
#include "context/workers.h"
#include "frontend/language.h"
#include "pipeline/builtin_backends.h"
#include "pipeline/complete.h"
#include "pipeline/config.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/tiers.h"

/*
 * A context is its options and one state per module. The table below lists the
 * modules in the order in which they are set up; they are torn down in reverse.
 * A module's free function accepts a state that was never made. The workers
 * come last and so end first, because their tasks use all the others.
 */

static kiln_status trace_new(kiln_context *context)
{
    return kiln__trace_new(context, context->cache->trace);
}

static kiln_status tiers_new(kiln_context *context)
{
    return kiln__tiers_new(context, kiln__kernel_unload);
}

/* At most one of the first two functions is set; without them nothing need be
   made. */
static const struct {
    kiln_status (*make)(kiln_context *context);
    kiln_status (*make_or_tell)(kiln_context *context, kiln_error **error);
    void (*end)(kiln_context *context); /* or NULL */
} modules[] = {
    {NULL, NULL, kiln__sites_free},
    {trace_new, NULL, kiln__trace_free},
    {kiln__counters_new, NULL, kiln__counters_free},
    {kiln__types_new, NULL, kiln__types_free},
    {kiln__registry_new, NULL, kiln__registry_free},
    {kiln__configs_new, NULL, kiln__configs_free},
    {kiln__libraries_new, NULL, kiln__libraries_free},
    {kiln__codegen_library_new, NULL, kiln__codegen_library_free},
    {kiln__worker_processes_new, NULL, kiln__worker_processes_free},
    {NULL, kiln__stores_new, kiln__stores_free},
    {kiln__tools_new, NULL, kiln__tools_free},
    {kiln__toolchain_new, NULL, kiln__toolchain_free},
    {NULL, kiln__builtin_backends_new, kiln__backends_free},
    {tiers_new, NULL, kiln__tiers_free},
    {NULL, kiln__language_new, NULL}, /* it ends with the other frontends */
    {kiln__workers_new, NULL, kiln__workers_free},
};

#define MODULE_COUNT (sizeof modules / sizeof *modules)

static void modules_end(kiln_context *context, size_t count)
{
    while (count-- > 0)
        if (modules[count].end != NULL)
            modules[count].end(context);
}

static kiln_status module_make(kiln_context *context, size_t i,
                               kiln_error **error)
{
    if (modules[i].make != NULL)
        return modules[i].make(context);
    return modules[i].make_or_tell != NULL
               ? modules[i].make_or_tell(context, error)
               : KILN_OK;
}

static kiln_status modules_make(kiln_context *context, kiln_error **error)
{
    for (size_t i = 0; i < MODULE_COUNT; i++) {
        kiln_error *cause = NULL;
        const kiln_status status = module_make(context, i, &cause);

        if (status == KILN_OK)
            continue;
        modules_end(context, i);
        if (cause != NULL && error != NULL)
            *error = cause;
        else if (cause != NULL)
            kiln_error_free(cause);
        else
            kiln__error_set(error, status, "%s", kiln_status_text(status));
        return status;
    }
    return KILN_OK;
}

static kiln_status read_tables(kiln_context *context,
                               const kiln_context_options *options,
                               kiln_error **error)
{
    context->alloc = kiln__malloc;
    if (options->alloc != NULL) {
        KILN_TRY(KILN__OPTIONS_READ(&context->alloc, options->alloc, kiln_alloc,
                                    error));
        if (context->alloc.realloc == NULL)
            return kiln__error_set(error, KILN_EINVAL,
                                   "the allocator's table has no realloc");
    }
    KILN_TRY(kiln__host_ops_read(context, options, error));
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

static kiln_status copy_paths(kiln_context *context,
                              const kiln_context_options *options,
                              const kiln__environment *environment,
                              kiln_error **error)
{
    const char *codegen = options->codegen_path != NULL
                              ? options->codegen_path
                              : environment->codegen_path;
    const char *driver = options->spirv_driver != NULL
                             ? options->spirv_driver
                             : environment->spirv_driver;

    if (kiln__string_copy_optional(&context->codegen_path, &context->alloc,
                                   codegen) != KILN_OK ||
        kiln__string_copy_optional(&context->import_path, &context->alloc,
                                   environment->import_path) != KILN_OK ||
        kiln__string_copy_optional(&context->spirv_driver, &context->alloc,
                                   driver) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* Frees what does not belong to a module. */
static void context_release(kiln_context *context)
{
    const kiln_alloc alloc = context->alloc;

    kiln__string_free(&alloc, context->codegen_path);
    kiln__string_free(&alloc, context->codegen_worker);
    kiln__string_free(&alloc, context->import_path);
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
    KILN_TRY(kiln__place_read(context, options, &environment, error));
    KILN_TRY(kiln__cache_settings_new(&context->cache, &context->alloc,
                                      options->cache, &environment.cache,
                                      error));
    if (kiln__fork_list_add(&context->fork) != KILN_OK)
        return kiln__error_no_memory(error);
    context->complete = kiln__artifact_complete;
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
    KILN_TRY(KILN__OPTIONS_READ(&known, options, kiln_context_options, error));
    memset(&tables, 0, sizeof tables);
    KILN_TRY(read_tables(&tables, &known, error));
    context = kiln__allocate(&tables.alloc, sizeof *context);
    if (context == NULL)
        return kiln__error_no_memory(error);
    *context = tables;
    status = context_fill(context, &known, error);
    if (status != KILN_OK) {
        context_release(context);
        return status;
    }
    /* From here on the context ends the host's environment. */
    context->host_finalize = known.host_finalize;
    *out = context;
    return KILN_OK;
}

static int is_called_back(const kiln_context *context)
{
    return kiln__call_scopes_of_thread(context) > 0 ||
           kiln__callback_is_open(context) || kiln__queues_are_busy(context);
}

void kiln_context_free(kiln_context *context)
{
    void (*finalize)(void *env);
    void *env;
    kiln__callback callback;

    if (context == NULL)
        return;
    if (is_called_back(context)) {
        kiln__log(context, KILN_LOG_WARNING,
                  "kiln_context_free() in a callback of the context does "
                  "nothing");
        return;
    }
    finalize = context->host_finalize;
    env = context->host_env;
    kiln__callback_begin(&callback, context);
    modules_end(context, MODULE_COUNT);
    kiln__callback_end(&callback);
    kiln__fork_list_remove(&context->fork);
    context_release(context);
    if (finalize != NULL)
        finalize(env);
}

void kiln_context_collect(kiln_context *context)
{
    if (context != NULL && !is_called_back(context))
        kiln__tiers_collect(context);
}
