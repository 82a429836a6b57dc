/* fdtd - the magnetic field of a step in two dimensions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void fdtd(float *restrict hz, const float *restrict ex,
          const float *restrict ey, int nx, int ny)
{
#pragma omp parallel for
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            hz[i * ny + j] -=
                0.7f * (ex[i * (ny + 1) + j + 1] - ex[i * (ny + 1) + j] +
                        ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
