/* quantise - numbers to bytes with a sign: to the nearest, as far as it
 * goes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void quantise(signed char *restrict out, const float *restrict x, float scale,
              int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float one = rintf(x[i] * scale);

        one = one < -128 ? -128 : one;
        out[i] = (signed char)(one > 127 ? 127 : one);
    }
}
