/* gpu_module.c - loads modules and functions in each context that uses them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/gpu/gpu.h"
#include "base/error.h"
#include "context/log.h"
#include "tiers/binary/artifact.h"

/*
 * A launch looks up a function in its context. The list of these entries only
 * grows while the function lives, so it is read without a lock. A context that
 * closes empties its entry, and the next context may use it.
 *
 * Drivers are called without the lock. When two threads load the same thing at
 * once, one result is kept.
 */

#define LOG_SIZE 8192

/* ---- loading ---- */

/* Logs of the driver's compiler: errors, and everything else. */
typedef struct load_logs {
    char errors[LOG_SIZE];
    char notes[LOG_SIZE];
} load_logs;

/* Numbers of options of cuModuleLoadDataEx and hipModuleLoadDataEx. */
enum { NOTES = 3, NOTES_SIZE = 4, ERRORS = 5, ERRORS_SIZE = 6 };

static kiln__gpu_result load_once(const kiln__gpu_module *module,
                                  const kiln__gpu_context *context,
                                  void **handle, load_logs *logs)
{
    int names[] = {NOTES, NOTES_SIZE, ERRORS, ERRORS_SIZE};
    void *values[] = {logs->notes, (void *)(uintptr_t)(LOG_SIZE - 1),
                      logs->errors, (void *)(uintptr_t)(LOG_SIZE - 1)};

    memset(logs, 0, sizeof *logs);
    return context->api->module_load(handle, module->image, 4, names, values);
}

/* Cuts newlines off the end of a compiler's message. */
static void trim(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' '))
        text[--size] = '\0';
}

static kiln_status report_load(const kiln__gpu_module *module,
                               kiln__gpu_context *context,
                               kiln__gpu_result result, load_logs *logs,
                               kiln_error **error)
{
    const kiln_kernel_info *info = kiln_artifact_kernel(module->artifact, 0);
    kiln_context *owner = module->backend->context;

    trim(logs->errors);
    trim(logs->notes);
    if (logs->notes[0] != '\0')
        kiln__log(owner, KILN_LOG_DEBUG, "%s: loading %s: %s",
                  module->backend->vendor->name,
                  info != NULL ? info->method : "", logs->notes);
    if (result == 0)
        return KILN_OK;
    return kiln__gpu_fail(context, result, error, "loading %s%s%.400s",
                          info != NULL ? info->method : "a module",
                          logs->errors[0] != '\0' ? ": " : "", logs->errors);
}

/* Loads the module in the context. Memory may be waiting to be freed until work
   has ended, so if there is too little, all work is awaited and the load
   repeated. */
static kiln_status load_in(const kiln__gpu_module *module,
                           kiln__gpu_context *context, void **handle,
                           kiln_error **error)
{
    const kiln_alloc *alloc = &module->backend->context->alloc;
    load_logs *logs = kiln__allocate(alloc, sizeof *logs);
    kiln__gpu_place before;
    kiln__gpu_result result;
    kiln_status status;

    if (logs == NULL)
        return kiln__error_no_memory(error);
    status = kiln__gpu_enter_apart(context, &before, error);
    if (status == KILN_OK) {
        result = load_once(module, context, handle, logs);
        if (result == KILN__GPU_OUT_OF_MEMORY &&
            context->api->synchronize() == 0)
            result = load_once(module, context, handle, logs);
        status = report_load(module, context, result, logs, error);
        kiln__gpu_leave(context, &before);
    }
    kiln__deallocate(alloc, logs, sizeof *logs);
    return status;
}

static void unload_from(kiln__gpu_context *context, void *handle)
{
    kiln__gpu_place before;

    if (!kiln__gpu_enter_to_free(context, &before))
        return;
    (void)context->api->module_unload(handle);
    kiln__gpu_leave(context, &before);
}

