/* crc32 - of messages of 64 bytes, by a table: an item a message. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void crc32(global uint *sum, global const uchar *data,
                  global const uint *table, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        uint crc = 0xffffffff;

        for (int k = 0; k < 64; k++)
            crc = table[(crc ^ data[i * 64 + k]) & 255] ^ crc >> 8;
        sum[i] = ~crc;
    }
}
