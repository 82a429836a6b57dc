/* saxpy - y := a x + y. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void saxpy(float *y, float a, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}
