/* doitgen - products of each row of a cube by a matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void doitgen(float *restrict out, const float *restrict a,
             const float *restrict c, int np, int nq, int nr)
{
#pragma omp parallel for
    for (int row = 0; row < nr * nq; row++) {
        float *restrict to = out + row * np;

        for (int p = 0; p < np; p++)
            to[p] = 0;
        for (int s = 0; s < np; s++)
            for (int p = 0; p < np; p++)
                to[p] += a[row * np + s] * c[s * np + p];
    }
}
