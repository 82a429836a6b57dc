/* derivative - convection of a vortex's velocity, u du/dx + v du/dy + w
 * du/dz, by central differences of fourth order in a periodic cube. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static __device__ int wrapped(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

extern "C" __global__ void derivative(double *out, const double *u,
                                      const double *v, const double *w,
                                      double h, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;

    if (i < n && j < n && k < n) {
        int at = (k * n + j) * n + i, row = (k * n + j) * n;
        int plane = k * n * n + i, column = j * n + i, n2 = n * n;
        double x = 8 * (u[row + wrapped(i + 1, n)] -
            u[row + wrapped(i - 1, n)]) - u[row + wrapped(i + 2, n)] +
            u[row + wrapped(i - 2, n)];
        double y = 8 * (u[plane + wrapped(j + 1, n) * n] -
            u[plane + wrapped(j - 1, n) * n]) -
            u[plane + wrapped(j + 2, n) * n] +
            u[plane + wrapped(j - 2, n) * n];
        double z = 8 * (u[column + wrapped(k + 1, n) * n2] -
            u[column + wrapped(k - 1, n) * n2]) -
            u[column + wrapped(k + 2, n) * n2] +
            u[column + wrapped(k - 2, n) * n2];

        out[at] = (u[at] * x + v[at] * y + w[at] * z) * h;
    }
}
