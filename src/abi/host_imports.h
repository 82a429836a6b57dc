/* host_imports.h - the functions that host code may leave undefined. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_IMPORTS_H
#define KILN_HOST_IMPORTS_H

/*
 * X(name): C's mathematics for f64 and f32, the memory functions that code
 * generators call by themselves, and functions of the compiler's runtime
 * library for arithmetic that a processor lacks. The loader resolves these and
 * refuses all others; code generation refuses the others earlier, with a better
 * message.
 *
 * Sorted by name as strcmp() does.
 */
/* clang-format off */
#define KILN__HOST_IMPORT_MAP(X) \
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
    X(ilogb) \
    X(ilogbf) \
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
    X(logb) \
    X(logbf) \
    X(logf) \
    X(memcmp) \
    X(memcpy) \
    X(memmove) \
    X(memset) \
    X(modf) \
    X(modff) \
    X(nearbyint) \
    X(nearbyintf) \
    X(nextafter) \
    X(nextafterf) \
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

#endif /* KILN_HOST_IMPORTS_H */
