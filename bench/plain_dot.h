/* plain_dot.h - a dot product in plain C, its additions in any order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef PLAIN_DOT_H
#define PLAIN_DOT_H

#include <stdint.h>

float plain_dot(const float *x, const float *y, int64_t count, int threads);
int plain_dot_has_threads(void);

#endif /* PLAIN_DOT_H */
