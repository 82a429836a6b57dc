/* red_black - half a sweep of over-relaxation in two dimensions: points of one
 * colour of a chessboard, in place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void red_black(global float *u, global const float *f, float omega,
                      int colour, int n)
{
    int j = get_global_id(0), i = get_global_id(1), at = i * n + j;

    if (i > 0 && i < n - 1 && j > 0 && j < n - 1 && (i + j & 1) == colour) {
        float around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n];

        u[at] += omega * (0.25f * (around - f[at]) - u[at]);
    }
}
