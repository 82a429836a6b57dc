/* tool_run.c - a tool of another as a process: bytes in, bytes out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tool_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 30)
#define SAID_MAX ((size_t)64 << 10) /* of messages, the first */
#define ARGUMENTS_MAX 48

#define INPUT_FD 3 /* the first, in the tool's process */

typedef struct workplace {
    int inputs[KILN__RUN_INPUTS_MAX]; /* memory files, or -1 */
    size_t count;
    int printed[2]; /* pipe of what the tool prints, or -1 */
    char folder[PATH_MAX - 16];
    char output[PATH_MAX];
    char late[PATH_MAX]; /* a FIFO, until its bytes are a file */
    int late_fd;         /* for both, or -1 */
    kiln__text *said;
} workplace;

static bool failed(workplace *w, const char *what)
{
    kiln__text_format(w->said, "%s: %s", what, strerror(errno));
    return false;
}

/* ---- files ---- */

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* Away from the numbers that the tool's process is given. */
static bool move_up(int *fd)
{
    const int moved =
        fcntl(*fd, F_DUPFD_CLOEXEC, INPUT_FD + KILN__RUN_INPUTS_MAX);

    if (moved < 0)
        return false;
    close(*fd);
    *fd = moved;
    return true;
}

/* Tools read it from its beginning, since they open it anew. */
static bool open_input(workplace *w, size_t i, const kiln__object *input)
{
    w->inputs[i] = memfd_create("input", MFD_CLOEXEC);
    return w->inputs[i] >= 0 && move_up(&w->inputs[i]) &&
           write_all(w->inputs[i], input->bytes, input->size);
}

static bool make_folder(workplace *w, const char *parent)
{
    const int size = snprintf(w->folder, sizeof w->folder, "%s/kiln-run-XXXXXX",
                              parent != NULL ? parent : "");

    if (parent != NULL && *parent == '/' && size < (int)sizeof w->folder &&
        mkdtemp(w->folder) != NULL)
        return true;
    w->folder[0] = '\0';
    return false;
}

static bool open_workplace(workplace *w, const kiln__run *run)
{
    if (!make_folder(w, secure_getenv("TMPDIR")) && !make_folder(w, "/tmp"))
        return failed(w, "temporary folder");
    (void)snprintf(w->output, sizeof w->output, "%s/output", w->folder);
    (void)snprintf(w->late, sizeof w->late, "%s" KILN__RUN_LATE_NAME,
                   w->folder);
    for (size_t i = 0; i < w->count; i++)
        if (!open_input(w, i, &run->inputs[i]))
            return failed(w, "memory file");
    if (pipe2(w->printed, O_CLOEXEC) != 0 || !move_up(&w->printed[1]))
        return failed(w, "pipe");
    return true;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_workplace(workplace *w)
{
    for (size_t i = 0; i < KILN__RUN_INPUTS_MAX; i++)
        close_fd(&w->inputs[i]);
    close_fd(&w->printed[0]);
    close_fd(&w->printed[1]);
    close_fd(&w->late_fd);
    if (w->folder[0] == '\0')
        return;
    (void)unlink(w->output);
    (void)unlink(w->late);
    (void)rmdir(w->folder);
}

/* ---- the process ---- */

static int set_files(posix_spawn_file_actions_t *actions, const workplace *w)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                                 "/dev/null", O_RDONLY, 0);

    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, w->printed[1],
                                                 STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, w->printed[1],
                                                 STDERR_FILENO);
    for (size_t i = 0; error == 0 && i < w->count; i++)
        error = posix_spawn_file_actions_adddup2(actions, w->inputs[i],
                                                 INPUT_FD + (int)i);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    /* What the host forgot to close is not the tool's. */
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(
            actions, INPUT_FD + (int)w->count);
#endif
    return error;
}

