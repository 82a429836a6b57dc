/* attention - means of values, weighted by the softmax of a row of scores: an
 * item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void attention(global float *out, global const float *score,
                      global const float *value, int rows, int n, int dims)
{
    int i = get_global_id(0);

    if (i < rows) {
        float most = score[i * n], sum = 0;

        for (int k = 1; k < n; k++)
            most = fmax(most, score[i * n + k]);
        for (int d = 0; d < dims; d++)
            out[i * dims + d] = 0;
        for (int k = 0; k < n; k++) {
            float weight = exp(score[i * n + k] - most);

            sum += weight;
            for (int d = 0; d < dims; d++)
                out[i * dims + d] += weight * value[k * dims + d];
        }
        for (int d = 0; d < dims; d++)
            out[i * dims + d] /= sum;
    }
}
