/* host_objects.c - resolves host objects that code refers to, and roots
 * them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/host_objects.h"

#include <sched.h>

#include "base/data/arena.h"
#include "base/error.h"
#include "context/callback.h"

/*
 * Between resolve() and root() a collector may move the object. So the host is
 * asked again after root(): if the answer is the same, it is valid until
 * unroot(); if not, the object is unrooted and the procedure starts again.
 *
 * The roots of a loaded kernel are released when it is unloaded. Those of an
 * artifact are released with it; but the artifact may outlive its context, and
 * the host must not be called then. Such roots have a second reference in a
 * list of the context. They are released by whichever ends first, the
 * artifact's last user or the context.
 */

#define ATTEMPTS_MAX 64 /* gives up on an object that keeps moving */

enum { ROOTED, LETTING_GO, GONE };

typedef struct root {
    const char *name;
    void *address;
} root;

struct kiln__roots {
    kiln_context *context; /* valid while the state is ROOTED */
    kiln__arena arena;     /* holds all of this; over malloc */
    atomic_uint references;
    atomic_int state;
    kiln__roots *next; /* in the context's list */
    size_t count;
    root *items;
};

/* ---- the host ---- */

/* Other failures of the host count as "not there", because a remembered status
   would hide an object that can be found the next time. */
static kiln_status ask_host(void **address, const kiln_context *context,
                            const char *user, const char *name,
                            kiln_error **error)
{
    kiln__callback callback;
    kiln_status status;

    if (context->host.resolve == NULL)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s: site \"%s\": the host has no resolve "
                               "callback",
                               user, name);
    *address = NULL;
    kiln__callback_begin(&callback, context);
    status = context->host.resolve(context->host_env, name, address);
    kiln__callback_end(&callback);
    if (status == KILN_OK && *address != NULL)
        return KILN_OK;
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status == KILN_OK || status == KILN_ENOTFOUND)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s: site \"%s\": the host has no such object",
                               user, name);
    return kiln__error_set(error, KILN_ENOTFOUND,
                           "%s: site \"%s\": the host cannot resolve it: %s",
                           user, name, kiln_status_text(status));
}

static void unroot(const kiln_context *context, const root *r)
{
    if (context->host.unroot != NULL)
        context->host.unroot(context->host_env, r->name, r->address);
}

static kiln_status resolve_root(root *r, const kiln_context *context,
                                const char *user, kiln_error **error)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        void *again = NULL;
        kiln_status status;

        KILN_TRY(ask_host(&r->address, context, user, r->name, error));
        if (context->host.root == NULL)
            return KILN_OK;
        context->host.root(context->host_env, r->name, r->address);
        status = ask_host(&again, context, user, r->name, error);
        if (status == KILN_OK && again == r->address)
            return KILN_OK;
        unroot(context, r);
        KILN_TRY(status);
    }
    return kiln__error_set(error, KILN_EAGAIN,
                           "%s: site \"%s\": the object moves whenever it is "
                           "rooted",
                           user, r->name);
}

/* ---- roots ---- */

static kiln__roots *allocate(kiln_context *context, const char *const *names,
                             size_t count)
{
    kiln__arena arena;
    kiln__roots *roots;

    kiln__arena_init(&arena, &kiln__malloc);
    roots = kiln__arena_allocate(&arena, sizeof *roots);
    if (roots != NULL)
        roots->items =
            kiln__arena_allocate_array(&arena, count, sizeof *roots->items);
    for (size_t i = 0; !arena.failed && i < count; i++)
        roots->items[i].name = kiln__arena_text(&arena, names[i]);
    if (arena.failed) {
        kiln__arena_dispose(&arena);
        return NULL;
    }
    roots->context = context;
    atomic_init(&roots->references, 1);
    atomic_init(&roots->state, ROOTED);
    roots->arena = arena;
    return roots;
}

static void release(kiln__roots *roots)
{
    kiln__arena arena;

    if (atomic_fetch_sub_explicit(&roots->references, 1,
                                  memory_order_acq_rel) != 1)
        return;
    arena = roots->arena; /* the arena holds the roots, too */
    kiln__arena_dispose(&arena);
}

kiln_status kiln__roots_new(kiln__roots **out, kiln_context *context,
                            const char *user, const char *const *names,
                            size_t count, kiln_error **error)
{
    kiln__roots *roots = allocate(context, names, count);

    if (roots == NULL)
        return kiln__error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const kiln_status status =
            resolve_root(&roots->items[i], context, user, error);

        if (status != KILN_OK) {
            kiln__roots_free(roots);
            return status;
        }
        roots->count++;
    }
    *out = roots;
    return KILN_OK;
}

size_t kiln__roots_count(const kiln__roots *roots)
{
    return roots->count;
}

void *kiln__roots_address(const kiln__roots *roots, size_t index)
{
    return roots->items[index].address;
}

int kiln__roots_still_hold(const kiln__roots *roots)
{
    for (size_t i = 0; i < roots->count; i++) {
        void *address = NULL;

        if (ask_host(&address, roots->context, "", roots->items[i].name,
                     NULL) != KILN_OK ||
            address != roots->items[i].address)
            return 0;
    }
    return 1;
}

void kiln__roots_let_go(kiln__roots *roots)
{
    int state = ROOTED;

    if (atomic_compare_exchange_strong(&roots->state, &state, LETTING_GO)) {
        for (size_t i = roots->count; i > 0; i--)
            unroot(roots->context, &roots->items[i - 1]);
        atomic_store(&roots->state, GONE);
    }
    /* Another thread is releasing them: the context must not end before it is
       done. */
    while (atomic_load(&roots->state) != GONE)
        sched_yield();
}

void kiln__roots_free(kiln__roots *roots)
{
    if (roots == NULL)
        return;
    kiln__roots_let_go(roots);
    release(roots);
}

void kiln__roots_end_with_context(kiln__roots *roots)
{
    kiln_context *context = roots->context;

    atomic_fetch_add(&roots->references, 1);
    roots->next = atomic_load(&context->roots);
    while (
        !atomic_compare_exchange_weak(&context->roots, &roots->next, roots)) {
    }
}

void kiln__sites_free(kiln_context *context)
{
    kiln__roots *roots = atomic_exchange(&context->roots, NULL);

    while (roots != NULL) {
        kiln__roots *next = roots->next;

        kiln__roots_free(roots);
        roots = next;
    }
}
