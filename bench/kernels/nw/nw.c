/* nw - blocks of the alignment of two sequences by Needleman and Wunsch: those
 * of a diagonal, each row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static inline int most(int a, int b)
{
    return a > b ? a : b;
}

void nw(int *restrict score, const int *restrict similar, int penalty,
        int across, int n)
{
#pragma omp parallel for
    for (int bx = 0; bx < across; bx++) {
        int first = ((across - 1 - bx) * 16 + 1) * n + bx * 16 + 1;

        for (int y = 0; y < 16; y++) {
            int *row = score + first + y * n;
            const int *up = row - n, *s = similar + first + y * n;
            int left = row[-1];

            for (int x = 0; x < 16; x++) {
                left = most(up[x - 1] + s[x], most(left, up[x]) - penalty);
                row[x] = left;
            }
        }
    }
}
