/* hotspot - a step of the temperature of a chip, edges included. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
struct chip {
    float cap, rx, ry, rz, ambient;
};

static inline float point(const float *north, const float *row,
                          const float *south, float power, int x, int west,
                          int east, struct chip c)
{
    float here = row[x];

    return here + c.cap * (power + (south[x] + north[x] - 2 * here) * c.ry +
                           (row[east] + row[west] - 2 * here) * c.rx +
                           (c.ambient - here) * c.rz);
}

void hotspot(float *restrict out, const float *restrict t,
             const float *restrict power, float cap, float rx, float ry,
             float rz, float ambient, int nx, int ny)
{
    struct chip c = {cap, rx, ry, rz, ambient};

#pragma omp parallel for
    for (int y = 0; y < ny; y++) {
        const float *row = t + y * nx, *p = power + y * nx;
        const float *north = y > 0 ? row - nx : row;
        const float *south = y < ny - 1 ? row + nx : row;
        float *restrict to = out + y * nx;
        int last = nx - 1;

        to[0] = point(north, row, south, p[0], 0, 0, last > 0, c);
        for (int x = 1; x < last; x++)
            to[x] = point(north, row, south, p[x], x, x - 1, x + 1, c);
        if (last > 0)
            to[last] =
                point(north, row, south, p[last], last, last - 1, last, c);
    }
}
