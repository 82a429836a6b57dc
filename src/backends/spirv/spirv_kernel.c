/* spirv_kernel.c - modules and kernels, for both SPIR-V drivers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/spirv.h"
#include "base/error.h"
#include "tiers/binary/artifact.h"

/*
 * A driver's kernel object holds the arguments of one launch. So each entry of
 * a function keeps a list of idle kernel objects: a launch takes one, sets its
 * arguments, launches, and puts it back. The lock is held for the list only,
 * not while the driver runs. A new object is made only when more threads than
 * ever before launch the entry at once.
 */

static const kiln__spirv_driver *driver_of(const kiln__spirv_device *device)
{
    return device->owner.driver;
}

/* ---- the driver's kernels ---- */

static kiln_status native_new(void **out, const kiln__spirv_function *function,
                              int is_known, kiln_error **error)
{
    const kiln__spirv_device *device = function->module->device;
    kiln_status status;
    kiln__text name;

    kiln__text_init(&name, &device->context->alloc);
    kiln__text_add(&name, function->info->name);
    kiln__text_add(&name, is_known ? KILN__FACTS_SUFFIX : "");
    status = name.failed ? kiln__error_no_memory(error)
                         : driver_of(device)->kernel_new(out, function->module,
                                                         name.bytes, error);
    kiln__text_dispose(&name);
    return status;
}

static kiln_status kernel_new(kiln__spirv_kernel **out,
                              const kiln__spirv_function *function,
                              kiln__spirv_entry *entry, kiln_error **error)
{
    const kiln__spirv_device *device = function->module->device;
    kiln__spirv_kernel *kernel =
        kiln__allocate(&device->context->alloc, sizeof *kernel);
    kiln_status status;

    if (kernel == NULL)
        return kiln__error_no_memory(error);
    kernel->entry = entry;
    status =
        native_new(&kernel->native, function, entry == &function->known, error);
    if (status != KILN_OK) {
        kiln__deallocate(&device->context->alloc, kernel, sizeof *kernel);
        return status;
    }
    *out = kernel;
    return KILN_OK;
}

static void kernel_free(const kiln__spirv_device *device,
                        kiln__spirv_kernel *kernel)
{
    driver_of(device)->kernel_free(device, kernel->native);
    kiln__deallocate(&device->context->alloc, kernel, sizeof *kernel);
}

kiln_status kiln__spirv_kernel_take(kiln__spirv_kernel **out,
                                    kiln__spirv_function *function,
                                    kiln__spirv_entry *entry,
                                    kiln_error **error)
{
    kiln__spirv_kernel *kernel;

    kiln__mutex_lock(&function->lock);
    kernel = entry->idle;
    if (kernel != NULL)
        entry->idle = kernel->next;
    kiln__mutex_unlock(&function->lock);
    if (kernel == NULL)
        return kernel_new(out, function, entry, error);
    *out = kernel;
    return KILN_OK;
}

void kiln__spirv_kernel_give(kiln__spirv_function *function,
                             kiln__spirv_kernel *kernel)
{
    kiln__mutex_lock(&function->lock);
    kernel->next = kernel->entry->idle;
    kernel->entry->idle = kernel;
    kiln__mutex_unlock(&function->lock);
}

kiln_status kiln__spirv_kernel_own(kiln__spirv_kernel **out,
                                   kiln__spirv_function *function,
                                   kiln_error **error)
{
    kiln__spirv_kernel *kernel = NULL;

    KILN_TRY(kiln__spirv_kernel_take(&kernel, function, &function->any, error));
    kiln__mutex_lock(&function->lock);
    if (function->own == NULL) {
        function->own = kernel;
        kernel = NULL;
    }
    *out = function->own;
    kiln__mutex_unlock(&function->lock);
    if (kernel != NULL)
        kiln__spirv_kernel_give(function, kernel);
    return KILN_OK;
}

/* ---- entries ---- */

