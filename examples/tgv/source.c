/* source.c - embeds the kernels' text in the program. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tgv.h"

/* The assembler finds tgv.kiln in this folder (see cmake/programs.cmake). */
__asm__(".section .rodata\n"
        ".global tgv_source\n"
        ".global tgv_source_end\n"
        "tgv_source:\n"
        ".incbin \"tgv.kiln\"\n"
        "tgv_source_end:\n"
        ".byte 0\n"
        ".previous\n");
