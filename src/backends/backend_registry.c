/* backend_registry.c - the list of backends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/backend.h"

#include <string.h>

#include "backends/handles.h"
#include "base/error.h"
#include "base/options.h"
#include "context/callback.h"

/*
 * Every backend that Kiln knows has an entry, so that a request for one that
 * this build lacks gets that as the reason. Entries are never removed; readers
 * keep plain pointers to them.
 */

/* ---- entries ---- */

/* With the lock held, or before other threads know the context. */
static kiln__backend *find_backend(const struct kiln__backends *backends,
                                   const char *name, size_t size)
{
    for (kiln__backend *at = backends->first; at != NULL; at = at->next)
        if (strlen(at->name) == size && memcmp(at->name, name, size) == 0)
            return at;
    return NULL;
}

kiln__backend *kiln__backend_entry(kiln_context *context, const char *name,
                                   size_t name_size)
{
    struct kiln__backends *backends = context->backends;
    kiln__backend *found;

    kiln__mutex_lock(&backends->lock);
    found = find_backend(backends, name, name_size);
    kiln__mutex_unlock(&backends->lock);
    return found;
}

static kiln__backend *entry_new(const kiln_alloc *alloc, const char *name)
{
    kiln__backend *entry = kiln__allocate(alloc, sizeof *entry);

    if (entry == NULL)
        return NULL;
    entry->name = kiln__string_copy(alloc, name);
    if (entry->name == NULL) {
        kiln__deallocate(alloc, entry, sizeof *entry);
        return NULL;
    }
    entry->absent = "not in this build";
    return entry;
}

static void entry_free(const kiln_alloc *alloc, kiln__backend *entry)
{
    while (entry->devices != NULL) {
        kiln__driver_device *device = entry->devices;

        entry->devices = device->next;
        entry->ops.close(entry->self, device->handle);
        kiln__deallocate(alloc, device, sizeof *device);
    }
    if (entry->is_here)
        entry->ops.free(entry->self);
    kiln__string_free(alloc, entry->name);
    kiln__deallocate(alloc, entry, sizeof *entry);
}

/* Entries keep the order in which they were added. */
static void append(struct kiln__backends *backends, kiln__backend *entry)
{
    kiln__backend **end = &backends->first;

    while (*end != NULL)
        end = &(*end)->next;
    *end = entry;
    backends->count++;
}

/* ---- adding ---- */

/* An older caller's table is shorter: members past its end are NULL. */
static kiln_status read_ops(kiln_backend_ops *to, const kiln_backend_ops *ops,
                            kiln_error **error)
{
    KILN_TRY(KILN__OPTIONS_READ(to, ops, kiln_backend_ops, error));
    KILN_REQUIRE(to->name != NULL && to->name[0] != '\0', error);
    KILN_REQUIRE(strchr(to->name, ':') == NULL, error);
    KILN_REQUIRE(to->format != NULL && to->describe != NULL, error);
    KILN_REQUIRE(to->count != NULL && to->open != NULL, error);
    KILN_REQUIRE(to->close != NULL && to->load != NULL, error);
    KILN_REQUIRE(to->symbol != NULL && to->unload != NULL, error);
    KILN_REQUIRE(to->queue_new != NULL && to->queue_free != NULL, error);
    KILN_REQUIRE(to->launch != NULL && to->wait != NULL, error);
    KILN_REQUIRE(to->buffer_new != NULL && to->buffer_free != NULL, error);
    KILN_REQUIRE(to->copy != NULL && to->free != NULL, error);
    KILN_REQUIRE((to->identity == NULL) == (to->load_native == NULL), error);
    KILN_REQUIRE((to->identity == NULL) == (to->save_native == NULL), error);
    return KILN_OK;
}

/* With the lock held. Fills the entry of a backend that this build lacks, else
   adds `fresh`; false when the name is taken. */
static int take_place(struct kiln__backends *backends, kiln__backend **fresh,
                      const kiln_backend_ops *ops, void *self)
{
    kiln__backend *entry = find_backend(backends, ops->name, strlen(ops->name));

    if (entry != NULL && entry->is_here)
        return 0;
    if (entry == NULL) {
        entry = *fresh;
        *fresh = NULL;
        append(backends, entry);
    }
    entry->ops = *ops;
    entry->self = self;
    entry->is_here = 1;
    entry->absent = NULL;
    return 1;
}

