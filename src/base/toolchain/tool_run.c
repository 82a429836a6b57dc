/* tool_run.c - runs an external tool as a process: bytes in, bytes out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/toolchain/tool_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/passing.h"
#include "base/system/process.h"
#include "base/system/reason.h"
#include "base/system/temp_dir.h"
#include "base/system/thread.h"

#define OUTPUT_MAX ((size_t)1 << 30)
#define SAID_MAX ((size_t)64 << 10) /* only so much of the messages is kept */
#define ARGUMENTS_MAX 48

#define INPUT_FD 3 /* the first one in the tool's process */

typedef struct workplace {
    int inputs[KILN__RUN_INPUTS_MAX]; /* memory files, or -1 */
    size_t count;
    int printed[2]; /* pipe for what the tool prints, or -1 */
    kiln__process process;
    bool is_running;
    char folder[PATH_MAX - 16];
    char output[PATH_MAX];
    char late[PATH_MAX]; /* path of a FIFO, until its bytes are a file */
    int late_fd;         /* the FIFO, open for reading and writing, or -1 */
    kiln__text *said;
} workplace;

/* A tool that cannot be run counts as absent, unless the failure is
   temporary. */
static kiln_status failed(workplace *w, const char *what)
{
    const kiln_status status = kiln__passing_status(errno, KILN_ENOTFOUND);

    kiln__text_format(w->said, "%s: %s", what, kiln__reason_text(errno));
    return status;
}

/* ---- files ---- */

/* Moves a descriptor above the numbers that the tool's process is given. */
static bool move_up(int *fd)
{
    return kiln__descriptor_lift(fd, INPUT_FD + KILN__RUN_INPUTS_MAX) != 0;
}

/* Tools open the file anew, so they read it from its beginning. */
static bool open_input(workplace *w, size_t i, const kiln__object *input)
{
    w->inputs[i] = memfd_create("input", MFD_CLOEXEC);
    return w->inputs[i] >= 0 && move_up(&w->inputs[i]) &&
           kiln__io_write_file(w->inputs[i], input->bytes, input->size) == 0;
}

static kiln_status open_workplace(workplace *w, const kiln__tool_command *run)
{
    if (!kiln__temporary_new(w->folder, sizeof w->folder, "kiln-run"))
        return failed(w, "temporary folder");
    (void)snprintf(w->output, sizeof w->output, "%s/output", w->folder);
    (void)snprintf(w->late, sizeof w->late, "%s" KILN__RUN_LATE_NAME,
                   w->folder);
    for (size_t i = 0; i < w->count; i++)
        if (!open_input(w, i, &run->inputs[i]))
            return failed(w, "memory file");
    if (pipe2(w->printed, O_CLOEXEC) != 0 || !move_up(&w->printed[0]) ||
        !move_up(&w->printed[1]))
        return failed(w, "pipe");
    return KILN_OK;
}

/* Clears the variable first: a child of fork() may look between the two
   steps. */
static void close_fd(int *fd)
{
    const int old = *fd;

    *fd = -1;
    if (old >= 0)
        close(old);
}

static void close_workplace(workplace *w)
{
    for (size_t i = 0; i < KILN__RUN_INPUTS_MAX; i++)
        close_fd(&w->inputs[i]);
    close_fd(&w->printed[0]);
    close_fd(&w->printed[1]);
    close_fd(&w->late_fd);
    kiln__process_dispose(&w->process);
    kiln__temporary_remove(w->folder);
}

/* ---- the process ---- */

static int start(workplace *w, const kiln__tool_command *run)
{
    char *arguments[ARGUMENTS_MAX];
    int files[2 + KILN__RUN_INPUTS_MAX] = {w->printed[1], w->printed[1]};
    const kiln__program program = {.path = run->program,
                                   .arguments = arguments,
                                   .files = files,
                                   .file_count = 2 + w->count};
    size_t count = 0;

    for (; run->arguments[count] != NULL; count++) {
        if (count + 1 == ARGUMENTS_MAX)
            return E2BIG;
        if (strcmp(run->arguments[count], KILN__RUN_OUTPUT) == 0)
            arguments[count] = w->output;
        else if (strcmp(run->arguments[count], KILN__RUN_LATE) == 0)
            arguments[count] = w->late;
        else /* posix_spawn does not change the strings */
            memcpy(&arguments[count], &run->arguments[count],
                   sizeof arguments[count]);
    }
    arguments[count] = NULL;
    memcpy(&files[2], w->inputs, w->count * sizeof *files);
    return kiln__process_start(&w->process, &program);
}

static int64_t now_ms(void)
{
    return (int64_t)(kiln__clock_ns() / 1000000u);
}

enum { CAME, ENDED, TOO_LATE };

