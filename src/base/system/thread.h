/* thread.h - threads, locks, once and the clock: pthreads behind one door. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_THREAD_H
#define KILN_THREAD_H

#include <pthread.h>

#include "kiln/error.h"

/*
 * Lock order: the frontend's world lock, then a tier's lock, then the workers'
 * lock; a callback of the host, a store, a backend or a frontend is called
 * with none of them held.
 *
 * Only this folder calls pthreads, so that every thread is started with the
 * same mask and floating-point mode, every condition waits for the same clock,
 * and a lock has one type. The test `one_spelling` checks this. What fails only
 * when a caller misuses it has no result here.
 */

typedef pthread_t kiln__thread;
typedef pthread_mutex_t kiln__mutex;
typedef pthread_rwlock_t kiln__rwlock;
typedef pthread_cond_t kiln__condition;
typedef pthread_once_t kiln__once;
typedef pthread_key_t kiln__thread_slot;

#define KILN__MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define KILN__RWLOCK_INIT PTHREAD_RWLOCK_INITIALIZER
#define KILN__ONCE_INIT PTHREAD_ONCE_INIT

/* ---- locks ---- */

kiln_status kiln__mutex_init(kiln__mutex *mutex);
void kiln__mutex_dispose(kiln__mutex *mutex);
void kiln__mutex_lock(kiln__mutex *mutex);
void kiln__mutex_unlock(kiln__mutex *mutex);

kiln_status kiln__rwlock_init(kiln__rwlock *lock);
void kiln__rwlock_dispose(kiln__rwlock *lock);
/* False: the lock was not taken, since it has too many readers or this thread
   has it for writing. */
int kiln__rwlock_read(kiln__rwlock *lock);
/* False: the lock was not taken, since this thread has it. */
int kiln__rwlock_write(kiln__rwlock *lock);
void kiln__rwlock_unlock(kiln__rwlock *lock);

/* ---- conditions ---- */

kiln_status kiln__condition_init(kiln__condition *condition);
void kiln__condition_dispose(kiln__condition *condition);
void kiln__condition_wait(kiln__condition *condition, kiln__mutex *mutex);
/* Waits until kiln__clock_ns() is `deadline_ns`, and returns false then. May
   return earlier. */
int kiln__condition_wait_until(kiln__condition *condition, kiln__mutex *mutex,
                               uint64_t deadline_ns);
void kiln__condition_signal(kiln__condition *condition);
void kiln__condition_broadcast(kiln__condition *condition);

/* ---- threads ---- */

/* Starts a thread with all signals blocked and a stack of `stack_size` bytes
   (0: the default), in addition to what the C library keeps on it. */
kiln_status kiln__thread_start(kiln__thread *out, size_t stack_size,
                               void *(*run)(void *argument), void *argument);
void kiln__thread_join(kiln__thread thread);
/* Instead of joining: the thread, which may be this one, frees itself. */
void kiln__thread_detach(kiln__thread thread);
/* Lets the calling thread receive a signal that it blocks. */
void kiln__thread_receive(int number);

/* Inline, since counters and exceptions ask for these on short paths. */
static inline kiln__thread kiln__thread_self(void)
{
    return pthread_self();
}

static inline int kiln__thread_is(kiln__thread a, kiln__thread b)
{
    return pthread_equal(a, b) != 0;
}

/* ---- once ---- */

/* The first caller runs `make`; the others wait until it has run. */
void kiln__once_run(kiln__once *once, void (*make)(void));

/* ---- slots: a pointer of each thread, freed with the thread ---- */

kiln_status kiln__thread_slot_init(kiln__thread_slot *slot,
                                   void (*free)(void *value));
/* NULL until this thread has set it. */
void *kiln__thread_slot_get(kiln__thread_slot slot);
/* Does not free the previous value. */
kiln_status kiln__thread_slot_set(kiln__thread_slot slot, void *value);

/* ---- the clock ---- */

/* Nanoseconds of a monotonic clock. */
uint64_t kiln__clock_ns(void);

#endif /* KILN_THREAD_H */
