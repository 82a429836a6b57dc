/* gray - of a picture's red, green and blue bytes, one behind the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void gray(global uchar *out, global const uchar *rgb, int n)
{
    int i = get_global_id(0);

    if (i < n)
        out[i] = 77 * rgb[3 * i] + 150 * rgb[3 * i + 1] +
                29 * rgb[3 * i + 2] >>
            8;
}