/* Waits for a message or the end of the process. The end of the process
   decides: another holder of the pipe, such as a child that was forked at a bad
   moment, is not waited for. */
static int await_message(const workplace *w, int64_t end)
{
    struct pollfd both[2] = {{.fd = w->printed[0], .events = POLLIN},
                             {.fd = w->process.file.number, .events = POLLIN}};
    int64_t left;
    int found;

    do {
        left = end - now_ms();
        found = poll(both, 2, left > 0 ? (int)left : 0);
    } while (found < 0 && errno == EINTR);
    if (found == 0)
        return TOO_LATE;
    return both[0].revents == 0 ? ENDED : CAME;
}

/* Reads until the tool has ended, and keeps the first part. False: the tool has
   not ended in time. */
static bool read_messages(workplace *w, int limit_ms)
{
    const int64_t end = now_ms() + limit_ms;
    char bytes[4096];
    ssize_t got;

    do {
        const int what = await_message(w, end);

        if (what != CAME)
            return what == ENDED;
        got = read(w->printed[0], bytes, sizeof bytes);
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] == '\0')
                bytes[i] = ' ';
        if (got > 0 && w->said->size < SAID_MAX)
            kiln__text_add_n(w->said, bytes, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    return true;
}

/* Ended for want of memory, or by a limit that the host has set. */
static bool is_from_outside(int number)
{
    return number == SIGKILL || number == SIGXFSZ || number == SIGXCPU;
}

/* A tool that was stopped from outside has not failed by itself. */
static kiln_status ended(workplace *w)
{
    siginfo_t info;

    /* If the host reaps every child, the exit status is lost: then only the
       output tells. */
    if (kiln__process_wait(&w->process, &info, 0) == KILN__PROCESS_UNKNOWN ||
        (info.si_code == CLD_EXITED && info.si_status == 0))
        return KILN_OK;
    if (info.si_code != CLD_EXITED)
        kiln__text_format(w->said, "%sended by signal %d",
                          w->said->size > 0 ? " " : "", info.si_status);
    else if (w->said->size == 0)
        kiln__text_format(w->said, "ended with status %d", info.si_status);
    if (w->said->size > 0 && kiln__tells_of_memory(w->said->bytes))
        return KILN_ENOMEM;
    return info.si_code != CLD_EXITED && is_from_outside(info.si_status)
               ? KILN_EIO
               : KILN_ECODEGEN;
}

static int limit_of(const kiln__tool_command *run)
{
    return run->limit_ms > 0 ? run->limit_ms : KILN__RUN_LIMIT_MS;
}

static kiln_status start_process(workplace *w, const kiln__tool_command *run)
{
    errno = start(w, run);
    if (errno != 0)
        return failed(w, "cannot be started");
    w->is_running = true;
    close_fd(&w->printed[1]);
    return KILN_OK;
}

static kiln_status await_process(workplace *w, int limit_ms)
{
    kiln_status status = KILN_ETIMEDOUT;

    if (read_messages(w, limit_ms)) {
        status = ended(w);
    } else {
        kiln__process_kill(&w->process);
        (void)ended(w);
        kiln__text_format(w->said, ": it had not ended after %d ms", limit_ms);
    }
    w->is_running = false;
    return status;
}

/* ---- the output ---- */

static kiln_status take_output(workplace *w, const kiln_alloc *alloc,
                               kiln_blob *out)
{
    int fd =
        kiln__descriptor_open(AT_FDCWD, w->output, O_RDONLY | O_NOFOLLOW, 0);
    kiln_status status = KILN_OK;
    struct stat info;
    char *bytes;

    if (fd < 0 && kiln__passes(errno)) {
        status = failed(w, "output");
        return status;
    }
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 ||
        (uint64_t)info.st_size > OUTPUT_MAX) {
        kiln__text_add(w->said, w->said->size > 0 ? " no output" : "no output");
        close_fd(&fd);
        return KILN_ECODEGEN;
    }
    bytes = kiln__blob_new(out, alloc, (size_t)info.st_size);
    if (bytes == NULL) {
        status = KILN_ENOMEM;
    } else if (kiln__io_read_at(fd, bytes, (size_t)info.st_size, 0) !=
               (ssize_t)info.st_size) {
        (void)failed(w, "output");
        out->release(out);
        *out = (kiln_blob){0};
        status = KILN_ECODEGEN;
    }
    close_fd(&fd);
    return status;
}

