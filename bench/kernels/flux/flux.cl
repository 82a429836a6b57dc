/* flux - what a gas carries into a cell of a grid without structure: four
 * sides, whose cells a list names. Arrays have all first sides, then all second
 * ones. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void flux(global float *out, global const float *density,
                 global const float *mx, global const float *my,
                 global const float *energy, global const int *beside,
                 global const float *nx, global const float *ny, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float d = 0.5f + density[i], u = mx[i] / d, v = my[i] / d;
        float p = 0.4f * (energy[i] - 0.5f * d * (u * u + v * v));
        float mass = 0, heat = 0;

        for (int k = 0; k < 4; k++) {
            int at = k * n + i, j = beside[at];
            float e = 0.5f + density[j], r = mx[j] / e, s = my[j] / e;
            float q = 0.4f * (energy[j] - 0.5f * e * (r * r + s * s));

            mass += nx[at] * (mx[i] + mx[j]) + ny[at] * (my[i] + my[j]);
            heat += nx[at] * (u * (energy[i] + p) + r * (energy[j] + q)) +
                ny[at] * (v * (energy[i] + p) + s * (energy[j] + q));
        }
        out[i] = 0.5f * mass;
        out[n + i] = 0.5f * heat;
    }
}
