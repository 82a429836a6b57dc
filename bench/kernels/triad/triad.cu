/* triad - a := b + s c. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void triad(double *a, const double *b, const double *c,
                                 double s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        a[i] = b[i] + s * c[i];
}
