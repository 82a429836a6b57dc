/* store_chain.c - the list of stores, in the order in which they are asked. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/store_chain.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "base/system/passing.h"
#include "context/cache_settings.h"
#include "context/callback.h"
#include "context/log.h"
#include "stores/folder_packs.h"
#include "stores/pack/pack.h"

/*
 * The first request finds out which stores there are. A store that cannot be
 * opened then, for want of descriptors or memory, is opened at a later request,
 * and stores after it in the order are not opened before it: so the order is
 * kept. If the default folder is on a network file system, thousands of
 * processes would write to one server. Then that folder is only read, and a
 * folder on this machine is written.
 */

/* ---- links ---- */

/* Under the lock. Adds a link after others of the same priority. */
static void link_add(struct kiln__stores *stores, kiln__store_link *added)
{
    _Atomic(kiln__store_link *) *at = &stores->first;
    kiln__store_link *next;

    while ((next = atomic_load_explicit(at, memory_order_acquire)) &&
           next->priority <= added->priority)
        at = &next->next;
    atomic_store_explicit(&added->next, next, memory_order_relaxed);
    atomic_store_explicit(at, added, memory_order_release);
}

static kiln__store_link *link_new(const kiln_context *context,
                                  const kiln_store_ops *ops, void *self,
                                  int32_t priority)
{
    kiln__store_link *link = kiln__allocate(&context->alloc, sizeof *link);

    if (link == NULL)
        return NULL;
    link->context = context;
    link->ops = *ops;
    link->self = self;
    link->priority = priority;
    return link;
}

static kiln_status find_loose(kiln__stored *out, kiln__entry_fault *fault,
                              void *self, const kiln_key *key)
{
    return kiln__loose_get(out, fault, self, key);
}

/*
 * ---- functions of a store ----
 *
 * A store of the host may call back into Kiln, so each call of it is marked as
 * a callback (context/callback.h).
 */

static kiln_status call_get(const kiln__store_link *link, const kiln_key *key,
                            kiln_blob *out)
{
    kiln__callback callback;
    kiln_error *error = NULL;
    kiln_status status;

    kiln__callback_begin(&callback, link->context);
    status = link->ops.get(link->self, key, out, &error);
    kiln__callback_end(&callback);
    kiln_error_free(error);
    return status;
}

static kiln_status call_put(const kiln__store_link *link, const kiln_key *key,
                            const kiln_blob *envelope)
{
    kiln__callback callback;
    kiln_error *error = NULL;
    kiln_status status;

    kiln__callback_begin(&callback, link->context);
    status =
        link->ops.put(link->self, key, envelope->data, envelope->size, &error);
    kiln__callback_end(&callback);
    kiln_error_free(error);
    return status;
}

static void call_remove(const kiln__store_link *link, const kiln_key *key)
{
    kiln__callback callback;
    kiln_error *error = NULL;

    if (link->ops.remove == NULL)
        return;
    kiln__callback_begin(&callback, link->context);
    (void)link->ops.remove(link->self, key, &error);
    kiln__callback_end(&callback);
    kiln_error_free(error);
}

/* ---- what a link does ---- */

static kiln_status find_bytes(kiln__stored *out, kiln__entry_fault *fault,
                              kiln__store_link *link, const kiln_key *key)
{
    kiln_status status;

    *out = (kiln__stored){0};
    *fault = KILN__FAULT_NONE;
    status = call_get(link, key, &out->bytes);
    if (status != KILN_OK) {
        out->bytes = (kiln_blob){0};
        if (status != KILN_ENOTFOUND)
            *fault = KILN__FAULT_COUNT;
        return KILN_ENOTFOUND;
    }
    *fault = out->bytes.data != NULL
                 ? kiln__entry_decode(&out->entry, out->bytes.data,
                                      out->bytes.size, key)
                 : KILN__FAULT_TRUNCATED;
    return *fault == KILN__FAULT_NONE ? KILN_OK : KILN_ECORRUPT;
}

kiln_status kiln__link_find(kiln__stored *out, kiln__entry_fault *fault,
                            kiln__store_link *link, const kiln_key *key,
                            int drops)
{
    kiln_status status;

    if (link->find != NULL) {
        status = link->find(out, fault, link->self, key);
        if (status != KILN_OK && status != KILN_ENOTFOUND &&
            *fault == KILN__FAULT_NONE)
            *fault = KILN__FAULT_COUNT;
        if (status != KILN_OK)
            return KILN_ENOTFOUND;
    } else {
        status = find_bytes(out, fault, link, key);
    }
    out->from = link;
    out->is_packed = link->is_packed;
    if (status == KILN_ECORRUPT) {
        /* Remove it by the key that was asked for, because the entry may claim
           another. */
        if (drops && link->is_host)
            call_remove(link, key);
        kiln__stored_release(out);
        return KILN_ENOTFOUND;
    }
    return status;
}

