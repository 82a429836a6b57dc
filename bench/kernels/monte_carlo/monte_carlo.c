/* monte_carlo - how many points of a square are in the circle, by random
 * numbers of Marsaglia's: 128 points for each seed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void monte_carlo(unsigned *restrict hits, const unsigned *restrict seed, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned s = seed[i], count = 0;

        for (int k = 0; k < 128; k++) {
            unsigned x, y;

            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            x = s & 0x7fff;
            y = s >> 16 & 0x7fff;
            count += x * x + y * y < 0x40000000u;
        }
        hits[i] = count;
    }
}
