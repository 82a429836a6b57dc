/* hotspot3d - a step of the temperature of a chip in layers, row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
struct rows {
    const float *here, *north, *south, *below, *above, *power;
};

static inline float point(struct rows r, float side, float up, float dt, int x,
                          int west, int east)
{
    float here = r.here[x];
    float around = r.here[west] + r.here[east] + r.north[x] + r.south[x];

    return here + dt * r.power[x] + side * (around - 4 * here) +
           up * (r.below[x] + r.above[x] - 2 * here);
}

void hotspot3d(float *restrict out, const float *restrict t,
               const float *restrict power, float side, float up, float dt,
               int nx, int ny, int nz)
{
    int layer = nx * ny, last = nx - 1;

#pragma omp parallel for
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            const float *row = t + z * layer + y * nx;
            float *restrict to = out + z * layer + y * nx;
            struct rows r = {row,
                             y > 0 ? row - nx : row,
                             y < ny - 1 ? row + nx : row,
                             z > 0 ? row - layer : row,
                             z < nz - 1 ? row + layer : row,
                             power + z * layer + y * nx};

            to[0] = point(r, side, up, dt, 0, 0, last > 0);
            for (int x = 1; x < last; x++)
                to[x] = point(r, side, up, dt, x, x - 1, x + 1);
            if (last > 0)
                to[last] = point(r, side, up, dt, last, last - 1, last);
        }
}
