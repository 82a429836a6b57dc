/* host_spin.c - waiting for another thread without sleeping. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sched.h>

#include "backends/host/host_backend.h"

#define PAUSES 64 /* between two readings of the clock */
/* After so long, who waits lets other threads on this core go first: they may
   be what it waits for. */
#define ALONE_NS 20000

static void pause_a_moment(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

int kiln__host_spin(uint64_t limit_ns, const void *env,
                    int (*is_ready)(const void *env),
                    int (*is_vain)(const void *env))
{
    const uint64_t start = kiln__clock_ns();
    uint64_t spent;

    do {
        for (int i = 0; i < PAUSES; i++) {
            if (is_ready(env))
                return 1;
            pause_a_moment();
        }
        spent = kiln__clock_ns() - start;
        if (spent > ALONE_NS)
            (void)sched_yield();
    } while (spent < limit_ns && !is_vain(env));
    return is_ready(env);
}
