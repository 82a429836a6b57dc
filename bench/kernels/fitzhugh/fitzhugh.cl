/* fitzhugh - cells that fire, by FitzHugh and Nagumo, with a gate: an item
 * integrates one of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void fitzhugh(global float *v, global float *w, global float *gate,
                     global const float *current, float dt, int steps, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float a = v[i], b = w[i], g = gate[i];

        for (int step = 0; step < steps; step++) {
            float da = a - a * a * a / 3 - b + current[i] * g;
            float db = 0.08f * (a + 0.7f - 0.8f * b);
            float dg = 1 / (1 + exp(-a)) - g;

            a += dt * da;
            b += dt * db;
            g += dt * dg;
        }
        v[i] = a;
        w[i] = b;
        gate[i] = g;
    }
}
