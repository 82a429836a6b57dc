/* reduction - sums: each of 256 lanes of a group takes every so manieth
 * element, then a group adds by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void reduction(float *restrict partial, const float *restrict x, int n,
               int items)
{
#pragma omp parallel for
    for (int group = 0; group < items / 256; group++) {
        float sums[256] = {0};

        for (int first = group * 256; first < n; first += items) {
            int count = n - first < 256 ? n - first : 256;

            for (int l = 0; l < count; l++)
                sums[l] += x[first + l];
        }
        for (int k = 128; k > 0; k /= 2)
            for (int l = 0; l < k; l++)
                sums[l] += sums[l + k];
        partial[group] = sums[0];
    }
}
