/* codegen_library.c - opens libkiln-codegen at the first miss. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/system/dynlib.h"
#include "base/system/thread.h"
#include "codegen_client/codegen_library.h"
#include "context/context.h"

/*
 * The only file that knows where the code generator is. The library loads LLVM
 * and is never closed, so what one context has opened serves the others: the
 * loader returns the same library for the same path. Opening runs under one
 * lock of the process, because loading LLVM twice at once is useless and the
 * exchange may initialise something.
 *
 * A context keeps the table that it found. It does not keep a failure:
 * descriptors or memory may be short for a moment, and the library may be
 * installed later. A search for a missing library takes some microseconds, and
 * happens at misses only.
 */

#ifndef KILN_BUILD_ID
#error "the build gives KILN_BUILD_ID to both libraries"
#endif

#define LIBRARY "libkiln-codegen.so"
#define EXCHANGE "kiln_codegen_exchange"

struct kiln__codegen_library {
    const kiln__codegen *table; /* set once, under library_lock */
};

static kiln__mutex library_lock = KILN__MUTEX_INIT;

kiln_status kiln__codegen_library_new(kiln_context *context)
{
    static kiln__fork_guard guard = {.mutex = &library_lock};
    static kiln__fork_list list = {.guards = &guard}; /* of the process */

    KILN_TRY(kiln__fork_list_add(&list));
    context->codegen_library =
        kiln__allocate(&context->alloc, sizeof *context->codegen_library);
    return context->codegen_library != NULL ? KILN_OK : KILN_ENOMEM;
}

void kiln__codegen_library_free(kiln_context *context)
{
    if (context->codegen_library == NULL)
        return;
    kiln__deallocate(&context->alloc, context->codegen_library,
                     sizeof *context->codegen_library);
    context->codegen_library = NULL;
}

/* ---- finding the library ---- */

/* Searches beside libkiln, then where the loader looks. The error is that of
   the first place, because the library is more likely to be there. */
static kiln_status open_default(void **out, kiln_error **error)
{
    char path[PATH_MAX + sizeof "/" LIBRARY];
    kiln_error *first = NULL;
    kiln_status status;

    if (kiln__dynlib_folder(path, &library_lock) != KILN_OK)
        return kiln__dynlib_open(out, LIBRARY, error);
    (void)strcat(path, "/" LIBRARY);
    status = kiln__dynlib_open(out, path, &first);
    if (status == KILN_ENOTFOUND)
        status = kiln__dynlib_open(out, LIBRARY, NULL);
    if (status != KILN_OK && error != NULL)
        *error = kiln__error_retain(first);
    kiln_error_free(first);
    return status;
}

static kiln_status find_exchange(kiln_codegen_exchange_fn *out,
                                 const kiln_context *context,
                                 kiln_error **error)
{
    void *library = NULL;
    void *symbol;
    kiln_status status;

    if (context->codegen_exchange != NULL) {
        *out = context->codegen_exchange;
        return KILN_OK;
    }
    status = context->codegen_path != NULL
                 ? kiln__dynlib_open(&library, context->codegen_path, error)
                 : open_default(&library, error);
    if (status != KILN_OK)
        return kiln__error_wrap(
            error, status == KILN_ENOTFOUND ? KILN_ECODEGEN : status,
            "the code generator, %s, cannot be opened",
            context->codegen_path != NULL ? context->codegen_path : LIBRARY);
    symbol = kiln__dynlib_symbol(library, EXCHANGE);
    if (symbol == NULL)
        return kiln__error_set(
            error, KILN_EMISMATCH,
            "%s is not Kiln's code generator: it has no "
            "function " EXCHANGE,
            context->codegen_path != NULL ? context->codegen_path : LIBRARY);
    memcpy(out, &symbol, sizeof symbol);
    return KILN_OK;
}

kiln_status kiln__codegen_library_path(const kiln_context *context,
                                       char out[PATH_MAX])
{
    return context->codegen_exchange != NULL
               ? KILN_ENOTFOUND
               : kiln__codegen_library_library(context, out);
}

kiln_status kiln__codegen_library_library(const kiln_context *context,
                                          char out[PATH_MAX])
{
    size_t used;
    int size;

    if (context->codegen_path != NULL) {
        size = snprintf(out, PATH_MAX, "%s", context->codegen_path);
        return size > 0 && size < PATH_MAX ? KILN_OK : KILN_ENOTFOUND;
    }
    KILN_TRY(kiln__dynlib_folder(out, &library_lock));
    used = strlen(out);
    size = snprintf(out + used, PATH_MAX - used, "/" LIBRARY);
    return (size_t)size < PATH_MAX - used ? KILN_OK : KILN_ENOTFOUND;
}

/* ---- the exchange ---- */

static kiln_status check_table(const kiln__codegen *table, kiln_error **error)
{
    if (table == NULL || table->size < sizeof *table ||
        table->abi != KILN__CODEGEN_ABI)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "the code generator has another interface than "
                               "this library");
    if (table->build_id == NULL || strcmp(table->build_id, KILN_BUILD_ID) != 0)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "the code generator is of build %s, this "
                               "library of build " KILN_BUILD_ID,
                               table->build_id != NULL ? table->build_id
                                                       : "unknown");
    return KILN_OK;
}

static kiln_status open_table(const kiln__codegen **out,
                              const kiln_context *context, kiln_error **error)
{
    static const kiln__codegen_host host = {.size = sizeof host,
                                            .abi = KILN__CODEGEN_ABI,
                                            .build_id = KILN_BUILD_ID};
    kiln_codegen_exchange_fn exchange = NULL;
    const kiln__codegen *table = NULL;
    kiln_status status;

    KILN_TRY(find_exchange(&exchange, context, error));
    status = exchange(&host, &table);
    if (status != KILN_OK && table == NULL)
        return kiln__error_set(error, status,
                               "the code generator refuses this library of "
                               "build " KILN_BUILD_ID ": %s",
                               kiln_status_text(status));
    KILN_TRY(check_table(table, error));
    *out = table;
    return KILN_OK;
}

kiln_status kiln__codegen_library_open(kiln_context *context,
                                       const kiln__codegen **out,
                                       kiln_error **error)
{
    struct kiln__codegen_library *library = context->codegen_library;
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&library_lock);
    if (library->table == NULL)
        status = open_table(&library->table, context, error);
    kiln__mutex_unlock(&library_lock);
    if (status == KILN_OK)
        *out = library->table; /* it does not change any more */
    return status;
}

const kiln__codegen *kiln__codegen_library_peek(kiln_context *context)
{
    const kiln__codegen *table;

    kiln__mutex_lock(&library_lock);
    table = context->codegen_library->table;
    kiln__mutex_unlock(&library_lock);
    return table;
}
