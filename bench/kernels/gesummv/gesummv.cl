/* gesummv - y := alpha A x + beta B x, an item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void gesummv(global float *y, global const float *a,
                    global const float *b, global const float *x, float alpha,
                    float beta, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float first = 0, second = 0;

        for (int k = 0; k < n; k++) {
            first += a[i * n + k] * x[k];
            second += b[i * n + k] * x[k];
        }
        y[i] = alpha * first + beta * second;
    }
}
