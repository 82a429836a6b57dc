/* lock.h - one build per key and machine: locks between processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOCK_H
#define KILN_LOCK_H

#include "base/system/kept.h"
#include "context/context.h"

/*
 * Whoever is to build something that others may be building takes the lock of
 * its key, looks into the stores once more, builds, puts, and lets go. A lock
 * is a promise of saved work, not of exclusion that anything rests on: who
 * cannot have one, or has waited long enough, builds all the same.
 *
 * A process that ends, however it ends, lets go of its locks at once. One that
 * is stopped holds them, so waiting has a deadline. A child of fork() holds
 * none of its parent's and cannot let go of them.
 *
 * Everything may be called from any thread. Within one kiln__locks a thread
 * does not get a key that another one has, but keys that meet in one slot do
 * not hinder each other.
 */
typedef struct kiln__locks kiln__locks;

/* A lock that is held, in the caller's storage, which stays where it is until
   it is released. */
typedef struct kiln__lock kiln__lock;
struct kiln__lock {
    kiln__locks *locks; /* NULL: holds nothing */
    kiln_digest key;
    uint32_t slot;
    kiln__kept file;    /* the slot's own, or none */
    uint64_t processes; /* forks before it was taken */
    kiln__lock *next;
};

/* Gives the open folder that the locks are to be in, or -1: there is none.
   Called with no lock held, until there is one; it is not closed here. */
typedef int (*kiln__locks_folder)(void *env);

/* Opens nothing. KILN_ENOMEM. */
kiln_status kiln__locks_new(kiln__locks **out, kiln_context *context,
                            kiln__locks_folder folder, void *env);
/* No lock is held any more. NULL is fine. */
void kiln__locks_free(kiln__locks *locks);

/* Never waits. KILN_OK: it is held. KILN_EAGAIN: another one has it.
   KILN_EUNSUPPORTED: nothing can be locked here, so the caller goes alone. */
kiln_status kiln__lock_try(kiln__lock *out, kiln__locks *locks,
                           kiln_digest key);
/* As kiln__lock_try(), but waits until kiln__clock_ns() is `deadline`:
   KILN_EAGAIN then. The host's blocking brackets are the caller's business. */
kiln_status kiln__lock_wait(kiln__lock *out, kiln__locks *locks,
                            kiln_digest key, uint64_t deadline);
/* Goes on with a wait that began at `since`: pauses grow with what was waited,
   so that many who wait leave the cores to the one that builds. */
kiln_status kiln__lock_wait_on(kiln__lock *out, kiln__locks *locks,
                               kiln_digest key, uint64_t since,
                               uint64_t deadline);
/* Of one that holds nothing: does nothing. */
void kiln__lock_release(kiln__lock *lock);

#endif /* KILN_LOCK_H */
