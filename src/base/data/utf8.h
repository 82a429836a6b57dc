/* utf8.h - finds characters of UTF-8 and bytes that are none. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_UTF8_H
#define KILN_UTF8_H

#include <stddef.h>

/* Returns how many bytes the character at `text` has, if `left` bytes are
   there; 0 if it is no character. Overlong forms, surrogates and values above
   U+10FFFF are no characters (RFC 3629). */
static inline size_t kiln__utf8_size(const void *text, size_t left)
{
    const unsigned char *at = text;
    size_t size;

    if (left == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (size > left)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return size;
}

#endif /* KILN_UTF8_H */
