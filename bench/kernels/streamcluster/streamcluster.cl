/* streamcluster - what each point would gain by a new centre: coordinates of
 * points one dimension behind the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void streamcluster(global float *gain, global const float *x,
                          global const float *centre,
                          global const float *weight, global const float *cost,
                          int n, int dims)
{
    int i = get_global_id(0);

    if (i < n) {
        float sum = 0;

        for (int d = 0; d < dims; d++) {
            float off = x[d * n + i] - centre[d];

            sum += off * off;
        }
        sum *= weight[i];
        gain[i] = sum < cost[i] ? cost[i] - sum : 0;
    }
}
