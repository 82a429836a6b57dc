/* trace.c - writes a timeline in Chrome's trace event format. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/data/array.h"
#include "base/data/utf8.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/kept.h"
#include "base/system/passing.h"
#include "base/system/quiet.h"
#include "base/system/reason.h"
#include "context/log.h"

/*
 * The file is a JSON array of events, one a line: an event is written over the
 * closing bracket, followed by a new bracket, in one write. Several contexts,
 * processes and children of fork() may write to one file: they take turns with
 * a lock of the file (flock), each through an open file description of its own.
 *
 * A process may be killed at any moment, and then the kernel ends a write
 * between two pages. So an event that would cross the end of a page begins
 * with the next page, and blanks fill the page before it. What a killed process
 * leaves is then a complete array, or one that lacks nothing but its closing
 * bracket. Viewers of timelines add that bracket, and the next process to write
 * to the file goes on after the blanks. No way of writing could do better:
 * moving the bracket to another page changes two pages.
 *
 * Times are those of the monotonic clock, which all processes of a machine
 * share.
 *
 * An existing file that is not such an array is not touched.
 */

struct kiln__trace {
    kiln__mutex mutex; /* guards all members below except the path */
    kiln__fork_guard guard;
    char *path;
    kiln__kept file;
    int is_off; /* whether the file cannot be written */
};

static const char first[] = "[\n";
static const char last[] = "\n]\n";
#define LAST_SIZE (sizeof last - 1)
#define LOCK_TRIES 1000 /* a millisecond each */
#define PAGE 4096 /* bytes; pages and blocks of all machines are multiples */

/* Longer names are cut, so that an event, which has its name twice, fits into a
   page. */
#define LONGEST_NAME 1500

/* ---- making ---- */

/* The child must open the file for itself. */
static void close_file_after_fork(void *env)
{
    struct kiln__trace *trace = env;

    kiln__kept_close(&trace->file);
}

kiln_status kiln__trace_new(kiln_context *context, const char *path)
{
    struct kiln__trace *trace;

    if (path == NULL)
        return KILN_OK;
    trace = kiln__allocate(&context->alloc, sizeof *trace);
    if (trace == NULL)
        return KILN_ENOMEM;
    trace->file = KILN__KEPT_NONE;
    trace->path = kiln__string_copy(&context->alloc, path);
    if (trace->path == NULL || kiln__mutex_init(&trace->mutex) != KILN_OK) {
        kiln__string_free(&context->alloc, trace->path);
        kiln__deallocate(&context->alloc, trace, sizeof *trace);
        return KILN_ENOMEM;
    }
    trace->guard = (kiln__fork_guard){
        .mutex = &trace->mutex, .child = close_file_after_fork, .env = trace};
    kiln__fork_add(&context->fork, &trace->guard);
    context->trace = trace;
    return KILN_OK;
}

void kiln__trace_free(kiln_context *context)
{
    struct kiln__trace *trace = context->trace;

    if (trace == NULL)
        return;
    context->trace = NULL;
    kiln__fork_remove(&context->fork, &trace->guard);
    kiln__kept_close(&trace->file);
    kiln__mutex_dispose(&trace->mutex);
    kiln__string_free(&context->alloc, trace->path);
    kiln__deallocate(&context->alloc, trace, sizeof *trace);
}

/* ---- text ---- */

