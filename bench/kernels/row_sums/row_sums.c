/* row_sums - of a matrix whose rows lie one behind the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void row_sums(float *restrict out, const float *restrict x, int rows, int n)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        float sum = 0;

        for (int k = 0; k < n; k++)
            sum += x[i * n + k];
        out[i] = sum;
    }
}
