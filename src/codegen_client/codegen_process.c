/* codegen_process.c - sends a request to a worker process and takes the
   result. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/codegen_process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "abi/scalars.h"
#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/reason.h"
#include "base/system/thread.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_wire.h"
#include "codegen_client/codegen_worker.h"
#include "context/log.h"
#include "kiln/compile.h"
#include "stores/stores.h"

/*
 * A worker process answers in messages, which become calls of the request's
 * callbacks on this thread. A process that has answered completely is kept. Any
 * other one is ended, so that the next request gets a process in a defined
 * state; so is one whose LLVM ran out of memory.
 *
 * If LLVM is at fault, the request is kept as a file, and the message of the
 * failure names it: the worker program can run it again.
 *
 * A crash is reported as KILN_ECODEGEN: the same input would crash again, and
 * is not tried until the program changes. If the process was ended from
 * outside, or took too long, the same request may succeed another time.
 */

#ifndef KILN_BUILD_ID
#error "the build gives KILN_BUILD_ID to this file"
#endif

#define THE_WORKER "the code generator's worker"

static kiln__watch watch_until(const kiln_context *context)
{
    const uint64_t most = context->codegen_timeout_ns;
    const uint64_t now = kiln__clock_ns();

    return (kiln__watch){.deadline_ns =
                             most < UINT64_MAX - now ? now + most : UINT64_MAX};
}

/* ---- endings ---- */

/* A message under construction, in one line. */
typedef struct line {
    char text[1024 + PATH_MAX];
    size_t size;
} line;

__attribute__((format(printf, 2, 3))) static void say(line *l,
                                                      const char *format, ...)
{
    const size_t room = sizeof l->text - l->size;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(l->text + l->size, room, format, arguments);
    va_end(arguments);
    if (size > 0)
        l->size += (size_t)size < room ? (size_t)size : room - 1;
}

/* Adds the first line that the process printed, if there is one. */
static void say_words(line *l, const char *words)
{
    const char *begin = words + strspn(words, " \t\r\n");
    const size_t size = strcspn(begin, "\r\n");

    if (size > 0)
        say(l, ": %.*s", size > 512 ? 512 : (int)size, begin);
}

/* Signals that a program causes by itself. */
static int is_crash(int number)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL,
                                  SIGFPE,  SIGTRAP, SIGSYS};

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i] == number)
            return 1;
    return 0;
}

static kiln_status say_own_end(line *l,
                               const kiln__worker_process_ending *ending)
{
    const char *name = sigdescr_np(ending->signal);

    if (kiln__tells_of_memory(ending->words)) {
        say(l, THE_WORKER " ran out of memory");
        return KILN_ENOMEM;
    }
    if (ending->signal) {
        say(l, THE_WORKER " %s (signal %d, %s)",
            is_crash(ending->signal) ? "crashed" : "was ended", ending->signal,
            name != NULL ? name : "unknown");
        say_words(l, ending->words);
        return is_crash(ending->signal) ? KILN_ECODEGEN : KILN_EIO;
    }
    if (ending->status == KILN__WIRE_LOST)
        say(l, THE_WORKER " lost its connection");
    else if (ending->status >= 0)
        say(l, THE_WORKER " ended by itself (status %d)", ending->status);
    else
        say(l, THE_WORKER " is gone");
    say_words(l, ending->words);
    return ending->status >= 0 && ending->status != KILN__WIRE_LOST
               ? KILN_ECODEGEN
               : KILN_EIO;
}

/* Describes what went wrong, and returns the status for it. */
static kiln_status say_ending(line *l, const kiln_context *context,
                              kiln__transfer transfer,
                              const kiln__worker_process_ending *ending)
{
    const double limit_s = (double)context->codegen_timeout_ns / 1e9;
    char text[KILN__FLOAT_TEXT];

    switch (transfer) {
    case KILN__TRANSFER_LATE:
        say(l, THE_WORKER " took longer than %s s and was ended",
            kiln__float_print(text, KILN_TYPE_F64, limit_s));
        return KILN_ETIMEDOUT;
    case KILN__TRANSFER_CANCELED:
        say(l, "canceled");
        return KILN_ECANCELED;
    case KILN__TRANSFER_NO_MEMORY:
        say(l, "out of memory");
        return KILN_ENOMEM;
    case KILN__TRANSFER_NONSENSE:
        say(l, THE_WORKER " answered nonsense");
        return KILN_ECORRUPT;
    case KILN__TRANSFER_ENDED:
    case KILN__TRANSFER_DONE:
        break;
    }
    return say_own_end(l, ending);
}

