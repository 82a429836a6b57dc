/* worker_source.c - compiles sources of OpenCL C in a worker process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/system/dynlib.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "codegen_client/source_wire.h"
#include "codegen_client/worker/worker.h"

/*
 * The library is opened by the first source, and stays: clang is of no use to
 * all other requests. What it does wrong ends this process, and libkiln tells
 * so, as it does for code generation.
 */

/* By the one thread that serves. */
static void *library;             /* NULL: not opened yet */
static const kiln__clang *opened; /* NULL: it is of another build, too */

/* Searches beside libkiln-codegen. */
static kiln_status open_clang(const char *codegen_library, const char **message,
                              kiln__arena *arena)
{
    const char *end = strrchr(codegen_library, '/');
    const int folder = end != NULL ? (int)(end + 1 - codegen_library) : 0;
    const char *path = kiln__arena_format(arena, "%.*s" KILN__CLANG_LIBRARY,
                                          folder, codegen_library);
    kiln__clang_exchange_fn exchange;
    kiln_error *error = NULL;
    void *symbol;

    if (opened != NULL)
        return KILN_OK;
    if (path == NULL)
        return KILN_ENOMEM;
    if (library == NULL &&
        kiln__dynlib_open(&library, path, &error) != KILN_OK) {
        *message = kiln__arena_format(
            arena, "the compiler of OpenCL C cannot be opened: %s",
            kiln_error_message(error));
        kiln_error_free(error);
        return KILN_EUNSUPPORTED;
    }
    symbol = kiln__dynlib_symbol(library, KILN__CLANG_EXCHANGE);
    memcpy(&exchange, &symbol, sizeof exchange);
    if (symbol == NULL || exchange()->size < sizeof *opened ||
        exchange()->abi != KILN__CLANG_ABI ||
        strcmp(exchange()->build_id, worker_build_id) != 0) {
        *message = kiln__arena_format(
            arena, "%s is not of the build of the worker", path);
        return KILN_EMISMATCH;
    }
    opened = exchange();
    return KILN_OK;
}

void worker_compile_source(kiln__encoder *out, const char *codegen_library,
                           const void *bytes, size_t size)
{
    const uint64_t begin = kiln__clock_ns();
    kiln__source_answer answer = {0};
    kiln__source_request request;
    kiln__arena *arena = &answer.result.arena;

    kiln__arena_init(arena, &kiln__malloc);
    answer.status = kiln__wire_get_source(&request, arena, bytes, size);
    answer.message = "the code generator's worker cannot read its request";
    if (answer.status == KILN_OK)
        answer.status = open_clang(codegen_library, &answer.message, arena);
    if (answer.status == KILN_OK)
        answer.status =
            opened->compile(&answer.result, &request, &answer.message);
    answer.result.make_ns = kiln__clock_ns() - begin;
    kiln__wire_put_source_answer(out, &answer);
    kiln__arena_dispose(arena);
}

/* ---- a request that was kept ---- */

static void tell(const kiln__source_answer *answer)
{
    for (size_t i = 0; i < answer->result.note_count; i++) {
        const kiln__source_note *note = &answer->result.notes[i];

        (void)fprintf(stderr, "%s:%u:%u: %s\n",
                      note->file != NULL ? note->file : "", note->line,
                      note->column, note->text);
    }
    for (size_t i = 0; i < answer->result.function_count; i++)
        (void)printf("%s: %zu bytes\n", answer->result.functions[i].name,
                     answer->result.functions[i].bitcode_size);
    if (answer->status != KILN_OK)
        (void)fprintf(stderr, "%s (%s)\n", answer->message,
                      kiln_status_name(answer->status));
}

typedef struct source_replay {
    const char *codegen_library;
    const void *bytes;
    size_t size;
    int status;
} source_replay;

static void *run(void *env)
{
    source_replay *r = env;
    kiln__source_answer answer;
    kiln__encoder encoded;
    kiln__arena arena;

    kiln__arena_init(&arena, &kiln__malloc);
    kiln__encoder_init(&encoded, &kiln__malloc);
    worker_compile_source(&encoded, r->codegen_library, r->bytes, r->size);
    if (!encoded.failed &&
        kiln__wire_get_source_answer(&answer, &arena, encoded.bytes,
                                     encoded.size) == KILN_OK) {
        tell(&answer);
        r->status = answer.status != KILN_OK;
    }
    kiln__encoder_dispose(&encoded);
    kiln__arena_dispose(&arena);
    return NULL;
}

/* On a thread with the stack that a worker has. */
int worker_replay_source(const char *codegen_library, const void *bytes,
                         size_t size)
{
    source_replay r = {codegen_library, bytes, size, 1};
    kiln__thread thread;

    if (kiln__thread_start(&thread, KILN__STACK_TO_COMPILE, run, &r) != KILN_OK)
        (void)fprintf(stderr, "no thread can be started\n");
    else
        kiln__thread_join(thread);
    return r.status;
}
