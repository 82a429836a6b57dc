/* lock.h - one build per key and machine: locks between processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOCK_H
#define KILN_LOCK_H

#include "base/system/kept.h"
#include "context/context.h"

/*
 * Before a process builds something that others may be building, it takes the
 * lock of the key, looks into the stores once more, builds, stores the result,
 * and releases the lock. Correctness does not depend on locks; they only save
 * work. A process that cannot get a lock, or that has waited long enough,
 * builds nevertheless.
 *
 * When a process ends, in whatever way, its locks are released at once. A
 * stopped process keeps its locks, so waiting has a deadline. A child of fork()
 * holds none of its parent's locks and cannot release them.
 *
 * All functions may be called from any thread. Within one kiln__locks a thread
 * does not get a key that another one has; but keys that share a slot do not
 * hinder each other.
 */
typedef struct kiln__locks kiln__locks;

/* A lock, in the caller's memory, which must not move until the lock is
   released. */
typedef struct kiln__lock kiln__lock;
struct kiln__lock {
    kiln__locks *locks; /* NULL: holds nothing */
    kiln_digest key;
    uint32_t slot;
    kiln__kept file;    /* the slot's own file, or none */
    uint64_t processes; /* number of forks before it was taken */
    kiln__lock *next;
};

/* Gives the open folder for the lock files, or -1: there is none. It is called
   with no lock held, until there is a folder; the folder is not closed here. */
typedef int (*kiln__locks_folder)(void *env);

/* Opens nothing. KILN_ENOMEM. */
kiln_status kiln__locks_new(kiln__locks **out, kiln_context *context,
                            kiln__locks_folder folder, void *env);
/* No lock may be held any more. NULL is fine. */
void kiln__locks_free(kiln__locks *locks);

/* Never waits. KILN_OK: the caller holds the lock. KILN_EAGAIN: another one
   holds it. KILN_EUNSUPPORTED: nothing can be locked here, so the caller builds
   without a lock. */
kiln_status kiln__lock_try(kiln__lock *out, kiln__locks *locks,
                           kiln_digest key);
/* As kiln__lock_try(), but waits until kiln__clock_ns() is `deadline`:
   KILN_EAGAIN then. The caller must call the host's functions around a blocking
   wait. */
kiln_status kiln__lock_wait(kiln__lock *out, kiln__locks *locks,
                            kiln_digest key, uint64_t deadline);
/* Continues a wait that began at `since`. Pauses grow with the time waited, so
   that many waiters leave the cores to the one that builds. */
kiln_status kiln__lock_wait_on(kiln__lock *out, kiln__locks *locks,
                               kiln_digest key, uint64_t since,
                               uint64_t deadline);
/* Does nothing for a lock that holds nothing. */
void kiln__lock_release(kiln__lock *lock);

#endif /* KILN_LOCK_H */
