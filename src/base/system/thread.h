/* thread.h - threads, locks, once and the clock, over pthreads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_THREAD_H
#define KILN_THREAD_H

#include <pthread.h>

#include "kiln/error.h"

/*
 * Lock order: the frontend's world lock, then a tier's lock, then the workers'
 * lock; a callback of the host, a store, a backend or a frontend is called
 * with none of them held.
 */

typedef pthread_mutex_t kiln__mutex;
typedef pthread_cond_t kiln__condition;

#define KILN__MUTEX_INIT PTHREAD_MUTEX_INITIALIZER

kiln_status kiln__mutex_init(kiln__mutex *mutex);
void kiln__mutex_dispose(kiln__mutex *mutex);
void kiln__mutex_lock(kiln__mutex *mutex);
void kiln__mutex_unlock(kiln__mutex *mutex);

kiln_status kiln__condition_init(kiln__condition *condition);
void kiln__condition_dispose(kiln__condition *condition);
void kiln__condition_wait(kiln__condition *condition, kiln__mutex *mutex);
/* Waits until kiln__clock_ns() is `deadline_ns`, and returns false then. May
   return earlier. */
int kiln__condition_wait_until(kiln__condition *condition, kiln__mutex *mutex,
                               uint64_t deadline_ns);
void kiln__condition_signal(kiln__condition *condition);
void kiln__condition_broadcast(kiln__condition *condition);

/* Starts a thread with all signals blocked and a stack of `stack_size` bytes
   (0: the default), in addition to what the C library keeps on it. */
kiln_status kiln__thread_start(pthread_t *out, size_t stack_size,
                               void *(*run)(void *argument), void *argument);
void kiln__thread_join(pthread_t thread);

/* Cores this process may run on, at least 1. */
uint32_t kiln__core_count(void);
/* Nanoseconds of a monotonic clock. */
uint64_t kiln__clock_ns(void);

#endif /* KILN_THREAD_H */
