/* host_imports.h - the functions that host code may leave undefined. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_IMPORTS_H
#define KILN_HOST_IMPORTS_H

/*
 * X(name, types, home): C's mathematics for f64 and f32, the memory functions
 * that code generators call by themselves, and functions of the compiler's
 * runtime library for arithmetic that a processor lacks. The loader resolves
 * these and refuses all others; code generation refuses the others earlier,
 * with a better message, and those that a module declares with other types.
 *
 * The first letter of the types is the result's, the others are the
 * parameters': d f64, f f32, h f16, i i32, l i64, q i128, p a pointer, v no
 * result.
 *
 * The home is LIBM, or HERE for what lies in the loader's own library or is
 * bound by every process anyway.
 *
 * Sorted by name as strcmp() does.
 */
/* clang-format off */
#define KILN__HOST_IMPORT_MAP(X) \
    X(__divti3, "qqq", HERE) \
    X(__extendhfsf2, "fh", HERE) \
    X(__modti3, "qqq", HERE) \
    X(__truncdfhf2, "hd", HERE) \
    X(__truncsfhf2, "hf", HERE) \
    X(__udivti3, "qqq", HERE) \
    X(__umodti3, "qqq", HERE) \
    X(acos, "dd", LIBM) \
    X(acosf, "ff", LIBM) \
    X(acosh, "dd", LIBM) \
    X(acoshf, "ff", LIBM) \
    X(asin, "dd", LIBM) \
    X(asinf, "ff", LIBM) \
    X(asinh, "dd", LIBM) \
    X(asinhf, "ff", LIBM) \
    X(atan, "dd", LIBM) \
    X(atan2, "ddd", LIBM) \
    X(atan2f, "fff", LIBM) \
    X(atanf, "ff", LIBM) \
    X(atanh, "dd", LIBM) \
    X(atanhf, "ff", LIBM) \
    X(bcmp, "ippl", HERE) \
    X(cbrt, "dd", LIBM) \
    X(cbrtf, "ff", LIBM) \
    X(ceil, "dd", LIBM) \
    X(ceilf, "ff", LIBM) \
    X(copysign, "ddd", LIBM) \
    X(copysignf, "fff", LIBM) \
    X(cos, "dd", LIBM) \
    X(cosf, "ff", LIBM) \
    X(cosh, "dd", LIBM) \
    X(coshf, "ff", LIBM) \
    X(erf, "dd", LIBM) \
    X(erfc, "dd", LIBM) \
    X(erfcf, "ff", LIBM) \
    X(erff, "ff", LIBM) \
    X(exp, "dd", LIBM) \
    X(exp10, "dd", LIBM) \
    X(exp10f, "ff", LIBM) \
    X(exp2, "dd", LIBM) \
    X(exp2f, "ff", LIBM) \
    X(expf, "ff", LIBM) \
    X(expm1, "dd", LIBM) \
    X(expm1f, "ff", LIBM) \
    X(fabs, "dd", LIBM) \
    X(fabsf, "ff", LIBM) \
    X(fdim, "ddd", LIBM) \
    X(fdimf, "fff", LIBM) \
    X(floor, "dd", LIBM) \
    X(floorf, "ff", LIBM) \
    X(fma, "dddd", LIBM) \
    X(fmaf, "ffff", LIBM) \
    X(fmax, "ddd", LIBM) \
    X(fmaxf, "fff", LIBM) \
    X(fmin, "ddd", LIBM) \
    X(fminf, "fff", LIBM) \
    X(fmod, "ddd", LIBM) \
    X(fmodf, "fff", LIBM) \
    X(frexp, "ddp", LIBM) \
    X(frexpf, "ffp", LIBM) \
    X(hypot, "ddd", LIBM) \
    X(hypotf, "fff", LIBM) \
    X(ilogb, "id", LIBM) \
    X(ilogbf, "if", LIBM) \
    X(ldexp, "ddi", LIBM) \
    X(ldexpf, "ffi", LIBM) \
    X(lgamma, "dd", HERE) \
    X(lgamma_r, "ddp", LIBM) \
    X(lgammaf, "ff", HERE) \
    X(lgammaf_r, "ffp", LIBM) \
    X(log, "dd", LIBM) \
    X(log10, "dd", LIBM) \
    X(log10f, "ff", LIBM) \
    X(log1p, "dd", LIBM) \
    X(log1pf, "ff", LIBM) \
    X(log2, "dd", LIBM) \
    X(log2f, "ff", LIBM) \
    X(logb, "dd", LIBM) \
    X(logbf, "ff", LIBM) \
    X(logf, "ff", LIBM) \
    X(memcmp, "ippl", HERE) \
    X(memcpy, "pppl", HERE) \
    X(memmove, "pppl", HERE) \
    X(memset, "ppil", HERE) \
    X(modf, "ddp", LIBM) \
    X(modff, "ffp", LIBM) \
    X(nearbyint, "dd", LIBM) \
    X(nearbyintf, "ff", LIBM) \
    X(nextafter, "ddd", LIBM) \
    X(nextafterf, "fff", LIBM) \
    X(pow, "ddd", LIBM) \
    X(powf, "fff", LIBM) \
    X(remainder, "ddd", LIBM) \
    X(remainderf, "fff", LIBM) \
    X(rint, "dd", LIBM) \
    X(rintf, "ff", LIBM) \
    X(round, "dd", LIBM) \
    X(roundeven, "dd", LIBM) \
    X(roundevenf, "ff", LIBM) \
    X(roundf, "ff", LIBM) \
    X(sin, "dd", LIBM) \
    X(sincos, "vdpp", LIBM) \
    X(sincosf, "vfpp", LIBM) \
    X(sinf, "ff", LIBM) \
    X(sinh, "dd", LIBM) \
    X(sinhf, "ff", LIBM) \
    X(sqrt, "dd", LIBM) \
    X(sqrtf, "ff", LIBM) \
    X(tan, "dd", LIBM) \
    X(tanf, "ff", LIBM) \
    X(tanh, "dd", LIBM) \
    X(tanhf, "ff", LIBM) \
    X(tgamma, "dd", LIBM) \
    X(tgammaf, "ff", LIBM) \
    X(trunc, "dd", LIBM) \
    X(truncf, "ff", LIBM)
/* clang-format on */

#endif /* KILN_HOST_IMPORTS_H */
