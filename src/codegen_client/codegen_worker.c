/* codegen_worker.c - starts, keeps and ends worker processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/codegen_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/dynlib.h"
#include "base/system/temp_dir.h"
#include "base/system/thread.h"

/*
 * All worker processes are in one list, idle or not, so that a child of fork()
 * can close the descriptors that it inherits: otherwise the parent's worker
 * processes would not notice the parent's end. A process is added to the list
 * under the same lock under which its descriptors are made, and fork() waits
 * for that lock.
 *
 * A host may have closed its standard descriptors, or put others in their
 * place, and prints to them. So Kiln's descriptors are never among the first
 * ten.
 */

#define PROGRAM "../libexec/kiln/kiln-codegen-worker"
#define FIRST_DESCRIPTOR 10
#define STREAM_DESCRIPTOR 3 /* in the worker process */
#define OWN_END_MS 1000     /* time for a process to end by itself */

struct kiln__worker_processes {
    kiln_context *context;
    kiln__mutex lock;
    kiln__worker_process *list;
    int knows_tools;
    kiln__builds_loaded tools;
    kiln__fork_guard guard;
};

static _Thread_local kiln__worker_process *current; /* the process that this
                                                       thread uses */

/* ---- the pool ---- */

static void close_ends(kiln__worker_process *worker)
{
    kiln__process_dispose(&worker->process);
    kiln__kept_close(&worker->stream);
    kiln__kept_close(&worker->words);
}

static void worker_free(kiln__worker_process *worker)
{
    close_ends(worker);
    kiln__deallocate(&worker->context->alloc, worker, sizeof *worker);
}

/* The child has none of the parent's worker processes. If the forking thread
   was using one, it lets go of it when it finds the stream closed. */
static void forget_workers_after_fork(void *env)
{
    struct kiln__worker_processes *workers = env;
    kiln__worker_process *next;

    for (kiln__worker_process *w = workers->list; w != NULL; w = next) {
        next = w->next;
        close_ends(w);
        w->is_running = 0;
        w->folder[0] = '\0';
        if (w != current)
            worker_free(w);
    }
    workers->list = NULL;
    if (current != NULL && current->context == workers->context) {
        current->next = NULL;
        workers->list = current;
    }
}

kiln_status kiln__worker_processes_new(kiln_context *context)
{
    struct kiln__worker_processes *workers =
        kiln__allocate(&context->alloc, sizeof *workers);

    if (workers == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&workers->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, workers, sizeof *workers);
        return KILN_ENOMEM;
    }
    workers->context = context;
    workers->guard = (kiln__fork_guard){.mutex = &workers->lock,
                                        .child = forget_workers_after_fork,
                                        .env = workers};
    kiln__fork_add(&context->fork, &workers->guard);
    context->worker_processes = workers;
    return KILN_OK;
}

void kiln__worker_processes_free(kiln_context *context)
{
    struct kiln__worker_processes *workers = context->worker_processes;

    if (workers == NULL)
        return;
    while (workers->list != NULL)
        kiln__worker_process_end(workers->list, NULL);
    kiln__fork_remove(&context->fork, &workers->guard);
    kiln__mutex_dispose(&workers->lock);
    kiln__deallocate(&context->alloc, workers, sizeof *workers);
    context->worker_processes = NULL;
}

kiln_status kiln__worker_processes_program(const kiln_context *context,
                                           char *out, size_t capacity)
{
    static const char here;
    char folder[PATH_MAX];
    int size;

    if (context->codegen_worker != NULL) {
        size = snprintf(out, capacity, "%s", context->codegen_worker);
    } else {
        if (kiln__dynlib_folder(folder, &here) != KILN_OK)
            return KILN_ENOTFOUND;
        size = snprintf(out, capacity, "%s/" PROGRAM, folder);
    }
    return size > 0 && (size_t)size < capacity ? KILN_OK : KILN_ENOTFOUND;
}

/* ---- taking and giving back ---- */

