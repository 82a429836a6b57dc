/* gemm - C := alpha A B + beta C, an item for each element. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void gemm(float *c, const float *a, const float *b,
                                float alpha, float beta, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i < n && j < n) {
        float sum = beta * c[i * n + j];

        for (int k = 0; k < m; k++)
            sum += alpha * a[i * m + k] * b[k * n + j];
        c[i * n + j] = sum;
    }
}
