/* md - Lennard-Jones forces of the neighbours that a list names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void md(float *fx, float *fy, float *fz, const float *x,
                              const float *y, const float *z, const int *list,
                              float cut2, int n, int near)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float xi = x[i], yi = y[i], zi = z[i];
        float sx = 0, sy = 0, sz = 0;

        for (int k = 0; k < near; k++) {
            int j = list[k * n + i];
            float dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
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
