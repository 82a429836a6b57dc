/* correlation - normalises the columns of data: mean and standard deviation
 * of each, row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void correlation(float *restrict x, float *restrict mean,
                 float *restrict deviation, float least, int n, int m)
{
    float root = sqrtf((float)n);

    for (int j = 0; j < m; j++)
        mean[j] = deviation[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mean[j] += x[i * m + j];
    for (int j = 0; j < m; j++)
        mean[j] /= n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float off = x[i * m + j] - mean[j];

            deviation[j] += off * off;
        }
    for (int j = 0; j < m; j++) {
        deviation[j] = sqrtf(deviation[j] / n);
        if (deviation[j] <= least)
            deviation[j] = 1;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i * m + j] = (x[i * m + j] - mean[j]) / (root * deviation[j]);
}
