/* ir_text.h - what printing and parsing typed IR agree on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_TEXT_H
#define KILN_IR_TEXT_H

#include <string.h>

#include "ir/ir_tables.h"

/*
 * ir_print.c writes what ir_parse.c has to read back unchanged, so whatever
 * both need stands here once: the texts of flags and kinds, which names
 * go without quotes, and how a decimal is rounded.
 */

#define KILN__IR_FLAG_COUNT 6

/* Ordered by bit; KILN__IR_BOUNDS_ON is the first. */
static const char *const kiln__ir_flag_texts[KILN__IR_FLAG_COUNT] = {
    "+bounds", "-bounds", "+fast", "-fast", "+contract", "-contract"};

/* Returns the language's name of a kind that is written as one word, or
   NULL. */
static inline const char *kiln__ir_kind_text(int32_t kind)
{
    return kind == KILN_TYPE_NONE || kiln__kind_is_scalar(kind)
               ? kiln__kind_name(kind)
               : NULL;
}

static inline int kiln__ir_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* True for a name that can follow % without quotes. */
static inline int kiln__ir_is_plain_name(const char *name)
{
    if (*name >= '0' && *name <= '9')
        return 0;
    for (const char *c = name; *c != '\0'; c++)
        if (!kiln__ir_is_word(*c))
            return 0;
    return *name != '\0';
}

/* Decimals are read as f64 and then rounded to f32 if that is their type. */
static inline double kiln__ir_round(int32_t kind, double value)
{
    return kind == KILN_TYPE_F32 ? kiln__float_round(kind, value) : value;
}

static inline int kiln__ir_same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

#endif /* KILN_IR_TEXT_H */
