/* hotspot3d - a step of the temperature of a chip in layers: an item a column
 * through all of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void hotspot3d(global float *out, global const float *t,
                      global const float *power, float side, float up, float dt,
                      int nx, int ny, int nz)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < nx && y < ny) {
        int west = x > 0 ? -1 : 0, east = x < nx - 1;
        int north = y > 0 ? -nx : 0, south = y < ny - 1 ? nx : 0;
        float here = t[y * nx + x], below = here;

        for (int z = 0; z < nz; z++) {
            int at = (z * ny + y) * nx + x;
            float above = z < nz - 1 ? t[at + nx * ny] : here;
            float around =
                t[at + west] + t[at + east] + t[at + north] + t[at + south];

            out[at] = here + dt * power[at] + side * (around - 4 * here) +
                up * (below + above - 2 * here);
            below = here;
            here = above;
        }
    }
}