kiln_status kiln__link_put(kiln__store_link *link, const kiln_key *key,
                           const kiln_blob *envelope, int replace)
{
    kiln_status status;

    if (atomic_load(&link->takes_none))
        return KILN_EREADONLY;
    if (link->loose != NULL)
        return kiln__loose_put(link->loose, key->digest, envelope->data,
                               envelope->size, replace);
    if (!link->is_host)
        return KILN_EREADONLY;
    if (replace)
        call_remove(link, key);
    status = call_put(link, key, envelope);
    if (status == KILN_EREADONLY)
        atomic_store(&link->takes_none, 1);
    return status;
}

void kiln__link_drop(kiln__store_link *link, const kiln__stored *stored)
{
    if (link->loose != NULL && link->loose->options.writes)
        kiln__loose_drop(link->loose, stored->entry.key.digest,
                         stored->identity);
    else if (link->is_host)
        call_remove(link, &stored->entry.key);
}

/*
 * ---- the built-in ones ----
 *
 * Each function adds what exists. It returns false if it must be tried again.
 */

/* NULL: out of memory. */
static kiln__loose *add_loose(kiln_context *context,
                              const kiln__loose_options *options,
                              int32_t priority)
{
    kiln__store_link *link =
        link_new(context, &kiln__loose_ops, NULL, priority);
    kiln__loose *loose = NULL;

    if (link == NULL ||
        kiln__loose_new(&loose, &context->alloc, context, options) != KILN_OK) {
        kiln__deallocate(&context->alloc, link, sizeof *link);
        return NULL;
    }
    link->self = loose;
    link->find = find_loose;
    if (priority == KILN_STORE_DISK)
        link->loose = loose;
    link_add(context->stores, link);
    return loose;
}

static int mode_writes(int32_t mode)
{
    return mode == KILN_CACHE_MODE_READ_WRITE ||
           mode == KILN_CACHE_MODE_REFRESH || mode == KILN_CACHE_MODE_VERIFY;
}

/* Adds the default folder on a network file system. */
static int add_network(kiln_context *context,
                       const kiln__loose_options *written, const char *name)
{
    const kiln__cache_settings *settings = context->cache;
    kiln__loose_options options = *written;

    options.writes = 0;
    if (context->stores->has_network)
        return 1;
    if (add_loose(context, &options, KILN_STORE_SEARCH_PATH) == NULL)
        return 0;
    kiln__log(context, KILN_LOG_INFO,
              "cache: %s is on a network file system (%s) and is only read; %s "
              "is written",
              settings->directory, name, settings->local_directory);
    context->stores->has_network = 1;
    return 1;
}

static int add_disk(kiln_context *context)
{
    const kiln__cache_settings *settings = context->cache;
    kiln__loose_options options = {
        .directory = settings->directory,
        .name_space = settings->name_space,
        .writes = mode_writes(settings->mode),
        .max_size = settings->max_size,
        .max_entries = settings->max_entries,
        .max_age_s = settings->max_age_s,
    };

    if (settings->directory == NULL) {
        kiln__log(context, KILN_LOG_INFO, "cache: no disk store: %s",
                  settings->why_not);
        return 1;
    }
    if (!settings->is_given) {
        const kiln__filesystem filesystem =
            kiln__filesystem_of_path(&context->alloc, settings->directory);

        if (filesystem.may_pass)
            return 0;
        if (filesystem.is_network) {
            if (!add_network(context, &options, filesystem.name))
                return 0;
            options.directory = settings->local_directory;
        }
    }
    context->stores->disk = add_loose(context, &options, KILN_STORE_DISK);
    return context->stores->disk != NULL;
}

static kiln__trust trust_of_searched(const kiln__cache_settings *settings)
{
    return (kiln__trust){1, settings->trusted, settings->trusted_count};
}

static int add_folder(kiln_context *context, const char *path)
{
    const kiln__loose_options options = {
        .directory = path,
        .trust = trust_of_searched(context->cache),
        .max_size = KILN_CACHE_UNBOUNDED,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = KILN_CACHE_UNBOUNDED,
    };

    return add_loose(context, &options, KILN_STORE_SEARCH_PATH) != NULL;
}

