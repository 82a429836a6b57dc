/* host_imports.h - the functions that host code may leave undefined. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_IMPORTS_H
#define KILN_HOST_IMPORTS_H

/*
 * X(name, types): C's mathematics for f64 and f32, the memory functions that
 * code generators call by themselves, and functions of the compiler's runtime
 * library for arithmetic that a processor lacks. The loader resolves these and
 * refuses all others; code generation refuses the others earlier, with a better
 * message, and those that a module declares with other types.
 *
 * The first letter of the types is the result's, the others are the
 * parameters': d f64, f f32, h f16, i i32, l i64, q i128, p a pointer, v no
 * result.
 *
 * Sorted by name as strcmp() does.
 */
/* clang-format off */
#define KILN__HOST_IMPORT_MAP(X) \
    X(__divti3, "qqq") \
    X(__extendhfsf2, "fh") \
    X(__modti3, "qqq") \
    X(__truncdfhf2, "hd") \
    X(__truncsfhf2, "hf") \
    X(__udivti3, "qqq") \
    X(__umodti3, "qqq") \
    X(acos, "dd") \
    X(acosf, "ff") \
    X(acosh, "dd") \
    X(acoshf, "ff") \
    X(asin, "dd") \
    X(asinf, "ff") \
    X(asinh, "dd") \
    X(asinhf, "ff") \
    X(atan, "dd") \
    X(atan2, "ddd") \
    X(atan2f, "fff") \
    X(atanf, "ff") \
    X(atanh, "dd") \
    X(atanhf, "ff") \
    X(bcmp, "ippl") \
    X(cbrt, "dd") \
    X(cbrtf, "ff") \
    X(ceil, "dd") \
    X(ceilf, "ff") \
    X(copysign, "ddd") \
    X(copysignf, "fff") \
    X(cos, "dd") \
    X(cosf, "ff") \
    X(cosh, "dd") \
    X(coshf, "ff") \
    X(erf, "dd") \
    X(erfc, "dd") \
    X(erfcf, "ff") \
    X(erff, "ff") \
    X(exp, "dd") \
    X(exp10, "dd") \
    X(exp10f, "ff") \
    X(exp2, "dd") \
    X(exp2f, "ff") \
    X(expf, "ff") \
    X(expm1, "dd") \
    X(expm1f, "ff") \
    X(fabs, "dd") \
    X(fabsf, "ff") \
    X(fdim, "ddd") \
    X(fdimf, "fff") \
    X(floor, "dd") \
    X(floorf, "ff") \
    X(fma, "dddd") \
    X(fmaf, "ffff") \
    X(fmax, "ddd") \
    X(fmaxf, "fff") \
    X(fmin, "ddd") \
    X(fminf, "fff") \
    X(fmod, "ddd") \
    X(fmodf, "fff") \
    X(frexp, "ddp") \
    X(frexpf, "ffp") \
    X(hypot, "ddd") \
    X(hypotf, "fff") \
    X(ilogb, "id") \
    X(ilogbf, "if") \
    X(ldexp, "ddi") \
    X(ldexpf, "ffi") \
    X(lgamma, "dd") \
    X(lgamma_r, "ddp") \
    X(lgammaf, "ff") \
    X(lgammaf_r, "ffp") \
    X(log, "dd") \
    X(log10, "dd") \
    X(log10f, "ff") \
    X(log1p, "dd") \
    X(log1pf, "ff") \
    X(log2, "dd") \
    X(log2f, "ff") \
    X(logb, "dd") \
    X(logbf, "ff") \
    X(logf, "ff") \
    X(memcmp, "ippl") \
    X(memcpy, "pppl") \
    X(memmove, "pppl") \
    X(memset, "ppil") \
    X(modf, "ddp") \
    X(modff, "ffp") \
    X(nearbyint, "dd") \
    X(nearbyintf, "ff") \
    X(nextafter, "ddd") \
    X(nextafterf, "fff") \
    X(pow, "ddd") \
    X(powf, "fff") \
    X(remainder, "ddd") \
    X(remainderf, "fff") \
    X(rint, "dd") \
    X(rintf, "ff") \
    X(round, "dd") \
    X(roundeven, "dd") \
    X(roundevenf, "ff") \
    X(roundf, "ff") \
    X(sin, "dd") \
    X(sincos, "vdpp") \
    X(sincosf, "vfpp") \
    X(sinf, "ff") \
    X(sinh, "dd") \
    X(sinhf, "ff") \
    X(sqrt, "dd") \
    X(sqrtf, "ff") \
    X(tan, "dd") \
    X(tanf, "ff") \
    X(tanh, "dd") \
    X(tanhf, "ff") \
    X(tgamma, "dd") \
    X(tgammaf, "ff") \
    X(trunc, "dd") \
    X(truncf, "ff")
/* clang-format on */

#endif /* KILN_HOST_IMPORTS_H */
