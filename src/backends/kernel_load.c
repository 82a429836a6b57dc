/* kernel_load.c - opens drivers' devices and loads kernels on them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/backend.h"

#include <string.h>

#include "base/error.h"
#include "base/system/thread.h"
#include "context/keys/settings.h"
#include "tiers/binary/stored_native.h"

/*
 * Drivers are called without the lock: if two threads open the same device at
 * once, one is kept. While an offline device for a target is open, a kernel for
 * that target is made even if no device of that target exists: it has no
 * function, and only offline devices accept it.
 */

/* ---- devices of drivers ---- */

/* With the lock held. */
static kiln__driver_device *find_ordinal(const kiln__backend *backend,
                                         uint32_t ordinal)
{
    kiln__driver_device *device = backend->devices;

    while (device != NULL && device->ordinal != ordinal)
        device = device->next;
    return device;
}

static kiln__driver_device *find_device(kiln_context *context,
                                        const kiln__backend *backend,
                                        uint32_t ordinal)
{
    kiln__driver_device *device;

    kiln__mutex_lock(&context->backends->lock);
    device = find_ordinal(backend, ordinal);
    kiln__mutex_unlock(&context->backends->lock);
    return device;
}

/* Publishes `fresh`, or returns the device that another thread published. */
static kiln__driver_device *keep_device(kiln_context *context,
                                        kiln__backend *backend,
                                        kiln__driver_device *fresh)
{
    kiln__driver_device *device;

    kiln__mutex_lock(&context->backends->lock);
    device = find_ordinal(backend, fresh->ordinal);
    if (device == NULL) {
        fresh->next = backend->devices;
        backend->devices = fresh;
        device = fresh;
    }
    kiln__mutex_unlock(&context->backends->lock);
    return device;
}

kiln_status kiln__driver_device_get(const kiln__driver_device **out,
                                    kiln_context *context,
                                    kiln__backend *backend, uint32_t ordinal,
                                    kiln_error **error)
{
    kiln__driver_device *fresh, *kept = find_device(context, backend, ordinal);
    kiln_status status;

    if (kept != NULL) {
        *out = kept;
        return KILN_OK;
    }
    fresh = kiln__allocate(&context->alloc, sizeof *fresh);
    if (fresh == NULL)
        return kiln__error_no_memory(error);
    fresh->ordinal = ordinal;
    status = backend->ops.open(backend->self, ordinal, NULL, &fresh->handle,
                               &fresh->name, error);
    if (status != KILN_OK) {
        kiln__deallocate(&context->alloc, fresh, sizeof *fresh);
        return status;
    }
    kept = keep_device(context, backend, fresh);
    if (kept != fresh) {
        backend->ops.close(backend->self, fresh->handle);
        kiln__deallocate(&context->alloc, fresh, sizeof *fresh);
    }
    *out = kept;
    return KILN_OK;
}

/* ---- offline targets ---- */

static int same_target(const kiln_config *a, const kiln_config *b)
{
    return a == b || strcmp(a->target, b->target) == 0;
}

static int is_offline(kiln_context *context, const kiln_config *config)
{
    kiln__offline_target *at;

    kiln__mutex_lock(&context->backends->lock);
    at = context->backends->offline;
    while (at != NULL && !same_target(at->config, config))
        at = at->next;
    kiln__mutex_unlock(&context->backends->lock);
    return at != NULL;
}

kiln_status kiln__offline_add(kiln_context *context, const kiln_config *config)
{
    kiln__offline_target *target =
        kiln__allocate(&context->alloc, sizeof *target);

    if (target == NULL)
        return KILN_ENOMEM;
    target->config = config;
    kiln__mutex_lock(&context->backends->lock);
    target->next = context->backends->offline;
    context->backends->offline = target;
    kiln__mutex_unlock(&context->backends->lock);
    return KILN_OK;
}

void kiln__offline_remove(kiln_context *context, const kiln_config *config)
{
    kiln__offline_target **at, *old;

    kiln__mutex_lock(&context->backends->lock);
    at = &context->backends->offline;
    while (*at != NULL && (*at)->config != config)
        at = &(*at)->next;
    old = *at;
    if (old != NULL)
        *at = old->next;
    kiln__mutex_unlock(&context->backends->lock);
    if (old != NULL)
        kiln__deallocate(&context->alloc, old, sizeof *old);
}

/* ---- loading ---- */

/* Many drivers look at a program's kernels only when they are asked for one, so
   a binary that lacks the kernel is found here to be of no use. */
