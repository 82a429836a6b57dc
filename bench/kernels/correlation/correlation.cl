/* correlation - normalises the columns of data: mean and standard deviation
 * of each, an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void correlation(global float *x, global float *mean,
                        global float *deviation, float least, int n, int m)
{
    int j = get_global_id(0);

    if (j < m) {
        float sum = 0, squares = 0;

        for (int i = 0; i < n; i++)
            sum += x[i * m + j];
        sum /= n;
        for (int i = 0; i < n; i++) {
            float off = x[i * m + j] - sum;

            squares += off * off;
        }
        squares = sqrt(squares / n);
        if (squares <= least)
            squares = 1;
        for (int i = 0; i < n; i++)
            x[i * m + j] = (x[i * m + j] - sum) / (sqrt((float)n) * squares);
        mean[j] = sum;
        deviation[j] = squares;
    }
}
