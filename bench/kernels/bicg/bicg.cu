/* bicg - q := A p and s := A' r of a square matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void bicg(float *q, float *s, const float *a,
                                const float *p, const float *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float row = 0, column = 0;

        for (int k = 0; k < n; k++) {
            row += a[i * n + k] * p[k];
            column += a[k * n + i] * r[k];
        }
        q[i] = row;
        s[i] = column;
    }
}
