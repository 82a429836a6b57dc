/* system_calls.c - lets system calls of this process fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/process/system_calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCHED_MAX 64

static struct {
    pthread_mutex_t lock; /* guards the next two */
    system_fault fault;
    int is_set;
    atomic_long seen, failed;
    atomic_int listener; /* -1: not there yet */
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .listener = -1};

/* ---- decisions ---- */

/* The path can be read because it is in this process, and the thread that made
   the call waits. */
static int has_path(const struct seccomp_notif *call, const char *path)
{
    const char *asked = (const char *)(uintptr_t)call->data.args[1];

    return syscall(SYS_tgkill, getpid(), (pid_t)call->pid, 0) == 0 && asked &&
           strncmp(asked, path, strlen(path)) == 0;
}

static int is_concerned(const system_fault *fault,
                        const struct seccomp_notif *call)
{
    return call->data.nr == fault->number &&
           (!fault->path || has_path(call, fault->path));
}

/* Returns 0, or the error that the call is to return. */
static int reason_of(const struct seccomp_notif *call)
{
    int reason = 0;

    pthread_mutex_lock(&calls.lock);
    if (calls.is_set && is_concerned(&calls.fault, call)) {
        const long number = atomic_fetch_add(&calls.seen, 1) + 1;
        const system_fault *fault = &calls.fault;

        if (number >= fault->at &&
            (fault->times < 0 || number < fault->at + fault->times)) {
            atomic_fetch_add(&calls.failed, 1);
            reason = fault->reason;
        }
    }
    pthread_mutex_unlock(&calls.lock);
    return reason;
}

/* Allocates and opens nothing: another thread may hold what that needs. */
static void *answer(void *argument)
{
    (void)argument;
    while (atomic_load(&calls.listener) < 0)
        usleep(100);
    for (;;) {
        struct seccomp_notif call;
        struct seccomp_notif_resp response;
        int reason;

        memset(&call, 0, sizeof call);
        memset(&response, 0, sizeof response);
        if (ioctl(atomic_load(&calls.listener), SECCOMP_IOCTL_NOTIF_RECV,
                  &call) != 0)
            continue;
        reason = reason_of(&call);
        response.id = call.id;
        response.error = -reason;
        if (reason == 0)
            response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void)ioctl(atomic_load(&calls.listener), SECCOMP_IOCTL_NOTIF_SEND,
                    &response);
    }
    return NULL;
}

/* ---- watching ---- */

static int install(const int *numbers, size_t count)
{
    struct sock_filter filter[WATCHED_MAX + 3];
    struct sock_fprog program = {.filter = filter};
    unsigned short size = 0;

    filter[size++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++)
        filter[size++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i],
            (unsigned char)(count - i), 0);
    filter[size++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[size++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    program.len = size;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* The thread that answers is started before the filter, so its calls are not
   watched. */
int system_calls_watch(const int *numbers, size_t count)
{
    pthread_t thread;
    int listener;

    if (count > WATCHED_MAX || pthread_create(&thread, NULL, answer, NULL) != 0)
        return 0;
    (void)pthread_detach(thread);
    listener = install(numbers, count);
    if (listener < 0)
        return 0;
    atomic_store(&calls.listener, listener);
    return 1;
}

void system_calls_fail(const system_fault *fault)
{
    pthread_mutex_lock(&calls.lock);
    calls.is_set = fault != NULL;
    if (fault)
        calls.fault = *fault;
    atomic_store(&calls.seen, 0);
    atomic_store(&calls.failed, 0);
    pthread_mutex_unlock(&calls.lock);
}

long system_calls_failed(void)
{
    return atomic_load(&calls.failed);
}
