/* red_black - half a sweep of over-relaxation in two dimensions: points of one
 * colour of a chessboard, in place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void red_black(float *restrict u, const float *restrict f, float omega,
               int colour, int n)
{
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
#pragma GCC ivdep
        for (int j = 2 - ((i + colour) & 1); j < n - 1; j += 2) {
            int at = i * n + j;
            float around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n];

            u[at] += omega * (0.25f * (around - f[at]) - u[at]);
        }
}
