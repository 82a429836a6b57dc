/* bitcode_library.c - bitcode libraries, found by symbol and read once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/runtime/bitcode_library.h"

#include <string.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "base/options.h"
#include "base/system/file.h"
#include "base/system/thread.h"
#include "context/keys/settings.h"
#include "kiln/runtime.h"
#include "tiers/typed/code_instance.h"

/*
 * Libraries are added until the first inference; after that the list is walked
 * without a lock. A file is read when one of its symbols is first used. From
 * then on the library is what was read, even if the file changes.
 */

#define FILE_SIZE_MAX ((size_t)1 << 30)

struct kiln__library {
    char *name;
    char *backend;         /* or NULL */
    char *path;            /* or NULL */
    kiln__file_stamp file; /* stamp of the file that was read; empty: it changed
                              during reading */
    char **symbols;
    size_t symbol_count;
    kiln_blob bytes;
    kiln_digest digest;
    _Atomic int is_read; /* whether bytes and digest are set */
    struct kiln__library *next;
};

struct kiln__libraries {
    kiln__mutex lock;
    struct kiln__library *list;   /* newest first */
    struct kiln__library *opened; /* Kiln's own, by path */
    _Atomic int is_closed;
    kiln__fork_guard guard;
};

kiln_status kiln__libraries_new(kiln_context *context)
{
    struct kiln__libraries *libraries =
        kiln__allocate(&context->alloc, sizeof *libraries);

    if (libraries == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&libraries->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, libraries, sizeof *libraries);
        return KILN_ENOMEM;
    }
    libraries->guard = (kiln__fork_guard){.mutex = &libraries->lock};
    kiln__fork_add(&context->fork, &libraries->guard);
    context->libraries = libraries;
    return KILN_OK;
}

static void library_free(const kiln_alloc *alloc, struct kiln__library *library)
{
    if (library->symbols != NULL)
        for (size_t i = 0; i < library->symbol_count; i++)
            kiln__string_free(alloc, library->symbols[i]);
    kiln__deallocate(alloc, library->symbols,
                     library->symbol_count * sizeof *library->symbols);
    kiln_blob_release(&library->bytes);
    kiln__string_free(alloc, library->name);
    kiln__string_free(alloc, library->backend);
    kiln__string_free(alloc, library->path);
    kiln__deallocate(alloc, library, sizeof *library);
}

static void free_list(const kiln_alloc *alloc, struct kiln__library *list)
{
    while (list != NULL) {
        struct kiln__library *next = list->next;

        library_free(alloc, list);
        list = next;
    }
}

void kiln__libraries_free(kiln_context *context)
{
    struct kiln__libraries *libraries = context->libraries;

    if (libraries == NULL)
        return;
    free_list(&context->alloc, libraries->list);
    free_list(&context->alloc, libraries->opened);
    kiln__fork_remove(&context->fork, &libraries->guard);
    kiln__mutex_dispose(&libraries->lock);
    kiln__deallocate(&context->alloc, libraries, sizeof *libraries);
    context->libraries = NULL;
}

void kiln__libraries_close(kiln_context *context)
{
    struct kiln__libraries *libraries = context->libraries;

    if (atomic_load_explicit(&libraries->is_closed, memory_order_acquire))
        return;
    kiln__mutex_lock(&libraries->lock);
    atomic_store_explicit(&libraries->is_closed, 1, memory_order_release);
    kiln__mutex_unlock(&libraries->lock);
}

/* ---- adding ---- */

static int copy_symbols(struct kiln__library *library, const kiln_alloc *alloc,
                        const kiln_runtime_library *given)
{
    library->symbols = kiln__allocate_array(alloc, given->symbol_count,
                                            sizeof *library->symbols);
    if (library->symbols == NULL)
        return 0;
    library->symbol_count = given->symbol_count;
    for (size_t i = 0; i < given->symbol_count; i++)
        if (kiln__string_copy_optional(&library->symbols[i], alloc,
                                       given->symbols[i]) != KILN_OK)
            return 0;
    return 1;
}

