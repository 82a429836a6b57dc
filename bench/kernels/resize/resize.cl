/* resize - a picture to another size: between four points of the old one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void resize(global float *out, global const float *p, float sx, float sy,
                   int to_x, int to_y, int nx, int ny)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < to_x && y < to_y) {
        float fx = x * sx, fy = y * sy;
        int x0 = min((int)fx, nx - 1), y0 = min((int)fy, ny - 1);
        int x1 = min(x0 + 1, nx - 1), y1 = min(y0 + 1, ny - 1);

        fx -= x0;
        fy -= y0;
        float above =
            p[y0 * nx + x0] + fx * (p[y0 * nx + x1] - p[y0 * nx + x0]);
        float below =
            p[y1 * nx + x0] + fx * (p[y1 * nx + x1] - p[y1 * nx + x0]);

        out[y * to_x + x] = above + fy * (below - above);
    }
}
