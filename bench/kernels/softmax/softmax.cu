/* softmax - of each row, an item a row; the rows are interleaved. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void softmax(float *out, const float *x, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < rows) {
        float most = x[i], sum = 0;

        for (int k = 1; k < n; k++)
            most = fmaxf(most, x[k * rows + i]);
        for (int k = 0; k < n; k++)
            sum += expf(x[k * rows + i] - most);
        for (int k = 0; k < n; k++)
            out[k * rows + i] = expf(x[k * rows + i] - most) / sum;
    }
}