static void take_bytes(struct kiln__library *library, kiln_blob bytes)
{
    library->bytes = bytes;
    library->digest = kiln__digest_bytes(bytes.data, bytes.size);
    atomic_store_explicit(&library->is_read, 1, memory_order_release);
}

static struct kiln__library *library_new(const kiln_alloc *alloc,
                                         const kiln_runtime_library *given)
{
    struct kiln__library *library = kiln__allocate(alloc, sizeof *library);
    kiln_blob bytes = {0};

    if (library == NULL)
        return NULL;
    if (kiln__string_copy_optional(&library->name, alloc, given->name) !=
            KILN_OK ||
        kiln__string_copy_optional(&library->backend, alloc, given->backend) !=
            KILN_OK ||
        kiln__string_copy_optional(&library->path, alloc, given->path) !=
            KILN_OK ||
        !copy_symbols(library, alloc, given) ||
        (given->path == NULL && kiln__blob_copy(&bytes, alloc, given->bytes,
                                                given->byte_size) != KILN_OK)) {
        library_free(alloc, library);
        return NULL;
    }
    if (given->path == NULL)
        take_bytes(library, bytes);
    return library;
}

static kiln_status check(const kiln_runtime_library *given, kiln_error **error)
{
    KILN_REQUIRE(given->name != NULL, error);
    KILN_REQUIRE(given->symbols != NULL && given->symbol_count > 0, error);
    for (size_t i = 0; i < given->symbol_count; i++)
        KILN_REQUIRE(given->symbols[i] != NULL && *given->symbols[i] != '\0',
                     error);
    if ((given->bytes != NULL && given->byte_size) == (given->path != NULL))
        return kiln__error_set(error, KILN_EINVAL,
                               "library %s has either bytes or a path",
                               given->name);
    return KILN_OK;
}

kiln_status kiln_runtime_add_library(kiln_context *context,
                                     const kiln_runtime_library *given,
                                     kiln_error **error)
{
    struct kiln__libraries *libraries;
    struct kiln__library *library;
    kiln_runtime_library known;
    int is_late;

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(given != NULL, error);
    KILN_TRY(KILN__OPTIONS_READ(&known, given, kiln_runtime_library, error));
    KILN_TRY(check(&known, error));
    library = library_new(&context->alloc, &known);
    if (library == NULL)
        return kiln__error_no_memory(error);
    libraries = context->libraries;
    kiln__mutex_lock(&libraries->lock);
    is_late = atomic_load(&libraries->is_closed);
    if (!is_late) {
        library->next = libraries->list;
        libraries->list = library;
    }
    kiln__mutex_unlock(&libraries->lock);
    if (!is_late)
        return KILN_OK;
    library_free(&context->alloc, library);
    return kiln__error_set(error, KILN_EINVAL,
                           "library %s comes too late: something was inferred "
                           "in this context already",
                           known.name);
}

/* ---- finding ---- */

/* Inference must not read the setting `backend`; but the backend's name is
   among the overlay tables, which inference may read. */
static int serves(const struct kiln__library *library,
                  const kiln_config *config)
{
    const char *at = config->overlays;
    const size_t size = library->backend != NULL ? strlen(library->backend) : 0;

    if (library->backend == NULL)
        return 1;
    while (strncmp(at, library->backend, size) != 0 ||
           (at[size] != ',' && at[size] != '\0')) {
        at = strchr(at, ',');
        if (at == NULL)
            return 0;
        at++;
    }
    return 1;
}

static const char *offered(const struct kiln__library *library,
                           const char *symbol)
{
    for (size_t i = 0; i < library->symbol_count; i++)
        if (strcmp(library->symbols[i], symbol) == 0)
            return library->symbols[i];
    return NULL;
}

