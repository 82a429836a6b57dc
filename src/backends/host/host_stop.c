/* host_stop.c - stops the launch that a queue of the host runs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <setjmp.h>
#include <string.h>

#include "backends/host/host_backend.h"

/*
 * A queue has a flag, which a launch clears when it begins and when it ends. A
 * thread that wants to stop the launch sets the flag, if a launch is running;
 * generated code reads it (host_abi.h). If the flag is set just before a launch
 * begins, that launch clears it: so no later launch is stopped, and setting the
 * flag needs no lock and no waiting, and is allowed in a signal handler.
 *
 * Functions without a pointer to the launch read `alarm`, the number of flags
 * in the process that are set. If it is not 0, they find their launch through
 * their thread, and leave it with longjmp(). Between kiln_host_run() and
 * kiln_host_poll() there are only frames of the image, which own nothing. If
 * they returned normally instead, every call in the image would have to check
 * afterwards.
 */

typedef struct running {
    jmp_buf back;
    const struct kiln__host_launch_state *launch;
    struct running *outer;
} running;

static _Thread_local running *innermost;

static kiln__host_word alarm;

/* ---- the flag ---- */

static void clear(kiln__host_stop *stop)
{
    if (atomic_exchange_explicit(&stop->reason, 0, memory_order_seq_cst) != 0)
        atomic_fetch_sub_explicit(&alarm, 1, memory_order_relaxed);
}

void kiln__host_stop_begin(kiln__host_stop *stop)
{
    if (atomic_load_explicit(&stop->reason, memory_order_relaxed) != 0)
        clear(stop);
    atomic_store_explicit(&stop->is_running, 1, memory_order_release);
}

void kiln__host_stop_end(kiln__host_stop *stop)
{
    atomic_store_explicit(&stop->is_running, 0, memory_order_relaxed);
    if (atomic_load_explicit(&stop->reason, memory_order_relaxed) != 0)
        clear(stop);
}

void kiln__host_stop_now(kiln__host_stop *stop, uint32_t reason)
{
    uint32_t none = 0;

    if (atomic_load_explicit(&stop->is_running, memory_order_acquire) == 0)
        return;
    if (atomic_compare_exchange_strong_explicit(&stop->reason, &none, reason,
                                                memory_order_seq_cst,
                                                memory_order_relaxed))
        atomic_fetch_add_explicit(&alarm, 1, memory_order_release);
}

/* ---- what images call ---- */

static int32_t run(struct kiln__host_launch_state *launch,
                   const void *arguments, uint64_t first, uint64_t last,
                   void *memory, kiln__host_entry body)
{
    running here = {.launch = launch, .outer = innermost};
    int32_t failed = 1;

    innermost = &here;
    if (_setjmp(here.back) == 0)
        failed = body(launch, arguments, first, last, memory);
    innermost = here.outer;
    return failed;
}

static void leave_if_stopped(void)
{
    running *here = innermost;

    if (here != NULL &&
        atomic_load_explicit(here->launch->stop, memory_order_acquire) != 0)
        longjmp(here->back, 1);
}

void *kiln__host_stop_import(const char *name)
{
    int32_t (*const run_address)(struct kiln__host_launch_state *, const void *,
                                 uint64_t, uint64_t, void *, kiln__host_entry) =
        run;
    void (*const poll_address)(void) = leave_if_stopped;
    void *address = NULL;

    if (strcmp(name, KILN__HOST_ALARM) == 0)
        address = &alarm;
    else if (strcmp(name, KILN__HOST_POLL) == 0)
        memcpy(&address, &poll_address, sizeof address);
    else if (strcmp(name, KILN__HOST_RUN) == 0)
        memcpy(&address, &run_address, sizeof address);
    return address;
}
