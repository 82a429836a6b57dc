/* fdtd - the magnetic field of a step in two dimensions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void fdtd(global float *hz, global const float *ex,
                 global const float *ey, int nx, int ny)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < nx && j < ny)
        hz[i * ny + j] -= 0.7f * (ex[i * (ny + 1) + j + 1] -
            ex[i * (ny + 1) + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
