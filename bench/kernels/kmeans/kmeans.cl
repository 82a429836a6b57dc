/* kmeans - the nearest of the centres to each point. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void kmeans(global int *member, global const float *feature,
                   global const float *centre, int points, int clusters,
                   int features)
{
    int i = get_global_id(0);

    if (i < points) {
        float least = 3.4e38f;
        int nearest = 0;

        for (int c = 0; c < clusters; c++) {
            float sum = 0;

            for (int f = 0; f < features; f++) {
                float off = feature[f * points + i] -
                    centre[c * features + f];

                sum += off * off;
            }
            if (sum < least) {
                least = sum;
                nearest = c;
            }
        }
        member[i] = nearest;
    }
}
