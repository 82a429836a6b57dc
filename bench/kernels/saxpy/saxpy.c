/* saxpy - y := a x + y. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void saxpy(float *restrict y, float a, const float *restrict x, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
