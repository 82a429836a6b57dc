/* string_search - whether a pattern stands at each place of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void string_search(global uchar *found, global const uchar *text,
                          global const uchar *pattern, int n, int m)
{
    int i = get_global_id(0);

    if (i + m <= n) {
        int k = 0;

        while (k < m && text[i + k] == pattern[k])
            k++;
        found[i] = k == m;
    }
}
