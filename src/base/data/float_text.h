/* float_text.h - floats as decimal text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_DATA_FLOAT_TEXT_H
#define KILN_BASE_DATA_FLOAT_TEXT_H

#define KILN__FLOAT_TEXT 32 /* bytes, with the NUL */

/*
 * Writes a value of the format (float_bits.h), which a double holds, with the
 * fewest digits that read back as the same value of that format: 53 and 11 bits
 * are f64, 24 and 8 f32. "nan" and "inf" are names; numbers below 0.0001 and
 * from 1e16 on have an exponent. Neither the process's locale nor its rounding
 * mode changes the text. Returns `out`.
 */
const char *kiln__float_text(char out[KILN__FLOAT_TEXT], double value,
                             int significand, int exponent);

#endif /* KILN_BASE_DATA_FLOAT_TEXT_H */