static int is_alive(const kiln__worker_process *worker)
{
    struct pollfd end = {.fd = worker->stream.number, .events = POLLIN};

    /* An idle process sends nothing: any event is its end. */
    return kiln__kept_is_ours(&worker->stream) &&
           kiln__kept_is_ours(&worker->words) && poll(&end, 1, 0) == 0;
}

/* With the lock held. */
static kiln__worker_process *find_idle(struct kiln__worker_processes *workers)
{
    kiln__worker_process *found = workers->list;

    while (found != NULL && found->is_used)
        found = found->next;
    if (found != NULL)
        found->is_used = 1;
    return found;
}

kiln__worker_process *kiln__worker_process_idle(kiln_context *context)
{
    struct kiln__worker_processes *workers = context->worker_processes;
    kiln__worker_process *found;

    for (;;) {
        kiln__mutex_lock(&workers->lock);
        found = find_idle(workers);
        kiln__mutex_unlock(&workers->lock);
        if (found == NULL)
            return NULL;
        if (is_alive(found))
            break;
        kiln__worker_process_end(found, NULL);
    }
    current = found;
    return found;
}

/* Reads and drops what it printed, because the job succeeded. */
static void drain(const kiln__worker_process *worker)
{
    char unread[4096];

    while (read(worker->words.number, unread, sizeof unread) > 0)
        continue;
}

void kiln__worker_process_give_back(kiln__worker_process *worker)
{
    struct kiln__worker_processes *workers = worker->context->worker_processes;

    if (worker->stream.number < 0) {
        kiln__worker_process_end(worker, NULL);
        return;
    }
    drain(worker);
    current = NULL;
    kiln__mutex_lock(&workers->lock);
    worker->is_used = 0;
    kiln__mutex_unlock(&workers->lock);
}

/* ---- starting ---- */

/* This side's descriptor, then the other side's. */
typedef struct ends {
    int stream[2];
    int words[2];
} ends;

/* Moves a descriptor away from the standard ones. */
static int lift(int *descriptor)
{
    return kiln__descriptor_lift(descriptor, FIRST_DESCRIPTOR);
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            (void)close(pair[i]);
}

static int lift_pair(int pair[2])
{
    const int lifted = lift(&pair[0]) && lift(&pair[1]);
    const int reason = errno;

    if (!lifted)
        close_pair(pair);
    errno = reason;
    return lifted;
}

/* Returns 0 or an errno. */
static int open_ends(ends *e)
{
    int reason;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->stream) != 0 ||
        !lift_pair(e->stream))
        return errno;
    if (pipe2(e->words, O_CLOEXEC | O_NONBLOCK) == 0 && lift_pair(e->words))
        return 0;
    reason = errno;
    close_pair(e->stream);
    return reason;
}

/* With the lock held. Returns 0 or an errno. */
static int start(kiln__worker_process *worker, const char *program)
{
    char *const arguments[] = {(char *)(uintptr_t)program,
                               (char *)(uintptr_t) "--serve",
                               worker->folder[0] ? worker->folder : NULL, NULL};
    ends e;
    int reason = open_ends(&e);
    const int files[] = {e.words[1], e.words[1], e.stream[1]};

    if (reason != 0)
        return reason;
    reason = kiln__process_start(
        &worker->process, &(kiln__program){program, arguments, files, 3, 1});
    (void)close(e.stream[1]);
    (void)close(e.words[1]);
    worker->stream = kiln__kept_of(e.stream[0]);
    worker->words = kiln__kept_of(e.words[0]);
    if (reason != 0)
        return reason;
    worker->is_running = 1;
    if (worker->process.file.number >= 0)
        (void)lift(&worker->process.file.number);
    return 0;
}

