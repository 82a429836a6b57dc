/* nbody - gravity of all bodies on each, softened. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void nbody(global float *ax, global float *ay, global float *az,
                  global const float *x, global const float *y,
                  global const float *z, global const float *m, float eps,
                  int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float xi = x[i], yi = y[i], zi = z[i];
        float sx = 0, sy = 0, sz = 0;

        for (int j = 0; j < n; j++) {
            float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + eps);
            float s = m[j] * inverse * inverse * inverse;

            sx += dx * s;
            sy += dy * s;
            sz += dz * s;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
