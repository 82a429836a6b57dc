/* embedding - rows of a table that numbers name, and those of their
 * positions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void embedding(global float *out, global const float *table,
                      global const int *token, global const float *position,
                      int dims, int n)
{
    int d = get_global_id(0), i = get_global_id(1);

    if (d < dims && i < n)
        out[i * dims + d] =
            table[token[i] * dims + d] + position[i * dims + d];
}
