/* codegen_place.c - decides where code is generated: in this process or
   another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/codegen_place.h"

#include <string.h>

#include "base/data/units.h"
#include "base/error.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_process.h"
#include "context/log.h"

/*
 * LLVM expects IR that a frontend has checked. Kiln's own IR is checked, and
 * its code is generated on threads of this process. Foreign IR may crash LLVM,
 * so it goes to a worker process, if the program for that exists. The first
 * such build finds that out, and later builds do not ask again.
 *
 * Temporary failures do not decide it. For want of descriptors, processes or
 * memory the build fails, and may be tried again. If the program starts and
 * ends by itself for an unknown reason, it is not used for this build; after
 * three times in a row it counts as missing.
 */

#define STARTS_MAX 3

#define DEFAULT_TIMEOUT_S ((uint64_t)120)
#define SECOND ((uint64_t)1000000000)

enum { WORKER_UNKNOWN, WORKER_THERE, WORKER_MISSING };

/* ---- settings ---- */

static const char *const modes[] = {"", "auto", "thread", "worker"};

static kiln_status read_mode(kiln_context *context, uint32_t option,
                             const char *variable, kiln_error **error)
{
    if (option > KILN_CODEGEN_WORKER)
        return kiln__error_set(error, KILN_EINVAL,
                               "codegen is %u; it takes KILN_CODEGEN_...",
                               option);
    context->codegen_mode = option ? option : KILN_CODEGEN_AUTO;
    if (option || variable == NULL)
        return KILN_OK;
    for (uint32_t i = KILN_CODEGEN_AUTO; i <= KILN_CODEGEN_WORKER; i++)
        if (strcmp(variable, modes[i]) == 0) {
            context->codegen_mode = i;
            return KILN_OK;
        }
    return kiln__error_set(error, KILN_EINVAL,
                           "KILN_CODEGEN is '%s'; it takes auto, thread or "
                           "worker",
                           variable);
}

static kiln_status read_timeout(kiln_context *context, uint32_t option,
                                const char *variable, kiln_error **error)
{
    uint64_t seconds = option ? option : DEFAULT_TIMEOUT_S;

    if (option == KILN_CODEGEN_NO_TIMEOUT)
        seconds = 0;
    if (!option && variable != NULL && strcmp(variable, "none") == 0)
        seconds = 0;
    else if (!option && variable != NULL &&
             !kiln__units_read(&seconds, variable, kiln__time_units))
        return kiln__error_set(
            error, KILN_EINVAL,
            "KILN_CODEGEN_TIMEOUT is '%s'; it takes " KILN__TIME_TAKES
            ", or none",
            variable);
    context->codegen_timeout_ns = seconds && seconds < UINT64_MAX / SECOND
                                      ? seconds * SECOND
                                      : UINT64_MAX;
    return KILN_OK;
}

static kiln_status read_memory(kiln_context *context, uint64_t option,
                               const char *variable, kiln_error **error)
{
    context->codegen_memory = option;
    if (option || variable == NULL || strcmp(variable, "none") == 0)
        return KILN_OK;
    if (kiln__units_read(&context->codegen_memory, variable, kiln__size_units))
        return KILN_OK;
    return kiln__error_set(
        error, KILN_EINVAL,
        "KILN_CODEGEN_MEMORY is '%s'; it takes " KILN__SIZE_TAKES ", or none",
        variable);
}

kiln_status kiln__place_read(kiln_context *context,
                             const kiln_context_options *options,
                             const kiln__environment *environment,
                             kiln_error **error)
{
    const char *worker = options->codegen_worker != NULL
                             ? options->codegen_worker
                             : environment->codegen_worker;

    KILN_TRY(read_mode(context, options->codegen, environment->codegen, error));
    KILN_TRY(read_timeout(context, options->codegen_timeout_s,
                          environment->codegen_timeout, error));
    KILN_TRY(read_memory(context, options->codegen_memory,
                         environment->codegen_memory, error));
    if (worker != NULL) {
        context->codegen_worker = kiln__string_copy(&context->alloc, worker);
        if (context->codegen_worker == NULL)
            return kiln__error_no_memory(error);
    }
    return KILN_OK;
}

/* ---- the choice ---- */

static void note_missing(kiln_context *context, const kiln_error *error)
{
    if (atomic_exchange(&context->codegen_worker_state, WORKER_MISSING) !=
        WORKER_MISSING)
        kiln__log(context, KILN_LOG_INFO,
                  "code of other frontends is generated in this process: %s",
                  kiln_error_message(error));
}

/* True if the program counts as missing now. */
static int is_given_up(kiln_context *context, kiln_status status)
{
    return status == KILN_ECODEGEN || status == KILN_EMISMATCH ||
           atomic_fetch_add(&context->codegen_worker_starts, 1) + 1 >=
               STARTS_MAX;
}

/* KILN_OK and `there`; or a temporary failure. */
static kiln_status find_worker(int *there, kiln_context *context,
                               kiln_error **error)
{
    const int state = atomic_load(&context->codegen_worker_state);
    kiln_error *reason = NULL;
    int is_started;
    kiln_status status;

    *there = state == WORKER_THERE;
    if (state != WORKER_UNKNOWN)
        return KILN_OK;
    status = kiln__process_try(context, &is_started, &reason);
    if (status == KILN_OK) {
        atomic_store(&context->codegen_worker_state, WORKER_THERE);
        *there = 1;
        return KILN_OK;
    }
    /* If the host bounds the worker's memory, code must not be generated
       without that bound. */
    if (status == KILN_EMISMATCH ||
        (context->codegen_memory == 0 &&
         (status == KILN_ECODEGEN || (status == KILN_EIO && is_started)))) {
        if (is_given_up(context, status))
            note_missing(context, reason);
        status = KILN_OK;
    } else if (error != NULL) {
        *error = kiln__error_retain(reason);
    }
    kiln_error_free(reason);
    return status;
}

/* A code generator that the host has linked is always used in this process. */
static kiln_status choose(int *in_process, kiln_context *context,
                          int is_foreign, kiln_error **error)
{
    *in_process = context->codegen_mode == KILN_CODEGEN_WORKER;
    if (context->codegen_mode == KILN_CODEGEN_AUTO && is_foreign &&
        context->codegen_exchange == NULL)
        return find_worker(in_process, context, error);
    return KILN_OK;
}

kiln_status kiln__generator_open(kiln__generator *out, kiln_context *context,
                                 int is_foreign, kiln_error **error)
{
    int in_process = 0;

    *out = (kiln__generator){.context = context};
    KILN_TRY(choose(&in_process, context, is_foreign, error));
    return in_process
               ? KILN_OK
               : kiln__codegen_library_open(context, &out->inside, error);
}

kiln_status kiln__generate_by(const kiln__generator *generator,
                              const kiln__codegen_request *request)
{
    return generator->inside != NULL
               ? generator->inside->generate(request)
               : kiln__process_generate(generator->context, request);
}