/* Only a process whose stream has ended may be ending by itself. */
static void end_worker(kiln__worker_process *worker, kiln__transfer transfer,
                       kiln__worker_process_ending *ending)
{
    const kiln_context *context = worker->context;

    *ending = (kiln__worker_process_ending){.status = -1};
    kiln__own_blocking_enter(context);
    kiln__worker_process_end(worker,
                             transfer == KILN__TRANSFER_ENDED ? ending : NULL);
    kiln__own_blocking_leave(context);
}

/* ---- hello ---- */

static kiln_status put_hello(kiln__encoder *out, const kiln_context *context)
{
    kiln__wire_hello hello = {.abi = KILN__CODEGEN_ABI,
                              .build_id = KILN_BUILD_ID,
                              .is_given = context->codegen_path != NULL,
                              .memory = context->codegen_memory};
    char path[PATH_MAX];

    if (kiln__codegen_library_library(context, path) != KILN_OK)
        path[0] = '\0';
    hello.library = path;
    kiln__wire_put_hello(out, &hello);
    return out->failed ? KILN_ENOMEM : KILN_OK;
}

static void copy_id(char *out, size_t capacity, const char *text)
{
    if (strlen(text) < capacity)
        memcpy(out, text, strlen(text) + 1);
}

static kiln_status take_ready(kiln_context *context, kiln__arena *arena,
                              const kiln__message *message, kiln_error **error)
{
    kiln__builds_loaded tools = {{{0}, {0}}, {0}};
    kiln__wire_ready ready;
    const kiln_status status =
        kiln__wire_get_ready(&ready, arena, message->bytes, message->size);

    if (status != KILN_OK)
        return kiln__error_set(error, status, THE_WORKER " answered nonsense");
    if (ready.abi != KILN__CODEGEN_ABI ||
        strcmp(ready.build_id, KILN_BUILD_ID) != 0)
        return kiln__error_set(error, KILN_EMISMATCH,
                               THE_WORKER " is of build %s, this library of "
                                          "build " KILN_BUILD_ID,
                               ready.build_id);
    copy_id(tools.ids.codegen, sizeof tools.ids.codegen, ready.codegen_id);
    copy_id(tools.ids.llvm, sizeof tools.ids.llvm, ready.llvm_id);
    copy_id(tools.llvm_path, sizeof tools.llvm_path, ready.llvm_path);
    kiln__worker_processes_note_tools(context, &tools);
    return KILN_OK;
}

static kiln_status take_refusal(kiln__arena *arena,
                                const kiln__message *message,
                                kiln_error **error)
{
    kiln__wire_note note;

    if (kiln__wire_get_note(&note, arena, message->bytes, message->size) !=
            KILN_OK ||
        (note.number != KILN_ECODEGEN && note.number != KILN_EMISMATCH &&
         note.number != KILN_ENOMEM && note.number != KILN_EIO))
        return kiln__error_set(error, KILN_ECORRUPT,
                               THE_WORKER " answered nonsense");
    return kiln__error_set(error, (kiln_status)note.number, "%s", note.text);
}

static kiln_status take_answer(kiln_context *context,
                               const kiln__message *message, kiln_error **error)
{
    kiln_status status = KILN_ECORRUPT;
    kiln__arena arena;

    kiln__arena_init(&arena, &context->alloc);
    if (message->kind == KILN__WIRE_READY)
        status = take_ready(context, &arena, message, error);
    else if (message->kind == KILN__WIRE_REFUSED)
        status = take_refusal(&arena, message, error);
    else
        kiln__error_set(error, status, THE_WORKER " answered nonsense");
    kiln__arena_dispose(&arena);
    return status;
}

