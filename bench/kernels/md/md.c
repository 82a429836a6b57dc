/* md - Lennard-Jones forces of the neighbours that a list names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void md(float *restrict fx, float *restrict fy, float *restrict fz,
        const float *restrict x, const float *restrict y,
        const float *restrict z, const int *restrict list, float cut2, int n,
        int near)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sx = 0, sy = 0, sz = 0;

        for (int k = 0; k < near; k++) {
            int j = list[k * n + i];
            float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;

            if (r2 < cut2) {
                float inverse = 1 / r2;
                float r6 = inverse * inverse * inverse;
                float f = inverse * r6 * (1.5f * r6 - 2);

                sx += dx * f;
                sy += dy * f;
                sz += dz * f;
            }
        }
        fx[i] = sx;
        fy[i] = sy;
        fz[i] = sz;
    }
}
