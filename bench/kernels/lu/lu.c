/* lu - what elimination of row k leaves below and to the right of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void lu(float *a, int k, int n)
{
    const float *row = a + k * n;

#pragma omp parallel for
    for (int i = k + 1; i < n; i++) {
        float *restrict to = a + i * n;
        float factor = to[k];

        for (int j = k + 1; j < n; j++)
            to[j] -= factor * row[j];
    }
}