/* Kiln's threads block signals, and a host may ignore some; a tool is to end
   like any program. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    int error;

    (void)sigemptyset(&none);
    (void)sigemptyset(&usual);
    (void)sigaddset(&usual, SIGPIPE);
    (void)sigaddset(&usual, SIGCHLD);
    error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (error == 0)
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF);
    return error;
}

static int spawn(pid_t *out, const workplace *w, const char *program,
                 char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_files(&actions, w);
        if (error == 0)
            error = set_signals(&attributes);
        if (error == 0)
            error = posix_spawnp(out, program, &actions, &attributes, arguments,
                                 environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int start(pid_t *out, workplace *w, const kiln__run *run)
{
    char *arguments[ARGUMENTS_MAX];
    size_t count = 0;

    for (; run->arguments[count] != NULL; count++) {
        if (count + 1 == ARGUMENTS_MAX)
            return E2BIG;
        if (strcmp(run->arguments[count], KILN__RUN_OUTPUT) == 0)
            arguments[count] = w->output;
        else if (strcmp(run->arguments[count], KILN__RUN_LATE) == 0)
            arguments[count] = w->late;
        else /* posix_spawn leaves them as they are */
            memcpy(&arguments[count], &run->arguments[count],
                   sizeof arguments[count]);
    }
    arguments[count] = NULL;
    return spawn(out, w, run->program, arguments);
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False: nothing came until the time was over. */
static bool await_message(const workplace *w, int64_t end)
{
    struct pollfd pipe = {.fd = w->printed[0], .events = POLLIN};
    int64_t left;
    int found;

    do {
        left = end - now_ms();
        found = poll(&pipe, 1, left > 0 ? (int)left : 0);
    } while (found < 0 && errno == EINTR);
    return found != 0;
}

/* Until everybody who could print has ended; keeps the first of it. False:
   somebody has not by the end of the time. */
static bool read_messages(workplace *w, int limit_ms)
{
    const int64_t end = now_ms() + limit_ms;
    char bytes[4096];
    ssize_t got;

    do {
        if (!await_message(w, end))
            return false;
        got = read(w->printed[0], bytes, sizeof bytes);
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] == '\0')
                bytes[i] = ' ';
        if (got > 0 && w->said->size < SAID_MAX)
            kiln__text_add_n(w->said, bytes, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    return true;
}

