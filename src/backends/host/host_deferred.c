/* host_deferred.c - loads the second body of a kernel when it is needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <unistd.h>

#include "backends/host/host_backend.h"
#include "base/data/arena.h"
#include "base/error.h"
#include "context/callback.h"
#include "context/log.h"
#include "tiers/binary/deferred.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/typed/code_instance.h"

/*
 * The first thread that needs the body makes it, and others that need it wait.
 * A failure is told to the launch and not kept: the next launch tries again. If
 * the artifact is damaged, it is dropped, and the next process builds it.
 *
 * In a child of fork() the thread that was making a body may be gone. Its
 * process is noted, so that the child sees that it has to do it itself.
 */

/* ---- the lock of a backend ---- */

static void forget_waiters(void *env)
{
    kiln__host_deferral *deferral = env;

    (void)kiln__condition_init(&deferral->changed);
}

kiln_status kiln__host_deferral_init(kiln__host_deferral *deferral,
                                     kiln_context *context)
{
    *deferral = (kiln__host_deferral){.context = context};
    if (kiln__mutex_init(&deferral->lock) != KILN_OK)
        return KILN_ENOMEM;
    if (kiln__condition_init(&deferral->changed) != KILN_OK) {
        kiln__mutex_dispose(&deferral->lock);
        return KILN_ENOMEM;
    }
    deferral->guard =
        (kiln__fork_guard){&deferral->lock, forget_waiters, deferral, NULL};
    kiln__fork_add(&context->fork, &deferral->guard);
    return KILN_OK;
}

void kiln__host_deferral_dispose(kiln__host_deferral *deferral)
{
    kiln__fork_remove(&deferral->context->fork, &deferral->guard);
    kiln__condition_dispose(&deferral->changed);
    kiln__mutex_dispose(&deferral->lock);
}

/* ---- loading ---- */

static kiln_status load_image(kiln__host_module *module,
                              const kiln__deferred *deferred,
                              kiln_error **error)
{
    const kiln_alloc *alloc = &module->deferral->context->alloc;
    const char *name = kiln_artifact_kernel(module->artifact, 0)->name;
    kiln__host_image *image;
    void *entry;

    KILN_TRY(kiln__host_image_load(&image, alloc, module->space, deferred->code,
                                   deferred->code_size, error));
    entry = kiln__host_image_symbol(image, name);
    if (entry == NULL) {
        kiln__host_image_unload(image);
        return kiln__error_set(error, KILN_ECORRUPT,
                               "host image: no second body of \"%.128s\"",
                               name);
    }
    memcpy(&module->second_entry, &entry, sizeof module->second_entry);
    module->second_stack = deferred->stack_bytes;
    atomic_store_explicit(&module->second, image, memory_order_release);
    return KILN_OK;
}

static kiln_status load_complete(kiln__host_module *module,
                                 const kiln_artifact *artifact,
                                 kiln_error **error)
{
    kiln__deferred deferred;
    kiln__arena arena;
    kiln_status status;

    kiln__arena_init(&arena, &kiln__malloc);
    status = kiln__deferred_read(&deferred, &arena, artifact);
    if (status == KILN_OK && deferred.is_image)
        status = load_image(module, &deferred, error);
    else
        status =
            kiln__error_set(error, status == KILN_OK ? KILN_ECORRUPT : status,
                            "the artifact of %s has no second body",
                            kiln_artifact_kernel(artifact, 0)->method);
    kiln__arena_dispose(&arena);
    return status;
}

static kiln_status make(kiln__host_module *module, uint32_t unproved,
                        kiln_error **error)
{
    kiln_context *context = module->deferral->context;
    const kiln_artifact *complete = NULL;
    kiln_status status;

    if (module->artifact == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "the artifact of a kernel lacks the body that "
                               "it asks for");
    status = context->complete(&complete, context, module->artifact, unproved,
                               error);
    if (status == KILN_OK)
        status = load_complete(module, complete, error);
    if (status == KILN_ECORRUPT)
        kiln__artifact_reject(context, module->artifact);
    kiln_artifact_release(complete);
    return status;
}

/* True if this thread is the one to make the body. */
static int is_ours_to_make(kiln__host_module *module)
{
    kiln__host_deferral *deferral = module->deferral;
    const pid_t self = getpid();
    int ours;

    kiln__mutex_lock(&deferral->lock);
    while (atomic_load_explicit(&module->second, memory_order_relaxed) ==
               NULL &&
           module->maker == self)
        kiln__condition_wait(&deferral->changed, &deferral->lock);
    ours = atomic_load_explicit(&module->second, memory_order_relaxed) == NULL;
    if (ours)
        module->maker = self;
    kiln__mutex_unlock(&deferral->lock);
    return ours;
}

kiln_status kiln__host_second_get(kiln__host_module *module, uint32_t unproved,
                                  kiln_error **error)
{
    kiln_context *context = module->deferral->context;
    kiln_status status = KILN_OK;

    if (atomic_load_explicit(&module->second, memory_order_acquire) != NULL)
        return KILN_OK;
    kiln__blocking_enter(context);
    if (is_ours_to_make(module)) {
        status = make(module, unproved, error);
        kiln__mutex_lock(&module->deferral->lock);
        module->maker = 0;
        kiln__condition_broadcast(&module->deferral->changed);
        kiln__mutex_unlock(&module->deferral->lock);
    }
    kiln__blocking_leave(context);
    return status;
}

/* ---- telling it ---- */

static void tell(const kiln_kernel *kernel, const kiln__deferred *deferred,
                 uint32_t unproved)
{
    char reason[1024];
    const kiln_event event = {.size = sizeof event,
                              .kind = KILN_EVENT_CHECKED,
                              .name = kernel->info->method,
                              .reason = reason};

    kiln__deferred_reason(
        reason, sizeof reason, deferred, unproved,
        kernel->code != NULL ? kiln__code_frontend(kernel->code) : NULL);
    kiln__tell_event(kernel->context, &event);
}

void kiln__host_second_tell(kiln__host_module *module,
                            const kiln_kernel *kernel)
{
    const uint32_t which =
        atomic_load_explicit(&module->unproved, memory_order_relaxed);
    kiln__deferred deferred;
    kiln__arena arena;

    if (module->artifact == NULL || which == 0 ||
        atomic_exchange_explicit(&module->is_told, 1, memory_order_relaxed))
        return;
    kiln__arena_init(&arena, &kiln__malloc);
    if (kiln__deferred_read(&deferred, &arena, module->artifact) == KILN_OK)
        tell(kernel, &deferred, which);
    kiln__arena_dispose(&arena);
}
