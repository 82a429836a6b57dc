/* attention - means of values, weighted by the softmax of a row of scores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

void attention(float *restrict out, const float *restrict score,
               const float *restrict value, int rows, int n, int dims)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        const float *restrict row = score + i * n;
        float *restrict to = out + i * dims;
        float most = row[0], sum = 0;

        for (int k = 1; k < n; k++)
            most = row[k] > most ? row[k] : most;
        for (int d = 0; d < dims; d++)
            to[d] = 0;
        for (int k = 0; k < n; k++) {
            float weight = expf(row[k] - most);

            sum += weight;
            for (int d = 0; d < dims; d++)
                to[d] += weight * value[k * dims + d];
        }
        for (int d = 0; d < dims; d++)
            to[d] /= sum;
    }
}