/* Writes the content of a JSON string. */
static void add_escaped(kiln__text *text, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    const size_t begin = text->size;
    size_t left = strlen(string), size;

    for (; left > 0; at += size ? size : 1, left -= size ? size : 1) {
        size = kiln__utf8_size(at, left);

        if (text->size - begin >= LONGEST_NAME) {
            kiln__text_add(text, "...");
            return;
        }
        if (*at == '"' || *at == '\\')
            kiln__text_format(text, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            kiln__text_format(text, "\\u%04x", *at);
        else if (size == 0)
            kiln__text_add(text, "?");
        else
            kiln__text_add_n(text, (const char *)at, size);
    }
}

static void add_member(kiln__text *text, int *count, const char *name,
                       const char *value)
{
    if (value == NULL)
        return;
    kiln__text_format(text, "%s\"%s\": \"", (*count)++ ? ", " : "", name);
    add_escaped(text, value);
    kiln__text_add(text, "\"");
}

/* Microseconds with three decimals, whatever the locale. */
static void add_time(kiln__text *text, const char *name, uint64_t nanoseconds)
{
    kiln__text_format(text, ", \"%s\": %llu.%03u", name,
                      (unsigned long long)(nanoseconds / 1000),
                      (unsigned)(nanoseconds % 1000));
}

static void add_title(kiln__text *text, const kiln__trace_note *note)
{
    kiln__text_add(text, "{\"name\": \"");
    if (note->verb != NULL)
        add_escaped(text, note->verb);
    if (note->verb != NULL && note->name != NULL)
        kiln__text_add(text, " ");
    if (note->name != NULL)
        add_escaped(text, note->name);
    kiln__text_add(text, "\", \"cat\": \"");
    add_escaped(text, note->category);
    kiln__text_add(text, "\"");
}

static void add_event(kiln__text *text, uint64_t begin_ns, uint64_t end_ns,
                      const kiln__trace_note *note)
{
    int count = 0;

    add_title(text, note);
    kiln__text_format(text, ", \"ph\": \"X\", \"pid\": %ld, \"tid\": %ld",
                      (long)getpid(), (long)gettid());
    add_time(text, "ts", begin_ns);
    add_time(text, "dur", end_ns > begin_ns ? end_ns - begin_ns : 0);
    kiln__text_add(text, ", \"args\": {");
    add_member(text, &count, "name", note->name);
    add_member(text, &count, note->category, note->verb);
    add_member(text, &count, "tier", note->tier);
    add_member(text, &count, "outcome", note->outcome);
    if (note->bytes)
        kiln__text_format(text, "%s\"bytes\": %llu", count ? ", " : "",
                          (unsigned long long)note->bytes);
    kiln__text_add(text, "}}");
}

/* ---- the file; all with the mutex held ---- */

static int open_file(const char *path)
{
    const int descriptor = kiln__descriptor_open(
        AT_FDCWD, path, O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK, 0666);
    struct stat facts;

    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode))
        return descriptor;
    (void)close(descriptor);
    errno = EINVAL;
    return -1;
}

static int is_at(int descriptor, const char *wanted, size_t size, off_t offset)
{
    char found[LAST_SIZE];

    return kiln__io_read_at(descriptor, found, size, (uint64_t)offset) ==
               (ssize_t)size &&
           memcmp(found, wanted, size) == 0;
}

/* Whether a killed process left the file without its bracket: where its last
   page ends with blanks behind an event. Says where the event ends. */
static int is_cut(int descriptor, off_t size, off_t *end)
{
    char page[PAGE];
    size_t used = PAGE;

    if (size == 0 || size % PAGE != 0 ||
        kiln__io_read_at(descriptor, page, PAGE, (uint64_t)(size - PAGE)) !=
            PAGE)
        return 0;
    while (used > 0 && page[used - 1] == ' ')
        used--;
    *end = size - (off_t)(PAGE - used);
    return used > 0 && used < PAGE && page[used - 1] == '}';
}

/* Finds where the next event goes, and whether it is the first one. Returns 0
   or an errno. */
static int find_end(int descriptor, off_t *end, int *is_first)
{
    const off_t head_size = sizeof first - 1;
    struct stat facts;

    if (fstat(descriptor, &facts) != 0)
        return errno;
    *end = facts.st_size - (off_t)LAST_SIZE;
    *is_first = facts.st_size == 0;
    if (*is_first)
        return 0;
    if (*end < head_size || !is_at(descriptor, first, sizeof first - 1, 0))
        return EINVAL;
    if (is_at(descriptor, last, LAST_SIZE, *end) ||
        is_cut(descriptor, facts.st_size, end))
        return 0;
    return EINVAL;
}

