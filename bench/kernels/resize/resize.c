/* resize - a picture to another size: between four points of the old one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static inline int least(int a, int b)
{
    return a < b ? a : b;
}

void resize(float *restrict out, const float *restrict p, float sx, float sy,
            int to_x, int to_y, int nx, int ny)
{
#pragma omp parallel for
    for (int y = 0; y < to_y; y++) {
        int y0 = least((int)(y * sy), ny - 1);
        const float *restrict up = p + y0 * nx;
        const float *restrict down = p + least(y0 + 1, ny - 1) * nx;
        float fy = y * sy - y0;

        for (int x = 0; x < to_x; x++) {
            int x0 = least((int)(x * sx), nx - 1), x1 = least(x0 + 1, nx - 1);
            float fx = x * sx - x0;
            float above = up[x0] + fx * (up[x1] - up[x0]);
            float below = down[x0] + fx * (down[x1] - down[x0]);

            out[y * to_x + x] = above + fy * (below - above);
        }
    }
}
