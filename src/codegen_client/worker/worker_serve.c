/* worker_serve.c - a worker process serves the libkiln that started it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/system/io.h"
#include "base/system/stack.h"
#include "base/system/temp_dir.h"
#include "base/system/thread.h"
#include "codegen_client/worker/worker.h"

/*
 * One thread reads requests and runs them. The first thread only watches
 * whether the other side still exists. So a worker never outlives its libkiln,
 * even if LLVM hangs, and a crash ends only this process. The processes that it
 * started end with it, and their temporary files are removed.
 *
 * If something cannot be answered, the process ends, and the other side notices
 * that.
 */

#define STREAM 3

/* Higher than other processes have, so that the system ends this one first when
   memory runs out. */
#define OUT_OF_MEMORY_SCORE "500"

static const char *temporary;          /* folder for temporary files, or NULL */
static char codegen_library[PATH_MAX]; /* its path, as libkiln gave it */

/* A libkiln that ends this process kills it before it closes the stream. So if
   the stream has ended, libkiln is gone. Both threads may find that; the first
   one keeps the lock for ever. */
__attribute__((noreturn)) static void end_alone(void)
{
    static kiln__mutex lock = KILN__MUTEX_INIT;

    kiln__mutex_lock(&lock);
    if (getpgrp() == getpid()) {
        (void)signal(SIGTERM, SIG_IGN);
        (void)kill(0, SIGTERM);
    }
    if (temporary != NULL)
        kiln__temporary_remove(temporary);
    _exit(KILN__WIRE_LOST);
}

/* ---- messages ---- */

static void send_all(const void *bytes, size_t size)
{
    size_t done = 0;

    if (kiln__io_send(STREAM, bytes, size, 0, &done) != 0)
        end_alone();
}

/* Prints the reason for libkiln's error. No message is sent, because libkiln
   may be sending itself and not read one. */
__attribute__((noreturn)) static void end_with(const char *words)
{
    const ssize_t written = write(STDERR_FILENO, words, strlen(words));

    _exit(written < 0 ? 2 : 1);
}

static void send_message(int kind, const kiln__encoder *fields)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];

    if (fields->failed)
        end_with("out of memory\n");
    if (fields->size > KILN__WIRE_LARGEST)
        end_with("the outcome is too large for a message\n");
    kiln__wire_put_head(head, kind, fields->size);
    send_all(head, sizeof head);
    send_all(fields->bytes, fields->size);
}

static void send_note(int kind, int64_t number, uint64_t value,
                      const char *text)
{
    const kiln__wire_note note = {number, value, text};
    kiln__encoder fields;

    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_note(&fields, &note);
    send_message(kind, &fields);
    kiln__encoder_dispose(&fields);
}

static void receive_all(void *bytes, size_t size)
{
    size_t done = 0;

    if (kiln__io_receive(STREAM, bytes, size, 0, &done) != 0)
        end_alone();
}

/* A NUL follows the bytes; the caller frees them. */
static unsigned char *receive(int *kind, size_t *size)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];
    unsigned char *bytes;

    receive_all(head, sizeof head);
    *kind = kiln__wire_get_head(head, size);
    if (*kind != KILN__WIRE_HELLO && *kind != KILN__WIRE_REQUEST &&
        *kind != KILN__WIRE_SOURCE)
        _exit(1);
    bytes = malloc(*size + 1);
    if (bytes == NULL)
        end_with("out of memory\n");
    receive_all(bytes, *size);
    bytes[*size] = '\0';
    return bytes;
}

/* ---- hello ---- */

static void send_ready(const kiln__codegen *table)
{
    kiln__builds_loaded loaded;
    kiln__wire_ready ready = {.abi = KILN__CODEGEN_ABI,
                              .build_id = worker_build_id,
                              .codegen_id = loaded.ids.codegen,
                              .llvm_id = loaded.ids.llvm,
                              .llvm_path = loaded.llvm_path};
    kiln__encoder fields;

    kiln__builds_look(&loaded, table->code, table->llvm_code);
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_ready(&fields, &ready);
    send_message(KILN__WIRE_READY, &fields);
    kiln__encoder_dispose(&fields);
}

_Noreturn static void send_refusal(kiln_status status, const char *reason)
{
    send_note(KILN__WIRE_REFUSED, status, 0, reason);
    _exit(1);
}

static void bound_memory(uint64_t bytes)
{
    const struct rlimit limit = {bytes, bytes};

    if (bytes && setrlimit(RLIMIT_AS, &limit) != 0)
        send_refusal(KILN_ECODEGEN, "the bound of the memory cannot be set");
}

