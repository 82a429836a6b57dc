/* hotspot - a step of the temperature of a chip, edges included. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void hotspot(global float *out, global const float *t,
                    global const float *power, float cap, float rx, float ry,
                    float rz, float ambient, int nx, int ny)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < nx && y < ny) {
        int north = y > 0 ? y - 1 : 0, south = y < ny - 1 ? y + 1 : y;
        int west = x > 0 ? x - 1 : 0, east = x < nx - 1 ? x + 1 : x;
        float here = t[y * nx + x];

        out[y * nx + x] = here + cap * (power[y * nx + x] +
            (t[south * nx + x] + t[north * nx + x] - 2 * here) * ry +
            (t[y * nx + east] + t[y * nx + west] - 2 * here) * rx +
            (ambient - here) * rz);
    }
}
