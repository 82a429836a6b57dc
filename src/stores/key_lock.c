/* key_lock.c - locks between processes: a byte of a file for each key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "context/trace.h"
#include "stores/filesystem.h"
#include "stores/trust.h"

/*
 * There is one lock file in the folder; it is always empty. The lock of a key
 * is an exclusive lock of the byte number `hash of the key modulo 2^20`, of the
 * kind that belongs to an open file description (F_OFD_SETLK): it excludes
 * other processes, and other contexts and copies of the library in this one,
 * which open the file for themselves. The kernel releases it when the
 * description is closed for the last time: at the end of the process, however
 * it ended. Locks of the older kind (F_SETLK) would belong to the process, and
 * would be lost when any other part of it closes the file; a file made with
 * O_EXCL would stay when its maker dies.
 *
 * fork() gives the child a descriptor of the same description. The child closes
 * it before anything else: so the parent's death still releases its locks, and
 * no call in the child can release them. The child's copies of the parent's
 * locks are ignored, because `processes` has changed.
 *
 * Two keys may share a byte. The second one of this process then shares the
 * lock, and the last one releases it. Another process waits for both; that
 * costs time once in a million, and nothing else.
 *
 * Where the kernel does not know such locks, one of 256 files is locked as a
 * whole (flock), opened for each lock that is taken.
 *
 * The lock file may be removed while it is open. Other processes would then
 * lock a new one, so a file without a name is replaced as soon as nothing is
 * held.
 *
 * Waiting means trying repeatedly. F_OFD_SETLKW waits without a deadline; to
 * interrupt it takes a signal, which a library cannot use, or another thread
 * that would hold the lock instead of this one. Each pause is a sixteenth of
 * the time waited so far, but between 0.1 and 5 ms: so the delay after a build
 * is at most a sixteenth of the time that the build took, and a waiter costs
 * less than a thousandth of a core.
 *
 * tests/protocol/one_build.pml is a model of this, and of build_task.c, in
 * every order of its steps. Words in capitals below are the model's.
 */

#define SLOTS ((uint32_t)1 << 20)
#define FILE_SLOTS 256u
#define PAUSE_LEAST 100000u
#define PAUSE_MOST 5000000u

static const char file_name[] = "lock";

typedef enum lock_way { WAY_UNKNOWN, WAY_BYTES, WAY_FILES, WAY_NONE } lock_way;

struct kiln__locks {
    kiln_context *context;
    kiln__locks_folder folder;
    void *env;
    kiln__mutex mutex; /* guards all below */
    kiln__fork_guard guard;
    lock_way way;
    kiln__kept file;    /* the file with the bytes to lock, or none */
    uint64_t processes; /* number of forks so far */
    kiln__lock *held;
};

/* ---- making ---- */

/* Returns the first lock of the slot from `at` on, or NULL. */
static const kiln__lock *find_slot(const kiln__lock *at, uint32_t slot)
{
    while (at != NULL && at->slot != slot)
        at = at->next;
    return at;
}

/* CHILD_CLOSES. In the child: the copies of the parent's locks are closed, not
   unlocked. */
static void close_locks_after_fork(void *env)
{
    kiln__locks *locks = env;

    for (kiln__lock *at = locks->held; at != NULL; at = at->next)
        if (find_slot(at->next, at->slot) == NULL)
            kiln__kept_close(&at->file);
    kiln__kept_close(&locks->file);
    locks->held = NULL;
    locks->processes++;
}

kiln_status kiln__locks_new(kiln__locks **out, kiln_context *context,
                            kiln__locks_folder folder, void *env)
{
    kiln__locks *locks = kiln__allocate(&context->alloc, sizeof *locks);

    if (locks == NULL)
        return KILN_ENOMEM;
    locks->context = context;
    locks->folder = folder;
    locks->env = env;
    locks->file = KILN__KEPT_NONE;
    if (kiln__mutex_init(&locks->mutex) != KILN_OK) {
        kiln__deallocate(&context->alloc, locks, sizeof *locks);
        return KILN_ENOMEM;
    }
    locks->guard = (kiln__fork_guard){
        .mutex = &locks->mutex, .child = close_locks_after_fork, .env = locks};
    kiln__fork_add(&context->fork, &locks->guard);
    *out = locks;
    return KILN_OK;
}

