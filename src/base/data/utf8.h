/* utf8.h - characters of UTF-8, told from bytes that are none. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_UTF8_H
#define KILN_UTF8_H

#include <stddef.h>

/* How many bytes the character at `text` has, of which `left` are there; 0: it
   is none. Overlong forms, surrogates and what is above U+10FFFF are none
   (RFC 3629). */
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
