/* codegen_exchange.c - the one exported function, and LLVM's fatal errors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/ErrorHandling.h>

#include "base/system/thread.h"
#include "codegen/generate.h"
#include "codegen/module/codegen_stages.h"
#include "kiln/compile.h"

/*
 * LLVM has one fatal error handler per process, and the host may use the same
 * libLLVM on its own threads. So the handler checks whether the calling thread
 * is running one of our requests. If it is, the request fails, and the thread
 * never returns into LLVM, because LLVM's state on that thread is lost. If it
 * is not, the handler does what LLVM does without one. LLVM offers no way to
 * ask for a handler that was installed earlier, so ours replaces it.
 */

const char kiln__codegen_build_id[] = KILN_BUILD_ID;

static struct {
    kiln__once once;
    char llvm_version[32];
} state = {.once = KILN__ONCE_INIT};

/* Prints what LLVM prints when no handler is installed. LLVM exits after it. */
static void say_as_llvm(const char *reason)
{
    static const char head[] = "LLVM ERROR: ";
    ssize_t written = write(STDERR_FILENO, head, sizeof head - 1);

    if (written > 0)
        written = write(STDERR_FILENO, reason, strlen(reason));
    if (written > 0)
        written = write(STDERR_FILENO, "\n", 1);
}

static void give_up(const char *what, const char *reason)
{
    char message[1024];

    if (kiln__codegen_current() == NULL) {
        say_as_llvm(reason);
        return;
    }
    kiln__codegen_backends_abandon();
    snprintf(message, sizeof message, "LLVM %s: %s", what, reason);
    kiln__join_lines(message);
    kiln__codegen_park(message);
}

static void on_fatal_error(const char *reason)
{
    give_up("cannot go on", reason);
}

static void on_bad_alloc(const char *reason)
{
    give_up("ran out of memory", reason);
}

static int32_t supports(const char *backend)
{
    return kiln__codegen_backend_find(backend) != NULL;
}

static kiln_status generate(const kiln__codegen_request *request)
{
    const unsigned backend =
        kiln__codegen_backend_bit(request->settings->backend);
    kiln_status status;

    kiln__codegen_enter(request);
    kiln__codegen_job_begins(backend);
    status = kiln__generate(request);
    kiln__codegen_job_ends(
        status == KILN_OK && request->form == KILN_EMIT_BINARY ? backend : 0);
    kiln__codegen_enter(NULL);
    return status;
}

static kiln__codegen table = {
    .size = sizeof(kiln__codegen),
    .abi = KILN__CODEGEN_ABI,
    .build_id = kiln__codegen_build_id,
    .llvm_version = state.llvm_version,
    .supports = supports,
    .generate = generate,
};

/* Returns the address of a function as an object pointer. C has no conversion
   between the two. */
static const void *address_of_llvm(void)
{
    void (*function)(unsigned *, unsigned *, unsigned *) = LLVMGetVersion;
    const void *address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static void set_up_llvm(void)
{
    unsigned major, minor, patch;

    table.code = &table;
    table.llvm_code = address_of_llvm();

    LLVMGetVersion(&major, &minor, &patch);
    snprintf(state.llvm_version, sizeof state.llvm_version, "%u.%u.%u", major,
             minor, patch);
    LLVMResetFatalErrorHandler();
    LLVMInstallFatalErrorHandler(on_fatal_error);
    kiln__llvm_on_bad_alloc(on_bad_alloc);
    /* kiln__fork_handle() runs handlers in reverse order of their registration,
       so the handler for jobs, which is added last, runs first. */
    kiln__codegen_backends_guard_forks();
    kiln__codegen_guard_forks();
}

kiln_status kiln_codegen_exchange(const struct kiln_codegen_host *host,
                                  const struct kiln_codegen **out)
{
    if (host == NULL || out == NULL)
        return KILN_EINVAL;
    if (host->size < sizeof *host || host->abi != KILN__CODEGEN_ABI ||
        host->build_id == NULL ||
        strcmp(host->build_id, kiln__codegen_build_id) != 0)
        return KILN_EMISMATCH;

    kiln__once_run(&state.once, set_up_llvm);
    *out = &table;
    return KILN_OK;
}