/* The blanks after which `size` bytes do not cross the end of a page. */
static int blanks_before(off_t at, size_t size)
{
    const size_t left = PAGE - (size_t)(at % PAGE);

    return size > left ? (int)left : 0;
}

/* Makes the bytes that are written at `end`. */
static void make_line(kiln__text *line, const char *event, off_t end,
                      int is_first)
{
    const size_t size = sizeof ",\n" - 1 + strlen(event) + LAST_SIZE;

    kiln__text_init(line, &kiln__malloc);
    if (is_first)
        kiln__text_add(line, first);
    else
        kiln__text_format(line, "%*s,\n", blanks_before(end, size), "");
    kiln__text_add(line, event);
    kiln__text_add(line, last);
}

/* Adds the event before the closing bracket. */
static int append(int descriptor, const char *event)
{
    kiln__text line;
    int is_first = 0, number;
    kiln__quiet quiet;
    ssize_t done;
    off_t end = 0;

    number = find_end(descriptor, &end, &is_first);
    if (number != 0)
        return number;
    if (is_first)
        end = 0;
    make_line(&line, event, end, is_first);
    if (line.failed) {
        kiln__text_dispose(&line);
        return 0;
    }
    kiln__quiet_begin(&quiet);
    done = pwrite(descriptor, line.bytes, line.size, end);
    if (done < 0)
        number = errno;
    else if ((size_t)done < line.size)
        number = ENOSPC;
    /* Restore a complete array, or an empty file. */
    if (done > 0 && number != 0 && ftruncate(descriptor, end) == 0 && !is_first)
        (void)!pwrite(descriptor, last, LAST_SIZE, end);
    kiln__quiet_end(&quiet);
    kiln__text_dispose(&line);
    return number;
}

/* Another process that may read the file can keep it locked, so waiting has a
   limit. Where locks are not supported, only one process should write. */
static int lock(int descriptor)
{
    const struct timespec pause = {0, 1000000};

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            return 1;
        if (errno == EWOULDBLOCK)
            (void)nanosleep(&pause, NULL);
        else if (errno != EINTR)
            return 1;
    }
    return 0;
}

static int write_event(struct kiln__trace *trace, const char *event)
{
    int number;

    if (!kiln__kept_is_ours(&trace->file))
        trace->file = kiln__kept_of(open_file(trace->path));
    if (trace->file.number < 0)
        return errno;
    if (!lock(trace->file.number))
        return EBUSY;
    number = append(trace->file.number, event);
    (void)flock(trace->file.number, LOCK_UN);
    return number;
}

static void turn_off(struct kiln__trace *trace)
{
    trace->is_off = 1;
    kiln__kept_close(&trace->file);
}

/* ---- spans ---- */

void kiln__trace_span(kiln_context *context, uint64_t begin_ns, uint64_t end_ns,
                      const kiln__trace_note *note)
{
    struct kiln__trace *trace = context->trace;
    kiln__text event;
    int number = 0;

    kiln__text_init(&event, &context->alloc);
    add_event(&event, begin_ns, end_ns, note);
    kiln__mutex_lock(&trace->mutex);
    if (!trace->is_off && !event.failed)
        number = write_event(trace, event.bytes);
    /* A temporary failure loses only this event. */
    if (kiln__passes(number))
        number = 0;
    else if (number != 0)
        turn_off(trace);
    kiln__mutex_unlock(&trace->mutex);
    kiln__text_dispose(&event);
    if (number == EINVAL)
        kiln__log(context, KILN_LOG_WARNING,
                  "trace: %s is no timeline and is left alone", trace->path);
    else if (number != 0)
        kiln__log(context, KILN_LOG_WARNING, "trace: cannot write %s: %s",
                  trace->path, kiln__reason_text(number));
}

const char *kiln__trace_tier(int32_t tier)
{
#define NAME(name, text) text,
    static const char *const names[] = {KILN_TIER_MAP(NAME)};
#undef NAME

    return tier >= 0 && tier < KILN_TIER_COUNT ? names[tier] : NULL;
}
