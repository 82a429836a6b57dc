/* nbody - gravity of all bodies on each, softened. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void nbody(float *restrict ax, float *restrict ay, float *restrict az,
           const float *x, const float *y, const float *z, const float *m,
           float eps, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sx = 0, sy = 0, sz = 0;

        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + eps);
            float s = m[j] * inverse * inverse * inverse;

            sx += dx * s;
            sy += dy * s;
            sz += dz * s;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
