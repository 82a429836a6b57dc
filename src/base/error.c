/* error.c - errors: made once, immutable, counted. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"

#include <stdatomic.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/utf8.h"
#include "kiln/sys/frontend.h"

/*
 * Each error has its own arena, over malloc, which holds all its strings. So an
 * error outlives any context and is freed in one step. Once it has been handed
 * out, only the count of its holders changes.
 */
struct kiln_error {
    atomic_uint holders; /* the last holder frees it; released and acquired */
    kiln_status status;
    const char *message;
    kiln_error *cause;
    const kiln_diagnostic *diagnostics;
    size_t diagnostic_count;
    const kiln_exception *exception; /* or NULL */
    kiln__arena arena;
};

/* Handed out when there is no memory for an error; never counted or freed. */
static kiln_error no_memory = {
    .status = KILN_ENOMEM,
    .message = "out of memory",
};

/* ---- making ---- */

static kiln_error *error_new(kiln_status status, kiln_error *cause)
{
    kiln_error *error = kiln__allocate(&kiln__malloc, sizeof *error);

    if (error == NULL)
        return NULL;
    atomic_init(&error->holders, 1);
    error->status = status;
    error->cause = cause;
    kiln__arena_init(&error->arena, &kiln__malloc);
    return error;
}

/* Gives `made` to the caller, or the static error if making it failed. */
static kiln_status finish_error(kiln_error **out, kiln_error *made,
                                kiln_status status)
{
    if (made != NULL && made->arena.failed) {
        kiln_error_free(made);
        made = NULL;
    }
    *out = made == NULL ? &no_memory : made;
    return status;
}

/* A message is one line of UTF-8, even if it quotes a library's message of
   several lines, or names that are any bytes. */
static char *one_line(char *text)
{
    size_t size = text == NULL ? 0 : strlen(text), width;

    while (size > 0 && strchr("\n\r ", text[size - 1]) != NULL)
        text[--size] = '\0';
    for (size_t i = 0; i < size; i += width) {
        width = kiln__utf8_size(text + i, size - i);
        if (width == 0) {
            text[i] = '?';
            width = 1;
        } else if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            text[i] = ' ';
        }
    }
    return text;
}

static kiln_status make(kiln_error **out, kiln_status status, kiln_error *cause,
                        const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

/* Makes an error with `cause`, which it takes over even on failure. */
static kiln_status make(kiln_error **out, kiln_status status, kiln_error *cause,
                        const char *format, va_list arguments)
{
    kiln_error *error = error_new(status, cause);

    if (error == NULL)
        kiln_error_free(cause);
    else
        error->message =
            one_line(kiln__arena_vformat(&error->arena, format, arguments));
    return finish_error(out, error, status);
}

kiln_status kiln__error_vset(kiln_error **error, kiln_status status,
                             const char *format, va_list arguments)
{
    if (error == NULL)
        return status;
    return make(error, status, NULL, format, arguments);
}

kiln_status kiln__error_set(kiln_error **error, kiln_status status,
                            const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)kiln__error_vset(error, status, format, arguments);
    va_end(arguments);
    return status;
}

kiln_status kiln_error_set(kiln_error **error, kiln_status status,
                           const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)kiln__error_vset(error, status, format, arguments);
    va_end(arguments);
    return status;
}

kiln_status kiln__error_argument(kiln_error **error, const char *condition)
{
    return kiln__error_set(error, KILN_EINVAL, "invalid argument: expected %s",
                           condition);
}

kiln_status kiln__error_no_memory(kiln_error **error)
{
    if (error != NULL)
        *error = &no_memory;
    return KILN_ENOMEM;
}

kiln_status kiln__error_wrap(kiln_error **error, kiln_status status,
                             const char *format, ...)
{
    va_list arguments;

    if (error == NULL)
        return status;
    va_start(arguments, format);
    (void)make(error, status, *error, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- diagnostics ---- */

static kiln_location copy_location(kiln__arena *arena, kiln_location location)
{
    location.file = kiln__arena_text(arena, location.file);
    return location;
}

static const kiln_frame *copy_frames(kiln__arena *arena,
                                     const kiln_frame *frames, size_t count)
{
    kiln_frame *copies =
        kiln__arena_allocate_array(arena, count, sizeof *copies);

    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i].function = kiln__arena_text(arena, frames[i].function);
        copies[i].location = copy_location(arena, frames[i].location);
    }
    return copies;
}

static const kiln_diagnostic *copy_diagnostics(kiln__arena *arena,
                                               const kiln_diagnostic *list,
                                               size_t count)
{
    kiln_diagnostic *copies =
        kiln__arena_allocate_array(arena, count, sizeof *copies);

    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = list[i];
        copies[i].code = kiln__arena_text(arena, list[i].code);
        copies[i].message = kiln__arena_text(arena, list[i].message);
        copies[i].hint = kiln__arena_text(arena, list[i].hint);
        copies[i].source_line = kiln__arena_text(arena, list[i].source_line);
        copies[i].location = copy_location(arena, list[i].location);
        copies[i].frames =
            copy_frames(arena, list[i].frames, list[i].frame_count);
    }
    return copies;
}

