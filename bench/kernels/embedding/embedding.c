/* embedding - rows of a table that numbers name, and those of their
 * positions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void embedding(float *restrict out, const float *restrict table,
               const int *restrict token, const float *restrict position,
               int dims, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const float *restrict row = table + token[i] * dims;

        for (int d = 0; d < dims; d++)
            out[i * dims + d] = row[d] + position[i * dims + d];
    }
}
