/* black_scholes - European options by Black and Scholes, in f32; the normal
 * distribution by the polynomial of Abramowitz and Stegun, 26.2.17. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

static inline float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p =
        k * (0.31938153f +
             k * (-0.356563782f +
                  k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.3989422804f * expf(-0.5f * d * d) * p;

    return d > 0 ? 1.0f - tail : tail;
}

void black_scholes(float *restrict call, float *restrict put,
                   const float *price, const float *strike, const float *years,
                   float rate, float volatility, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 5.0f + price[i], x = 1.0f + strike[i];
        float t = 0.25f + years[i];
        float root = volatility * sqrtf(t);
        float d1 =
            (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / root;
        float n1 = normal(d1), n2 = normal(d1 - root);
        float later = x * expf(-rate * t);

        call[i] = s * n1 - later * n2;
        put[i] = later * (1.0f - n2) - s * (1.0f - n1);
    }
}
