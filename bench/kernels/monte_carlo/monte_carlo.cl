/* monte_carlo - how many points of a square are in the circle, by random
 * numbers of Marsaglia's: an item has a seed, and 128 points. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void monte_carlo(global uint *hits, global const uint *seed, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        uint s = seed[i], count = 0;

        for (int k = 0; k < 128; k++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            uint x = s & 0x7fff, y = s >> 16 & 0x7fff;

            if (x * x + y * y < 0x40000000u)
                count++;
        }
        hits[i] = count;
    }
}
