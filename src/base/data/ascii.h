/* ascii.h - letters and digits, whatever the locale says. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_ASCII_H
#define KILN_BASE_DATA_ASCII_H

/*
 * The functions of <ctype.h> depend on the host's locale, and a thread that
 * runs another copy of the C library may not even have its tables.
 */

static inline int kiln__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char kiln__to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline int kiln__is_letter(char c)
{
    return kiln__to_lower(c) >= 'a' && kiln__to_lower(c) <= 'z';
}

static inline int kiln__is_word(char c)
{
    return kiln__is_letter(c) || kiln__is_digit(c) || c == '_';
}

#endif /* KILN_BASE_DATA_ASCII_H */