static kiln_status use_native(void *env, const void *bytes, size_t size)
{
    kiln__native_load *l = env;
    void *function;
    kiln_status status;

    KILN_TRY(l->ops->load_native(l->self, l->device, l->artifact, bytes, size,
                                 &l->module, NULL));
    status =
        l->ops->symbol(l->self, l->module, l->kernel->name, &function, NULL);
    if (status != KILN_OK)
        l->ops->unload(l->self, l->module);
    return status;
}

static const char *driver_of(const kiln__native_load *l)
{
    return l->ops->identity != NULL ? l->ops->identity(l->self, l->device)
                                    : NULL;
}

void kiln__native_keep(const kiln__native_load *l, int replace)
{
    const char *driver = driver_of(l);
    kiln__native_made made = {.build_ns = l->load_ns, .replace = replace};

    if (!kiln__native_is_wanted(l->context, l->artifact, driver) ||
        l->ops->save_native(l->self, l->module, &made.bytes, NULL) != KILN_OK)
        return;
    if (l->ops->native_tools != NULL)
        made.tools = l->ops->native_tools(l->self, l->module);
    kiln__native_save(l->context, l->artifact, driver, &made);
    kiln_blob_release(&made.bytes);
}

/* If a driver compiles, it does so once for all processes. */
kiln_status kiln__native_load_or_compile(kiln__native_load *l,
                                         kiln_error **error)
{
    const uint64_t begun = kiln__clock_ns();
    const kiln__native_user user = {use_native, l, l->kernel->method};
    const kiln_status found =
        kiln__native_recall(l->context, l->artifact, driver_of(l), &user);

    if (found != KILN_OK)
        KILN_TRY(
            l->ops->load(l->self, l->device, l->artifact, &l->module, error));
    l->load_ns = kiln__clock_ns() - begun;
    if (found != KILN_OK)
        kiln__native_keep(l, 0);
    return KILN_OK;
}

static kiln__native_load load_of(const struct kiln__loaded_module *module,
                                 const kiln_kernel *kernel,
                                 const kiln_artifact *artifact)
{
    return (kiln__native_load){.ops = &module->backend->ops,
                               .self = module->backend->self,
                               .device = module->device->handle,
                               .context = kernel->context,
                               .artifact = artifact,
                               .kernel = kernel->info,
                               .module = module->handle,
                               .load_ns = module->load_ns};
}

void kiln__growth_note(const kiln_queue *queue, const kiln_kernel *kernel)
{
    struct kiln__backends *backends = kernel->context->backends;
    struct kiln__loaded_module *module = kernel->module;
    const kiln__native_load loaded = load_of(module, kernel, kernel->artifact);

    if (!kiln__native_is_wanted(kernel->context, kernel->artifact,
                                driver_of(&loaded)))
        return;
    kiln__mutex_lock(&backends->lock);
    if (module->grown_in == NULL) {
        module->grown_in = queue;
        module->next_grown = backends->grown;
        backends->grown = module;
    }
    kiln__mutex_unlock(&backends->lock);
}

/* Removes from the list a module that grew in the queue (NULL: in any), and
   that is `only` (NULL: any). */
static struct kiln__loaded_module *take_grown(
    struct kiln__backends *backends, const kiln_queue *queue,
    const struct kiln__loaded_module *only)
{
    struct kiln__loaded_module **at, *found;

    kiln__mutex_lock(&backends->lock);
    at = &backends->grown;
    while (*at != NULL && ((queue != NULL && (*at)->grown_in != queue) ||
                           (only != NULL && *at != only)))
        at = &(*at)->next_grown;
    found = *at;
    if (found != NULL) {
        *at = found->next_grown;
        found->grown_in = NULL;
    }
    kiln__mutex_unlock(&backends->lock);
    return found;
}

void kiln__growth_save(const kiln_queue *queue, kiln_context *context)
{
    const struct kiln__loaded_module *module;

    while ((module = take_grown(context->backends, queue, NULL)) != NULL) {
        const kiln__native_load loaded =
            load_of(module, module->kernel, module->kernel->artifact);

        kiln__native_keep(&loaded, 1);
    }
}

/* The driver reads the payload, with addresses of host objects in its slots,
   and may keep it until it unloads. */
static kiln_status read_payload(struct kiln__loaded_module *module,
                                const kiln_kernel *kernel, kiln_error **error)
{
    kiln__native_load l;

    KILN_TRY(kiln__patch(&module->patched, kernel, error));
    l = load_of(module, kernel,
                module->patched != NULL ? &module->patched->artifact
                                        : kernel->artifact);
    KILN_TRY(kiln__native_load_or_compile(&l, error));
    module->handle = l.module;
    module->load_ns = l.load_ns;
    return KILN_OK;
}

