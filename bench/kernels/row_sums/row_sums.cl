/* row_sums - of a matrix whose rows lie one behind the other: an item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void row_sums(global float *out, global const float *x, int rows, int n)
{
    int i = get_global_id(0);

    if (i < rows) {
        float sum = 0;

        for (int k = 0; k < n; k++)
            sum += x[i * n + k];
        out[i] = sum;
    }
}
