/* mvt - x := x + A y, an item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void mvt(double *x, const double *a, const double *y,
                               int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        double sum = x[i];

        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * y[k];
        x[i] = sum;
    }
}
