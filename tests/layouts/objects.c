/* objects.c - host objects, in a file of their own for linkers to move. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "objects.h"

int table[4] = {3, 5, 7, 9};
int counter;

int weigh(int x)
{
    return 2 * x;
}