static kiln_status read_parameters(kiln__spirv_entry *entry,
                                   const kiln__spirv_function *function,
                                   kiln_error **error)
{
    const kiln__spirv_module *module = function->module;
    kiln__spirv_parameter all[KILN__SPIRV_LARGE_PARAMETERS];
    size_t count = 0;

    KILN_TRY(kiln__spirv_parameters(all, &count, module->artifact,
                                    function->info, entry == &function->known,
                                    error));
    entry->parameters = kiln__allocate_array(
        &module->device->context->alloc, count + 1, sizeof *entry->parameters);
    if (entry->parameters == NULL)
        return kiln__error_no_memory(error);
    memcpy(entry->parameters, all, count * sizeof *all);
    entry->parameter_count = count;
    return KILN_OK;
}

static kiln_status fill_entry(kiln__spirv_entry *entry,
                              kiln__spirv_function *function,
                              kiln_error **error)
{
    const kiln__spirv_device *device = function->module->device;
    kiln__spirv_kernel *first = NULL;

    KILN_TRY(read_parameters(entry, function, error));
    KILN_TRY(kernel_new(&first, function, entry, error));
    driver_of(device)->ask_limits(&entry->limits, device, first->native);
    kiln__spirv_kernel_give(function, first);
    return KILN_OK;
}

static void end_entry(const kiln__spirv_entry *entry,
                      const kiln__spirv_device *device)
{
    kiln__spirv_kernel *at = entry->idle;

    while (at != NULL) {
        kiln__spirv_kernel *kernel = at;

        at = kernel->next;
        kernel_free(device, kernel);
    }
    if (entry->parameters != NULL)
        kiln__deallocate(&device->context->alloc, entry->parameters,
                         (entry->parameter_count + 1) *
                             sizeof *entry->parameters);
}

