/* srad - coefficients of diffusion that reduces speckle: the first half of a
 * step. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void srad(global float *c, global float *dn, global float *ds,
                 global float *dw, global float *de, global const float *image,
                 float q0, int nx, int ny)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * nx + x;

    if (x < nx && y < ny) {
        int north = y > 0 ? y - 1 : 0, south = y < ny - 1 ? y + 1 : y;
        int west = x > 0 ? x - 1 : 0, east = x < nx - 1 ? x + 1 : x;
        float here = image[at] + 1;
        float n = image[north * nx + x] + 1 - here;
        float s = image[south * nx + x] + 1 - here;
        float w = image[y * nx + west] + 1 - here;
        float e = image[y * nx + east] + 1 - here;
        float g2 = (n * n + s * s + w * w + e * e) / (here * here);
        float l = (n + s + w + e) / here;
        float den = 1 + 0.25f * l;
        float q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
        float value = 1 / (1 + (q - q0) / (q0 * (1 + q0)));

        dn[at] = n;
        ds[at] = s;
        dw[at] = w;
        de[at] = e;
        c[at] = value < 0 ? 0 : value > 1 ? 1 : value;
    }
}
