/* objects.h - what the kernel of layout.c refers to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef OBJECTS_H
#define OBJECTS_H

extern int counter;
extern int table[4];
int weigh(int x);

#endif /* OBJECTS_H */