/* Called with the lock held. */
static kiln__gpu_loaded *find_loaded(const kiln__gpu_module *module,
                                     const kiln__gpu_context *context)
{
    for (kiln__gpu_loaded *at = module->loaded; at != NULL; at = at->next)
        if (at->context == context)
            return at;
    return NULL;
}

static void *handle_in(kiln__gpu_module *module,
                       const kiln__gpu_context *context)
{
    const kiln__gpu_loaded *found;
    void *handle;

    kiln__mutex_lock(&module->backend->lock);
    found = find_loaded(module, context);
    handle = found != NULL ? found->handle : NULL;
    kiln__mutex_unlock(&module->backend->lock);
    return handle;
}

/* Publishes a loaded module; returns the one to use. */
static void *keep_loaded(kiln__gpu_module *module, kiln__gpu_loaded *fresh)
{
    kiln__gpu_loaded *found;

    kiln__mutex_lock(&module->backend->lock);
    found = find_loaded(module, fresh->context);
    if (found == NULL) {
        fresh->next = module->loaded;
        module->loaded = found = fresh;
    }
    kiln__mutex_unlock(&module->backend->lock);
    if (found != fresh) {
        unload_from(fresh->context, fresh->handle);
        kiln__deallocate(&module->backend->context->alloc, fresh,
                         sizeof *fresh);
    }
    return found->handle;
}

/* Finds the module in that context, and loads it if need be. */
static kiln_status module_in(void **handle, kiln__gpu_module *module,
                             kiln__gpu_context *context, kiln_error **error)
{
    const kiln_alloc *alloc = &module->backend->context->alloc;
    kiln__gpu_loaded *fresh;
    kiln_status status;

    *handle = handle_in(module, context);
    if (*handle != NULL)
        return KILN_OK;
    KILN_TRY(context->backend->vendor->fits(
        context, kiln_artifact_target(module->artifact),
        kiln_artifact_format(module->artifact), error));
    KILN_TRY(kiln__gpu_check(context, error));
    KILN_TRY(kiln__gpu_check_capture(context, error));
    fresh = kiln__allocate(alloc, sizeof *fresh);
    if (fresh == NULL)
        return kiln__error_no_memory(error);
    fresh->context = context;
    status = load_in(module, context, &fresh->handle, error);
    if (status != KILN_OK) {
        kiln__deallocate(alloc, fresh, sizeof *fresh);
        return status;
    }
    *handle = keep_loaded(module, fresh);
    return KILN_OK;
}

/* ---- modules ---- */

static void link_module(kiln__gpu_module *module)
{
    kiln__gpu_backend *backend = module->backend;

    kiln__mutex_lock(&backend->lock);
    module->next = backend->modules;
    if (module->next != NULL)
        module->next->previous = module;
    backend->modules = module;
    kiln__mutex_unlock(&backend->lock);
}

/* Removes the module from the backend's list, and returns the list of its
   contexts. */
static kiln__gpu_loaded *unlink_module(kiln__gpu_module *module)
{
    kiln__gpu_backend *backend = module->backend;
    kiln__gpu_loaded *loaded;

    kiln__mutex_lock(&backend->lock);
    if (module->previous != NULL)
        module->previous->next = module->next;
    else
        backend->modules = module->next;
    if (module->next != NULL)
        module->next->previous = module->previous;
    loaded = module->loaded;
    module->loaded = NULL;
    kiln__mutex_unlock(&backend->lock);
    return loaded;
}

static kiln_status check_hidden(const kiln_artifact *artifact,
                                kiln_error **error)
{
    const size_t count = kiln_artifact_kernel_count(artifact);

    for (size_t i = 0; i < count; i++) {
        const kiln_kernel_info *info = kiln_artifact_kernel(artifact, i);

        if (!kiln__hidden_fits(info->hidden_arguments, info->allocates,
                               info->dynamic_local, info->any_block))
            return kiln__error_set(
                error, KILN_EMISMATCH, "%s: %u hidden arguments, not %u",
                info->name, (unsigned)info->hidden_arguments,
                (unsigned)(kiln__hidden_count(info->allocates,
                                              info->dynamic_local) +
                           kiln__hidden_sizes(info->any_block)));
    }
    return KILN_OK;
}

