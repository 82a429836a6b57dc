/* worker_replay.c - runs a request that was kept in a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/dynlib.h"
#include "base/system/file.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "codegen_client/source_wire.h"
#include "codegen_client/worker/worker.h"

/*
 * The request runs in one process that a person observes, for example under a
 * debugger, so that it crashes where the worker crashed. LLVM runs on a thread
 * with the same size of stack as there.
 */

#define LIBRARY "../../lib/libkiln-codegen.so"

typedef struct replay {
    const kiln__codegen *table;
    kiln__codegen_request request;
    const char *out;
    int status;
} replay;

static kiln_status take_result(void *env, const kiln__codegen_result *result)
{
    replay *r = env;
    FILE *file = r->out != NULL ? fopen(r->out, "wb") : NULL;
    int written = 1;

    (void)printf("%s: %s, %zu bytes\n", r->request.entry, result->format,
                 result->size);
    if (r->out != NULL)
        written = file != NULL &&
                  fwrite(result->bytes, 1, result->size, file) == result->size;
    if (file != NULL && fclose(file) != 0)
        written = 0;
    if (!written)
        (void)fprintf(stderr, "cannot write %s\n", r->out);
    r->status = written ? 0 : 1;
    return KILN_OK;
}

static void take_failure(void *env, kiln_status status, const char *message)
{
    replay *r = env;

    (void)fprintf(stderr, "%s: %s (%s)\n", r->request.entry, message,
                  kiln_status_name(status));
    r->status = 1;
}

static void fatal(void *env, const char *message)
{
    take_failure(env, KILN_ECODEGEN, message);
    _exit(1); /* LLVM stopped in the middle of something */
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    (void)env;
    (void)which;
    (void)nanoseconds;
}

static void *run(void *env)
{
    replay *r = env;

    (void)r->table->generate(&r->request);
    return NULL;
}

static int run_request(replay *r)
{
    kiln__thread thread;

    r->request.env = r;
    r->request.finish = take_result;
    r->request.fail = take_failure;
    r->request.fatal = fatal;
    r->request.stage = stage;
    r->status = 1;
    if (kiln__thread_start(&thread, KILN__STACK_TO_COMPILE, run, r) !=
        KILN_OK) {
        (void)fprintf(stderr, "no thread can be started\n");
        return 1;
    }
    kiln__thread_join(thread);
    return r->status;
}

/* Gives the library that was given, else that of libkiln's variable, else that
   of the build. */
static const char *find_library(char beside[PATH_MAX + sizeof "/" LIBRARY],
                                const char *given)
{
    static const char here;
    const char *path =
        given != NULL ? given : secure_getenv("KILN_CODEGEN_PATH");

    if (path != NULL)
        return path;
    if (kiln__dynlib_folder(beside, &here) != KILN_OK)
        beside[0] = '\0';
    (void)strcat(beside, "/" LIBRARY);
    return beside;
}

static int open_library(worker_library *library, const char *given)
{
    char beside[PATH_MAX + sizeof "/" LIBRARY];
    const char *path = find_library(beside, given);

    if (worker_open(library, path, path == beside) == KILN_OK)
        return 1;
    (void)fprintf(stderr, "%s\n", library->reason);
    return 0;
}

static int replay_request(replay *r, const char *library)
{
    worker_library opened = {.table = NULL};

    if (!open_library(&opened, library))
        return 1;
    r->table = opened.table;
    return run_request(r);
}

static int replay_bytes(const kiln_blob *bytes, const char *file,
                        const char *library, const char *out)
{
    char beside[PATH_MAX + sizeof "/" LIBRARY];
    replay r = {.out = out};
    kiln__source_request source;
    kiln__arena arena;
    int status = 1;

    kiln__arena_init(&arena, &kiln__malloc);
    if (kiln__wire_get_request(&r.request, &arena, bytes->data, bytes->size) ==
        KILN_OK)
        status = replay_request(&r, library);
    else if (kiln__wire_get_source(&source, &arena, bytes->data, bytes->size) ==
             KILN_OK)
        status = worker_replay_source(find_library(beside, library),
                                      bytes->data, bytes->size);
    else
        (void)fprintf(stderr, "%s is no request of this version\n", file);
    kiln__arena_dispose(&arena);
    return status;
}

int worker_replay(const char *file, const char *library, const char *out)
{
    kiln_error *error = NULL;
    kiln_blob bytes = {0};
    int status;

    if (kiln__file_read(&bytes, &kiln__malloc, file, KILN__WIRE_LARGEST,
                        &error) != KILN_OK) {
        (void)fprintf(stderr, "%s\n", kiln_error_message(error));
        kiln_error_free(error);
        return 1;
    }
    status = replay_bytes(&bytes, file, library, out);
    if (bytes.release != NULL)
        bytes.release(&bytes);
    return status;
}
