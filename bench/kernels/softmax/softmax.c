/* softmax - of each row; the rows are interleaved, so that many of them go side
 * by side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

enum { STRIP = 256 };

static void strip(float *restrict out, const float *restrict x, int rows, int n,
                  int count)
{
    float most[STRIP], sum[STRIP];

    for (int i = 0; i < count; i++) {
        most[i] = x[i];
        sum[i] = 0;
    }
    for (int k = 1; k < n; k++)
        for (int i = 0; i < count; i++) {
            float one = x[k * rows + i];

            most[i] = one > most[i] ? one : most[i];
        }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < count; i++) {
            float power = expf(x[k * rows + i] - most[i]);

            out[k * rows + i] = power;
            sum[i] += power;
        }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < count; i++)
            out[k * rows + i] /= sum[i];
}

void softmax(float *restrict out, const float *restrict x, int rows, int n)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i += STRIP)
        strip(out + i, x + i, rows, n, rows - i < STRIP ? rows - i : STRIP);
}
