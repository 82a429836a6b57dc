/* doitgen - products of each row of a cube by a matrix, an item for each
 * element. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void doitgen(global float *out, global const float *a,
                    global const float *c, int np, int nq, int nr)
{
    int p = get_global_id(0), q = get_global_id(1), r = get_global_id(2);

    if (p < np && q < nq && r < nr) {
        float sum = 0;

        for (int s = 0; s < np; s++)
            sum += a[(r * nq + q) * np + s] * c[s * np + p];
        out[(r * nq + q) * np + p] = sum;
    }
}
