/* string_search - whether a pattern stands at each place of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void string_search(unsigned char *restrict found,
                   const unsigned char *restrict text,
                   const unsigned char *restrict pattern, int n, int m)
{
#pragma omp parallel for
    for (int i = 0; i <= n - m; i++) {
        int k = 0;

        while (k < m && text[i + k] == pattern[k])
            k++;
        found[i] = k == m;
    }
}
