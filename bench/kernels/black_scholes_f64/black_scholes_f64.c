/* black_scholes_f64 - European options by Black and Scholes, in f64; the
 * normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

static inline double normal(double d)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double p =
        k * (0.31938153 +
             k * (-0.356563782 +
                  k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.3989422804 * exp(-0.5 * d * d) * p;

    return d > 0 ? 1.0 - tail : tail;
}

void black_scholes_f64(double *restrict call, double *restrict put,
                       const double *price, const double *strike,
                       const double *years, double rate, double volatility,
                       int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 5.0 + price[i], x = 1.0 + strike[i];
        double t = 0.25 + years[i];
        double root = volatility * sqrt(t);
        double d1 =
            (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / root;
        double n1 = normal(d1), n2 = normal(d1 - root);
        double later = x * exp(-rate * t);

        call[i] = s * n1 - later * n2;
        put[i] = later * (1.0 - n2) - s * (1.0 - n1);
    }
}
