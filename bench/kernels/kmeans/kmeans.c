/* kmeans - the nearest of the centres to each point; many points side by side,
 * as their features are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { STRIP = 256 };

static void strip(int *restrict member, const float *restrict feature,
                  const float *restrict centre, int points, int clusters,
                  int features, int count)
{
    float least[STRIP], sum[STRIP];

    for (int i = 0; i < count; i++) {
        least[i] = 3.4e38f;
        member[i] = 0;
    }
    for (int c = 0; c < clusters; c++) {
        for (int i = 0; i < count; i++)
            sum[i] = 0;
        for (int f = 0; f < features; f++)
            for (int i = 0; i < count; i++) {
                float off = feature[f * points + i] - centre[c * features + f];

                sum[i] += off * off;
            }
        for (int i = 0; i < count; i++) {
            member[i] = sum[i] < least[i] ? c : member[i];
            least[i] = sum[i] < least[i] ? sum[i] : least[i];
        }
    }
}

void kmeans(int *restrict member, const float *restrict feature,
            const float *restrict centre, int points, int clusters,
            int features)
{
#pragma omp parallel for
    for (int i = 0; i < points; i += STRIP)
        strip(member + i, feature + i, centre, points, clusters, features,
              points - i < STRIP ? points - i : STRIP);
}
