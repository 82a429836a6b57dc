/* float_mode.h - computes in the default mode, whatever mode the host has
   set. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FLOAT_MODE_H
#define KILN_FLOAT_MODE_H

#include <fenv.h>
#include <stdint.h>

/*
 * A host may round upward, flush subnormal numbers, or trap a division by zero,
 * and Kiln and its kernels run on the host's threads. Between these calls a
 * thread rounds to nearest and traps nothing, so that equal programs give equal
 * results. Afterwards the mode is as it was before, including the flags.
 */

/* Used around code that reads, folds and writes numbers, or that starts
   threads. */
static inline void kiln__float_begin(fenv_t *before)
{
    (void)fegetenv(before);
    (void)fesetenv(FE_DFL_ENV);
}

static inline void kiln__float_end(const fenv_t *before)
{
    (void)fesetenv(before);
}

/* Used around kernels: the same, for the one register that kernels use. C's
   functions may use others: in glibc, those that read and write decimals ask
   the x87 unit how to round. Writing the register takes longer than reading it,
   and is seldom needed: most hosts have not changed the mode, and have the
   flags set that a kernel would raise. */
#if defined(__x86_64__)

typedef uint32_t kiln__float_mode;

#define KILN__FLOAT_DEFAULT 0x1f80u /* MXCSR: round to nearest, no traps */
#define KILN__FLOAT_FLAGS 0x3fu     /* what happened; nothing depends on it */

static inline kiln__float_mode kiln__float_enter(void)
{
    const kiln__float_mode before = __builtin_ia32_stmxcsr();

    if ((before & ~KILN__FLOAT_FLAGS) != KILN__FLOAT_DEFAULT)
        __builtin_ia32_ldmxcsr(KILN__FLOAT_DEFAULT);
    return before;
}

static inline void kiln__float_leave(kiln__float_mode before)
{
    if (__builtin_ia32_stmxcsr() != before)
        __builtin_ia32_ldmxcsr(before);
}

#else

typedef fenv_t kiln__float_mode;

static inline kiln__float_mode kiln__float_enter(void)
{
    kiln__float_mode before;

    kiln__float_begin(&before);
    return before;
}

static inline void kiln__float_leave(kiln__float_mode before)
{
    kiln__float_end(&before);
}

#endif

#endif /* KILN_FLOAT_MODE_H */