void kiln__locks_free(kiln__locks *locks)
{
    if (locks == NULL)
        return;
    kiln__fork_remove(&locks->context->fork, &locks->guard);
    kiln__kept_close(&locks->file);
    kiln__mutex_dispose(&locks->mutex);
    kiln__deallocate(&locks->context->alloc, locks, sizeof *locks);
}

/* ---- the lock file; all with the mutex held ---- */

/* A file that was removed is useless, because other processes do not find it.
   If the host closed the descriptor, the locks held through it were lost. */
static int must_open(kiln__locks *locks)
{
    struct stat facts;

    if (locks->way == WAY_NONE || locks->way == WAY_FILES)
        return 0;
    if (!kiln__kept_is_ours(&locks->file)) {
        locks->file = KILN__KEPT_NONE;
        return 1;
    }
    if (locks->held != NULL || fstat(locks->file.number, &facts) != 0 ||
        facts.st_nlink > 0)
        return 0;
    kiln__kept_close(&locks->file);
    return 1;
}

/* The file must belong to this user, because another user who could open it
   could make this one wait. */
static kiln__kept open_in(int folder, const char *name)
{
    const kiln__trust own = {0};

    return kiln__kept_of(kiln__trust_make(&own, folder, name, O_RDWR));
}

/* Asks the kernel for the byte: returns 0 or an errno. */
static int set_byte(int descriptor, int type, uint32_t slot)
{
    struct flock range = {
        .l_type = (short)type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)slot,
        .l_len = 1,
    };
    int failed;

    do
        failed = fcntl(descriptor, F_OFD_SETLK, &range);
    while (failed != 0 && errno == EINTR);
    return failed != 0 ? errno : 0;
}

/* The kernel returns EINVAL for kinds of locks that it does not know. */
static void open_file(kiln__locks *locks, int folder)
{
    const kiln__filesystem filesystem =
        kiln__filesystem_of(&locks->context->alloc, folder);

    if (filesystem.is_network) {
        locks->way = filesystem.may_pass ? locks->way : WAY_NONE;
        return;
    }
    locks->file = open_in(folder, file_name);
    if (locks->file.number < 0)
        return;
    locks->way = WAY_BYTES;
    if (set_byte(locks->file.number, F_UNLCK, 0) != EINVAL)
        return;
    kiln__kept_close(&locks->file);
    locks->way = WAY_FILES;
}

/* ---- one lock; all with the mutex held ---- */

static kiln_status meaning_of(int number)
{
    if (number == 0)
        return KILN_OK;
    return number == EAGAIN || number == EACCES ? KILN_EAGAIN
                                                : KILN_EUNSUPPORTED;
}

/* Opens the slot's file for this lock only, and locks it. */
static kiln_status take_file(kiln__lock *lock, int folder)
{
    kiln_status status;
    char name[32];
    int failed;

    (void)snprintf(name, sizeof name, "%s-%02x", file_name, lock->slot);
    lock->file = open_in(folder, name);
    if (lock->file.number < 0)
        return KILN_EUNSUPPORTED;
    do
        failed = flock(lock->file.number, LOCK_EX | LOCK_NB);
    while (failed != 0 && errno == EINTR);
    if (failed == 0)
        return KILN_OK;
    status = meaning_of(errno);
    kiln__kept_close(&lock->file);
    return status;
}

static int is_held(const kiln__locks *locks, kiln_digest key)
{
    const kiln__lock *at = locks->held;

    while (at != NULL && !kiln__digest_equal(at->key, key))
        at = at->next;
    return at != NULL;
}

