/* gaussian - what elimination of column k leaves of a matrix and of the
 * right side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void gaussian(float *a, float *restrict b, const float *restrict m, int k,
              int n)
{
    const float *row = a + k * n;

#pragma omp parallel for
    for (int i = k + 1; i < n; i++) {
        float *restrict to = a + i * n;

        for (int j = k; j < n; j++)
            to[j] -= m[i] * row[j];
        b[i] -= m[i] * b[k];
    }
}