kiln_status kiln__run_tool(const kiln__tool_command *run, kiln_blob *out,
                           kiln__text *said)
{
    workplace w = {
        .inputs = {-1, -1},
        .count = run->input_count,
        .printed = {-1, -1},
        .process = KILN__PROCESS_NONE,
        .late_fd = -1,
        .said = said,
    };
    kiln_status status = open_workplace(&w, run);

    if (status == KILN_OK)
        status = start_process(&w, run);
    if (status == KILN_OK)
        status = await_process(&w, limit_of(run));
    if (status == KILN_OK)
        status = take_output(
            &w, run->alloc != NULL ? run->alloc : &kiln__malloc, out);
    close_workplace(&w);
    if (said->failed && status == KILN_OK) {
        out->release(out);
        *out = (kiln_blob){0};
    }
    return said->failed ? KILN_ENOMEM : status;
}

/*
 * ---- an input that comes later ----
 *
 * The tool is given a FIFO. This process holds it open for reading and writing,
 * so that neither opening it nor finding out who reads it ever blocks; if this
 * process dies, the tool reads the end of the file. Some tools open their input
 * twice: so the whole input is also written to a file, which takes the FIFO's
 * name before a byte is in the FIFO. A tool that opens that name at any time
 * reads everything.
 */

struct kiln__tool_process {
    workplace w;
    int limit_ms;
    kiln__text said;
};

static bool open_late(workplace *w)
{
    if (mkfifo(w->late, 0600) != 0)
        return false;
    w->late_fd = open(w->late, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return w->late_fd >= 0 && move_up(&w->late_fd);
}

kiln__tool_process *kiln__tool_process_begin(const kiln__tool_command *run)
{
    kiln__tool_process *begun = calloc(1, sizeof *begun);

    if (begun == NULL)
        return NULL;
    kiln__text_init(&begun->said, &kiln__malloc);
    begun->limit_ms = limit_of(run);
    begun->w = (workplace){.inputs = {-1, -1},
                           .printed = {-1, -1},
                           .process = KILN__PROCESS_NONE,
                           .late_fd = -1,
                           .said = &begun->said};
    if (open_workplace(&begun->w, run) == KILN_OK && open_late(&begun->w) &&
        start_process(&begun->w, run) == KILN_OK)
        return begun;
    kiln__tool_process_drop(begun);
    return NULL;
}

static bool make_file(const workplace *w, const kiln__object *input)
{
    char whole[PATH_MAX + 8];
    bool made;
    int fd;

    (void)snprintf(whole, sizeof whole, "%s.whole", w->late);
    fd = kiln__descriptor_open(AT_FDCWD, whole, O_WRONLY | O_CREAT | O_EXCL,
                               0600);
    made = fd >= 0 && kiln__io_write_file(fd, input->bytes, input->size) == 0;
    close_fd(&fd);
    if (made && rename(whole, w->late) == 0)
        return true;
    (void)unlink(whole);
    return false;
}

/* Waits for room in the FIFO. False: the tool has ended, or the time is
   over. */
static bool await_room(workplace *w, int64_t end)
{
    struct pollfd both[2] = {{.fd = w->late_fd, .events = POLLOUT},
                             {.fd = w->printed[0], .events = 0}};
    const int64_t left = end - now_ms();
    const int found = poll(both, 2, left > 0 ? (int)left : 0);

    if (found < 0)
        return errno == EINTR;
    return found > 0 && (both[1].revents & POLLHUP) == 0;
}

/* A tool that opened the file instead reads nothing here, and ends. */
static void fill_late(workplace *w, const kiln__object *input, int limit_ms)
{
    const int64_t end = now_ms() + limit_ms;
    size_t done = 0;
    int reason;

    do
        reason = kiln__io_write(w->late_fd, input->bytes, input->size, &done);
    while (reason == EAGAIN && await_room(w, end));
}

kiln_status kiln__tool_process_end(kiln__tool_process *begun,
                                   const kiln__object *input, kiln_blob *out,
                                   kiln__text *said)
{
    workplace *w = &begun->w;
    kiln_status status;

    if (!make_file(w, input))
        return KILN_ENOTFOUND;
    w->said = said;
    fill_late(w, input, begun->limit_ms);
    close_fd(&w->late_fd);
    status = await_process(w, begun->limit_ms);
    if (status == KILN_OK)
        status = take_output(w, &kiln__malloc, out);
    w->said = &begun->said;
    if (said->failed && status == KILN_OK) {
        out->release(out);
        *out = (kiln_blob){0};
    }
    return said->failed ? KILN_ENOMEM : status;
}

void kiln__run_forget(void *begun)
{
    close_fd(&((kiln__tool_process *)begun)->w.late_fd);
}

void kiln__tool_process_drop(kiln__tool_process *begun)
{
    if (begun == NULL)
        return;
    close_fd(&begun->w.late_fd);
    if (begun->w.is_running) {
        kiln__process_kill(&begun->w.process);
        (void)await_process(&begun->w, begun->limit_ms);
    }
    close_workplace(&begun->w);
    kiln__text_dispose(&begun->said);
    free(begun);
}
