/* fitzhugh - cells that fire, by FitzHugh and Nagumo, with a gate: many of them
 * go side by side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

enum { STRIP = 256 };

static void strip(float *restrict v, float *restrict w, float *restrict gate,
                  const float *restrict current, float dt, int steps, int n)
{
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < n; i++) {
            float a = v[i], b = w[i], g = gate[i];

            v[i] += dt * (a - a * a * a / 3 - b + current[i] * g);
            w[i] += dt * 0.08f * (a + 0.7f - 0.8f * b);
            gate[i] += dt * (1 / (1 + expf(-a)) - g);
        }
}

void fitzhugh(float *restrict v, float *restrict w, float *restrict gate,
              const float *restrict current, float dt, int steps, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i += STRIP)
        strip(v + i, w + i, gate + i, current + i, dt, steps,
              n - i < STRIP ? n - i : STRIP);
}
