/* layer_norm - of rows that lie one behind the other: an item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void layer_norm(global float *out, global const float *x,
                       global const float *gain, global const float *bias,
                       int rows, int n)
{
    int i = get_global_id(0);

    if (i < rows) {
        float sum = 0, squares = 0;

        for (int k = 0; k < n; k++)
            sum += x[i * n + k];
        float mean = sum / n;

        for (int k = 0; k < n; k++) {
            float off = x[i * n + k] - mean;

            squares += off * off;
        }
        float inverse = 1 / sqrt(squares / n + 1e-5f);

        for (int k = 0; k < n; k++)
            out[i * n + k] =
                (x[i * n + k] - mean) * inverse * gain[k] + bias[k];
    }
}
