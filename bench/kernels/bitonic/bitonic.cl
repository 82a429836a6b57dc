/* bitonic - a step of the sorting network, on pairs at a distance. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void bitonic(global int *x, int distance, int block)
{
    int i = get_global_id(0);
    int a = 2 * i - (i & distance - 1), b = a + distance;
    int low = x[a], high = x[b];

    if ((low > high) == ((a & block) == 0)) {
        x[a] = high;
        x[b] = low;
    }
}
