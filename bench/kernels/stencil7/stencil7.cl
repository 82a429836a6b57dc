/* stencil7 - a step of heat in three dimensions: seven points, f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void stencil7(global double *out, global const double *t, double a,
                     double b, int nx, int ny, int nz)
{
    int i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    int at = (k * ny + j) * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1)
        out[at] = a * t[at] +
            b * (t[at - 1] + t[at + 1] + t[at - nx] + t[at + nx] +
                 t[at - nx * ny] + t[at + nx * ny]);
}
