/* saxpy - y := a x + y. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void saxpy(global float *y, float a, global const float *x, int n)
{
    int i = get_global_id(0);

    if (i < n)
        y[i] = a * x[i] + y[i];
}
