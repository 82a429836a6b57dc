/* gesummv - y := alpha A x + beta B x. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void gesummv(float *restrict y, const float *restrict a,
             const float *restrict b, const float *restrict x, float alpha,
             float beta, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float first = 0, second = 0;

        for (int k = 0; k < n; k++) {
            first += a[i * n + k] * x[k];
            second += b[i * n + k] * x[k];
        }
        y[i] = alpha * first + beta * second;
    }
}
