/* radix_split - keys of each group of 256, those with a bit of 0 first, in
 * their order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void radix_split(unsigned *restrict out, const unsigned *restrict key, int bit,
                 int items)
{
#pragma omp parallel for
    for (int first = 0; first < items; first += 256) {
        int zeros = first, ones = first;

        for (int i = first; i < first + 256; i++)
            ones += ~key[i] >> bit & 1;
        for (int i = first; i < first + 256; i++) {
            int one = key[i] >> bit & 1;

            out[one ? ones : zeros] = key[i];
            ones += one;
            zeros += !one;
        }
    }
}
