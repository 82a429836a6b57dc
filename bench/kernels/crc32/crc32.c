/* crc32 - of messages of 64 bytes, by a table. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void crc32(unsigned *restrict sum, const unsigned char *restrict data,
           const unsigned *restrict table, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned crc = 0xffffffff;

        for (int k = 0; k < 64; k++)
            crc = table[(crc ^ data[i * 64 + k]) & 255] ^ crc >> 8;
        sum[i] = ~crc;
    }
}
