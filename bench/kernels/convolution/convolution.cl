/* convolution - of rows by 17 taps; what is outside the picture is 0. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void convolution(global float *out, global const float *p,
                        global const float *tap, int nx, int ny, int taps)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < nx && y < ny) {
        float sum = 0;

        for (int k = 0; k < taps; k++) {
            int at = x + k - taps / 2;

            if (at >= 0 && at < nx)
                sum += tap[k] * p[y * nx + at];
        }
        out[y * nx + x] = sum;
    }
}