kiln_status kiln__chain_add(kiln_context *context,
                            const kiln__store_source *source)
{
    kiln__store_link *link =
        link_new(context, source->ops, source->self, source->priority);

    if (link == NULL)
        return KILN_ENOMEM;
    link->find = source->find;
    link->is_packed = source->is_packed;
    link->pack = source->pack;
    link_add(context->stores, link);
    return KILN_OK;
}

/* Adds the pack in an open file, which it takes over. */
static int add_pack(kiln_context *context, int file, const char *path)
{
    kiln__store_source source;
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    const kiln_status status =
        kiln__pack_open_file(&pack, &context->alloc, file, path, &error);

    if (status != KILN_OK && status != KILN_ENOMEM)
        kiln__log(context, KILN_LOG_WARNING, "cache: a pack is left out: %s",
                  kiln_error_message(error));
    kiln_error_free(error);
    if (status != KILN_OK)
        return status != KILN_ENOMEM;
    source = kiln__pack_source(pack, KILN_STORE_SEARCH_PATH);
    if (kiln__chain_add(context, &source) == KILN_OK)
        return 1;
    kiln__pack_release(pack);
    return 0;
}

/* Returns an open pack, or -1. With -1 it is a folder, or a folder may be made
 * there; or *why_not says that it must not be used; or errno says that this is
 * not known. */
static int open_searched(const char **why_not,
                         const kiln__cache_settings *settings, const char *path)
{
    const kiln__trust trust = trust_of_searched(settings);
    struct stat facts;
    const int file = kiln__trust_open_path(why_not, &trust, path, O_RDONLY, 0);
    int reason;

    if (file < 0)
        return -1;
    if (fstat(file, &facts) != 0) {
        reason = errno;
    } else {
        reason = 0;
        *why_not =
            S_ISREG(facts.st_mode) ? kiln__trust_why_not(&trust, &facts) : NULL;
        if (S_ISREG(facts.st_mode) && !*why_not)
            return file;
    }
    (void)close(file);
    errno = reason;
    return -1;
}

static int add_searched(kiln_context *context, const char *path)
{
    const char *why_not;
    const int file = open_searched(&why_not, context->cache, path);

    if (file >= 0)
        return add_pack(context, file, path);
    if (why_not == NULL)
        return !kiln__passes(errno) && add_folder(context, path);
    kiln__log(context, KILN_LOG_WARNING, "cache: does not use %s: %s", path,
              why_not);
    return 1;
}

/* Returns the path that begins here, which the caller frees. *next is set to
   the next path's start. NULL: the path is empty, or there is no memory. */
static char *path_at(const char **next, const kiln_alloc *alloc,
                     const char *list)
{
    const size_t size = strcspn(list, ":");

    *next = list + size + (list[size] == ':');
    return size ? kiln__string_copy_n(alloc, list, size) : NULL;
}

static int add_all_searched(kiln_context *context)
{
    const char *list = context->cache->search_path;
    struct kiln__stores *stores = context->stores;

    while (list != NULL && list[stores->searched]) {
        const char *at = list + stores->searched, *next;
        char *path = path_at(&next, &context->alloc, at);
        const int is_done =
            path != NULL ? add_searched(context, path) : *at == ':';

        kiln__string_free(&context->alloc, path);
        if (!is_done)
            return 0;
        stores->searched = (size_t)(next - list);
    }
    return 1;
}

/* Under the lock. */
static int add_built_in(kiln_context *context)
{
    struct kiln__stores *stores = context->stores;

    if (context->cache->mode == KILN_CACHE_MODE_OFF)
        return 1;
    if (!stores->has_disk)
        stores->has_disk = add_disk(context);
    if (stores->has_disk && !stores->has_packs)
        stores->has_packs = stores->disk == NULL ||
                            kiln__folder_packs_add(context, stores->disk);
    return stores->has_packs && add_all_searched(context);
}

/* ---- what is not used ---- */

typedef struct looking {
    kiln_context *context;
    kiln__refused_see see;
    void *env;
} looking;

static void look_at_searched(const looking *l, const char *path)
{
    const char *why_not;
    const int file = open_searched(&why_not, l->context->cache, path);

    if (file >= 0)
        kiln__refused_pack(&l->context->alloc, file, path, l->see, l->env);
    else if (why_not != NULL)
        l->see(l->env, path, why_not);
}

