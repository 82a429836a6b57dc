/* softmax - of each row, an item a row; the rows are interleaved. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void softmax(global float *out, global const float *x, int rows, int n)
{
    int i = get_global_id(0);

    if (i < rows) {
        float most = x[i], sum = 0;

        for (int k = 1; k < n; k++)
            most = fmax(most, x[k * rows + i]);
        for (int k = 0; k < n; k++)
            sum += exp(x[k * rows + i] - most);
        for (int k = 0; k < n; k++)
            out[k * rows + i] = exp(x[k * rows + i] - most) / sum;
    }
}
