/* backprop - a layer forward: products of inputs and weights, summed over 16
 * inputs at a time by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void backprop(float *restrict partial, float *restrict weight,
              const float *restrict input, int n, int items)
{
#pragma omp parallel for
    for (int by = 0; by < items / n / 16; by++) {
        float *w = weight + (n + 1) * (by * 16 + 1) + 1;

        for (int y = 0; y < 16; y++)
            for (int x = 0; x < n; x++)
                w[y * (n + 1) + x] *= input[by * 16 + y + 1];
        for (int step = 8; step > 0; step /= 2)
            for (int y = 0; y < step; y++)
                for (int x = 0; x < n; x++)
                    w[y * (n + 1) + x] += w[(y + step) * (n + 1) + x];
        for (int x = 0; x < n; x++)
            partial[by * n + x] = w[x];
    }
}
