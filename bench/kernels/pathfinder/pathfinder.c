/* pathfinder - the cheapest way through a grid, row by row: a group of 256
 * columns advances so many steps, and keeps what it needs of its neighbours. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { GROUP = 256, FAR = 1 << 30 };

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* `wall` begins with column `from` of the group. */
static void advance(int *restrict best, const int *restrict wall, int from,
                    int to)
{
    int row[GROUP + 2];

    row[0] = row[GROUP + 1] = FAR;
    for (int l = 0; l < GROUP; l++)
        row[l + 1] = best[l];
    for (int l = from; l < to; l++)
        best[l] = least(row[l + 1], least(row[l], row[l + 2])) + wall[l - from];
}

void pathfinder(int *restrict out, const int *restrict wall,
                const int *restrict cost, int steps, int n)
{
    int inner = GROUP - 2 * steps;

#pragma omp parallel for
    for (int x = 0; x < n; x += inner) {
        int first = x - steps, best[GROUP];
        int from = first < 0 ? -first : 0, to = least(n - first, GROUP);

        for (int l = 0; l < GROUP; l++)
            best[l] = FAR;
        for (int l = from; l < to; l++)
            best[l] = cost[first + l];
        for (int i = 0; i < steps; i++)
            advance(best, wall + i * n + (first + from), from, to);
        for (int l = steps; l < least(to, GROUP - steps); l++)
            out[first + l] = best[l];
    }
}
