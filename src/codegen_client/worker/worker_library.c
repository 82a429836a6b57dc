/* worker_library.c - opens libkiln-codegen in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/system/dynlib.h"
#include "codegen_client/worker/worker.h"

#ifndef KILN_BUILD_ID
#error "the build gives KILN_BUILD_ID to this file"
#endif

#define LIBRARY "libkiln-codegen.so"
#define EXCHANGE "kiln_codegen_exchange"

const char worker_build_id[] = KILN_BUILD_ID;

__attribute__((format(printf, 3, 4))) static kiln_status refuse_library(
    worker_library *out, kiln_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(out->reason, sizeof out->reason, format, arguments);
    va_end(arguments);
    return status;
}

static kiln_status open_file(void **out, worker_library *library,
                             const char *path, int may_search)
{
    kiln_error *error = NULL;
    kiln_status status = kiln__dynlib_open(out, *path ? path : LIBRARY, &error);

    if (status == KILN_OK)
        return KILN_OK;
    (void)refuse_library(library, status,
                         "the code generator cannot be opened: %s",
                         kiln_error_message(error));
    kiln_error_free(error);
    if (status == KILN_ENOTFOUND && may_search)
        status = kiln__dynlib_open(out, LIBRARY, NULL);
    return status == KILN_ENOTFOUND ? KILN_ECODEGEN : status;
}

kiln_status worker_open(worker_library *out, const char *path, int may_search)
{
    static const kiln__codegen_host host = {.size = sizeof host,
                                            .abi = KILN__CODEGEN_ABI,
                                            .build_id = worker_build_id};
    kiln_codegen_exchange_fn exchange;
    void *library = NULL, *symbol;

    KILN_TRY(open_file(&library, out, path, may_search));
    symbol = kiln__dynlib_symbol(library, EXCHANGE);
    if (symbol == NULL)
        return refuse_library(out, KILN_EMISMATCH,
                              "%s is not Kiln's code generator: it has no "
                              "function " EXCHANGE,
                              path);
    memcpy(&exchange, &symbol, sizeof exchange);
    if (exchange(&host, &out->table) != KILN_OK || out->table == NULL ||
        out->table->size < sizeof *out->table ||
        out->table->abi != KILN__CODEGEN_ABI ||
        strcmp(out->table->build_id, worker_build_id) != 0)
        return refuse_library(
            out, KILN_EMISMATCH,
            "%s is not of the build of the worker, " KILN_BUILD_ID, path);
    return KILN_OK;
}
