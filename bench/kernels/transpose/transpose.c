/* transpose - of a matrix, by tiles of 32 x 32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void transpose(float *restrict out, const float *restrict x, int nx, int ny)
{
#pragma omp parallel for
    for (int by = 0; by < ny; by += 32)
        for (int bx = 0; bx < nx; bx += 32)
            for (int i = bx; i < bx + 32; i++)
                for (int j = by; j < by + 32; j++)
                    out[i * ny + j] = x[j * nx + i];
}