static const kiln__codegen *come_to_terms(void)
{
    worker_library library = {.table = NULL};
    kiln__wire_hello hello;
    unsigned char *bytes;
    kiln_status status;
    kiln__arena arena;
    size_t size;
    int kind;

    bytes = receive(&kind, &size);
    kiln__arena_init(&arena, &kiln__malloc);
    if (kind != KILN__WIRE_HELLO ||
        kiln__wire_get_hello(&hello, &arena, bytes, size) != KILN_OK ||
        hello.abi != KILN__CODEGEN_ABI ||
        strcmp(hello.build_id, worker_build_id) != 0)
        send_refusal(
            KILN_EMISMATCH,
            "the code generator's worker is of another build than this "
            "library");
    bound_memory(hello.memory);
    status = worker_open(&library, hello.library, !hello.is_given);
    if (status != KILN_OK)
        send_refusal(status, library.reason);
    (void)snprintf(codegen_library, sizeof codegen_library, "%s",
                   hello.library);
    kiln__arena_dispose(&arena);
    free(bytes);
    send_ready(library.table);
    return library.table;
}

/* ---- requests ---- */

static kiln_status send_result(void *env, const kiln__codegen_result *result)
{
    kiln__encoder fields;

    (void)env;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_result(&fields, result);
    if (fields.failed)
        send_note(KILN__WIRE_FAIL, KILN_ENOMEM, 0, "out of memory");
    else
        send_message(KILN__WIRE_FINISH, &fields);
    kiln__encoder_dispose(&fields);
    return KILN_OK;
}

static void send_input(void *env, const char *suffix, const void *bytes,
                       size_t size)
{
    const kiln__wire_kept kept = {suffix, bytes, size};
    kiln__encoder fields;

    (void)env;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_kept(&fields, &kept);
    if (!fields.failed) /* the failure itself is more important */
        send_message(KILN__WIRE_KEEP, &fields);
    kiln__encoder_dispose(&fields);
}

static void send_failure(void *env, kiln_status status, const char *message)
{
    (void)env;
    send_note(KILN__WIRE_FAIL, status, 0, message);
}

static void fatal(void *env, const char *message)
{
    (void)env;
    send_note(KILN__WIRE_FATAL, KILN_ECODEGEN, 0, message);
    _exit(1);
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    (void)env;
    send_note(KILN__WIRE_STAGE, which, nanoseconds, NULL);
}

static void was_read(void *env, size_t index, uint64_t nanoseconds)
{
    (void)env;
    send_note(KILN__WIRE_WAS_READ, (int64_t)index, nanoseconds, NULL);
}

static void take_log(void *env, int32_t level, const char *text)
{
    (void)env;
    send_note(KILN__WIRE_LOG, level, 0, text);
}

static void need(void *env, int32_t library, const char *symbol)
{
    (void)env;
    send_note(KILN__WIRE_NEED, library, 0, symbol);
}

static void serve_request(const kiln__codegen *table,
                          const unsigned char *bytes, size_t size)
{
    kiln__codegen_request request;
    kiln__arena arena;
    kiln_status status;

    kiln__arena_init(&arena, &kiln__malloc);
    status = kiln__wire_get_request(&request, &arena, bytes, size);
    if (status == KILN_OK) {
        request.finish = send_result;
        request.keep = send_input;
        request.need = need;
        request.fail = send_failure;
        request.fatal = fatal;
        request.stage = stage;
        request.was_read = was_read;
        request.log = take_log;
        (void)table->generate(&request);
    } else {
        send_note(KILN__WIRE_FAIL, status, 0,
                  "the code generator's worker cannot read its request");
    }
    kiln__arena_dispose(&arena);
}

static void serve_source(const unsigned char *bytes, size_t size)
{
    kiln__encoder answer;

    kiln__encoder_init(&answer, &kiln__malloc);
    worker_compile_source(&answer, codegen_library, bytes, size);
    send_message(KILN__WIRE_SOURCE_DONE, &answer);
    kiln__encoder_dispose(&answer);
}

static void serve_one(const kiln__codegen *table)
{
    size_t size;
    int kind;
    unsigned char *bytes = receive(&kind, &size);

    if (kind == KILN__WIRE_SOURCE)
        serve_source(bytes, size);
    else
        serve_request(table, bytes, size);
    free(bytes);
}

static void *serve(void *argument)
{
    const kiln__codegen *table;

    (void)argument;
    worker_watch_stack();
    table = come_to_terms();
    for (;;)
        serve_one(table);
    return NULL;
}

/* ---- the process ---- */

static void prepare_process(void)
{
    const struct rlimit no_core = {0, 0};
    ssize_t written;
    int score;

    (void)fcntl(STREAM, F_SETFD, FD_CLOEXEC);
    (void)close_range(STREAM + 1, ~0u, 0);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0)
        return;
    written = write(score, OUT_OF_MEMORY_SCORE, sizeof OUT_OF_MEMORY_SCORE - 1);
    (void)written; /* if it cannot be set, nothing is lost */
    (void)close(score);
}

int worker_serve(const char *folder)
{
    struct pollfd stream = {.fd = STREAM, .events = POLLRDHUP};
    kiln__thread thread;

    prepare_process();
    temporary = folder;
    if (folder != NULL && setenv("TMPDIR", folder, 1) != 0)
        return 1;
    if (kiln__thread_start(&thread, KILN__STACK_TO_COMPILE, serve, NULL) !=
        KILN_OK)
        return 1;
    for (;;)
        if (poll(&stream, 1, -1) > 0)
            end_alone();
}