static kiln_status ended(workplace *w, pid_t child)
{
    int state = 0;
    pid_t waited;

    do
        waited = waitpid(child, &state, 0);
    while (waited < 0 && errno == EINTR);

    /* A host that reaps every child leaves nothing to ask: then the output
       alone tells. */
    if (waited < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
        return KILN_OK;
    if (WIFSIGNALED(state))
        kiln__text_format(w->said, "%sended by signal %d",
                          w->said->size > 0 ? " " : "", WTERMSIG(state));
    else if (w->said->size == 0)
        kiln__text_format(w->said, "ended with status %d", WEXITSTATUS(state));
    return KILN_ECODEGEN;
}

static int limit_of(const kiln__run *run)
{
    return run->limit_ms > 0 ? run->limit_ms : KILN__RUN_LIMIT_MS;
}

static kiln_status start_process(pid_t *child, workplace *w,
                                 const kiln__run *run)
{
    errno = start(child, w, run);
    if (errno != 0) {
        (void)failed(w, "cannot be started");
        return KILN_ENOTFOUND;
    }
    close_fd(&w->printed[1]);
    return KILN_OK;
}

static kiln_status await_process(workplace *w, pid_t child, int limit_ms)
{
    kiln_status status;

    if (read_messages(w, limit_ms))
        return ended(w, child);
    (void)kill(child, SIGKILL);
    status = ended(w, child);
    kiln__text_format(w->said, ": it had not ended after %d ms", limit_ms);
    return status == KILN_OK ? KILN_ECODEGEN : status;
}

static kiln_status run_process(workplace *w, const kiln__run *run)
{
    pid_t child;

    if (start_process(&child, w, run) != KILN_OK)
        return KILN_ENOTFOUND;
    return await_process(w, child, limit_of(run));
}

/* ---- the output ---- */

static bool read_all(int fd, char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t got = read(fd, bytes, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

static kiln_status take_output(workplace *w, const kiln_alloc *alloc,
                               kiln_blob *out)
{
    int fd = open(w->output, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    kiln_status status = KILN_OK;
    struct stat info;
    char *bytes;

    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 ||
        (uint64_t)info.st_size > OUTPUT_MAX) {
        kiln__text_add(w->said, w->said->size > 0 ? " no output" : "no output");
        close_fd(&fd);
        return KILN_ECODEGEN;
    }
    bytes = kiln__blob_new(out, alloc, (size_t)info.st_size);
    if (bytes == NULL) {
        status = KILN_ENOMEM;
    } else if (!read_all(fd, bytes, (size_t)info.st_size)) {
        (void)failed(w, "output");
        out->release(out);
        *out = (kiln_blob){0};
        status = KILN_ECODEGEN;
    }
    close_fd(&fd);
    return status;
}

kiln_status kiln__run_tool(const kiln__run *run, kiln_blob *out,
                           kiln__text *said)
{
    workplace w = {
        .inputs = {-1, -1},
        .count = run->input_count,
        .printed = {-1, -1},
        .late_fd = -1,
        .said = said,
    };
    kiln_status status = KILN_ENOTFOUND;

    if (open_workplace(&w, run))
        status = run_process(&w, run);
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

/* ---- an input that comes later ----
 *
 * The tool is given a FIFO, which this side holds open for both, so neither
 * opening it nor asking who reads it ever blocks; when this process goes, the
 * tool finds the end. Some tools open their input twice: so all of it is a
 * file, too, which takes the FIFO's name before a byte is in the FIFO. Whenever
 * the tool opens that name, it reads the whole.
 */

struct kiln__begun {
    workplace w;
    pid_t child; /* 0: waited for */
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

kiln__begun *kiln__run_begin(const kiln__run *run)
{
    kiln__begun *begun = calloc(1, sizeof *begun);

    if (begun == NULL)
        return NULL;
    kiln__text_init(&begun->said, &kiln__malloc);
    begun->limit_ms = limit_of(run);
    begun->w = (workplace){.inputs = {-1, -1},
                           .printed = {-1, -1},
                           .late_fd = -1,
                           .said = &begun->said};
    if (open_workplace(&begun->w, run) && open_late(&begun->w) &&
        start_process(&begun->child, &begun->w, run) == KILN_OK)
        return begun;
    begun->child = 0;
    kiln__run_drop(begun);
    return NULL;
}

static bool make_file(const workplace *w, const kiln__object *input)
{
    char whole[PATH_MAX + 8];
    bool made;
    int fd;

    (void)snprintf(whole, sizeof whole, "%s.whole", w->late);
    fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    made = fd >= 0 && write_all(fd, input->bytes, input->size);
    close_fd(&fd);
    if (made && rename(whole, w->late) == 0)
        return true;
    (void)unlink(whole);
    return false;
}

/* Waits for room in the FIFO. False: the tool has ended, or time is over. */
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

/* A tool that has found the file reads nothing here, and ends. */
static void fill_late(workplace *w, const kiln__object *input, int limit_ms)
{
    const int64_t end = now_ms() + limit_ms;
    const char *bytes = input->bytes;
    size_t size = input->size;

    while (size > 0) {
        const ssize_t written = write(w->late_fd, bytes, size);

        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if ((errno != EAGAIN && errno != EINTR) || !await_room(w, end)) {
            return;
        }
    }
}

kiln_status kiln__run_end(kiln__begun *begun, const kiln__object *input,
                          kiln_blob *out, kiln__text *said)
{
    workplace *w = &begun->w;
    kiln_status status;

    if (!make_file(w, input))
        return KILN_ENOTFOUND;
    w->said = said;
    fill_late(w, input, begun->limit_ms);
    close_fd(&w->late_fd);
    status = await_process(w, begun->child, begun->limit_ms);
    begun->child = 0;
    if (status == KILN_OK)
        status = take_output(w, &kiln__malloc, out);
    w->said = &begun->said;
    if (said->failed && status == KILN_OK) {
        out->release(out);
        *out = (kiln_blob){0};
    }
    return said->failed ? KILN_ENOMEM : status;
}

void kiln__run_drop(kiln__begun *begun)
{
    if (begun == NULL)
        return;
    close_fd(&begun->w.late_fd);
    if (begun->child > 0)
        (void)kill(begun->child, SIGKILL);
    if (begun->child > 0)
        (void)await_process(&begun->w, begun->child, begun->limit_ms);
    close_workplace(&begun->w);
    kiln__text_dispose(&begun->said);
    free(begun);
}