kiln_status kiln_context_add_backend(kiln_context *context,
                                     const kiln_backend_ops *ops, void *self,
                                     kiln_error **error)
{
    kiln_backend_ops known;
    kiln__backend *fresh;
    int taken;

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(ops != NULL, error);
    KILN_TRY(read_ops(&known, ops, error));
    fresh = entry_new(&context->alloc, known.name);
    if (fresh == NULL)
        return kiln__error_no_memory(error);

    kiln__mutex_lock(&context->backends->lock);
    taken = !take_place(context->backends, &fresh, &known, self);
    kiln__mutex_unlock(&context->backends->lock);
    if (fresh != NULL)
        entry_free(&context->alloc, fresh);
    if (taken)
        return kiln__error_set(error, KILN_EINVAL,
                               "there is a backend \"%s\" already", known.name);
    return KILN_OK;
}

kiln_status kiln__backend_add(kiln_context *context, const char *name,
                              kiln__backend_make make, kiln_error **error)
{
    kiln__backend *entry = entry_new(&context->alloc, name);

    if (entry == NULL)
        return kiln__error_no_memory(error);
    append(context->backends, entry);
    if (make == NULL)
        return KILN_OK;
    KILN_TRY(make(&entry->ops, &entry->self, context, error));
    entry->is_here = 1;
    entry->absent = NULL;
    return KILN_OK;
}

/* Launches of other threads never end in the child; one that this thread is in
   a callback of goes on. */
static void forget_launches_after_fork(void *env)
{
    const kiln_context *context = env;

    if (kiln__callback_is_open(context))
        return;
    for (kiln_queue *at = context->backends->queues; at != NULL; at = at->next)
        kiln__queue_set_busy(at, 0);
}

kiln_status kiln__backends_new(kiln_context *context, kiln_error **error)
{
    struct kiln__backends *backends =
        kiln__allocate(&context->alloc, sizeof *backends);

    if (backends == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&backends->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, backends, sizeof *backends);
        return kiln__error_no_memory(error);
    }
    context->backends = backends;
    backends->guard = (kiln__fork_guard){.mutex = &backends->lock,
                                         .child = forget_launches_after_fork,
                                         .env = context};
    kiln__fork_add(&context->fork, &backends->guard);
    return KILN_OK;
}

void kiln__backends_free(kiln_context *context)
{
    struct kiln__backends *backends = context->backends;
    const kiln_alloc *alloc = &context->alloc;

    if (backends == NULL)
        return;
    while (backends->first != NULL) {
        kiln__backend *entry = backends->first;

        backends->first = entry->next;
        entry_free(alloc, entry);
    }
    while (backends->offline != NULL) {
        kiln__offline_target *target = backends->offline;

        backends->offline = target->next;
        kiln__deallocate(alloc, target, sizeof *target);
    }
    kiln__fork_remove(&context->fork, &backends->guard);
    kiln__mutex_dispose(&backends->lock);
    kiln__deallocate(alloc, backends, sizeof *backends);
    context->backends = NULL;
}

/* ---- finding ---- */

/* Writes "host, cuda, rocm"; names that do not fit are left out. */
static void list_names(char *text, size_t capacity, kiln_context *context)
{
    struct kiln__backends *backends = context->backends;
    size_t used = 0;

    text[0] = '\0';
    kiln__mutex_lock(&backends->lock);
    for (kiln__backend *at = backends->first; at != NULL; at = at->next) {
        const size_t size = strlen(at->name);

        if (used + size + 3 > capacity)
            break;
        if (used > 0) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        memcpy(text + used, at->name, size + 1);
        used += size;
    }
    kiln__mutex_unlock(&backends->lock);
}

kiln_status kiln__backend_find(const kiln_backend_ops **ops, void **self,
                               kiln_context *context, const char *name,
                               size_t name_size, kiln_error **error)
{
    kiln__backend *entry = kiln__backend_entry(context, name, name_size);

    if (entry == NULL) {
        char known[256];

        list_names(known, sizeof known, context);
        return kiln__error_set(
            error, KILN_EINVAL, "unknown backend \"%.*s\"; there are %s",
            (int)(name_size > 64 ? 64 : name_size), name, known);
    }
    if (!entry->is_here)
        return kiln__error_set(error, KILN_EUNSUPPORTED, "backend \"%s\" is %s",
                               entry->name, entry->absent);
    *ops = &entry->ops;
    *self = entry->self;
    return KILN_OK;
}

/* ---- listing ---- */

static kiln__backend *find_at(const struct kiln__backends *backends,
                              size_t index)
{
    kiln__backend *at = backends->first;

    while (at != NULL && index-- > 0)
        at = at->next;
    return at;
}

size_t kiln_backend_count(const kiln_context *context)
{
    size_t count;

    kiln__mutex_lock(&context->backends->lock);
    count = context->backends->count;
    kiln__mutex_unlock(&context->backends->lock);
    return count;
}

kiln__backend *kiln__backend_at(kiln_context *context, size_t index)
{
    kiln__backend *found;

    kiln__mutex_lock(&context->backends->lock);
    found = find_at(context->backends, index);
    kiln__mutex_unlock(&context->backends->lock);
    return found;
}