kiln_status kiln__error_set_diagnostics(kiln_error **error, kiln_status status,
                                        const char *message,
                                        const kiln_diagnostic *diagnostics,
                                        size_t count)
{
    kiln_error *made;

    if (error == NULL)
        return status;
    made = error_new(status, NULL);
    if (made != NULL) {
        made->message = one_line(kiln__arena_text(&made->arena, message));
        made->diagnostics = copy_diagnostics(&made->arena, diagnostics, count);
        made->diagnostic_count = count;
    }
    return finish_error(error, made, status);
}

kiln_status kiln_error_set_diagnostics(kiln_error **error, kiln_status status,
                                       const char *message,
                                       const kiln_diagnostic *diagnostics,
                                       size_t count)
{
    KILN_REQUIRE(status != KILN_OK, error);
    KILN_REQUIRE(message != NULL, error);
    KILN_REQUIRE(diagnostics != NULL || count == 0, error);
    for (size_t i = 0; i < count; i++)
        KILN_REQUIRE(diagnostics[i].frames != NULL ||
                         diagnostics[i].frame_count == 0,
                     error);
    return kiln__error_set_diagnostics(error, status, message, diagnostics,
                                       count);
}

/* ---- device exceptions ---- */

const char *kiln__exception_text(int32_t kind)
{
#define CASE(name, number, text) \
    case name: \
        return text;
    switch (kind) {
        KILN_EXCEPTION_MAP(CASE)
    default:
        return "unknown exception";
    }
#undef CASE
}

/* A record from an older plug-in may be shorter. */
static void read_exception(kiln_exception *to, const kiln_exception *from)
{
    const size_t size = from->size < sizeof *to ? from->size : sizeof *to;

    memset(to, 0, sizeof *to);
    memcpy(to, from, size);
    to->size = sizeof *to;
    if (to->message == NULL)
        to->message = kiln__exception_text(to->kind);
}

static const kiln_exception *copy_exception(kiln__arena *arena,
                                            const kiln_exception *exception)
{
    kiln_exception *record = kiln__arena_allocate(arena, sizeof *record);

    if (record == NULL)
        return NULL;
    read_exception(record, exception);
    record->message = one_line(kiln__arena_text(arena, record->message));
    record->kernel = kiln__arena_text(arena, record->kernel);
    record->method = kiln__arena_text(arena, record->method);
    record->location = copy_location(arena, record->location);
    record->source_line = kiln__arena_text(arena, record->source_line);
    record->frames =
        record->frame_count == 0
            ? NULL
            : copy_frames(arena, record->frames, record->frame_count);
    return record;
}

kiln_status kiln__error_set_exception(kiln_error **error,
                                      const kiln_exception *exception)
{
    kiln_error *made;

    if (error == NULL)
        return KILN_EEXCEPTION;
    made = error_new(KILN_EEXCEPTION, NULL);
    if (made != NULL) {
        made->exception = copy_exception(&made->arena, exception);
        if (made->exception != NULL)
            made->message = made->exception->message;
    }
    return finish_error(error, made, KILN_EEXCEPTION);
}

/* ---- reading and ending ---- */

kiln_error *kiln__error_retain(kiln_error *error)
{
    if (error != NULL && error != &no_memory)
        atomic_fetch_add_explicit(&error->holders, 1, memory_order_relaxed);
    return error;
}

/* A loop, not a recursion: a chain of causes may be long. */
void kiln_error_free(kiln_error *error)
{
    while (error != NULL && error != &no_memory) {
        kiln_error *cause = error->cause;

        if (atomic_fetch_sub_explicit(&error->holders, 1,
                                      memory_order_acq_rel) != 1)
            return;
        kiln__arena_dispose(&error->arena);
        kiln__deallocate(&kiln__malloc, error, sizeof *error);
        error = cause;
    }
}

kiln_status kiln_error_status(const kiln_error *error)
{
    return error == NULL ? KILN_OK : error->status;
}

const char *kiln_error_message(const kiln_error *error)
{
    return error == NULL ? "" : error->message;
}

const kiln_error *kiln_error_cause(const kiln_error *error)
{
    return error == NULL ? NULL : error->cause;
}

size_t kiln_error_diagnostic_count(const kiln_error *error)
{
    return error == NULL ? 0 : error->diagnostic_count;
}

const kiln_diagnostic *kiln_error_diagnostic(const kiln_error *error,
                                             size_t index)
{
    if (error == NULL || index >= error->diagnostic_count)
        return NULL;
    return &error->diagnostics[index];
}

const kiln_exception *kiln_error_exception(const kiln_error *error)
{
    return error == NULL ? NULL : error->exception;
}

const char *kiln_status_name(kiln_status status)
{
#define CASE(name, number, text) \
    case name: \
        return #name;
    switch (status) {
        KILN_STATUS_MAP(CASE)
    default:
        return "unknown status";
    }
#undef CASE
}

int kiln__status_is_known(kiln_status status)
{
#define CASE(name, number, text) case name:
    switch (status) {
        KILN_STATUS_MAP(CASE)
        return 1;
    default:
        return 0;
    }
#undef CASE
}

const char *kiln_status_text(kiln_status status)
{
#define CASE(name, number, text) \
    case name: \
        return text;
    switch (status) {
        KILN_STATUS_MAP(CASE)
    default:
        return "unknown status";
    }
#undef CASE
}
