/* thread.c - threads, locks, once and the clock, over pthreads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/system/float_mode.h"

kiln_status kiln__mutex_init(kiln__mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL) == 0 ? KILN_OK : KILN_ENOMEM;
}

void kiln__mutex_dispose(kiln__mutex *mutex)
{
    (void)pthread_mutex_destroy(mutex);
}

void kiln__mutex_lock(kiln__mutex *mutex)
{
    (void)pthread_mutex_lock(mutex);
}

void kiln__mutex_unlock(kiln__mutex *mutex)
{
    (void)pthread_mutex_unlock(mutex);
}

kiln_status kiln__rwlock_init(kiln__rwlock *lock)
{
    return pthread_rwlock_init(lock, NULL) == 0 ? KILN_OK : KILN_ENOMEM;
}

void kiln__rwlock_dispose(kiln__rwlock *lock)
{
    (void)pthread_rwlock_destroy(lock);
}

int kiln__rwlock_read(kiln__rwlock *lock)
{
    return pthread_rwlock_rdlock(lock) == 0;
}

int kiln__rwlock_write(kiln__rwlock *lock)
{
    return pthread_rwlock_wrlock(lock) == 0;
}

void kiln__rwlock_unlock(kiln__rwlock *lock)
{
    (void)pthread_rwlock_unlock(lock);
}

kiln_status kiln__condition_init(kiln__condition *condition)
{
    pthread_condattr_t attributes;
    int failure = pthread_condattr_init(&attributes);

    if (failure != 0)
        return KILN_ENOMEM;
    failure = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (failure == 0)
        failure = pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return failure == 0 ? KILN_OK : KILN_ENOMEM;
}

void kiln__condition_dispose(kiln__condition *condition)
{
    (void)pthread_cond_destroy(condition);
}

void kiln__condition_wait(kiln__condition *condition, kiln__mutex *mutex)
{
    (void)pthread_cond_wait(condition, mutex);
}

int kiln__condition_wait_until(kiln__condition *condition, kiln__mutex *mutex,
                               uint64_t deadline_ns)
{
    const struct timespec until = {
        .tv_sec = (time_t)(deadline_ns / 1000000000u),
        .tv_nsec = (long)(deadline_ns % 1000000000u),
    };

    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

void kiln__condition_signal(kiln__condition *condition)
{
    (void)pthread_cond_signal(condition);
}

void kiln__condition_broadcast(kiln__condition *condition)
{
    (void)pthread_cond_broadcast(condition);
}

/* A new thread inherits the signal mask of its creator, so signals are blocked
   while it is created: there is no moment at which it could take one. It also
   inherits its creator's floating-point mode. */
static int create_masked(kiln__thread *out, const pthread_attr_t *attributes,
                         void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    fenv_t mode;
    int failure;

    sigfillset(&all);
    failure = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (failure != 0)
        return failure;
    kiln__float_begin(&mode);
    failure = pthread_create(out, attributes, run, argument);
    kiln__float_end(&mode);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

void kiln__thread_receive(int number)
{
    sigset_t one;

    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* Bytes of a new thread's stack that it cannot use: the thread-local variables
   of all loaded libraries are there, those of sanitizers alone take a megabyte.
   glibc returns the number from a function that no header declares. */
static size_t taken_from_stack(void)
{
    size_t (*measure)(const pthread_attr_t *) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
    pthread_attr_t attributes;
    size_t size = 0;

    if (found == NULL || pthread_attr_init(&attributes) != 0)
        return 0;
    memcpy(&measure, &found, sizeof measure);
    size = measure(&attributes);
    (void)pthread_attr_destroy(&attributes);
    return size;
}

kiln_status kiln__thread_start(kiln__thread *out, size_t stack_size,
                               void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    int failure;

    if (pthread_attr_init(&attributes) != 0)
        return KILN_ENOMEM;
    failure = stack_size == 0
                  ? 0
                  : pthread_attr_setstacksize(&attributes,
                                              stack_size + taken_from_stack());
    if (failure == 0)
        failure = create_masked(out, &attributes, run, argument);
    (void)pthread_attr_destroy(&attributes);
    return failure == 0 ? KILN_OK : KILN_ENOMEM;
}

void kiln__thread_join(kiln__thread thread)
{
    (void)pthread_join(thread, NULL);
}

void kiln__thread_detach(kiln__thread thread)
{
    (void)pthread_detach(thread);
}

void kiln__once_run(kiln__once *once, void (*make)(void))
{
    (void)pthread_once(once, make);
}

kiln_status kiln__thread_slot_init(kiln__thread_slot *slot,
                                   void (*free)(void *value))
{
    return pthread_key_create(slot, free) == 0 ? KILN_OK : KILN_ENOMEM;
}

void *kiln__thread_slot_get(kiln__thread_slot slot)
{
    return pthread_getspecific(slot);
}

kiln_status kiln__thread_slot_set(kiln__thread_slot slot, void *value)
{
    return pthread_setspecific(slot, value) == 0 ? KILN_OK : KILN_ENOMEM;
}

uint64_t kiln__clock_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
