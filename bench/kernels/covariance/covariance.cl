/* covariance - of the columns of data without their means: an item a row of
 * the symmetric matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void covariance(global float *s, global const float *x, int n, int m)
{
    int a = get_global_id(0);

    if (a < m) {
        for (int b = a; b < m; b++) {
            float sum = 0;

            for (int i = 0; i < n; i++)
                sum += x[i * m + a] * x[i * m + b];
            s[a * m + b] = sum;
            s[b * m + a] = sum;
        }
    }
}
