/* shared_words.h - atomic access to words that cannot be declared atomic. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SHARED_WORDS_H
#define KILN_SHARED_WORDS_H

#include "abi/device_abi.h"
#include "kiln/compile.h"

/*
 * Words that only Kiln's C code reads are `_Atomic`. These are not: C++
 * programs compile the first two structures, which are in a public header, and
 * C++ 17 has no `_Atomic`. Code on a device writes the third one, and the host
 * copies it as bytes. So the compiler's own functions access them, here and in
 * kiln_call_site_get(), and nowhere else. The test `one_spelling` checks this.
 */

static inline void kiln__call_site_publish(kiln_call_site *site,
                                           const kiln_kernel *kernel)
{
    __atomic_store_n(&site->kernel, kernel, __ATOMIC_RELEASE);
}

static inline int kiln__kernel_head_is_valid(const kiln_kernel_head *head)
{
    return __atomic_load_n(&head->valid, __ATOMIC_ACQUIRE) != 0;
}

static inline void kiln__kernel_head_end(kiln_kernel_head *head)
{
    __atomic_store_n(&head->valid, 0, __ATOMIC_RELEASE);
}

static inline uint32_t kiln__device_phase_get(
    const struct kiln__device_state *state)
{
    return __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE);
}

static inline void kiln__device_phase_set(struct kiln__device_state *state,
                                          uint32_t phase)
{
    __atomic_store_n(&state->phase, phase, __ATOMIC_RELEASE);
}

#endif /* KILN_SHARED_WORDS_H */