static kiln_status put_on_device(struct kiln__loaded_module *module,
                                 kiln_kernel *kernel, kiln_error **error)
{
    kiln__backend *backend = module->backend;
    const kiln_backend_ops *ops = &backend->ops;
    kiln_status status;

    KILN_TRY(kiln__driver_device_get(&module->device, kernel->context, backend,
                                     (uint32_t)kernel->config->device, error));
    KILN_TRY(read_payload(module, kernel, error));
    status = ops->symbol(backend->self, module->handle, kernel->info->name,
                         &kernel->function, error);
    if (status != KILN_OK)
        ops->unload(backend->self, module->handle);
    return status;
}

int kiln__kernel_has_device(const kiln_config *config)
{
    const kiln__driver_device *device;
    kiln__backend *backend = kiln__backend_entry(
        config->context, config->backend, strlen(config->backend));

    return backend != NULL &&
           kiln__driver_device_get(&device, config->context, backend,
                                   (uint32_t)config->device, NULL) == KILN_OK;
}

/* After any failure no host object stays rooted for the load. */
static kiln_status load_module(struct kiln__loaded_module *module,
                               kiln_kernel *kernel, kiln_error **error)
{
    const kiln_status status = put_on_device(module, kernel, error);

    if (status != KILN_OK) {
        kiln__patched_free(module->patched, kernel->context);
        module->patched = NULL;
    }
    return status;
}

/* If the device is missing, the kernel can still be used on an offline one. */
static kiln_status load_or_record(struct kiln__loaded_module *module,
                                  kiln_kernel *kernel, kiln_error **error)
{
    const int is_recorded = is_offline(kernel->context, kernel->config);
    kiln_error *reason = NULL;
    kiln_status status;

    if (is_recorded && kernel->context->offline_only)
        return KILN_OK;
    status = load_module(module, kernel, error != NULL ? &reason : NULL);
    if (status == KILN_ENODEVICE && is_recorded) {
        kiln_error_free(reason);
        module->device = NULL;
        module->handle = NULL;
        kernel->function = NULL;
        return KILN_OK;
    }
    if (status != KILN_OK && error != NULL)
        *error = reason;
    return status;
}

kiln_status kiln__kernel_load(kiln_kernel *kernel, kiln_error **error)
{
    kiln_context *context = kernel->context;
    const char *name = kernel->config->backend;
    const kiln_backend_ops *ops;
    void *self;
    struct kiln__loaded_module *module;
    kiln_status status;

    KILN_TRY(
        kiln__backend_find(&ops, &self, context, name, strlen(name), error));
    module = kiln__allocate(&context->alloc, sizeof *module);
    if (module == NULL)
        return kiln__error_no_memory(error);
    module->backend = kiln__backend_entry(context, name, strlen(name));
    module->kernel = kernel;
    status = load_or_record(module, kernel, error);
    if (status != KILN_OK) {
        kiln__deallocate(&context->alloc, module, sizeof *module);
        return status;
    }
    kernel->module = module;
    return KILN_OK;
}

void kiln__kernel_unload(kiln_kernel *kernel)
{
    struct kiln__loaded_module *module = kernel->module;

    if (module == NULL)
        return;
    if (module->grown_in != NULL)
        (void)take_grown(kernel->context->backends, NULL, module);
    if (module->device != NULL)
        module->backend->ops.unload(module->backend->self, module->handle);
    kiln__patched_free(module->patched, kernel->context);
    kiln__deallocate(&kernel->context->alloc, module, sizeof *module);
    kernel->module = NULL;
    kernel->function = NULL;
}

kiln_status kiln_kernel_native(void **out, const kiln_kernel *kernel,
                               kiln_error **error)
{
    kiln_native_launch made = {.size = sizeof made};
    const kiln__backend *backend;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(kernel != NULL, error);
    if (kernel->function == NULL)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "kernel %s is for an offline device: it has "
                               "no native function",
                               kernel->info->name);
    backend = kernel->module != NULL ? kernel->module->backend : NULL;
    made.function = kernel->function;
    if (backend != NULL && backend->ops.native != NULL)
        KILN_TRY(backend->ops.native(backend->self, NULL, kernel->function,
                                     &made, error));
    *out = made.function;
    return KILN_OK;
}