kiln_status kiln__gpu_module_new(kiln__gpu_module **out,
                                 kiln__gpu_context *context,
                                 const kiln_artifact *artifact,
                                 kiln_error **error)
{
    const kiln_alloc *alloc = &context->backend->context->alloc;
    kiln__gpu_module *module;
    void *handle;
    kiln_status status;

    KILN_TRY(check_hidden(artifact, error));
    module = kiln__allocate(alloc, sizeof *module);
    if (module == NULL)
        return kiln__error_no_memory(error);
    module->backend = context->backend;
    module->artifact = kiln__artifact_retain_origin(artifact);
    link_module(module);
    status = kiln__gpu_image_copy(&module->image, &module->image_size, alloc,
                                  artifact, error);
    if (status == KILN_OK)
        status = kiln__facts_open(&module->facts, alloc, artifact, error);
    if (status == KILN_OK)
        status = module_in(&handle, module, context, error);
    if (status != KILN_OK) {
        kiln__gpu_module_free(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

static void function_free(kiln__gpu_function *function)
{
    kiln__gpu_backend *backend = function->module->backend;
    const kiln_alloc *alloc = &backend->context->alloc;
    kiln__gpu_entry *entry = atomic_load(&function->first.next);

    while (entry != NULL) {
        kiln__gpu_entry *next = atomic_load(&entry->next);

        kiln__deallocate(alloc, entry, sizeof *entry);
        entry = next;
    }
    if (function->number != 0)
        kiln__loaded_kernels_remove(&backend->kernels, function->number);
    kiln__deallocate(alloc, function, sizeof *function);
}

void kiln__gpu_module_free(kiln__gpu_module *module)
{
    const kiln_alloc *alloc = &module->backend->context->alloc;
    kiln__gpu_loaded *loaded = unlink_module(module);

    while (loaded != NULL) {
        kiln__gpu_loaded *next = loaded->next;

        unload_from(loaded->context, loaded->handle);
        kiln__deallocate(alloc, loaded, sizeof *loaded);
        loaded = next;
    }
    while (module->functions != NULL) {
        kiln__gpu_function *function = module->functions;

        module->functions = function->next;
        function_free(function);
    }
    kiln__facts_close(module->facts);
    if (module->image != NULL)
        kiln__deallocate(alloc, module->image, module->image_size);
    kiln_artifact_release(module->artifact);
    kiln__deallocate(alloc, module, sizeof *module);
}

/* ---- functions ---- */

static kiln__gpu_entry *find_entry(kiln__gpu_function *function,
                                   const kiln__gpu_context *context)
{
    kiln__gpu_entry *at = &function->first;

    while (at != NULL &&
           atomic_load_explicit(&at->context, memory_order_acquire) != context)
        at = atomic_load_explicit(&at->next, memory_order_acquire);
    return at;
}

/* Called with the lock held. Fills an empty entry, or appends `*spare`. */
static kiln__gpu_entry *keep_entry(kiln__gpu_function *function,
                                   kiln__gpu_context *context,
                                   const kiln__gpu_entry *values,
                                   kiln__gpu_entry **spare)
{
    kiln__gpu_entry *at = find_entry(function, context), *last;

    if (at != NULL)
        return at;
    at = find_entry(function, NULL);
    if (at == NULL) {
        last = &function->first;
        while (atomic_load(&last->next) != NULL)
            last = atomic_load(&last->next);
        at = *spare;
        *spare = NULL;
        atomic_store_explicit(&last->next, at, memory_order_release);
    }
    at->handle = values->handle;
    at->threads = values->threads;
    at->known = values->known;
    at->known_threads = values->known_threads;
    atomic_store_explicit(&at->context, context, memory_order_release);
    return at;
}

/* A function with dynamic group memory asks once for all that it may have. */
static kiln__gpu_result ask_for_local(const kiln__gpu_context *context,
                                      void *handle,
                                      const kiln_kernel_info *info)
{
    const kiln__gpu_vendor *vendor = context->backend->vendor;
    const uint32_t fixed = info->static_local_bytes;

    if (!info->dynamic_local || vendor->local_unasked == 0 ||
        context->local_bytes <= vendor->local_unasked ||
        context->local_bytes <= fixed ||
        context->api->function_set_attribute == NULL)
        return 0;
    return context->api->function_set_attribute(
        handle, vendor->local_attribute, (int)(context->local_bytes - fixed));
}

/* Looks an entry up in the module, with the most items of a group that its
   registers allow. The context is the current one. */
static kiln_status look_up_entry(void **out, uint32_t *most,
                                 kiln__gpu_context *context, void *module,
                                 const kiln_kernel_info *info, const char *name,
                                 kiln_error **error)
{
    const kiln__gpu_api *api = context->api;
    kiln__gpu_result result = api->module_function(out, module, name);
    kiln_status status = KILN_OK;
    int threads = 0;

    if (result == KILN__GPU_NOT_FOUND)
        status = kiln__error_set(error, KILN_ECORRUPT,
                                 "%s image: no function \"%.128s\"",
                                 context->backend->vendor->name, name);
    else if (result != 0)
        status = kiln__gpu_fail(context, result, error,
                                "finding function %.128s", name);
    else if ((result = ask_for_local(context, *out, info)) != 0)
        status = kiln__gpu_fail(context, result, error,
                                "dynamic group memory of %.128s", name);
    *most = context->limits.items;
    /* Attribute 0 is the most threads of a group. */
    if (status == KILN_OK && api->function_attribute != NULL &&
        api->function_attribute(&threads, 0, *out) == 0 && threads > 0 &&
        (uint32_t)threads < *most)
        *most = (uint32_t)threads;
    return status;
}

/* The same for an entry whose name has a suffix. */
static kiln_status look_up_other(void **out, uint32_t *most,
                                 kiln__gpu_context *context, void *module,
                                 const kiln_kernel_info *info,
                                 const char *suffix, kiln_error **error)
{
    kiln_status status;
    kiln__text name;

    kiln__text_init(&name, &context->backend->context->alloc);
    kiln__text_add(&name, info->name);
    kiln__text_add(&name, suffix);
    status = name.failed ? kiln__error_no_memory(error)
                         : look_up_entry(out, most, context, module, info,
                                         name.bytes, error);
    kiln__text_dispose(&name);
    return status;
}

/* Looks up all entries that the function has. */
static kiln_status look_up(kiln__gpu_entry *out, kiln__gpu_context *context,
                           void *module, const kiln__gpu_function *function,
                           kiln_error **error)
{
    const kiln_kernel_info *info = function->info;
    kiln__gpu_place before;
    kiln_status status;

    KILN_TRY(kiln__gpu_check(context, error));
    KILN_TRY(kiln__gpu_enter(context, &before, error));
    status = look_up_entry(&out->handle, &out->threads, context, module, info,
                           info->name, error);
    if (status == KILN_OK && function->module->facts != NULL)
        status = look_up_other(&out->known, &out->known_threads, context,
                               module, info, KILN__FACTS_SUFFIX, error);
    kiln__gpu_leave(context, &before);
    return status;
}

kiln_status kiln__gpu_function_in(const kiln__gpu_entry **out,
                                  kiln__gpu_function *function,
                                  kiln__gpu_context *context,
                                  kiln_error **error)
{
    kiln__gpu_module *module = function->module;
    const kiln_alloc *alloc = &module->backend->context->alloc;
    kiln__gpu_entry values = {0}, *spare;
    void *handle;

    *out = find_entry(function, context);
    if (*out != NULL)
        return KILN_OK;
    KILN_TRY(module_in(&handle, module, context, error));
    KILN_TRY(look_up(&values, context, handle, function, error));
    spare = kiln__allocate(alloc, sizeof *spare);
    if (spare == NULL)
        return kiln__error_no_memory(error);
    kiln__mutex_lock(&module->backend->lock);
    *out = keep_entry(function, context, &values, &spare);
    kiln__mutex_unlock(&module->backend->lock);
    kiln__deallocate(alloc, spare, sizeof *spare);
    return KILN_OK;
}

/* Returns the context where the module was loaded last. While its function is
   being made, that is the only one: no other thread has the module yet. */
static kiln__gpu_context *context_of(kiln__gpu_module *module)
{
    kiln__gpu_context *context;

    kiln__mutex_lock(&module->backend->lock);
    context = module->loaded->context;
    kiln__mutex_unlock(&module->backend->lock);
    return context;
}

static kiln_status fill_function(kiln__gpu_function *function, const char *name,
                                 kiln_error **error)
{
    kiln__gpu_module *module = function->module;
    kiln__gpu_backend *backend = module->backend;
    const kiln__gpu_entry *entry;

    function->info = kiln__artifact_kernel_named(module->artifact, name);
    if (function->info == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "%s image: no kernel \"%.128s\"",
                               backend->vendor->name, name);
    function->number =
        kiln__loaded_kernels_add(&backend->kernels, module->artifact, name);
    if (function->number == 0)
        return kiln__error_no_memory(error);
    return kiln__gpu_function_in(&entry, function, context_of(module), error);
}

kiln_status kiln__gpu_function_new(kiln__gpu_function **out,
                                   kiln__gpu_module *module, const char *name,
                                   kiln_error **error)
{
    const kiln_alloc *alloc = &module->backend->context->alloc;
    kiln__gpu_function *function = kiln__allocate(alloc, sizeof *function);
    kiln_status status;

    if (function == NULL)
        return kiln__error_no_memory(error);
    function->module = module;
    status = fill_function(function, name, error);
    if (status != KILN_OK) {
        function_free(function);
        return status;
    }
    kiln__mutex_lock(&module->backend->lock);
    function->next = module->functions;
    module->functions = function;
    kiln__mutex_unlock(&module->backend->lock);
    *out = function;
    return KILN_OK;
}

/* ---- the end of a context ---- */

static void empty_entries(const kiln__gpu_module *module,
                          const kiln__gpu_context *context)
{
    for (kiln__gpu_function *at = module->functions; at != NULL;
         at = at->next) {
        kiln__gpu_entry *entry = find_entry(at, context);

        if (entry != NULL)
            atomic_store_explicit(&entry->context, NULL, memory_order_release);
    }
}

/* Called with the lock held. Removes from the module what is loaded in the
   context, and returns it. */
static kiln__gpu_loaded *take_loaded(kiln__gpu_module *module,
                                     const kiln__gpu_context *context)
{
    kiln__gpu_loaded **at = &module->loaded;
    kiln__gpu_loaded *taken;

    while (*at != NULL && (*at)->context != context)
        at = &(*at)->next;
    taken = *at;
    if (taken != NULL) {
        *at = taken->next;
        empty_entries(module, context);
    }
    return taken;
}

void kiln__gpu_modules_leave(kiln__gpu_context *context)
{
    kiln__gpu_backend *backend = context->backend;
    kiln__gpu_loaded *taken = NULL;

    kiln__mutex_lock(&backend->lock);
    for (kiln__gpu_module *at = backend->modules; at != NULL; at = at->next) {
        kiln__gpu_loaded *from = take_loaded(at, context);

        if (from != NULL) {
            from->next = taken;
            taken = from;
        }
    }
    kiln__mutex_unlock(&backend->lock);
    while (taken != NULL) {
        kiln__gpu_loaded *next = taken->next;

        unload_from(context, taken->handle);
        kiln__deallocate(&backend->context->alloc, taken, sizeof *taken);
        taken = next;
    }
}
