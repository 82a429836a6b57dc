/* histogram - of bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void histogram(unsigned *restrict counts, const unsigned char *restrict x,
               int n)
{
    for (int i = 0; i < n; i++)
        counts[x[i]]++;
}