static int has_known(const kiln__spirv_function *function)
{
    return function->known.parameters != NULL;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

kiln__group_limits kiln__spirv_limits(const kiln__spirv_function *function,
                                      const kiln_launch_request *request)
{
    kiln__group_limits limits = function->any.limits;
    const uint32_t *asked = request->block;
    const int is_asked = (asked[0] | asked[1] | asked[2]) != 0;

    if (has_known(function) && !is_asked)
        limits.items = least(limits.items, function->known.limits.items);
    limits.cut_items =
        is_asked ? limits.items : least(limits.items, KILN__GROUP_ITEMS);
    return limits;
}

/* Returns the entry for a launch of that shape. Known launches have whole
   groups. */
static kiln__spirv_entry *entry_of(kiln__spirv_function *function,
                                   const kiln__launch_shape *shape,
                                   const kiln_launch_request *request)
{
    kiln__facts_shape known;
    uint64_t items = 1;

    if (!has_known(function) || shape->is_cut)
        return &function->any;
    for (unsigned d = 0; d < 3; d++) {
        known.sizes[d] = shape->grid[d];
        known.sizes[3 + d] = shape->block[d];
        known.sizes[6 + d] = shape->groups[d];
        items *= shape->block[d];
    }
    return items <= function->known.limits.items &&
                   kiln__facts_hold(function->module->facts, request->arguments,
                                    &known)
               ? &function->known
               : &function->any;
}

/* ---- launches ---- */

kiln_status kiln__spirv_launch_begin(kiln__spirv_function **out,
                                     kiln__spirv_device *device,
                                     const kiln_launch_request *request,
                                     kiln_error **error)
{
    KILN_TRY(kiln__spirv_function_on(out, request->function, device, error));
    return kiln__launch_local_check(device->name, device->local_bytes, request,
                                    error);
}

kiln_status kiln__spirv_launch_take(kiln__spirv_kernel **out,
                                    kiln__spirv_function *function,
                                    const void *state,
                                    const kiln__launch_shape *shape,
                                    const kiln_launch_request *request,
                                    kiln_error **error)
{
    (void)kiln__device_hidden(request, (uint64_t)(uintptr_t)state,
                              function->number);
    return kiln__spirv_kernel_take(out, function,
                                   entry_of(function, shape, request), error);
}

int kiln__spirv_needs_state(const kiln__spirv_function *function)
{
    const kiln_kernel_info *info = function->info;

    return kiln__hidden_own(info->hidden_arguments, info->any_block) > 0;
}

void kiln__spirv_fill_native(kiln_native_launch *out,
                             const kiln__spirv_function *function,
                             const void *state)
{
    const kiln_kernel_info *info = function->info;

    if (kiln__spirv_needs_state(function)) {
        out->hidden[0] = (uint64_t)(uintptr_t)state;
        out->hidden[1] = function->number;
    }
    for (uint32_t i = 0; i < kiln__hidden_sizes(info->any_block); i++)
        out->hidden[info->hidden_arguments - 1 - i] = KILN__WHOLE_GROUPS;
}

/* ---- functions ---- */

static void function_free(kiln__spirv_function *function)
{
    kiln__spirv_device *device = function->module->device;
    const kiln_alloc *alloc = &device->context->alloc;

    if (function->number != 0)
        kiln__loaded_kernels_remove(&device->kernels, function->number);
    end_entry(&function->any, device);
    end_entry(&function->known, device);
    if (function->own != NULL)
        kernel_free(device, function->own);
    kiln__fork_remove(&device->context->fork, &function->guard);
    kiln__mutex_dispose(&function->lock);
    kiln__deallocate(alloc, function, sizeof *function);
}

static kiln__spirv_function *function_new(kiln__spirv_module *module,
                                          const kiln_kernel_info *info)
{
    kiln_context *context = module->device->context;
    kiln__spirv_function *function =
        kiln__allocate(&context->alloc, sizeof *function);

    if (function == NULL)
        return NULL;
    if (kiln__mutex_init(&function->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, function, sizeof *function);
        return NULL;
    }
    function->guard.mutex = &function->lock;
    kiln__fork_add(&context->fork, &function->guard);
    function->module = module;
    function->info = info;
    return function;
}

/* Drivers report only that some argument is wrong, so sizes are checked
   first. */
static kiln_status check_arguments(const kiln__spirv_function *function,
                                   kiln_error **error)
{
    const kiln__spirv_device *device = function->module->device;
    const kiln_kernel_info *info = function->info;
    const uint64_t most = device->argument_bytes;
    const uint64_t bytes = ((uint64_t)info->argument_bytes + 7) / 8 * 8 +
                           8 * (uint64_t)info->hidden_arguments;

    if (most == 0 || bytes <= most)
        return KILN_OK;
    return kiln__error_set(error, KILN_ENODEVICE,
                           "arguments of %s take %llu bytes; a kernel on %s "
                           "takes at most %llu",
                           info->method, (unsigned long long)bytes,
                           device->name, (unsigned long long)most);
}

size_t kiln__spirv_local_size(const void *value)
{
    uint64_t size;

    memcpy(&size, value, sizeof size);
    return size > 0 ? (size_t)size : 1;
}

static kiln_status fill_function(kiln__spirv_function *function,
                                 kiln_error **error)
{
    const kiln__spirv_module *module = function->module;

    KILN_TRY(check_arguments(function, error));
    KILN_TRY(fill_entry(&function->any, function, error));
    if (module->facts != NULL)
        KILN_TRY(fill_entry(&function->known, function, error));
    function->number = kiln__loaded_kernels_add(
        &module->device->kernels, module->artifact, function->info->name);
    return function->number != 0 ? KILN_OK : kiln__error_no_memory(error);
}

/* With the lock held. */
static kiln__spirv_function *find_named(const kiln__spirv_module *module,
                                        const char *name)
{
    kiln__spirv_function *at = module->functions;

    while (at != NULL && strcmp(at->info->name, name) != 0)
        at = at->next;
    return at;
}

static kiln__spirv_function *find_function(kiln__spirv_module *module,
                                           const char *name)
{
    kiln__spirv_function *found;

    kiln__mutex_lock(&module->lock);
    found = find_named(module, name);
    kiln__mutex_unlock(&module->lock);
    return found;
}

/* Publishes `fresh`, or returns the function that another thread published. */
static kiln__spirv_function *keep_function(kiln__spirv_module *module,
                                           kiln__spirv_function *fresh)
{
    kiln__spirv_function *kept;

    kiln__mutex_lock(&module->lock);
    kept = find_named(module, fresh->info->name);
    if (kept == NULL) {
        fresh->next = module->functions;
        module->functions = kept = fresh;
    }
    kiln__mutex_unlock(&module->lock);
    if (kept != fresh)
        function_free(fresh);
    return kept;
}

static kiln_status add(kiln__spirv_function **out, kiln__spirv_module *module,
                       const char *name, kiln_error **error)
{
    const kiln_kernel_info *info =
        kiln__artifact_kernel_named(module->artifact, name);
    kiln__spirv_function *function;
    kiln_status status;

    if (info == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "SPIR-V: the artifact has no kernel \"%.128s\"",
                               name);
    function = function_new(module, info);
    if (function == NULL)
        return kiln__error_no_memory(error);
    status = fill_function(function, error);
    if (status != KILN_OK) {
        function_free(function);
        return status;
    }
    *out = keep_function(module, function);
    return KILN_OK;
}

kiln_status kiln__spirv_symbol(void *self, void *module, const char *name,
                               void **function, kiln_error **error)
{
    kiln__spirv_function *found = find_function(module, name);

    (void)self;
    if (found == NULL)
        KILN_TRY(add(&found, module, name, error));
    *function = found;
    return KILN_OK;
}

/* ---- modules ---- */

kiln_status kiln__spirv_module_new(kiln__spirv_module **out,
                                   kiln__spirv_device *device,
                                   const kiln_artifact *artifact,
                                   kiln_error **error)
{
    const kiln_alloc *alloc = &device->context->alloc;
    kiln__launch_facts *facts;
    kiln__spirv_module *module;

    KILN_TRY(kiln__spirv_target_runs(kiln_artifact_target(artifact),
                                     &device->level, error));
    KILN_TRY(kiln__facts_open(&facts, alloc, artifact, error));
    module = kiln__allocate(alloc, sizeof *module);
    if (module == NULL || kiln__mutex_init(&module->lock) != KILN_OK) {
        kiln__facts_close(facts);
        kiln__deallocate(alloc, module, sizeof *module);
        return kiln__error_no_memory(error);
    }
    module->facts = facts;
    module->guard.mutex = &module->lock;
    kiln__fork_add(&device->context->fork, &module->guard);
    module->owner = device->owner;
    module->device = device;
    module->artifact = kiln_artifact_retain(artifact);
    *out = module;
    return KILN_OK;
}

kiln_status kiln__spirv_module_done(void **out, kiln__spirv_module *module,
                                    kiln_status status)
{
    if (status == KILN_OK)
        *out = module;
    else
        kiln__spirv_unload(NULL, module);
    return status;
}

void kiln__spirv_unload(void *self, void *module)
{
    kiln__spirv_module *old = module;
    kiln_context *context = old->device->context;

    (void)self;
    kiln__spirv_replicas_end(old);
    while (old->functions != NULL) {
        kiln__spirv_function *function = old->functions;

        old->functions = function->next;
        function_free(function);
    }
    if (old->native != NULL)
        driver_of(old->device)->program_free(old->device, old->native);
    kiln__fork_remove(&context->fork, &old->guard);
    kiln__mutex_dispose(&old->lock);
    kiln__facts_close(old->facts);
    kiln_artifact_release(old->artifact);
    kiln__deallocate(&context->alloc, old, sizeof *old);
}
