/* nw - a block of the alignment of two sequences by Needleman and Wunsch: 16
 * items sweep its diagonals. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(16)
nw(int *score, const int *similar, int penalty, int across, int n)
{
    __shared__ int t[17][17], s[16][16];
    int l = threadIdx.x, bx = blockIdx.x, by = across - 1 - bx;
    int at = (by * 16 + 1) * n + bx * 16 + 1 + l;

    for (int k = 0; k < 16; k++)
        s[k][l] = similar[at + k * n];
    if (l == 0)
        t[0][0] = score[at - n - 1];
    t[l + 1][0] = score[at + l * n - l - 1];
    t[0][l + 1] = score[at - n];
    __syncthreads();
    for (int d = 0; d < 31; d++) {
        int y = d - l;

        if (y >= 0 && y < 16)
            t[y + 1][l + 1] = max(t[y][l] + s[y][l],
                                  max(t[y + 1][l], t[y][l + 1]) - penalty);
        __syncthreads();
    }
    for (int k = 0; k < 16; k++)
        score[at + k * n] = t[k + 1][l + 1];
}
