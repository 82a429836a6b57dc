/* worker_stack.c - says so when a worker's stack is used up. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/system/stack.h"
#include "base/system/thread.h"
#include "codegen_client/worker/worker.h"

/*
 * clang and LLVM recurse as deeply as what they are given nests, and do not ask
 * for room. The system then ends the process as for any access that is wrong.
 * What the process printed becomes a part of the error, so the handler prints
 * the cause. It runs on a stack of its own, and then the access is tried again,
 * which ends the process as before.
 */

/* How far from the end of the stack an access may be: one frame's size. */
#define NEAR ((uintptr_t)64 * 1024)

/* Of the one thread that serves. */
static uintptr_t end;
static unsigned char room[64 * 1024];

static void on_fault(int number, siginfo_t *info, void *context)
{
    static const char words[] =
        "the stack is used up: something nests too deeply\n";
    const uintptr_t at = (uintptr_t)info->si_addr;
    ssize_t written;

    (void)number;
    (void)context;
    if (at + NEAR < end || at > end + NEAR)
        return;
    written = write(STDERR_FILENO, words, sizeof words - 1);
    (void)written; /* the signal's name is told, at least */
}

void worker_watch_stack(void)
{
    const stack_t other = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action;

    if (KILN__STACK_SCALE > 1)
        return; /* sanitizers tell it themselves */
    end = (uintptr_t)__builtin_frame_address(0) - kiln__stack_left();
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    if (sigaltstack(&other, NULL) == 0 &&
        sigaction(SIGSEGV, &action, NULL) == 0)
        kiln__thread_receive(SIGSEGV);
}