/* Ends the process if the two sides do not fit together. */
static kiln_status greet(kiln__worker_process *worker, const kiln__watch *watch,
                         kiln_error **error)
{
    kiln_context *context = worker->context;
    kiln__worker_process_ending ending;
    kiln__message answer = {0};
    kiln__transfer transfer;
    kiln__encoder hello;
    kiln_status status;
    line l = {.size = 0};

    kiln__encoder_init(&hello, &context->alloc);
    if (put_hello(&hello, context) != KILN_OK)
        transfer = KILN__TRANSFER_NO_MEMORY;
    else
        transfer = kiln__worker_process_send(worker, KILN__WIRE_HELLO,
                                             hello.bytes, hello.size, watch);
    if (transfer == KILN__TRANSFER_DONE)
        transfer = kiln__worker_process_receive(&answer, worker, watch);
    kiln__encoder_dispose(&hello);
    if (transfer == KILN__TRANSFER_DONE) {
        status = take_answer(context, &answer, error);
        kiln__message_dispose(&answer, &context->alloc);
        if (status != KILN_OK)
            kiln__worker_process_end(worker, NULL);
        return status;
    }
    end_worker(worker, transfer, &ending);
    status = say_ending(&l, context, transfer, &ending);
    /* The process has seen no request yet, so its end is not a fault of the
       job. */
    return kiln__error_set(error, status == KILN_ECODEGEN ? KILN_EIO : status,
                           "%s", l.text);
}

static kiln_status start_worker(kiln__worker_process **out,
                                kiln_context *context, kiln_error **error)
{
    char program[PATH_MAX];
    int reason = 0;
    kiln_status status =
        kiln__worker_processes_program(context, program, sizeof program);

    if (status != KILN_OK)
        return kiln__error_set(error, KILN_ECODEGEN,
                               "it is not known where " THE_WORKER " is");
    status = kiln__worker_process_start(out, context, program, &reason);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error,
                               kiln__passing_status(reason, KILN_ECODEGEN),
                               THE_WORKER ", %s, cannot be started: %s",
                               program, kiln__reason_text(reason));
    return KILN_OK;
}

static kiln_status take_worker(kiln__worker_process **out,
                               kiln_context *context, const kiln__watch *watch,
                               kiln_error **error)
{
    *out = kiln__worker_process_idle(context);
    if (*out != NULL)
        return KILN_OK;
    KILN_TRY(start_worker(out, context, error));
    return greet(*out, watch, error);
}

kiln_status kiln__process_try(kiln_context *context, int *is_started,
                              kiln_error **error)
{
    const kiln__watch watch = watch_until(context);
    kiln__worker_process *worker = kiln__worker_process_idle(context);
    const int is_new = worker == NULL;

    *is_started = 0;
    if (is_new)
        KILN_TRY(start_worker(&worker, context, error));
    *is_started = 1;
    if (is_new)
        KILN_TRY(greet(worker, &watch, error));
    kiln__worker_process_give_back(worker);
    return KILN_OK;
}

/* ---- a request ---- */

typedef struct call {
    kiln_context *context;
    const kiln__codegen_request *request;   /* its callbacks */
    const kiln__process_question *question; /* NULL: the request itself */
    const kiln__encoder *sent;
    kiln__watch watch;
    kiln__worker_process *worker;
    kiln__arena arena; /* holds one message */
    kiln_status status;
    int is_over;  /* whether finish() or fail() was called */
    int is_spent; /* whether the process must not get another request */
} call;

/* Keeps the request as a file, adds that to the message, and fails. */
static void fail_and_keep(call *c, kiln_status status, line *l)
{
    char path[PATH_MAX];

    if (kiln__stores_keep_failed(c->context, path, sizeof path, ".request",
                                 c->sent->bytes, c->sent->size) == KILN_OK)
        say(l, "; its input is kept in %s", path);
    c->status = status;
    c->is_over = 1;
    c->request->fail(c->request->env, status, l->text);
}