void kiln__chain_refused(kiln_context *context, kiln__refused_see see,
                         void *env)
{
    const looking l = {context, see, env};
    const char *list = context->cache->search_path;

    while (list != NULL && *list) {
        char *path = path_at(&list, &context->alloc, list);

        if (path != NULL)
            look_at_searched(&l, path);
        kiln__string_free(&context->alloc, path);
    }
}

static void warn_of_unknown(kiln_context *context)
{
    const char *found;
    size_t at = 0;

    while ((found = kiln__environment_unknown("KILN_CACHE", &at)))
        kiln__log(context, KILN_LOG_WARNING,
                  "cache: nothing reads the variable %.*s",
                  (int)strcspn(found, "="), found);
}

kiln__store_link *kiln__chain_first(kiln_context *context)
{
    struct kiln__stores *stores = context->stores;

    if (!atomic_load_explicit(&stores->is_ready, memory_order_acquire)) {
        kiln__held_lines lines;

        kiln__log_hold(&lines);
        kiln__mutex_lock(&stores->lock);
        if (!atomic_load(&stores->is_ready) && add_built_in(context))
            atomic_store_explicit(&stores->is_ready, 1, memory_order_release);
        kiln__mutex_unlock(&stores->lock);
        kiln__log_let_go(&lines, context);
    }
    return atomic_load_explicit(&stores->first, memory_order_acquire);
}

/* ---- others ---- */

kiln_status kiln__stores_add(kiln_context *context,
                             const kiln__store_source *source)
{
    kiln_status status;

    kiln__mutex_lock(&context->stores->lock);
    status = kiln__chain_add(context, source);
    kiln__mutex_unlock(&context->stores->lock);
    return status;
}

static int is_taken(struct kiln__stores *stores, int32_t priority)
{
    if (priority == KILN_STORE_PACKS || priority == KILN_STORE_DISK ||
        priority == KILN_STORE_SEARCH_PATH)
        return 1;
    for (const kiln__store_link *link = atomic_load(&stores->first);
         link != NULL; link = kiln__chain_next(link))
        if (link->priority == priority)
            return 1;
    return 0;
}

kiln_status kiln_context_add_store(kiln_context *context,
                                   const kiln_store_ops *ops, void *self,
                                   int32_t priority, kiln_error **error)
{
    kiln_store_ops known;
    kiln__store_link *link;
    int is_refused;

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(ops != NULL, error);
    KILN_TRY(KILN__OPTIONS_READ(&known, ops, kiln_store_ops, error));
    if (known.name == NULL || !*known.name || known.get == NULL ||
        known.put == NULL || known.free == NULL)
        return kiln__error_set(error, KILN_EINVAL,
                               "the store's table has no name, get, put or "
                               "free");
    link = link_new(context, &known, self, priority);
    if (link == NULL)
        return kiln__error_no_memory(error);
    link->is_host = 1;
    kiln__mutex_lock(&context->stores->lock);
    is_refused = is_taken(context->stores, priority);
    if (!is_refused)
        link_add(context->stores, link);
    kiln__mutex_unlock(&context->stores->lock);
    if (!is_refused)
        return KILN_OK;
    kiln__deallocate(&context->alloc, link, sizeof *link);
    return kiln__error_set(error, KILN_EINVAL,
                           "another store has priority %d already",
                           (int)priority);
}

/* ---- the chain itself ---- */

kiln_status kiln__stores_new(kiln_context *context, kiln_error **error)
{
    struct kiln__stores *stores =
        kiln__allocate(&context->alloc, sizeof *stores);

    if (stores == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&stores->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, stores, sizeof *stores);
        return kiln__error_no_memory(error);
    }
    atomic_init(&stores->disk_is_network, -1);
    stores->guard.mutex = &stores->lock;
    kiln__fork_add(&context->fork, &stores->guard);
    context->stores = stores;
    warn_of_unknown(context);
    return KILN_OK;
}

void kiln__stores_free(kiln_context *context)
{
    struct kiln__stores *stores = context->stores;
    kiln__store_link *next;

    if (stores == NULL)
        return;
    for (kiln__store_link *link = atomic_load(&stores->first); link != NULL;
         link = next) {
        next = kiln__chain_next(link);
        link->ops.free(link->self);
        kiln__deallocate(&context->alloc, link, sizeof *link);
    }
    kiln__fork_remove(&context->fork, &stores->guard);
    kiln__mutex_dispose(&stores->lock);
    kiln__deallocate(&context->alloc, stores, sizeof *stores);
    context->stores = NULL;
}
