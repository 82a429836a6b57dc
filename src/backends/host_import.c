/* host_import.c - the functions that host images may refer to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host.h"

/*
 * An image reaches the process through its launch argument and through this
 * list, and through nothing else: an artifact from a disk cannot name
 * system() or whatever else the process happens to have loaded. Listed are
 * C's mathematics for f64 and f32, the memory functions that code generators
 * call by themselves, and what the compiler's own runtime library offers for
 * arithmetic that a processor lacks: 128-bit division and, without the
 * feature f16c, conversions of f16.
 *
 * Sorted by name as strcmp() does, for the binary search.
 */

/* Found in the compiler's runtime library. Only their addresses are taken
   here, so that nothing depends on the types of their operands. */
void __divti3(void);
void __extendhfsf2(void);
void __modti3(void);
void __truncdfhf2(void);
void __truncsfhf2(void);
void __udivti3(void);
void __umodti3(void);

/* clang-format off */
#define IMPORT_MAP(X) \
    X(__divti3) \
    X(__extendhfsf2) \
    X(__modti3) \
    X(__truncdfhf2) \
    X(__truncsfhf2) \
    X(__udivti3) \
    X(__umodti3) \
    X(acos) \
    X(acosf) \
    X(acosh) \
    X(acoshf) \
    X(asin) \
    X(asinf) \
    X(asinh) \
    X(asinhf) \
    X(atan) \
    X(atan2) \
    X(atan2f) \
    X(atanf) \
    X(atanh) \
    X(atanhf) \
    X(bcmp) \
    X(cbrt) \
    X(cbrtf) \
    X(ceil) \
    X(ceilf) \
    X(copysign) \
    X(copysignf) \
    X(cos) \
    X(cosf) \
    X(cosh) \
    X(coshf) \
    X(erf) \
    X(erfc) \
    X(erfcf) \
    X(erff) \
    X(exp) \
    X(exp10) \
    X(exp10f) \
    X(exp2) \
    X(exp2f) \
    X(expf) \
    X(expm1) \
    X(expm1f) \
    X(fabs) \
    X(fabsf) \
    X(fdim) \
    X(fdimf) \
    X(floor) \
    X(floorf) \
    X(fma) \
    X(fmaf) \
    X(fmax) \
    X(fmaxf) \
    X(fmin) \
    X(fminf) \
    X(fmod) \
    X(fmodf) \
    X(frexp) \
    X(frexpf) \
    X(hypot) \
    X(hypotf) \
    X(ldexp) \
    X(ldexpf) \
    X(lgamma) \
    X(lgamma_r) \
    X(lgammaf) \
    X(lgammaf_r) \
    X(log) \
    X(log10) \
    X(log10f) \
    X(log1p) \
    X(log1pf) \
    X(log2) \
    X(log2f) \
    X(logf) \
    X(memcmp) \
    X(memcpy) \
    X(memmove) \
    X(memset) \
    X(modf) \
    X(modff) \
    X(nearbyint) \
    X(nearbyintf) \
    X(pow) \
    X(powf) \
    X(remainder) \
    X(remainderf) \
    X(rint) \
    X(rintf) \
    X(round) \
    X(roundeven) \
    X(roundevenf) \
    X(roundf) \
    X(sin) \
    X(sincos) \
    X(sincosf) \
    X(sinf) \
    X(sinh) \
    X(sinhf) \
    X(sqrt) \
    X(sqrtf) \
    X(tan) \
    X(tanf) \
    X(tanh) \
    X(tanhf) \
    X(tgamma) \
    X(tgammaf) \
    X(trunc) \
    X(truncf)
/* clang-format on */

typedef void (*function)(void);

static const struct import {
    const char *name;
    function address;
} imports[] = {
#define ENTRY(name) {#name, (function)(name)},
    IMPORT_MAP(ENTRY)
#undef ENTRY
};

#define IMPORT_COUNT (sizeof imports / sizeof imports[0])

static int compare(const void *name, const void *import)
{
    return strcmp(name, ((const struct import *)import)->name);
}

void *kiln__host_import(const char *name)
{
    const struct import *found =
        bsearch(name, imports, IMPORT_COUNT, sizeof imports[0], compare);
    void *address = NULL;

    /* C has no conversion between the two kinds of pointers; POSIX promises
       that they look the same. */
    if (found != NULL)
        memcpy(&address, &found->address, sizeof address);
    return address;
}

const char *kiln__host_import_name(size_t index)
{
    return index < IMPORT_COUNT ? imports[index].name : NULL;
}
