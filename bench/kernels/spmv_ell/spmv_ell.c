/* spmv_ell - y := A x of a sparse matrix: all first elements of rows, then all
 * second ones, so that many rows go side by side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { STRIP = 256 };

void spmv_ell(float *restrict y, const int *restrict column,
              const float *restrict value, const float *restrict x, int n,
              int width)
{
#pragma omp parallel for
    for (int first = 0; first < n; first += STRIP) {
        int end = n - first < STRIP ? n : first + STRIP;

        for (int i = first; i < end; i++)
            y[i] = 0;
        for (int k = 0; k < width; k++)
            for (int i = first; i < end; i++)
                y[i] += value[k * n + i] * x[column[k * n + i]];
    }
}
