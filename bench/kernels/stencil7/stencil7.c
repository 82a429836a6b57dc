/* stencil7 - a step of heat in three dimensions: seven points, f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void stencil7(double *restrict out, const double *restrict t, double a,
              double b, int nx, int ny, int nz)
{
#pragma omp parallel for
    for (int k = 1; k < nz - 1; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                int at = (k * ny + j) * nx + i;

                out[at] = a * t[at] +
                          b * (t[at - 1] + t[at + 1] + t[at - nx] + t[at + nx] +
                               t[at - nx * ny] + t[at + nx * ny]);
            }
}
