/* lavamd - forces between the particles of a box and those of its
 * neighbours, which a list names; 32 particles in each box. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void lavamd(float *restrict force, const float *x, const float *y,
            const float *z, const float *charge, const int *neighbour, float a2,
            int boxes, int near)
{
#pragma omp parallel for
    for (int i = 0; i < boxes * 32; i++) {
        float sum = 0, fx = 0, fy = 0, fz = 0;

        for (int k = 0; k < near; k++) {
            int first = neighbour[i / 32 * near + k] * 32;

            for (int j = first; j < first + 32; j++) {
                float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
                float v = expf(-a2 * (dx * dx + dy * dy + dz * dz));
                float f = 2 * v * charge[j];

                sum += charge[j] * v;
                fx += f * dx;
                fy += f * dy;
                fz += f * dz;
            }
        }
        force[4 * i] = sum;
        force[4 * i + 1] = fx;
        force[4 * i + 2] = fy;
        force[4 * i + 3] = fz;
    }
}
