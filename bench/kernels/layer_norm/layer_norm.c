/* layer_norm - of rows that lie one behind the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void layer_norm(float *restrict out, const float *restrict x,
                const float *restrict gain, const float *restrict bias,
                int rows, int n)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        const float *restrict row = x + i * n;
        float sum = 0, squares = 0, mean, inverse;

        for (int k = 0; k < n; k++)
            sum += row[k];
        mean = sum / n;
        for (int k = 0; k < n; k++)
            squares += (row[k] - mean) * (row[k] - mean);
        inverse = 1 / sqrtf(squares / n + 1e-5f);
        for (int k = 0; k < n; k++)
            out[i * n + k] = (row[k] - mean) * inverse * gain[k] + bias[k];
    }
}
