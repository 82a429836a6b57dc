/* quantise - numbers to bytes with a sign: to the nearest, as far as it
 * goes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void quantise(global char *out, global const float *x, float scale,
                     int n)
{
    int i = get_global_id(0);

    if (i < n)
        out[i] = (char)clamp(rint(x[i] * scale), -128.0f, 127.0f);
}