static kiln_status take_lock(kiln__locks *locks, kiln__lock *lock, int folder)
{
    const kiln__lock *same;

    if (locks->way == WAY_NONE ||
        (locks->way != WAY_FILES && locks->file.number < 0))
        return KILN_EUNSUPPORTED;
    if (is_held(locks, lock->key))
        return KILN_EAGAIN;
    lock->slot = (uint32_t)(kiln__digest_word(lock->key) %
                            (locks->way == WAY_FILES ? FILE_SLOTS : SLOTS));
    same = find_slot(locks->held, lock->slot);
    if (same != NULL) {
        lock->file = same->file;
        return KILN_OK;
    }
    if (locks->way == WAY_FILES)
        return take_file(lock, folder);
    return meaning_of(set_byte(locks->file.number, F_WRLCK, lock->slot));
}

/* ---- for builds ---- */

/* TRY. */
kiln_status kiln__lock_try(kiln__lock *out, kiln__locks *locks, kiln_digest key)
{
    kiln_status status;
    int folder = -1;
    int wanted;

    *out = (kiln__lock){.key = key, .file = KILN__KEPT_NONE};
    kiln__mutex_lock(&locks->mutex);
    wanted = must_open(locks) || locks->way == WAY_FILES;
    kiln__mutex_unlock(&locks->mutex);
    if (wanted)
        folder = locks->folder(locks->env);
    if (wanted && folder < 0)
        return KILN_EUNSUPPORTED;
    kiln__mutex_lock(&locks->mutex);
    if (wanted && must_open(locks))
        open_file(locks, folder);
    status = take_lock(locks, out, folder);
    if (status == KILN_OK) {
        out->locks = locks;
        out->processes = locks->processes;
        out->next = locks->held;
        locks->held = out;
    }
    kiln__mutex_unlock(&locks->mutex);
    return status;
}

/* Returns the next pause, or 0: TIME_OUT. */
static uint64_t pause_after(uint64_t since, uint64_t deadline)
{
    const uint64_t now = kiln__clock_ns();
    uint64_t pause = (now - since) / 16;

    if (now >= deadline)
        return 0;
    if (pause < PAUSE_LEAST)
        pause = PAUSE_LEAST;
    if (pause > PAUSE_MOST)
        pause = PAUSE_MOST;
    return pause < deadline - now ? pause : deadline - now;
}

kiln_status kiln__lock_wait(kiln__lock *out, kiln__locks *locks,
                            kiln_digest key, uint64_t deadline)
{
    return kiln__lock_wait_on(out, locks, key, kiln__clock_ns(), deadline);
}

kiln_status kiln__lock_wait_on(kiln__lock *out, kiln__locks *locks,
                               kiln_digest key, uint64_t since,
                               uint64_t deadline)
{
    const uint64_t start = kiln__clock_ns();
    kiln_status status = kiln__lock_try(out, locks, key);
    kiln__trace_note note = {.category = "wait",
                             .verb = "wait for another process"};
    uint64_t pause;

    if (status != KILN_EAGAIN)
        return status;
    /* WAIT. */
    while (status == KILN_EAGAIN &&
           (pause = pause_after(since, deadline)) != 0) {
        const struct timespec time = {.tv_nsec = (long)pause};

        (void)nanosleep(&time, NULL);
        status = kiln__lock_try(out, locks, key);
    }
    note.outcome = status == KILN_OK ? "locked" : "still held";
    if (locks->context->trace != NULL)
        kiln__trace_span(locks->context, start, kiln__clock_ns(), &note);
    return status;
}

/* With the mutex held: releases the slot unless another key uses it. */
static void give_back(kiln__locks *locks, kiln__lock *lock)
{
    if (find_slot(locks->held, lock->slot) != NULL)
        return;
    if (lock->file.number >= 0)
        kiln__kept_close(&lock->file);
    else if (kiln__kept_is_ours(&locks->file))
        (void)set_byte(locks->file.number, F_UNLCK, lock->slot);
}

/* RELEASE. */
void kiln__lock_release(kiln__lock *lock)
{
    kiln__locks *locks = lock->locks;

    if (locks == NULL)
        return;
    kiln__mutex_lock(&locks->mutex);
    if (lock->processes == locks->processes) {
        kiln__lock **at = &locks->held;

        while (*at != lock)
            at = &(*at)->next;
        *at = lock->next;
        give_back(locks, lock);
    }
    kiln__mutex_unlock(&locks->mutex);
    lock->locks = NULL;
}
