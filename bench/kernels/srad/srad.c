/* srad - coefficients of diffusion that reduces speckle: the first half of a
 * step. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
struct out {
    float *restrict c, *restrict dn, *restrict ds, *restrict dw, *restrict de;
};

static inline void point(struct out o, const float *restrict image, float q0,
                         int at, int north, int south, int west, int east)
{
    float here = image[at] + 1;
    float n = image[north] + 1 - here, s = image[south] + 1 - here;
    float w = image[west] + 1 - here, e = image[east] + 1 - here;
    float g2 = (n * n + s * s + w * w + e * e) / (here * here);
    float l = (n + s + w + e) / here;
    float den = 1 + 0.25f * l;
    float q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
    float value = 1 / (1 + (q - q0) / (q0 * (1 + q0)));

    o.dn[at] = n;
    o.ds[at] = s;
    o.dw[at] = w;
    o.de[at] = e;
    o.c[at] = value < 0 ? 0 : value > 1 ? 1 : value;
}

void srad(float *restrict c, float *restrict dn, float *restrict ds,
          float *restrict dw, float *restrict de, const float *restrict image,
          float q0, int nx, int ny)
{
    struct out o = {c, dn, ds, dw, de};

#pragma omp parallel for
    for (int y = 0; y < ny; y++) {
        int row = y * nx, end = row + nx - 1;
        int up = y > 0 ? -nx : 0, down = y < ny - 1 ? nx : 0;

        point(o, image, q0, row, row + up, row + down, row, row + (nx > 1));
#pragma GCC ivdep
        for (int at = row + 1; at < end; at++)
            point(o, image, q0, at, at + up, at + down, at - 1, at + 1);
        if (nx > 1)
            point(o, image, q0, end, end + up, end + down, end - 1, end);
    }
}