static kiln__transfer take_result(call *c, const kiln__message *message)
{
    kiln__codegen_result result;
    const kiln_status status = kiln__wire_get_result(
        &result, &c->arena, message->bytes, message->size);

    if (status == KILN_ENOMEM)
        return KILN__TRANSFER_NO_MEMORY;
    if (status != KILN_OK || c->question != NULL)
        return KILN__TRANSFER_NONSENSE;
    c->is_over = 1;
    c->status = c->request->finish(c->request->env, &result);
    return KILN__TRANSFER_DONE;
}

static kiln__transfer take_reply(call *c, const kiln__message *message)
{
    c->status =
        c->question->take(c->question->env, message->bytes, message->size);
    if (c->status == KILN_ENOMEM)
        return KILN__TRANSFER_NO_MEMORY;
    if (c->status != KILN_OK)
        return KILN__TRANSFER_NONSENSE;
    c->is_over = 1;
    return KILN__TRANSFER_DONE;
}

/* Checks the suffix, which becomes part of a file's name: a dot and letters. */
static int is_suffix(const char *text)
{
    return *text == '.' &&
           text[1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static kiln__transfer take_kept(call *c, const kiln__message *message)
{
    kiln__wire_kept kept;
    const kiln_status status =
        kiln__wire_get_kept(&kept, &c->arena, message->bytes, message->size);

    if (status == KILN_ENOMEM)
        return KILN__TRANSFER_NO_MEMORY;
    if (status != KILN_OK || !is_suffix(kept.suffix))
        return KILN__TRANSFER_NONSENSE;
    if (c->request->keep != NULL)
        c->request->keep(c->request->env, kept.suffix, kept.bytes, kept.size);
    return KILN__TRANSFER_DONE;
}

/* Handles a failure of the job or of LLVM. */
static kiln__transfer take_failure(call *c, int kind,
                                   const kiln__wire_note *note)
{
    const int is_fatal = kind == KILN__WIRE_FATAL;
    const int is_short = note->number == KILN_ENOMEM ||
                         (is_fatal && kiln__tells_of_memory(note->text));
    line l = {.size = 0};

    if (!is_fatal && (note->number >= KILN_OK || note->number < INT32_MIN))
        return KILN__TRANSFER_NONSENSE;
    c->is_spent = is_fatal || is_short;
    if (c->is_spent) {
        say(&l, "%.1000s", note->text);
        fail_and_keep(c, is_short ? KILN_ENOMEM : KILN_ECODEGEN, &l);
        return KILN__TRANSFER_DONE;
    }
    c->is_over = 1;
    c->status = (kiln_status)note->number;
    c->request->fail(c->request->env, c->status, note->text);
    return KILN__TRANSFER_DONE;
}

static kiln__transfer take_note(call *c, int kind, const kiln__wire_note *note)
{
    const kiln__codegen_request *request = c->request;
    const int64_t which = note->number;

    switch (kind) {
    case KILN__WIRE_STAGE:
        if (which < 0 || which >= KILN_STAGE_COUNT)
            return KILN__TRANSFER_NONSENSE;
        if (request->stage != NULL)
            request->stage(request->env, (int32_t)which, note->value);
        return KILN__TRANSFER_DONE;
    case KILN__WIRE_WAS_READ:
        if (which < 0)
            return KILN__TRANSFER_NONSENSE;
        if (request->was_read != NULL)
            request->was_read(request->env, (size_t)which, note->value);
        return KILN__TRANSFER_DONE;
    case KILN__WIRE_LOG:
        if (which < KILN_LOG_ERROR || which > KILN_LOG_DEBUG)
            return KILN__TRANSFER_NONSENSE;
        if (request->log != NULL)
            request->log(request->env, (int32_t)which, note->text);
        return KILN__TRANSFER_DONE;
    case KILN__WIRE_NEED:
        if (which < 0 || which >= KILN__LIBRARY_COUNT)
            return KILN__TRANSFER_NONSENSE;
        if (request->need != NULL)
            request->need(request->env, (int32_t)which, note->text);
        return KILN__TRANSFER_DONE;
    case KILN__WIRE_FAIL:
    case KILN__WIRE_FATAL:
        return take_failure(c, kind, note);
    default:
        return KILN__TRANSFER_NONSENSE;
    }
}

static kiln__transfer take_message(call *c, const kiln__message *message)
{
    kiln__wire_note note;
    kiln_status status;

    if (c->question != NULL && message->kind == c->question->reply)
        return take_reply(c, message);
    if (message->kind == KILN__WIRE_FINISH)
        return take_result(c, message);
    if (message->kind == KILN__WIRE_KEEP)
        return take_kept(c, message);
    status =
        kiln__wire_get_note(&note, &c->arena, message->bytes, message->size);
    if (status == KILN_ENOMEM)
        return KILN__TRANSFER_NO_MEMORY;
    return status == KILN_OK ? take_note(c, message->kind, &note)
                             : KILN__TRANSFER_NONSENSE;
}

/* Talks to the process until the answer is complete. */
static kiln__transfer converse(call *c)
{
    const int kind =
        c->question != NULL ? c->question->kind : KILN__WIRE_REQUEST;
    kiln__transfer transfer = kiln__worker_process_send(
        c->worker, kind, c->sent->bytes, c->sent->size, &c->watch);

    while (transfer == KILN__TRANSFER_DONE && !c->is_over) {
        kiln__message message;

        transfer = kiln__worker_process_receive(&message, c->worker, &c->watch);
        if (transfer != KILN__TRANSFER_DONE)
            break;
        kiln__arena_init(&c->arena, &c->context->alloc);
        transfer = take_message(c, &message);
        kiln__arena_dispose(&c->arena);
        kiln__message_dispose(&message, &c->context->alloc);
    }
    return transfer;
}

static void run(call *c)
{
    const kiln__transfer transfer = converse(c);
    kiln__worker_process_ending ending;
    kiln_status status;
    line l = {.size = 0};

    if (transfer == KILN__TRANSFER_DONE && !c->is_spent) {
        kiln__worker_process_give_back(c->worker);
        return;
    }
    end_worker(c->worker, transfer, &ending);
    if (c->is_over)
        return;
    status = say_ending(&l, c->context, transfer, &ending);
    if (transfer != KILN__TRANSFER_CANCELED &&
        transfer != KILN__TRANSFER_NO_MEMORY) {
        fail_and_keep(c, status, &l);
        return;
    }
    c->status = status;
    c->request->fail(c->request->env, status, l.text);
}

/* Sends what was encoded, and calls the request's callbacks. */
static kiln_status ask(call *c)
{
    const kiln__codegen_request *request = c->request;
    kiln_error *error = NULL;

    c->watch = watch_until(c->context);
    c->watch.is_canceled = request->is_canceled;
    c->watch.env = request->env;
    if (c->sent->failed)
        c->status = kiln__error_no_memory(&error);
    else if (c->sent->size > KILN__WIRE_LARGEST)
        c->status = kiln__error_set(&error, KILN_EUNSUPPORTED,
                                    "what is to be compiled takes %zu bytes, "
                                    "and a worker process takes at most %zu",
                                    c->sent->size, (size_t)KILN__WIRE_LARGEST);
    else
        c->status = take_worker(&c->worker, c->context, &c->watch, &error);
    if (c->status == KILN_OK)
        run(c);
    else
        request->fail(request->env, c->status, kiln_error_message(error));
    kiln_error_free(error);
    return c->status;
}

kiln_status kiln__process_generate(kiln_context *context,
                                   const kiln__codegen_request *request)
{
    kiln__encoder sent;
    call c = {.context = context, .request = request, .sent = &sent};

    kiln__encoder_init(&sent, &context->alloc);
    kiln__wire_put_request(&sent, request);
    (void)ask(&c);
    kiln__encoder_dispose(&sent);
    return c.status;
}

kiln_status kiln__process_ask(kiln_context *context,
                              const kiln__process_question *question)
{
    const kiln__codegen_request callbacks = {.env = question->env,
                                             .fail = question->fail};
    call c = {.context = context,
              .request = &callbacks,
              .question = question,
              .sent = question->sent};

    return ask(&c);
}
