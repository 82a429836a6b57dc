/* streamcluster - what each point would gain by a new centre: coordinates of
 * points one dimension behind the other, so that many go side by side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { STRIP = 256 };

void streamcluster(float *restrict gain, const float *restrict x,
                   const float *restrict centre, const float *restrict weight,
                   const float *restrict cost, int n, int dims)
{
#pragma omp parallel for
    for (int first = 0; first < n; first += STRIP) {
        int end = n - first < STRIP ? n : first + STRIP;

        for (int i = first; i < end; i++)
            gain[i] = 0;
        for (int d = 0; d < dims; d++)
            for (int i = first; i < end; i++) {
                float off = x[d * n + i] - centre[d];

                gain[i] += off * off;
            }
        for (int i = first; i < end; i++) {
            float sum = gain[i] * weight[i];

            gain[i] = sum < cost[i] ? cost[i] - sum : 0;
        }
    }
}
