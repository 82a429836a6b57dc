/* hash_words - rounds of adding, rotating and xor over 16 words of each item,
 * as hashes have them; word k of all items, then word k + 1. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static uint rotated(uint x, int by)
{
    return x << by | x >> (32 - by);
}

kernel void hash_words(global uint *digest, global const uint *word, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;

        for (int k = 0; k < 16; k++) {
            uint f = (b & c | ~b & d) + a + word[k * n + i] + 0x5a827999;

            a = d;
            d = c;
            c = rotated(b, 30);
            b = rotated(f, 7) + c;
        }
        digest[i] = a ^ b ^ c ^ d;
    }
}
