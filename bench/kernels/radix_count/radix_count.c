/* radix_count - how often each digit of four bits is among the 4096 keys of a
 * group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void radix_count(unsigned *restrict counts, const unsigned *restrict key,
                 int shift, int groups)
{
#pragma omp parallel for
    for (int group = 0; group < groups; group++) {
        unsigned bins[16] = {0};

        for (int k = group * 4096; k < (group + 1) * 4096; k++)
            bins[key[k] >> shift & 15]++;
        for (int digit = 0; digit < 16; digit++)
            counts[digit * groups + group] = bins[digit];
    }
}
