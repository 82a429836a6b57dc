/* hotspot - a step of the temperature of a chip, edges included. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void hotspot(float *out, const float *t,
                                   const float *power, float cap, float rx,
                                   float ry, float rz, float ambient, int nx,
                                   int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < nx && y < ny) {
        int north = y > 0 ? y - 1 : 0, south = y < ny - 1 ? y + 1 : y;
        int west = x > 0 ? x - 1 : 0, east = x < nx - 1 ? x + 1 : x;
        float here = t[y * nx + x];

        out[y * nx + x] = here + cap * (power[y * nx + x] +
            (t[south * nx + x] + t[north * nx + x] - 2 * here) * ry +
            (t[y * nx + east] + t[y * nx + west] - 2 * here) * rx +
            (ambient - here) * rz);
    }
}