/* Two threads may read it at once; the bytes of the first one are kept. */
static kiln_status library_read(struct kiln__library *library,
                                kiln_context *context, kiln_error **error)
{
    kiln__file_stamp before, after;
    kiln_blob bytes = {0};

    if (atomic_load_explicit(&library->is_read, memory_order_acquire))
        return KILN_OK;
    before = kiln__file_stamp_at(library->path);
    KILN_TRY(kiln__file_read(&bytes, &context->alloc, library->path,
                             FILE_SIZE_MAX, error));
    after = kiln__file_stamp_at(library->path);
    kiln__mutex_lock(&context->libraries->lock);
    if (!atomic_load(&library->is_read)) {
        if (kiln__file_stamp_is(&before, &after))
            library->file = before;
        take_bytes(library, bytes);
        bytes = (kiln_blob){0};
    }
    kiln__mutex_unlock(&context->libraries->lock);
    kiln_blob_release(&bytes);
    return KILN_OK;
}

kiln_status kiln__library_find(kiln__library_use *out, kiln_context *context,
                               const kiln_config *config, const char *symbol,
                               kiln_error **error)
{
    struct kiln__library *library = context->libraries->list;
    const char *name = NULL;

    for (; library != NULL; library = library->next) {
        name = serves(library, config) ? offered(library, symbol) : NULL;
        if (name != NULL)
            break;
    }
    if (library == NULL)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "no runtime library offers '%s'", symbol);
    KILN_TRY(library_read(library, context, error));
    *out = (kiln__library_use){
        .library = library,
        .symbol = name,
        .digest =
            kiln__digest_combine(library->digest, kiln__digest_text(name)),
    };
    return KILN_OK;
}

static struct kiln__library *find_opened(const struct kiln__libraries *all,
                                         const char *path)
{
    struct kiln__library *at = all->opened;

    while (at != NULL && strcmp(at->path, path) != 0)
        at = at->next;
    return at;
}

/* Adds `fresh`, or returns the library that another thread has added. */
static struct kiln__library *keep_opened(struct kiln__libraries *all,
                                         struct kiln__library **fresh)
{
    struct kiln__library *known;

    kiln__mutex_lock(&all->lock);
    known = find_opened(all, (*fresh)->path);
    if (known == NULL) {
        known = *fresh;
        known->next = all->opened;
        all->opened = known;
        *fresh = NULL;
    }
    kiln__mutex_unlock(&all->lock);
    return known;
}

kiln_status kiln__library_open(const struct kiln__library **out,
                               kiln_context *context, const char *name,
                               const char *path, kiln_error **error)
{
    struct kiln__libraries *all = context->libraries;
    const kiln_runtime_library given = {.name = name, .path = path};
    struct kiln__library *known, *fresh;
    kiln_status status;

    kiln__mutex_lock(&all->lock);
    known = find_opened(all, path);
    kiln__mutex_unlock(&all->lock);
    if (known == NULL) {
        fresh = library_new(&context->alloc, &given);
        if (fresh == NULL)
            return kiln__error_no_memory(error);
        status = library_read(fresh, context, error);
        if (status == KILN_OK)
            known = keep_opened(all, &fresh);
        if (fresh != NULL)
            library_free(&context->alloc, fresh);
        if (status != KILN_OK)
            return status;
    }
    *out = known;
    return KILN_OK;
}

const char *kiln__library_name(const struct kiln__library *library)
{
    return library->name;
}

kiln__tool_use kiln__library_as_tool(const struct kiln__library *library)
{
    return (kiln__tool_use){.name = library->name,
                            .path = library->path,
                            .file = library->file,
                            .bytes = library->bytes.data,
                            .size = library->bytes.size};
}

const void *kiln__library_bytes(const struct kiln__library *library,
                                size_t *size)
{
    *size = library->bytes.size;
    return library->bytes.data;
}

kiln_digest kiln__library_digest(const struct kiln__library *library)
{
    return library->digest;
}