kiln_status kiln__worker_process_start(kiln__worker_process **out,
                                       kiln_context *context,
                                       const char *program, int *reason)
{
    struct kiln__worker_processes *workers = context->worker_processes;
    kiln__worker_process *worker =
        kiln__allocate(&context->alloc, sizeof *worker);

    if (worker == NULL)
        return KILN_ENOMEM;
    *worker = (kiln__worker_process){.context = context,
                                     .process = KILN__PROCESS_NONE,
                                     .stream = KILN__KEPT_NONE,
                                     .words = KILN__KEPT_NONE,
                                     .is_used = 1};
    (void)kiln__temporary_new(worker->folder, sizeof worker->folder,
                              "kiln-codegen");
    kiln__mutex_lock(&workers->lock);
    *reason = start(worker, program);
    if (*reason == 0) {
        worker->next = workers->list;
        workers->list = worker;
    }
    kiln__mutex_unlock(&workers->lock);
    if (*reason != 0) {
        kiln__temporary_remove(worker->folder);
        worker_free(worker);
        return *reason == ENOMEM ? KILN_ENOMEM : KILN_EIO;
    }
    current = worker;
    *out = worker;
    return KILN_OK;
}

/* ---- ending ---- */

static kiln__process_end wait_for_own_end(const kiln__worker_process *worker,
                                          siginfo_t *info)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    kiln__process_end found =
        kiln__process_wait(&worker->process, info, WNOHANG | WNOWAIT);

    for (int ms = 0; ms < OWN_END_MS && found == KILN__PROCESS_RUNS; ms++) {
        (void)nanosleep(&moment, NULL);
        found = kiln__process_wait(&worker->process, info, WNOHANG | WNOWAIT);
    }
    return found;
}

static void read_words(const kiln__worker_process *worker,
                       kiln__worker_process_ending *ending)
{
    size_t size = 0;
    ssize_t got = 0;

    do {
        size += (size_t)got;
        got = read(worker->words.number, ending->words + size,
                   sizeof ending->words - 1 - size);
    } while (got > 0);
    ending->words[size] = '\0';
}

static void tell(kiln__worker_process_ending *ending, const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        ending->status = info->si_status;
    else
        ending->signal = info->si_status;
}

/* Ends the process with all processes that it started, such as a linker, even
   if it has ended by itself. */
static void end_process(const kiln__worker_process *worker,
                        kiln__worker_process_ending *ending)
{
    siginfo_t info;

    if (ending != NULL &&
        wait_for_own_end(worker, &info) == KILN__PROCESS_ENDED)
        tell(ending, &info);
    kiln__process_kill(&worker->process);
    (void)kiln__process_wait(&worker->process, &info, 0);
}

static void unlist(struct kiln__worker_processes *workers,
                   const kiln__worker_process *gone)
{
    kiln__worker_process **at;

    kiln__mutex_lock(&workers->lock);
    at = &workers->list;
    while (*at != NULL && *at != gone)
        at = &(*at)->next;
    if (*at != NULL)
        *at = gone->next;
    kiln__mutex_unlock(&workers->lock);
}

void kiln__worker_process_end(kiln__worker_process *worker,
                              kiln__worker_process_ending *ending)
{
    if (ending != NULL)
        *ending = (kiln__worker_process_ending){.status = -1};
    if (worker->is_running)
        end_process(worker, ending);
    kiln__temporary_remove(worker->folder);
    if (ending != NULL && kiln__kept_is_ours(&worker->words))
        read_words(worker, ending);
    unlist(worker->context->worker_processes, worker);
    if (current == worker)
        current = NULL;
    worker_free(worker);
}

/* ---- builds that worker processes report ---- */

void kiln__worker_processes_note_tools(kiln_context *context,
                                       const kiln__builds_loaded *tools)
{
    struct kiln__worker_processes *workers = context->worker_processes;

    kiln__mutex_lock(&workers->lock);
    if (!workers->knows_tools)
        workers->tools = *tools;
    workers->knows_tools = 1;
    kiln__mutex_unlock(&workers->lock);
}

int kiln__worker_processes_tools(kiln_context *context,
                                 kiln__builds_loaded *out)
{
    struct kiln__worker_processes *workers = context->worker_processes;
    int known;

    kiln__mutex_lock(&workers->lock);
    known = workers->knows_tools;
    if (known)
        *out = workers->tools;
    kiln__mutex_unlock(&workers->lock);
    return known;
}
