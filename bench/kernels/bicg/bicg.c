/* bicg - q := A p and s := A' r of a square matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void bicg(float *restrict q, float *restrict s, const float *a, const float *p,
          const float *r, int n)
{
    for (int i = 0; i < n; i++)
        s[i] = 0;
    for (int i = 0; i < n; i++) {
        float row = 0;

        for (int k = 0; k < n; k++)
            row += a[i * n + k] * p[k];
        q[i] = row;
        for (int k = 0; k < n; k++)
            s[k] += a[i * n + k] * r[i];
    }
}
